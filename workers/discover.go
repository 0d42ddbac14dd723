package workers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	// discoveryPoll is how soon a change of the file is noticed.
	discoveryPoll  = 200 * time.Millisecond
	discoveryLimit = 16 << 20
)

// Fleet is the content of a discovery file.
type Fleet struct {
	Version int      `json:"version"`
	Workers []Record `json:"workers"`
}

// Record is one worker in a discovery file.
type Record struct {
	ID            *string `json:"id,omitempty"`
	URL           string  `json:"url"`
	WorkerType    string  `json:"worker_type,omitempty"`
	BootstrapPort *int    `json:"bootstrap_port,omitempty"`
	ModelID       string  `json:"model_id,omitempty"`
	KVConnector   string  `json:"kv_connector,omitempty"`
	KVRole        string  `json:"kv_role,omitempty"`
	KVEngineID    string  `json:"kv_engine_id,omitempty"`
}

// ParseFleet reads a discovery file. Whatever is not as it should be rejects the whole of it: half a fleet is worse
// than yesterday's.
func ParseFleet(data []byte) ([]Spec, error) {
	var fleet Fleet
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&fleet); err != nil {
		return nil, fmt.Errorf("discovery file: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("discovery file: something follows the closing brace")
	}
	if fleet.Version != 1 {
		return nil, fmt.Errorf("discovery file: version %d, only 1 is known", fleet.Version)
	}
	if fleet.Workers == nil {
		return nil, errors.New("discovery file: workers: a list is needed, be it empty")
	}
	ids, urls := map[string]bool{}, map[string]bool{}
	specs := make([]Spec, 0, len(fleet.Workers))
	for i, record := range fleet.Workers {
		spec, err := record.spec()
		if err == nil && (urls[spec.URL] || spec.Instance != "" && ids[spec.Instance]) {
			err = errors.New("its id or url stands in the file twice")
		}
		if err != nil {
			return nil, fmt.Errorf("discovery file: workers[%d]: %w", i, err)
		}
		urls[spec.URL], ids[spec.Instance] = true, true
		specs = append(specs, spec)
	}
	return specs, nil
}

// spec turns a record into what the pool takes. The fields of split serving that it has no use for are accepted, since
// files that carry them are valid, and a worker that only prefills or only decodes is marked as such.
func (r Record) spec() (Spec, error) {
	spec := Spec{URL: strings.TrimSuffix(r.URL, "/"), Model: r.ModelID, Role: r.WorkerType}
	if r.ID != nil {
		if spec.Instance = *r.ID; spec.Instance == "" {
			return spec, errors.New("id: it may be left out, but not be empty")
		}
	}
	if spec.Role == "" && (r.KVRole == "kv_producer" || r.KVRole == "kv_consumer") {
		spec.Role = map[string]string{"kv_producer": "prefill", "kv_consumer": "decode"}[r.KVRole]
	}
	return spec, spec.check()
}

// watcher keeps the pool's discovered members equal to the last good content of a file.
type watcher struct {
	pool  *Pool
	path  string
	seen  os.FileInfo     // of the last read
	known map[string]Spec // by URL: what this watcher has added
}

// discover follows the discovery file until ctx ends.
func (p *Pool) discover(ctx context.Context) {
	d := &watcher{pool: p, path: p.cfg.DiscoveryFile, known: map[string]Spec{}}
	for next := time.Now(); ; {
		if now := time.Now(); d.touched() || !now.Before(next) {
			d.read()
			next = now.Add(seconds(p.cfg.DiscoveryInterval))
		}
		if !sleep(ctx, discoveryPoll) {
			return
		}
	}
}

// touched says whether the file is another than at the last read: a rename replaces it, a write changes it.
func (d *watcher) touched() bool {
	info, err := os.Stat(d.path)
	if err != nil || d.seen == nil {
		return (err == nil) != (d.seen != nil)
	}
	return !os.SameFile(info, d.seen) || !info.ModTime().Equal(d.seen.ModTime()) || info.Size() != d.seen.Size()
}

// read takes in the file; where it cannot, the last good list stays.
func (d *watcher) read() {
	d.seen, _ = os.Stat(d.path)
	data, err := readLimited(d.path)
	if err != nil {
		d.reject("unreadable", err)
		return
	}
	specs, err := ParseFleet(data)
	if err != nil {
		d.reject("invalid", err)
		return
	}
	count("leeway_discovery_reads_total", "result", "ok")
	d.apply(specs)
}

// reject keeps the last good list, and says so where an operator looks.
func (d *watcher) reject(result string, err error) {
	count("leeway_discovery_reads_total", "result", result)
	d.pool.log.Error().Err(err).Str("file", d.path).Msg("discovery file rejected; the last good list stays")
}

// readLimited reads a file that somebody else writes.
func readLimited(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, discoveryLimit+1))
	if err == nil && len(data) > discoveryLimit {
		err = fmt.Errorf("larger than %d MiB", discoveryLimit>>20)
	}
	return data, err
}

// apply removes what is gone, replaces what is another instance, updates what has changed and adds what is new.
func (d *watcher) apply(specs []Spec) {
	wanted := make(map[string]Spec, len(specs))
	for _, spec := range specs {
		wanted[spec.URL] = spec
	}
	for url, have := range d.known {
		if want, ok := wanted[url]; !ok || want.Instance != have.Instance {
			d.drop(url)
		}
	}
	for _, spec := range specs {
		have, ok := d.known[spec.URL]
		switch {
		case !ok:
			d.add(spec)
		case have.Model != spec.Model || have.Role != spec.Role:
			d.change(spec)
		}
	}
}

// add takes in a new worker. One that the static list or REST has brought already stays theirs.
func (d *watcher) add(spec Spec) {
	result := "success"
	if _, err := d.pool.Add(spec); err != nil {
		result = "failed"
		d.pool.log.Error().Err(err).Msg("discovered worker not added")
	} else {
		d.known[spec.URL] = spec
	}
	count("smg_discovery_registrations_total", "source", "file", "result", result)
}

func (d *watcher) change(spec Spec) {
	_, err := d.pool.Update(spec.URL, func(s *Spec) { s.Model, s.Role = spec.Model, spec.Role })
	if err != nil {
		d.pool.log.Error().Err(err).Msg("discovered worker not changed")
		return
	}
	d.known[spec.URL] = spec
}

// drop lets go of a worker that this watcher has brought.
func (d *watcher) drop(url string) {
	delete(d.known, url)
	if _, err := d.pool.Remove(url); err != nil {
		d.pool.log.Error().Err(err).Msg("discovered worker not removed")
	}
	count("smg_discovery_deregistrations_total", "source", "file", "reason", "gone")
}
