package proxy

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"leeway/workers/sim"
)

// raw sends bytes as they are, closes the client's direction, and returns all that comes back.
func raw(t *testing.T, b *bed, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(c, request)
	time.Sleep(50 * time.Millisecond) // so that an answer may have begun
	c.(*net.TCPConn).CloseWrite()
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func posted(length int, body string) string {
	return fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", length, body)
}

func TestABodyThatBreaksOffIsTheClientsFault(t *testing.T) { // case F7
	b := start(t, one(t, "vllm", greeting))
	chunked := "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, tc := range map[string]struct{ request, status, code string }{
		"too short":          {posted(1000, question("")), "499", "client_closed_request"},
		"a chunk broken off": {chunked + "ff\r\n{}", "499", "client_closed_request"},
		"a bad chunk":        {chunked + "zz\r\n{}", "400", "invalid_request_body"},
	} {
		if answer := raw(t, b, tc.request); !strings.HasPrefix(answer, "HTTP/1.1 "+tc.status+" ") || !strings.Contains(answer, `"code":"`+tc.code+`"`) {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

func TestAClientThatClosesOneDirectionIsNotToldThatAllWentWell(t *testing.T) { // cases A3, B2
	b := start(t, one(t, "vllm", strings.Repeat("on and on ", 500)))
	body := question(`,"stream":true`)
	if answer := raw(t, b, posted(len(body), body)); !strings.Contains(answer, "data: ") || strings.HasSuffix(answer, "\r\n0\r\n\r\n") {
		t.Errorf("a stream that was cut ends as if it were whole: %s", answer)
	}
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultDelay, For: sim.Duration(30 * time.Second)})
	for _, members := range []string{"", `,"stream":true`} {
		body := question(members)
		if answer := raw(t, b, posted(len(body), body)); !strings.HasPrefix(answer, "HTTP/1.1 499 ") || !strings.Contains(answer, `"code":"client_closed_request"`) {
			t.Errorf("nothing sent yet: %s", answer)
		}
	}
	b.atRest(t)
}
