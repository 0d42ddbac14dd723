package prefix

import "time"

// Batch is one message of a worker's event stream, in words that no dialect owns.
type Batch struct {
	Sequence uint64
	Rank     int32     // an absent rank is rank 0
	Sent     time.Time // the publisher's clock; zero: not said
	Events   []Event
	// LoadOnly marks a heartbeat: it has no events, and its number repeats one that was sent before.
	LoadOnly bool
	Snapshot *Snapshot
}

// Snapshot places a batch in a series that together lists everything a worker holds.
type Snapshot struct {
	Index, Count uint32
	// UnknownBefore counts the batches that passed before the record began. More than 0: the list is not complete.
	UnknownBefore uint64
}

// Event is one change of the cache.
type Event struct {
	Kind Kind
	Place
	// Parent is the engine's hash of the block that the first of Blocks follows; without one it is a root.
	Parent    int64
	HasParent bool
	Blocks    []Block // of Stored, each the child of the one before
	Hashes    []int64 // of Removed
	// Foreign says that the blocks belong to an adapter or a cache salt, so that a plain prompt cannot use them.
	Foreign bool
}

// Kind says what an event does.
type Kind uint8

// The kinds of event.
const (
	Stored Kind = iota
	Removed
	Cleared
)

// Block is a full block of a prefix. Hash is the engine's handle; only Tokens say what the block holds.
type Block struct {
	Hash   int64
	Tokens []uint32
	Size   int // tokens in a full block; 0: not said
	// Foreign says that an image, an adapter or a salt tells this block apart from others of the same tokens.
	Foreign bool
	// Level is 0 for the device's own memory, more for what lies behind it.
	Level int32
}

// Place says which copy of a block an event is about.
type Place struct {
	Tier      Tier
	Medium    string // consulted where Tier is not said
	Group     int64  // of layers; -1: not said
	GroupKind string // "full_attention", "sliding_window", …; "": not said
	Remote    bool   // another machine's cache
	Owner     string // who manages the copy; "" is the engine
}

// Tier is where a copy lies.
type Tier uint8

// The tiers, nearest first.
const (
	TierUnsaid Tier = iota
	Device
	Host
	Disk
	External
)

// onDevice says whether the place is the engine's own cache on the device, the only one that saves prefill.
func (p *Place) onDevice() bool {
	if p.Remote || p.Owner != "" {
		return false
	}
	if p.Tier != TierUnsaid {
		return p.Tier == Device
	}
	return p.Medium == "" || p.Medium == "GPU" || p.Medium == "DEVICE"
}

// mainKind says whether a kind of layer group keeps every block of a prefix.
func mainKind(kind string) bool {
	return kind == "full_attention" || kind == "mla_attention" || kind == "sink_full_attention"
}

// clears is how often a batch empties the engine's whole cache.
func (b *Batch) clears() (times int) {
	for i := range b.Events {
		if b.Events[i].Kind == Cleared && b.Events[i].Owner == "" {
			times++
		}
	}
	return times
}
