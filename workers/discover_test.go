package workers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leeway/workers/sim"
)

func TestADiscoveryFileIsTakenWholeOrNotAtAll(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		workers int
		wrong   string
	}{
		"empty fleet":     {`{"version":1,"workers":[]}`, 0, ""},
		"two":             {`{"version":1,"workers":[{"id":"a","url":"grpc://a:1"},{"url":"grpc://b:1/","worker_type":"decode","model_id":"m"}]}`, 2, ""},
		"no list":         {`{"version":1}`, 0, "list"},
		"no version":      {`{"workers":[]}`, 0, "version"},
		"next version":    {`{"version":2,"workers":[]}`, 0, "version 2"},
		"unknown field":   {`{"version":1,"workers":[{"url":"grpc://a:1","speed":2}]}`, 0, "speed"},
		"unknown type":    {`{"version":1,"workers":[{"url":"grpc://a:1","worker_type":"cook"}]}`, 0, "cook"},
		"empty id":        {`{"version":1,"workers":[{"id":"","url":"grpc://a:1"}]}`, 0, "id"},
		"same id":         {`{"version":1,"workers":[{"id":"a","url":"grpc://a:1"},{"id":"a","url":"grpc://b:1"}]}`, 0, "twice"},
		"same url":        {`{"version":1,"workers":[{"url":"grpc://a:1"},{"url":"grpc://a:1/"}]}`, 0, "twice"},
		"rank":            {`{"version":1,"workers":[{"url":"grpc://a:1@0"}]}`, 0, "rank"},
		"no url":          {`{"version":1,"workers":[{"id":"a"}]}`, 0, "grpc://"},
		"trailing":        {`{"version":1,"workers":[]} {}`, 0, "follows"},
		"cut off":         {`{"version":1,"workers":[`, 0, "discovery file"},
		"something other": {`[]`, 0, "discovery file"},
	} {
		specs, err := ParseFleet([]byte(c.text))
		if c.wrong == "" {
			if err != nil || len(specs) != c.workers {
				t.Errorf("%s: %d workers, %v", name, len(specs), err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func FuzzParseFleet(f *testing.F) {
	f.Add([]byte(`{"version":1,"workers":[{"id":"a","url":"grpc://a:1"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		specs, err := ParseFleet(data)
		for _, spec := range specs {
			if spec.check() != nil || err != nil {
				t.Errorf("took %+v, %v", spec, err)
			}
		}
	})
}

// writeFleet replaces a file as careful tools do: by a rename.
func writeFleet(t *testing.T, path, text string) {
	t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func TestTheFleetFollowsTheFile(t *testing.T) {
	a, b := startSim(t, sim.Options{}), startSim(t, sim.Options{})
	path := filepath.Join(t.TempDir(), "fleet.json")
	cfg := quick()
	cfg.DiscoveryFile = path
	pool, _ := startPool(t, cfg)
	fleet := func(workers ...string) string { return `{"version":1,"workers":[` + strings.Join(workers, ",") + `]}` }
	record := func(id, url, model string) string {
		return `{"id":"` + id + `","url":"` + url + `","model_id":"` + model + `"}`
	}

	writeFleet(t, path, fleet(record("1", a.URL(), ""), record("2", b.URL(), "")))
	waitState(t, pool, a.URL(), Ready)
	waitState(t, pool, b.URL(), Ready)
	first, _ := pool.Worker(a.URL())

	writeFleet(t, path, "broken")
	writeFleet(t, path, fleet(record("1", a.URL(), "renamed")))
	eventually(t, func() bool { s, _ := pool.Worker(a.URL()); return s.Model == "renamed" }, "the new name")
	eventually(t, func() bool { return len(pool.Workers()) == 1 }, "the second worker to go")
	if s, _ := pool.Worker(a.URL()); s.ID != first.ID {
		t.Error("a changed record made a new worker")
	}

	writeFleet(t, path, fleet(record("3", a.URL(), "")))
	eventually(t, func() bool { s, ok := pool.Worker(a.URL()); return ok && s.ID != first.ID }, "another instance")
	waitState(t, pool, a.URL(), Ready)

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	writeFleet(t, path, fleet())
	eventually(t, func() bool { return len(pool.Workers()) == 0 }, "an empty fleet")
}
