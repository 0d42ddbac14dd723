package sim

import (
	"testing"
	"time"
)

func TestAStepCostsWhatTheFiveConstantsSay(t *testing.T) {
	d, ok := DeploymentNamed("L8B")
	if !ok {
		t.Fatal("L8B is not in the table")
	}
	for _, tc := range []struct {
		name string
		work workload
		want time.Duration
	}{
		{"nothing to do costs the base", workload{}, 6400 * time.Microsecond},
		{"10 sequences with 1000 tokens each", workload{decoding: 10, context: 10_000}, 6970 * time.Microsecond},
		{"a chunk of 1000 at offset 0", workload{prefill: 1000, pairs: 1000 * 1000}, 6400*time.Microsecond + 18500*time.Microsecond + 425*time.Microsecond},
		{"the same chunk at offset 1000", workload{prefill: 1000, pairs: 3000 * 1000}, 6400*time.Microsecond + 18500*time.Microsecond + 1275*time.Microsecond},
	} {
		if got := d.step(tc.work); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestARunOfStepsIsTheSumOfItsSteps(t *testing.T) {
	for _, d := range Deployments() {
		w := workload{decoding: 7, context: 12_345}
		var sum time.Duration
		for n := range 200 {
			if got := d.run(w, n); got != sum {
				t.Fatalf("%s: %d steps take %v, want %v", d.Name, n, got, sum)
			}
			step := w
			step.context += int64(7 * n)
			sum += d.step(step)
		}
	}
}

func TestStepsWithinIsTheInverseOfRun(t *testing.T) {
	d := deployments[1]
	w := workload{decoding: 3, context: 900}
	for n := range 50 {
		exact := d.run(w, n)
		if got := d.stepsWithin(w, exact, 100); got != n {
			t.Errorf("%d steps fit into their own time, got %d", n, got)
		}
		if got := d.stepsWithin(w, exact-1, 100); n > 0 && got != n-1 {
			t.Errorf("a nanosecond less than %d steps fits %d", n, got)
		}
	}
	if got := d.stepsWithin(w, time.Hour, 5); got != 5 {
		t.Errorf("the limit is 5, got %d", got)
	}
}

func TestPrefillOfAPromptInChunksCostsTheSameAsWhole(t *testing.T) {
	d := deployments[0]
	whole := d.Prefill(4000, 1000)
	parts := d.Prefill(2500, 1000) + d.Prefill(4000, 2500)
	if diff := whole - parts; diff < -1 || diff > 1 {
		t.Errorf("whole %v, in parts %v", whole, parts)
	}
}

func TestAnUnknownDeploymentIsNotFound(t *testing.T) {
	if _, ok := DeploymentNamed("L9B"); ok {
		t.Error("L9B was found")
	}
}
