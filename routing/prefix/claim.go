package prefix

import (
	"slices"
	"time"
)

// Source is where a claim may come from: a worker, and the rank that requests to it are pinned to, or -1.
type Source struct {
	Feed *Feed
	Rank int32
	// Shared says that several ranks answer behind the worker's address and none is pinned.
	Shared bool
}

// Claim is what one source can prove to hold of a prompt at one moment.
type Claim struct {
	Word      Word
	BlockSize int // 0: not known yet
	Tokens    int // whole blocks from the first, without the prompt's last token; 0 if not certified

	feed   *Feed
	view   *view
	status status
	group  int    // of the query; -1: none
	last   uint64 // the longest prefix that is claimed
	left   uint64 // how many blocks the view had seen evicted
}

// Holds says whether the claim is still good: nothing has happened to the view's certificate since it was made.
func (c *Claim) Holds() bool {
	return c.Word == Certified && c.view.load() == c.status
}

// Query finds the claims of many sources on one prompt. It can be used again, and keeps its memory; it is not for
// concurrent use.
type Query struct {
	Claims []Claim // one for each source, in the order in which they were asked

	chains []chain
	inUse  int
	groups []group
}

// group is the views that one walk answers for: those of one lane with one block size.
type group struct {
	lane  *lane
	chain int
	views uint64
	depth [laneWidth]int32
}

// Ask fills in Claims.
func (q *Query) Ask(now time.Time, tokens []uint32, sources []Source) {
	q.Claims, q.groups, q.inUse = slices.Grow(q.Claims[:0], len(sources))[:len(sources)], q.groups[:0], 0
	at := Nanos(now)
	for i := range sources {
		c := &q.Claims[i]
		sources[i].claim(at, c)
		if c.Word == Certified && c.BlockSize > 0 {
			c.group = q.join(c, tokens)
		}
	}
	for i := range q.groups {
		g := &q.groups[i]
		g.lane.match(&q.chains[g.chain], g.views, &g.depth)
	}
	for i := range q.Claims {
		c := &q.Claims[i]
		if c.group < 0 {
			continue
		}
		g := &q.groups[c.group]
		if n := int(g.depth[bitIndex(c.view.bit)]); n > 0 {
			c.Tokens, c.last = n*c.BlockSize, q.chains[g.chain].hashes[n-1]
		}
	}
	for i := range q.chains[:q.inUse] {
		q.chains[i].tokens = nil // the prompt is not ours to keep
	}
}

// claim says whether a source may claim anything at a moment, in Unix nanoseconds.
func (s *Source) claim(now int64, c *Claim) {
	*c = Claim{feed: s.Feed, group: -1, Word: Unsupported}
	if s.Feed == nil {
		return
	}
	views := s.Feed.all()
	switch absent := Word(s.Feed.absent.Load()); {
	case absent != None:
		c.Word = absent
	case s.Feed.mismatch.Load():
		c.Word = Tokenizer
	case s.Shared || s.Rank < 0 && len(views) > 1:
		c.Word = Ranks
	default:
		c.Word = Warming
		for _, v := range views {
			if s.Rank < 0 || v.rank == s.Rank {
				c.view, c.status, c.left = v, v.load(), v.evicted.count.Load()
				c.Word, c.BlockSize = s.Feed.word(v, c.status, now), c.status.size()
			}
		}
	}
}

// join puts a claim's view into the group of its lane and block size.
func (q *Query) join(c *Claim, tokens []uint32) int {
	for i := range q.groups {
		if g := &q.groups[i]; g.lane == c.view.lane && q.chains[g.chain].size == c.BlockSize {
			g.views |= c.view.bit
			return i
		}
	}
	q.groups = append(q.groups, group{lane: c.view.lane, views: c.view.bit, chain: q.chain(tokens, c.BlockSize)})
	return len(q.groups) - 1
}

// chain returns the prompt's chain of a block size, begun when it is first asked for.
func (q *Query) chain(tokens []uint32, size int) int {
	for i := range q.chains[:q.inUse] {
		if q.chains[i].size == size {
			return i
		}
	}
	if q.inUse == len(q.chains) {
		q.chains = append(q.chains, chain{})
	}
	q.chains[q.inUse].begin(tokens, size)
	q.inUse++
	return q.inUse - 1
}
