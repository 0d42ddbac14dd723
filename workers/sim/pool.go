package sim

import "math/bits"

// none ends a list of blocks.
const none = int32(-1)

// pool is an engine's KV memory: a fixed number of blocks, each free, in use by some sequences, or idle: full,
// unreferenced, findable by its key, and the first to go when memory is short, the least recently used first.
type pool struct {
	keys       []uint64 // by block; 0: it cannot be found
	refs       []int32
	prev, next []int32 // neighbours in the idle list
	oldest     int32
	newest     int32
	idle       int
	free       []int32
	index      keyTable
}

// newPool makes a pool of so many blocks, all free.
func newPool(blocks int) *pool {
	p := &pool{
		keys: make([]uint64, blocks), refs: make([]int32, blocks),
		prev: make([]int32, blocks), next: make([]int32, blocks),
		oldest: none, newest: none, free: make([]int32, blocks), index: newKeyTable(blocks),
	}
	for i := range p.free {
		p.free[i] = int32(blocks - 1 - i)
	}
	return p
}

func (p *pool) size() int      { return len(p.keys) }
func (p *pool) available() int { return len(p.free) + p.idle }
func (p *pool) inUse() int     { return p.size() - p.available() }

// find looks a block up by its key; none if it is not there.
func (p *pool) find(key uint64) int32 { return p.index.get(key) }

// pin takes a reference to a findable block.
func (p *pool) pin(b int32) {
	if p.refs[b] == 0 {
		p.unlink(b)
	}
	p.refs[b]++
}

// take hands out a block with one reference. If an idle one had to go for it, evicted is its key. The caller has
// checked available.
func (p *pool) take() (b int32, evicted uint64) {
	if n := len(p.free); n > 0 {
		b, p.free = p.free[n-1], p.free[:n-1]
	} else {
		b = p.oldest
		evicted = p.keys[b]
		p.forget(b)
	}
	p.refs[b] = 1
	return b, evicted
}

// name makes a full block findable. A block that holds the same already is returned in its stead, pinned, and b is
// given back.
func (p *pool) name(b int32, key uint64) (kept int32, isNew bool) {
	if other := p.index.get(key); other != none {
		p.pin(other)
		p.release(b)
		return other, false
	}
	p.keys[b] = key
	p.index.put(key, b)
	return b, true
}

// release gives up a reference. The last one makes a findable block idle and any other free.
func (p *pool) release(b int32) {
	p.refs[b]--
	if p.refs[b] > 0 {
		return
	}
	if p.keys[b] == 0 {
		p.free = append(p.free, b)
		return
	}
	p.prev[b], p.next[b] = p.newest, none
	if p.newest == none {
		p.oldest = b
	} else {
		p.next[p.newest] = b
	}
	p.newest = b
	p.idle++
}

// clear drops every idle block.
func (p *pool) clear() (keys []uint64) {
	for p.oldest != none {
		b := p.oldest
		keys = append(keys, p.keys[b])
		p.forget(b)
		p.free = append(p.free, b)
	}
	return keys
}

// forget makes an idle block one that cannot be found; the caller gives it a new use.
func (p *pool) forget(b int32) {
	p.unlink(b)
	p.index.remove(p.keys[b])
	p.keys[b] = 0
}

// unlink takes a block out of the idle list.
func (p *pool) unlink(b int32) {
	before, after := p.prev[b], p.next[b]
	if before == none {
		p.oldest = after
	} else {
		p.next[before] = after
	}
	if after == none {
		p.newest = before
	} else {
		p.prev[after] = before
	}
	p.idle--
}

// keyTable maps block keys to blocks: open addressing with linear probing over a table twice the pool, so that it
// never grows. Keys are hashes already, and never 0.
type keyTable struct {
	keys   []uint64
	blocks []int32
	mask   uint64
}

// newKeyTable has room for the keys of so many blocks at half its slots or less.
func newKeyTable(blocks int) keyTable {
	size := 1 << bits.Len(uint(2*blocks))
	return keyTable{keys: make([]uint64, size), blocks: make([]int32, size), mask: uint64(size - 1)}
}

func (t *keyTable) get(key uint64) int32 {
	for i := key & t.mask; t.keys[i] != 0; i = (i + 1) & t.mask {
		if t.keys[i] == key {
			return t.blocks[i]
		}
	}
	return none
}

// put enters a key that is not there.
func (t *keyTable) put(key uint64, b int32) {
	i := key & t.mask
	for t.keys[i] != 0 {
		i = (i + 1) & t.mask
	}
	t.keys[i], t.blocks[i] = key, b
}

// remove closes the gap that it makes, so that no probe ends too early.
func (t *keyTable) remove(key uint64) {
	i := key & t.mask
	for t.keys[i] != key {
		if t.keys[i] == 0 {
			return
		}
		i = (i + 1) & t.mask
	}
	for j := (i + 1) & t.mask; t.keys[j] != 0; j = (j + 1) & t.mask {
		home := t.keys[j] & t.mask
		if (j-home)&t.mask >= (j-i)&t.mask {
			t.keys[i], t.blocks[i] = t.keys[j], t.blocks[j]
			i = j
		}
	}
	t.keys[i] = 0
}
