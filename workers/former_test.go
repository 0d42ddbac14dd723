package workers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	"github.com/rs/zerolog"

	"leeway/routing"
)

func TestOnlyTheLastWorkersThatHaveGoneKeepTheirSeries(t *testing.T) {
	url := func(i int) string { return fmt.Sprintf("grpc://former.test:%d", i) }
	has := func(i int) bool {
		return slices.ContainsFunc(metrics.ListMetricNames(), func(name string) bool { return strings.Contains(name, url(i)+`"`) })
	}
	var f former
	for i := range maxFormer + 2 {
		newGauges(url(i)).stalled("wedged", true)
		f.add(url(0)) // comes and goes all the time
		if oldest := f.add(url(i)); oldest != "" {
			forget(oldest)
		}
	}
	if len(f) != maxFormer || has(1) || has(2) || !has(0) || !has(3) || !has(maxFormer+1) {
		t.Errorf("%d are kept: %t %t %t %t", len(f), has(0), has(1), has(2), has(3))
	}
	for _, worker := range f {
		forget(worker)
	}
}

// A worker may be removed before it has begun.
func TestAWorkerThatNeverBeganIsGoneToo(t *testing.T) {
	c := quick("grpc://127.0.0.1:1")
	router, err := routing.New(routing.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	pool, err := New(c, router, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Remove("grpc://127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	if len(pool.former) != 1 {
		t.Error("its series stay for ever")
	}
}
