package engine

import "time"

// Load is what a worker reported of its queues, one entry a rank.
type Load struct {
	// TakenAt is when the state was true, as far as can be told: when a poll was sent, or receipt less age for a push.
	TakenAt   time.Time
	RankCount int // as reported; it may disagree with the list, and then the sample is of no use
	Ranks     []RankLoad
	Version   string
}

// RankLoad is the load of one data-parallel rank.
type RankLoad struct {
	Rank            int32
	Running         int
	Waiting         int
	WaitingUncached *int     // prompt tokens waiting and not cached
	Usage           float64  // KV cache in use, 0 to 1
	ActiveUsage     *float64 // the part that running requests hold
	GenThroughput   float64  // tokens a second; 0: not reported
	CacheHitRate    float64
	UsedTokens      int
	MaxTokens       int // 0: not reported
	MaxRunning      int
	// EngineSilence is how long the engine has not finished a step, where the worker says so.
	EngineSilence *time.Duration
	// ReportsSteps says that silence means no step at all; else it may be a long prefill.
	ReportsSteps bool
	// PrefillPending is prompt tokens admitted and not yet computed.
	PrefillPending *int
}
