package tokenizer

// smallWord is the length up to which looking at every pair for the lowest rank is faster than keeping a heap.
const smallWord = 40

// mergeScratch is an encoder's room for merging; it is kept between words.
type mergeScratch struct {
	ranks []uint32
	prev  []int32
	next  []int32
	heap  []uint64
}

// mergeSmall merges the symbols in place: always the lowest rank, the leftmost of equals. ranks[i] is the rank of the pair
// at i, with room for as many as there are symbols.
func (m *bpe) mergeSmall(sym, ranks []uint32) []uint32 {
	n := len(sym)
	if n < 2 {
		return sym
	}
	ranks = ranks[:n]
	ranks[n-1] = noRank
	for {
		at, low := 0, ranks[0]
		for i, r := range ranks[:n] {
			if r < low {
				at, low = i, r
			}
		}
		if low == noRank {
			return sym[:n]
		}
		n--
		merged := m.merges.result[low]
		sym[at] = merged
		for i := at + 1; i < n; i++ {
			sym[i], ranks[i] = sym[i+1], ranks[i+1]
		}
		ranks[at] = noRank
		if at+1 < n {
			ranks[at] = m.merges.rank(merged, sym[at+1])
		}
		if at > 0 {
			ranks[at-1] = m.merges.rank(sym[at-1], merged)
		}
	}
}

// mergeLarge does the same for long words in n log n: a heap of rank and position, with stale entries recognised by
// their rank when they come up.
func (m *bpe) mergeLarge(e *encoder, sym []uint32) []uint32 {
	w := &e.merge
	n := len(sym)
	w.reset(n)
	for i := range n - 1 {
		w.ranks[i] = m.merges.rank(sym[i], sym[i+1])
		if w.ranks[i] != noRank {
			w.heap = append(w.heap, uint64(w.ranks[i])<<32|uint64(i))
		}
	}
	w.heapify()
	for len(w.heap) > 0 {
		top := w.pop()
		at, rank := int32(uint32(top)), uint32(top>>32)
		if w.ranks[at] != rank {
			continue
		}
		gone := w.next[at]
		after := w.next[gone]
		sym[at] = m.merges.result[rank]
		w.next[at] = after
		w.ranks[gone] = noRank
		w.ranks[at] = noRank
		if int(after) < n {
			w.prev[after] = at
			w.offer(at, m.merges.rank(sym[at], sym[after]))
		}
		if before := w.prev[at]; before >= 0 {
			w.offer(before, m.merges.rank(sym[before], sym[at]))
		}
	}
	kept := 0
	for i := int32(0); int(i) < n; i = w.next[i] {
		sym[kept] = sym[i]
		kept++
	}
	return sym[:kept]
}

func (w *mergeScratch) reset(n int) {
	if cap(w.ranks) < n {
		w.ranks, w.prev, w.next = make([]uint32, n), make([]int32, n), make([]int32, n)
	}
	w.ranks, w.prev, w.next, w.heap = w.ranks[:n], w.prev[:n], w.next[:n], w.heap[:0]
	for i := range n {
		w.prev[i], w.next[i] = int32(i-1), int32(i+1)
	}
	w.ranks[n-1] = noRank
}

// offer notes the new rank of the pair at a position.
func (w *mergeScratch) offer(at int32, rank uint32) {
	w.ranks[at] = rank
	if rank == noRank {
		return
	}
	w.heap = append(w.heap, uint64(rank)<<32|uint64(uint32(at)))
	i := len(w.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if w.heap[up] <= w.heap[i] {
			break
		}
		w.heap[up], w.heap[i] = w.heap[i], w.heap[up]
		i = up
	}
}

func (w *mergeScratch) heapify() {
	for i := len(w.heap)/2 - 1; i >= 0; i-- {
		w.down(i)
	}
}

func (w *mergeScratch) pop() uint64 {
	top, last := w.heap[0], len(w.heap)-1
	w.heap[0] = w.heap[last]
	w.heap = w.heap[:last]
	w.down(0)
	return top
}

func (w *mergeScratch) down(i int) {
	h := w.heap
	for {
		low := 2*i + 1
		if low >= len(h) {
			return
		}
		if low+1 < len(h) && h[low+1] < h[low] {
			low++
		}
		if h[i] <= h[low] {
			return
		}
		h[i], h[low] = h[low], h[i]
		i = low
	}
}
