package routing

import (
	"cmp"
	"math"

	"leeway/routing/prefix"
)

// A preference is the bounded one of the package comment: what it concluded about one decision.
type preference struct {
	result    Result
	reasons   Reasons
	barred    string  // why it is ineligible
	preferred int     // index of a candidate
	against   int     // the one it was weighed against
	saving    float64 // prefill seconds saved at the preferred worker
	slack     float64 // seconds by which the preferred worker beats the other; 0 when it is the other
}

// ask finds out what each candidate can claim, if the request's cache can be foreseen at all: its prompt is its
// tokens, and one answer comes of it. It takes no lock.
func (d *decision) ask() {
	q := &d.request
	barred := q.bar()
	switch {
	case d.router.cacheAware:
		if q.PlainText {
			d.query.Ask(d.now, q.Tokens, d.sources)
			d.claimed = true
		}
	case d.mode == Off || d.scorer == nil:
	case barred != "":
		d.preference.result, d.preference.barred = Ineligible, barred
	case !d.whole:
		d.preference.result, d.preference.reasons, d.preference.barred = Ineligible, UnsupportedTopology.only(), "topology"
	default:
		d.query.Ask(d.now, q.Tokens, d.sources)
		d.claimed, d.asked = true, true
	}
}

// bar names what keeps a request from the preference, "" if nothing does.
func (q *Request) bar() string {
	switch {
	case !q.Chat:
		return "endpoint"
	case !q.Streaming:
		return "stream"
	case q.N > 1:
		return "n"
	case !q.PlainText:
		return "adapter_or_salt"
	}
	return ""
}

// prefer decides between the base choice and the owners of the prompt's prefix. In shadow, everything is computed on
// the accounts as they would be had the preference been enforced all along, the base choice included.
func (d *decision) prefer(base int) {
	p := &d.preference
	p.preferred, p.against = base, base
	switch {
	case !d.asked:
		return
	case d.pinned:
		p.result, p.barred = Ineligible, "session"
		return
	}
	of := book(realBook)
	if d.mode == Shadow {
		of = shadowBook
	}
	p.result, p.reasons = d.grounds()
	if p.result == Fallback {
		return
	}
	if d.mode == Shadow {
		again := d.scorer.best(d, of, &d.router.shadowChance, cmp.Or(d.recorded.against, d.names[base]))
		if again < 0 {
			return
		}
		p.preferred, p.against = again, again
	}
	if !d.weigh(of) {
		p.result, p.reasons, p.preferred = Fallback, ScorerError.only(), base
		return
	}
	p.preferred, p.slack = d.bestOwner(of)
	p.saving = d.candidates[p.preferred].Saving
}

// bestOwner returns the owner that beats the choice weighed against by the most, and by how much; that choice and 0 if
// none does. Owners that are equally good are drawn, as every tie is.
func (d *decision) bestOwner(of book) (owner int, most float64) {
	for i := range d.candidates {
		if d.candidates[i].Saving > 0 {
			most = max(most, d.slack(i, of))
		}
	}
	if most == 0 {
		return d.preference.against, 0
	}
	draw := d.router.shadowChance.draw()
	for i := range d.candidates {
		if d.candidates[i].Saving == 0 || d.slack(i, of) != most {
			continue
		}
		if draw.offer(i); d.names[i] == d.recorded.preferred {
			return i, most
		}
	}
	return draw.taken, most
}

// slack is what an owner saves more than the choice weighed against, beyond what it costs more; 0 if its queue is full.
func (d *decision) slack(i int, of book) float64 {
	x, b := &d.candidates[i], &d.candidates[d.preference.against]
	if of(x).Full {
		return 0
	}
	return (x.Saving - b.Saving) - (x.Cost - b.Cost)
}

// grounds says whether a preference can be computed, and what stood in its way where it stood.
func (d *decision) grounds() (Result, Reasons) {
	var certified, sized, whole, sampled, unsupported int // candidates of each kind
	var reasons Reasons
	unsampled := MissingLoad.only()
	if d.router.cfg.Unmonitored {
		unsampled = MonitorUnavailable.only()
	}
	for i := range d.candidates {
		x := &d.candidates[i]
		switch x.Certificate {
		case prefix.Certified:
			certified++
			sized += min(int(x.BlockSize), 1)
			if !x.Sampled {
				x.Reasons = unsampled
			}
		case prefix.Stale:
			x.Reasons = StaleKV.only()
		case prefix.Unsupported:
			unsupported++
		}
		reasons |= x.Reasons
		if x.BlockSize == 0 || d.tokens >= int(x.BlockSize) {
			whole++
		}
		if x.Sampled {
			sampled++
		}
	}
	all := len(d.candidates)
	switch {
	case all < 2:
		return Fallback, InsufficientWorkers.only()
	case d.tokens == 0:
		return Fallback, MissingPromptTokens.only()
	case whole == 0:
		return Fallback, NoContentBlocks.only()
	case unsupported == all:
		return Fallback, IndexerUnavailable.only()
	case certified == 0:
		return Fallback, reasons | NoCertifiedStreams.only()
	case sized == 0:
		return Fallback, reasons | BlockSizeUnavailable.only()
	case sampled == 0:
		return Fallback, reasons | unsampled
	}
	if certified < all {
		return Partial, reasons
	}
	return Complete, reasons
}

// weigh fills in what each candidate costs and what it saves. Only a certified worker with a usable load saves. The
// calibrated cost is the prefill ahead of the request, and what the worker takes longer than the one it is weighed
// against to compute the whole prompt and to begin with those that wait; to be faster there is nothing that a cache
// saves. What others had queued at that one counts by a fresh sample only: by now it may be computed. It is false if a
// cost is no number.
func (d *decision) weigh(of book) (sound bool) {
	prefixes, against := int32(0), &d.candidates[d.preference.against]
	sound = true
	for i := range d.candidates {
		x := &d.candidates[i]
		x.Cost = of(x).Score
		rate := d.router.cfg.PrefillThroughput
		credit := x.Sampled
		if d.router.calibrated {
			rate = x.PrefillRate
			backlog, stale := of(x).Backlog, x.Sampled && x.SampleAge > maxCalibratedAge
			if !stale || x != against {
				backlog += x.OthersBacklog
			}
			slower := float64(d.tokens)/rate - float64(d.tokens)/against.PrefillRate
			x.Cost = float64(backlog)/rate + max(0, slower) + max(0, x.Overdue-against.Overdue)
			if stale {
				credit = false
				x.Reasons |= StaleLoad.only()
				d.preference.reasons |= StaleLoad.only()
			}
		}
		x.Saving = 0
		if credit {
			x.Saving = float64(x.Cached) / rate
		}
		if x.Certificate == prefix.Certified && x.Cached == 0 {
			x.Reasons |= NoPrefix.only()
		}
		prefixes += x.Cached
		x.Net = x.Cost - x.Saving
		sound = sound && finite(x.Net)
	}
	if prefixes == 0 {
		d.preference.reasons |= NoPrefix.only()
	}
	return sound
}

// maxCalibratedAge is the oldest load, in seconds, that the calibrated cost gives credit on: a backlog is a matter of
// a second.
const maxCalibratedAge = 1

// holds checks the claims again, under the lock, and writes them down: one whose view has changed since is void.
func (d *decision) holds() {
	if !d.claimed {
		return
	}
	for i := range d.candidates {
		x, c := &d.candidates[i], &d.query.Claims[i]
		x.Certificate, x.BlockSize, x.Cached = c.Word, int32(c.BlockSize), int32(c.Tokens)
		if c.Word == prefix.Certified && !c.Holds() {
			c.Word, x.Certificate, x.Cached = prefix.Stale, prefix.Stale, 0
		}
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
