package tokenizer

import (
	"fmt"
	"math"
)

// unigram finds the segmentation of a word whose tokens have the highest sum of scores.
type unigram struct {
	vocab        *vocab
	scores       []float64
	trie         *byteTrie
	unk          uint32
	unkScore     float64
	byteFallback bool
	fallback     [256]uint32
}

// unkPenalty is how far an unknown character lies below the worst token.
const unkPenalty = 10

// lattice is an encoder's room for the best path to every byte of a word.
type lattice struct {
	best []node
}

type node struct {
	score float64
	start int32 // where the path's last token starts, -1 where no path ends
	id    uint32
}

func (m *modelSpec) newUnigram() (*unigram, error) {
	if m.scores == nil {
		return nil, fmt.Errorf("model.vocab: Unigram wants a list of tokens and scores")
	}
	if m.unkID < 0 || m.unkID >= len(m.scores) {
		return nil, fmt.Errorf("model.unk_id: %d is not in the vocabulary", m.unkID)
	}
	u := &unigram{vocab: m.vocab, scores: m.scores, unk: uint32(m.unkID), byteFallback: m.byteFallback, trie: newByteTrie()}
	low := math.Inf(1)
	for id, score := range m.scores {
		low = min(low, score)
		if text := m.vocab.text(uint32(id)); len(text) > 0 {
			u.trie.insert(text, m.vocab.id(text))
		}
	}
	u.unkScore = low - unkPenalty
	for b := range 256 {
		u.fallback[b] = m.vocab.idOf(fmt.Sprintf("<0x%02X>", b))
	}
	return u, nil
}

func (m *unigram) encode(e *encoder, word string) {
	if len(word) == 0 {
		return
	}
	place, key, known := e.recall(word)
	if known {
		return
	}
	start := len(e.ids)
	m.segment(e, word)
	if place != nil {
		place.put(key, e.ids[start:])
	}
}

// segment appends the tokens of a word that is not in the cache.
func (m *unigram) segment(e *encoder, word string) {
	best := e.lattice.reset(len(word) + 1)
	for i := 0; i < len(word); {
		here := best[i].score
		_, size := runeAt(word, i)
		single := false
		at := int32(0)
		for end := i; end < len(word); {
			if at = m.trie.step(at, word[end]); at < 0 {
				break
			}
			end++
			if id := m.trie.ids[at]; id != noID {
				best[end].offer(here+m.scores[id], i, id)
				single = single || end-i == size
			}
		}
		if !single {
			best[i+size].offer(here+m.unkScore, i, m.unk)
		}
		i += size
	}
	m.collect(e, best, word)
}

func (n *node) offer(score float64, start int, id uint32) {
	if n.start < 0 || score > n.score {
		*n = node{score, int32(start), id}
	}
}

func (l *lattice) reset(n int) []node {
	if cap(l.best) < n {
		l.best = make([]node, n)
	}
	l.best = l.best[:n]
	for i := range l.best {
		l.best[i] = node{start: -1}
	}
	return l.best
}

// collect appends the tokens of the best path. Unknown characters in a row are one token, or the bytes of all of them.
func (m *unigram) collect(e *encoder, best []node, word string) {
	start := len(e.ids)
	for end := len(word); end > 0; {
		n := best[end]
		from := int(n.start)
		if n.id == m.unk {
			for from > 0 && best[from].id == m.unk {
				from = int(best[from].start)
			}
			m.unknown(e, word[from:end])
		} else {
			e.ids = append(e.ids, n.id)
		}
		end = from
	}
	reverse(e.ids[start:])
}

// unknown appends what stands for a text without a token, in reverse.
func (m *unigram) unknown(e *encoder, text string) {
	if id := m.vocab.idOf(text); id != noID {
		e.ids = append(e.ids, id)
		return
	}
	start := len(e.ids)
	for i := len(text) - 1; i >= 0 && m.byteFallback; i-- {
		id := m.fallback[text[i]]
		if id == noID {
			e.ids = e.ids[:start]
			break
		}
		e.ids = append(e.ids, id)
	}
	if len(e.ids) == start {
		e.ids = append(e.ids, m.unk)
	}
}

func reverse(ids []uint32) {
	for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
}

// byteTrie maps texts to ids by their bytes; its edges lie in one open-addressed table, keyed by node and byte.
type byteTrie struct {
	ids   []uint32
	keys  []uint64 // node and byte, plus one; 0 is free
	nodes []int32
	used  int
}

func newByteTrie() *byteTrie {
	return &byteTrie{ids: []uint32{noID}, keys: make([]uint64, 1<<10), nodes: make([]int32, 1<<10)}
}

// slot returns the place of an edge, or where it belongs.
func (t *byteTrie) slot(key uint64) int {
	mask := len(t.keys) - 1
	i := int(key*0x9e3779b97f4a7c15>>32) & mask
	for t.keys[i] != 0 && t.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

func (t *byteTrie) step(at int32, c byte) int32 {
	if i := t.slot(uint64(at)<<8 + uint64(c) + 1); t.keys[i] != 0 {
		return t.nodes[i]
	}
	return -1
}

func (t *byteTrie) insert(text []byte, id uint32) {
	at := int32(0)
	for _, c := range text {
		key := uint64(at)<<8 + uint64(c) + 1
		i := t.slot(key)
		if t.keys[i] == 0 {
			t.keys[i], t.nodes[i] = key, int32(len(t.ids))
			t.ids = append(t.ids, noID)
			t.used++
		}
		at = t.nodes[i]
		if t.used*2 > len(t.keys) {
			t.grow()
		}
	}
	t.ids[at] = id
}

func (t *byteTrie) grow() {
	keys, nodes := t.keys, t.nodes
	t.keys, t.nodes = make([]uint64, 2*len(keys)), make([]int32, 2*len(keys))
	for i, key := range keys {
		if key != 0 {
			at := t.slot(key)
			t.keys[at], t.nodes[at] = key, nodes[i]
		}
	}
}
