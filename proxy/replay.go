package proxy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"leeway/routing"
)

// ReplayOptions are the flags of `leeway replay`: settings other than those of the log. Empty, or below 0: as recorded.
type ReplayOptions struct {
	Score             string  `flag:"least-load-score" help:"v1 or v2"`
	Mode              string  `flag:"least-load-cache-mode" help:"off, shadow or enforce; decisions that were made with off have no claims to prefer by"`
	Cost              string  `flag:"least-load-cache-cost" help:"least_load or calibrated"`
	KVPressureWeight  float64 `flag:"least-load-kv-pressure-weight" help:"seconds"`
	DefaultThroughput float64 `flag:"least-load-default-throughput" help:"tokens a second"`
	MeanPrefillTokens int     `flag:"least-load-mean-prefill-tokens" help:"tokens"`
	MaxWaiting        int     `flag:"least-load-max-waiting-requests" help:"requests; 0 is no limit"`
	PrefillThroughput float64 `flag:"least-load-cache-prefill-throughput" help:"tokens a second"`
}

// DefaultReplay leaves everything as it was recorded.
func DefaultReplay() ReplayOptions {
	return ReplayOptions{KVPressureWeight: -1, DefaultThroughput: -1, MeanPrefillTokens: -1, MaxWaiting: -1, PrefillThroughput: -1}
}

// over returns recorded settings with the options above them.
func (o ReplayOptions) over(s routing.Settings) (_ routing.Settings, err error) {
	replace(&s.Score, o.Score, o.Score != "")
	replace(&s.Cost, o.Cost, o.Cost != "")
	replace(&s.KVPressureWeight, o.KVPressureWeight, o.KVPressureWeight >= 0)
	replace(&s.DefaultThroughput, o.DefaultThroughput, o.DefaultThroughput >= 0)
	replace(&s.MeanPrefillTokens, o.MeanPrefillTokens, o.MeanPrefillTokens >= 0)
	replace(&s.MaxWaiting, o.MaxWaiting, o.MaxWaiting >= 0)
	replace(&s.PrefillThroughput, o.PrefillThroughput, o.PrefillThroughput >= 0)
	if o.Mode != "" {
		s.Mode, err = routing.ParseMode(o.Mode)
	}
	return s, err
}

func replace[T any](to *T, value T, given bool) {
	if given {
		*to = value
	}
}

// replayed is a line of what Replay writes.
type replayed struct {
	ID        string         `json:"id"`
	Was       string         `json:"was"`
	Chosen    string         `json:"chosen"`
	Base      string         `json:"base"`
	Preferred string         `json:"preferred"`
	Result    routing.Result `json:"result"`
	Saving    float64        `json:"saving"`
	Slack     float64        `json:"slack"`
}

// Replay decides each line of a decision log again, by least_load and with the recorded accounts, and writes a line of
// what became of it. At the end it says to report how many went elsewhere.
func Replay(r io.Reader, w, report io.Writer, o ReplayOptions) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), 64<<20)
	out := bufio.NewWriter(w)
	defer out.Flush()
	n, elsewhere, unasked, others, saving := 0, 0, 0, 0, 0.0
	for lines.Scan() {
		n++
		was, now, err := replayLine(lines.Bytes(), o)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if was.Chosen != now.Chosen {
			elsewhere++
		}
		if was.Policy != now.Policy {
			others++
		}
		if was.Mode == routing.Off && now.Mode != routing.Off {
			unasked++
		}
		if now.Preferred != now.Against {
			saving += now.Saving
		}
		line, err := json.Marshal(replayed{now.ID, was.Chosen, now.Chosen, now.Base, now.Preferred, now.Result, now.Saving, now.Slack})
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	fmt.Fprintf(report, "%d decisions, %d of them other than recorded; %.3f s of prefill saved where a cached owner is preferred to the base choice\n", n, elsewhere, saving)
	if others > 0 {
		fmt.Fprintf(report, "%d were made by another policy and are decided again by least_load\n", others)
	}
	if unasked > 0 {
		fmt.Fprintf(report, "%d were made with the mode off: nothing was asked of any cache, so they hold no claims to prefer by; record with shadow\n", unasked)
	}
	return nil
}

func replayLine(line []byte, o ReplayOptions) (was, now routing.Receipt, err error) {
	record, err := routing.ParseRecord(line)
	if err != nil {
		return was, now, err
	}
	settings, err := o.over(record.Settings)
	if err != nil {
		return was, now, err
	}
	now, err = record.Replay(settings)
	return record.Receipt, now, err
}
