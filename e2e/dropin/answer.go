package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// answer is what a gateway answered, with everything that is different each time masked.
type answer struct {
	status  int
	headers map[string]string
	body    any   // decoded JSON, or text
	events  []any // of a stream, decoded; "[DONE]" as text
}

// transport is what HTTP itself needs.
var transport = map[string]bool{"Date": true, "Content-Length": true, "Connection": true, "Transfer-Encoding": true}

// masks hide ids, times and ports; the kind of id stays.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(chatcmpl|cmpl|gnt|req|call)[-_][0-9A-Za-z-]{12,}`), "$1-ID"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "WORKER"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)?`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`-[a-z2-7]{24}\b`), "-UUID"},
	{regexp.MustCompile(`"e2e_latency":[0-9.e-]+`), `"e2e_latency":0`},
}

// send makes a request and reads its whole answer.
func send(ctx context.Context, base string, r request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	body := []byte(r.Body)
	var text string
	if json.Unmarshal(r.Body, &text) == nil {
		body = []byte(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, base+r.Path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range r.Headers {
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	got, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	all, err := io.ReadAll(got.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: got.StatusCode, headers: map[string]string{}}
	for name, values := range got.Header {
		if !transport[name] {
			a.headers[name] = mask(strings.Join(values, ", "))
		}
	}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/event-stream") {
		a.events = decodeEvents(string(all))
	} else {
		a.body = decode(string(all))
	}
	return a, nil
}

func decodeEvents(text string) (events []any) {
	for frame := range strings.SplitSeq(text, "\n\n") {
		if data, ok := strings.CutPrefix(frame, "data: "); ok {
			events = append(events, decode(data))
		} else if frame != "" {
			events = append(events, "NOT AN EVENT: "+frame)
		}
	}
	return events
}

func decode(text string) any {
	var value any
	if json.Unmarshal([]byte(mask(text)), &value) != nil {
		return mask(text)
	}
	return timeless(value)
}

func mask(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}

// timeless masks what depends on when a request came.
func timeless(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if created, ok := v["created"].(float64); ok && created > 0 {
			v["created"] = "TIME"
		}
		if _, ok := v["cached_tokens"].(float64); ok {
			v["cached_tokens"] = "CACHED" // the second to ask finds more
		}
		for key, inner := range v {
			v[key] = timeless(inner)
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	}
	return value
}
