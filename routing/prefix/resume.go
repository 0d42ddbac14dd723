package prefix

import "time"

// Start says where to subscribe: after the last batch of rank 0, which is the only one that a stream can be resumed for,
// or with 0 from where the worker is: if there was none, if it was number 0, or if the worker refuses cursors.
func (f *Feed) Start() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.start()
}

func (f *Feed) start() uint64 {
	if v := f.find(0); v != nil && v.based && !f.noResume {
		return v.cursor
	}
	return 0
}

// patience is how long a worker that did not have what was missed is not asked for such batches again.
const patience = time.Minute

// resumes says whether a worker is to be asked for what a view has missed: if it may be behind where a stream can be
// resumed, and if the worker is not one that loses batches before it remembers them, which would be asked in vain for
// each of them.
func (f *Feed) resumes(at time.Time, v *view) bool {
	start := f.start()
	return start > 0 && v.cursor >= start && (f.lacking.IsZero() || at.Sub(f.lacking) >= patience)
}

// NoResume says that the worker's process refuses cursors: from now on a gap empties the view at once.
func (f *Feed) NoResume() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noResume = true
}

// Cursor returns the last sequence number applied for a rank.
func (f *Feed) Cursor(rank int32) (sequence uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v := f.find(rank); v != nil {
		return v.cursor, v.based
	}
	return 0, false
}
