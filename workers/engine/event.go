package engine

import "time"

// Batch is one message of a worker's KV-event stream: events of one rank under one sequence number, perhaps part
// of a snapshot, perhaps with a load record, perhaps nothing but the record.
type Batch struct {
	Sequence uint64
	Sent     time.Time // the publisher's clock; zero: not set
	Rank     int32     // an absent rank is rank 0
	Events   []Event
	Snapshot *Snapshot
	Load     *PushedLoad
	// LoadOnly marks a batch that says nothing about the sequence: a heartbeat.
	LoadOnly bool
}

// Snapshot places a batch within a snapshot of everything the rank holds.
type Snapshot struct {
	Index, Count  uint32
	Blocks        uint64 // physical copies in the whole snapshot
	UnknownBefore uint64 // batches that passed before the record began; more than 0: the snapshot is not complete
}

// PushedLoad is a load record that came on the event stream.
type PushedLoad struct {
	RankLoad
	Age    time.Duration // how old the record was when sent
	Sample uint64        // rises within a stream
}

// Event is one change of the cache. Exactly one of Stored, Removed, Cleared is set.
type Event struct {
	ID      uint64
	Stored  *Stored
	Removed *Removed
	Cleared *Cleared
}

// Place says which copy of a block an event is about.
type Place struct {
	Tier      Tier
	Level     *int32 // cache_level: 0 device, 1 host, 2 disk, 3 external
	Medium    string
	Group     *uint32
	GroupKind string // "full_attention", "sliding_window", …; "": not said
	Remote    bool
	Ownership string
}

// Tier is where a block lies.
type Tier uint8

// The tiers, as numbered on the wire.
const (
	TierUnspecified Tier = iota
	TierDevice
	TierHost
	TierDisk
	TierExternal
)

// Stored says that blocks entered the cache, each the child of the one before, the first of Parent.
type Stored struct {
	Place
	Parent    *int64
	Blocks    []Block
	LoRAName  string
	CacheSalt string
}

// Block is a full block of a prefix. Hash is the engine's own handle; only Tokens say what it holds.
type Block struct {
	Hash   int64
	Tokens []uint32
	Size   int
	LoRAID *int64
	Level  *int32
	// ExtraKeys says that more than the tokens tells this block apart (an image, an adapter, a salt).
	ExtraKeys bool
}

// Removed says that one copy of each block left the cache.
type Removed struct {
	Place
	Hashes []int64
}

// Cleared says that the cache was emptied.
type Cleared struct{ Ownership string }
