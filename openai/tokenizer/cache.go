package tokenizer

import (
	"container/list"
	"hash/maphash"
	"slices"
	"sync"
	"unicode/utf8"
)

// Cache encodes the prompts of conversations, which grow at the end: what a prompt has in common with an earlier one is
// not encoded again. Texts are remembered in blocks, each found by a hash of all text up to its end and compared byte for
// byte; a block holds the ids up to its last cut before an added token, where encoding can be taken up again without a
// difference. The least recently used blocks go when the bound is reached. Conversations share the blocks of a common
// beginning. A Cache may be used by many goroutines.
type Cache struct {
	t     *Tokenizer
	bound int
	seed  maphash.Seed
	guard int // how much text after a token may decide whether it is one

	mu     sync.Mutex // guards what follows
	blocks map[uint64]*list.Element
	recent *list.List // of *block, the most recently used first
	size   int
}

// block is a stretch of text, and the ids from the last cut of the blocks before it to its own.
type block struct {
	key  uint64
	text string
	ids  []uint32
	cut  int // where in the whole text the ids end; the cut before if there is none in the block
}

const (
	blockSize     = 4 << 10
	blockOverhead = 200
)

// NewCache returns a cache of at most bound bytes.
func (t *Tokenizer) NewCache(bound int) *Cache {
	c := &Cache{t: t, bound: bound, seed: maphash.MakeSeed(), blocks: map[uint64]*list.Element{}, recent: list.New()}
	for _, token := range t.addedToken {
		c.guard = max(c.guard, len(token.Content))
	}
	c.guard += 8 // the character before and after a token that must be a word of its own
	return c
}

// Encode returns the ids of a prompt, without special tokens around it: those of Tokenizer.Encode.
func (c *Cache) Encode(text string) []uint32 {
	if c.t.added == nil || len(text) < blockSize {
		return c.t.Encode(text, false)
	}
	keys := c.keys(text)
	known := c.lookup(keys, text)
	from, count := 0, 0
	for _, b := range known {
		count += len(b.ids)
		from = b.cut
	}
	if !utf8.ValidString(text[from:]) { // what is known is valid
		return c.t.Encode(text, false)
	}
	e := c.t.borrow()
	defer c.t.give(e)
	e.ids = make([]uint32, 0, count+(len(text)-from)/3+16)
	for _, b := range known {
		e.ids = append(e.ids, b.ids...)
	}
	e.marking = true
	e.text(text, from)
	if len(known) < len(keys) {
		c.remember(keys, known, text, e)
	}
	return slices.Clip(e.ids)
}

// keys returns the hash of the text up to the end of each whole block.
func (c *Cache) keys(text string) []uint64 {
	keys := make([]uint64, 0, len(text)/blockSize)
	last := uint64(0)
	for at := 0; at+blockSize <= len(text); at += blockSize {
		last = last*0x9e3779b97f4a7c15 ^ maphash.String(c.seed, text[at:at+blockSize])
		keys = append(keys, last)
	}
	return keys
}

// lookup returns the known blocks that the text begins with. Blocks do not change once they are in the table, so that
// their text can be compared outside the lock.
func (c *Cache) lookup(keys []uint64, text string) []*block {
	found := make([]*block, 0, len(keys))
	c.mu.Lock()
	for _, key := range keys {
		element := c.blocks[key]
		if element == nil {
			break
		}
		c.recent.MoveToFront(element)
		found = append(found, element.Value.(*block))
	}
	c.mu.Unlock()
	for i, b := range found {
		if b.text != text[i*blockSize:(i+1)*blockSize] {
			return found[:i]
		}
	}
	return found
}

// remember adds the blocks after the known ones, with the cuts that the encoder made.
func (c *Cache) remember(keys []uint64, known []*block, text string, e *encoder) {
	last := cut{}
	for _, b := range known {
		last = cut{text: b.cut, ids: last.ids + len(b.ids)}
	}
	var fresh []*block
	cuts := e.cuts
	for i := len(known); i < len(keys); i++ {
		next, end := last, (i+1)*blockSize
		for len(cuts) > 0 && cuts[0].decided+c.guard <= end {
			next, cuts = cuts[0], cuts[1:]
		}
		fresh = append(fresh, &block{keys[i], text[i*blockSize : end], slices.Clone(e.ids[last.ids:next.ids]), next.text})
		last = next
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range fresh {
		if c.blocks[b.key] != nil {
			continue
		}
		b.text = string([]byte(b.text)) // not a part of the whole prompt, which would stay with it
		c.blocks[b.key] = c.recent.PushFront(b)
		c.size += b.cost()
	}
	for c.size > c.bound && c.recent.Len() > 0 {
		old := c.recent.Remove(c.recent.Back()).(*block)
		delete(c.blocks, old.key)
		c.size -= old.cost()
	}
}

func (b *block) cost() int { return len(b.text) + 4*len(b.ids) + blockOverhead }

// Size returns how many bytes the cache holds.
func (c *Cache) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}
