package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"leeway/routing"
	"leeway/routing/prefix"
)

// audit is what the decision log says of claims, held against what was done to the workers.
type audit struct {
	decisions, moved, failed int
	nothing                  int // certified, and claimed nothing
	claims, exact, under     int
	byABlock                 int            // over by no more than one
	evicted                  int            // over at a worker with a small cache: evicted before the request came
	excused                  map[string]int // over after a trouble that the gateway could not know of yet, by the trouble
	uncaught                 []string
	negative                 int // slacks
	cached, engineCached     int
	answers, engineAnswers   int
}

// grace is how late the news of a change may be.
const grace = 250 * time.Millisecond

// needed is how many answers after a trouble show it to the gateway: of a lost batch, the next one tells.
const needed = 2

func readLog(path string, f *fleet) (*audit, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a, byWorker := &audit{excused: map[string]int{}}, map[string][]routing.Receipt{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		r, err := routing.ParseRecord(lines.Bytes())
		if err != nil {
			return nil, err
		}
		a.count(&r.Receipt)
		byWorker[r.Receipt.Chosen] = append(byWorker[r.Receipt.Chosen], r.Receipt)
	}
	for _, m := range f.workers {
		receipts := byWorker[m.URL()]
		slices.SortFunc(receipts, func(x, y routing.Receipt) int { return x.At.Compare(y.At) })
		for i := range receipts {
			a.check(m, receipts, i)
		}
		answers, cached := m.finished()
		a.engineAnswers, a.engineCached = a.engineAnswers+answers, a.engineCached+cached
	}
	return a, lines.Err()
}

func (a *audit) count(r *routing.Receipt) {
	a.decisions++
	if r.Chosen != r.Base {
		a.moved++
	}
	if r.Slack < 0 {
		a.negative++
	}
	if r.Outcome == nil || r.Outcome.Error != "" {
		a.failed++
		return
	}
	a.answers++
	a.cached += r.Outcome.CachedTokens
}

// check holds the claim that a request was sent with against what the engine found.
func (a *audit) check(m *member, all []routing.Receipt, i int) {
	r := &all[i]
	x, ok := r.Candidate(r.Chosen)
	if !ok || x.Certificate != prefix.Certified || r.Outcome == nil || r.Outcome.Error != "" || r.Outcome.PromptTokens == 0 {
		return
	}
	if x.Cached == 0 {
		a.nothing++
		return
	}
	a.claims++
	over := int(x.Cached) - r.Outcome.CachedTokens
	switch excuse := m.excuse(all, i); {
	case over == 0:
		a.exact++
	case over < 0:
		a.under++
	case over <= int(x.BlockSize):
		a.byABlock++
	case m.small:
		a.evicted++
	case excuse != "":
		a.excused[excuse]++
	default:
		a.uncaught = append(a.uncaught, fmt.Sprintf("%s %s at %s: claimed %d, found %d", m.URL(), m.dialect, r.At.Format("15:04:05.000"), x.Cached, r.Outcome.CachedTokens))
	}
}

// excuse names the newest trouble that too few answers had shown to the gateway when it decided; "" if there was none.
func (m *member) excuse(all []routing.Receipt, i int) string {
	at, ends := all[i].At, all[i].At.Add(seconds(all[i].Outcome.Duration))
	for _, e := range slices.Backward(m.events) {
		if e.from.After(ends) || e.known && e.to.Before(at) {
			continue
		}
		shown := 0
		for j := range all[:i] {
			if o := all[j].Outcome; o != nil && o.Error == "" && all[j].At.After(e.to) && all[j].At.Add(seconds(o.Duration)).Before(at.Add(-grace)) {
				shown++
			}
		}
		if shown < needed {
			return e.what
		}
	}
	return ""
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (a *audit) print() {
	fmt.Printf("decisions   %d, %d moved to an owner, %d attempts failed\n", a.decisions, a.moved, a.failed)
	fmt.Printf("claims      %d with a certificate, and %d more of nothing: %d exact, %d under, %d over by a block, %d over by more and evicted meanwhile, %d over and not excused; excused by a trouble just before: %v\n",
		a.claims, a.nothing, a.exact, a.under, a.byABlock, a.evicted, len(a.uncaught), a.excused)
	fmt.Printf("engines     %d answers and %d cached tokens; the gateway counted %d and %d\n", a.engineAnswers, a.engineCached, a.answers, a.cached)
	for _, line := range a.uncaught {
		fmt.Println("  uncaught ", line)
	}
}

// verdict says what is wrong.
func (a *audit) verdict(inFlight, violations float64, memory []int64) error {
	var errs []error
	if len(a.uncaught) > 0 {
		errs = append(errs, fmt.Errorf("%d over-claims that a certificate should have caught", len(a.uncaught)))
	}
	if inFlight != 0 {
		errs = append(errs, fmt.Errorf("%v requests are in flight at rest", inFlight))
	}
	if violations != 0 || a.negative != 0 {
		errs = append(errs, fmt.Errorf("%v bound violations, %d negative slacks", violations, a.negative))
	}
	if a.claims == 0 || a.moved == 0 {
		errs = append(errs, errors.New("no claim was acted on: the run shows nothing"))
	}
	if off := a.engineAnswers - a.answers; 100*max(off, -off) > a.answers {
		errs = append(errs, errors.New("gateway and engines disagree on how many answers there were"))
	}
	if n := len(memory); n >= 8 {
		half, last := slices.Max(memory[n/4:n/2]), slices.Max(memory[3*n/4:])
		fmt.Printf("memory      at most %.1f MiB in the second quarter, %.1f MiB in the last\n", float64(half)/(1<<20), float64(last)/(1<<20))
		if last > half+half/5+8<<20 {
			errs = append(errs, errors.New("memory grows"))
		}
	}
	return errors.Join(errs...)
}
