package workers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metrics"
)

// maxFormer is how many workers that are gone keep their series, which say so.
const maxFormer = 128

// former are the addresses of the last workers that have gone, in this order.
type former []string

// add notes that a worker is gone, and returns the address whose series are not kept any longer; "" if all are.
func (f *former) add(worker string) (oldest string) {
	list := slices.DeleteFunc(*f, func(one string) bool { return one == worker })
	if *f = append(list, worker); len(*f) > maxFormer {
		oldest, *f = (*f)[0], (*f)[1:]
	}
	return oldest
}

// gone says in a worker's series that it is, unless they are a successor's. p.mu is held.
func (p *Pool) gone(w *worker) {
	if p.member(w.spec.URL) >= 0 {
		return
	}
	w.gauges.remove()
	if oldest := p.former.add(w.spec.URL); oldest != "" && p.member(oldest) < 0 {
		forget(oldest)
	}
}

// forget takes away all series of a worker.
func forget(worker string) {
	label := fmt.Sprintf("worker=%q", worker)
	for _, name := range metrics.ListMetricNames() {
		if strings.Contains(name, label) {
			metrics.UnregisterMetric(name)
		}
	}
}
