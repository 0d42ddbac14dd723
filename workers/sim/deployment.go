package sim

import (
	"slices"
	"time"
)

// Deployment is a model on its hardware, as five constants fitted to published measurements and a cache size. A
// step costs Base + PerSequence·nd + PerContext·K + PerToken·Σc + Attention·Σ c·(p + c/2), with nd sequences that
// decode, K tokens of context among them, and prefill chunks of c tokens at offset p.
type Deployment struct {
	Name        string
	Base        time.Duration
	PerSequence time.Duration
	PerToken    time.Duration
	PerContext  time.Duration
	Attention   int64 // picoseconds: the one constant too fine for a nanosecond
	KVTokens    int
}

// deployments are read-only.
var deployments = []Deployment{
	{"L8B", 6400 * time.Microsecond, 10 * time.Microsecond, 18500, 47, 850, 400_000},
	{"Q32B", 14000 * time.Microsecond, 59 * time.Microsecond, 45500, 52, 1700, 307_000},
	{"L70F4", 11000 * time.Microsecond, 55 * time.Microsecond, 41500, 29, 1100, 650_000},
	{"L70F2", 16600 * time.Microsecond, 41 * time.Microsecond, 65000, 58, 2100, 190_000},
	{"L70H4", 9200 * time.Microsecond, 46 * time.Microsecond, 41000, 21, 1100, 1_300_000},
}

// Deployments returns the table, in the order in which it is documented.
func Deployments() []Deployment { return slices.Clone(deployments) }

// DeploymentNamed finds a deployment of the table.
func DeploymentNamed(name string) (Deployment, bool) {
	i := slices.IndexFunc(deployments, func(d Deployment) bool { return d.Name == name })
	if i < 0 {
		return Deployment{}, false
	}
	return deployments[i], true
}

// workload is what one step computes.
type workload struct {
	decoding int   // sequences that get one more token
	context  int64 // tokens that those attend to
	prefill  int64 // prompt tokens computed
	pairs    int64 // 2·Σ c·(p + c/2), whole
}

// add counts what a job computes in the step: one token behind its context, or a chunk of prefill.
func (w *workload) add(j *Job) {
	if j.chunk == 0 {
		return
	}
	if j.decoding() {
		w.decoding++
		w.context += int64(j.known())
		return
	}
	c, p := int64(j.chunk), int64(j.computed)
	w.prefill += c
	w.pairs += 2*c*p + c*c
}

// step is the duration of one step of the workload.
func (d *Deployment) step(w workload) time.Duration {
	return d.Base + d.PerSequence*time.Duration(w.decoding) + d.PerContext*time.Duration(w.context) +
		d.PerToken*time.Duration(w.prefill) + time.Duration(d.Attention*w.pairs/2000)
}

// run is the duration of n steps in which the same sequences decode, each a token longer every step. It equals the
// sum of n single steps exactly, because the constants of decoding are whole nanoseconds.
func (d *Deployment) run(w workload, n int) time.Duration {
	k := time.Duration(n)
	return k*d.step(w) + d.PerContext*time.Duration(w.decoding)*(k*(k-1)/2)
}

// stepsWithin is the largest n, at most limit, whose run takes no longer than span.
func (d *Deployment) stepsWithin(w workload, span time.Duration, limit int) int {
	low, high := 0, limit
	for low < high {
		mid := low + (high-low+1)/2
		if d.run(w, mid) <= span {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// Prefill is the time that computing a prompt of n tokens takes when cached of them are there, the fixed cost of
// its steps apart.
func (d *Deployment) Prefill(n, cached int) time.Duration {
	c, p := int64(n-cached), int64(cached)
	return d.PerToken*time.Duration(c) + time.Duration(d.Attention*(2*c*p+c*c)/2000)
}
