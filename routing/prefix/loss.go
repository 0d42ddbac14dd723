package prefix

// Watch has every loss of a certificate told, with its rank, beside being counted. The function must call neither feed nor index.
func (f *Feed) Watch(lost func(rank int32, reason Word)) { f.watcher.Store(&lost) }

// lost counts the loss of a certificate.
func (f *Feed) lost(rank int32, w Word) {
	f.losses[w].Add(1)
	if tell := f.watcher.Load(); tell != nil {
		(*tell)(rank, w)
	}
}

// lose empties a view and withdraws its certificate, until the next batch of its rank.
func (f *Feed) lose(v *view, w Word) {
	if before := v.load().word(); before == Certified || v.behind != None {
		f.lost(v.rank, w)
	}
	v.behind = None
	v.sound = false
	v.empty(w)
}
