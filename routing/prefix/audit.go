package prefix

import (
	"math/bits"
	"time"
)

// Finding is what an answer said of the claim that it was sent with.
type Finding uint8

// The findings.
const (
	Exact Finding = iota
	Under         // the engine had more cached than was claimed
	Over          // the engine had less
	findings
)

var findingNames = [findings]string{"exact", "under", "over"}

func (f Finding) String() string { return findingNames[min(f, findings-1)] }

// Audit compares a claim with the tokens that the engine found cached. A claim that exceeds them by more than a
// block is refuted: the view is emptied and its certificate withdrawn, unless it is another by now. Nor does it refute
// the view that the engine evicted while the request waited what was claimed for it, and said so, of as many blocks as
// were found missing: engines evict the end of a prefix before its beginning, so it is the claim's last block that tells.
func (c *Claim) Audit(cached int) Finding {
	if c.Word != Certified {
		return Exact
	}
	found := Exact
	switch {
	case cached > c.Tokens:
		found = Under
	case cached < c.Tokens:
		found = Over
	}
	c.feed.audits[found].Add(1)
	if missing := (c.Tokens - cached - 1) / max(c.BlockSize, 1); missing > 0 {
		c.feed.mu.Lock()
		defer c.feed.mu.Unlock()
		if c.view.load() == c.status && !c.view.evicted.left(c.last, c.left, missing) {
			c.feed.lose(c.view, Refuted)
		}
	}
	return found
}

// CountPrompt compares the engine's count of a prompt's tokens with ours. While they differ the worker claims
// nothing: its blocks are of other tokens than ours.
func (f *Feed) CountPrompt(engine, ours int) {
	differ := engine != ours
	if f.mismatch.Swap(differ) != differ && differ {
		f.lost(0, Tokenizer)
	}
}

// silence is how many prompts a rank may compute without an event before it is called silent; a prompt shorter than
// silentTokens may be less than a block.
const (
	silence      = 32
	silentTokens = 256
)

// Served notes that a rank, or with -1 the worker, has computed tokens of a prompt, which it should tell of.
func (f *Feed) Served(rank int32, computed int) {
	if computed < silentTokens {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.untold == nil {
		f.untold = map[int32]int{}
	}
	f.untold[rank]++
}

// told notes that a rank, and with it the worker, has told of something.
func (f *Feed) told(b *Batch) {
	if len(b.Events) > 0 {
		delete(f.untold, b.Rank)
		delete(f.untold, -1)
	}
}

func (f *Feed) stats(now time.Time) Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Stats{Worker: f.worker, Lag: time.Duration(f.lag.Load())}
	for _, untold := range f.untold {
		s.Silent = s.Silent || untold >= silence
	}
	views, ranks := f.all(), int(f.ranks.Load())
	s.Certified = len(views) == 1 && ranks == 0 || ranks > 0 && len(views) >= ranks
	s.Certified = s.Certified && !f.mismatch.Load()
	for _, v := range views {
		s.Certified = s.Certified && f.word(v, v.load(), Nanos(now)) == Certified
		s.Blocks += v.blocks.count
		s.Bytes += v.blocks.bytes()
	}
	for w := range f.losses {
		s.Losses[w] = f.losses[w].Load()
	}
	for i := range f.audits {
		s.Audits[i] = f.audits[i].Load()
	}
	return s
}

// bitIndex returns the place of a view's bit.
func bitIndex(bit uint64) int { return bits.TrailingZeros64(bit) }
