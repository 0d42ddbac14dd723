package wire

// Field says what a field of a chunk or of a complete message holds.
type Field uint8

// The fields that a gateway reads; any other is skipped. Counts of completion tokens are not among them: the
// dialects, and versions of one dialect, disagree about what they count, so the ids themselves are counted.
const (
	skipped Field = iota
	Tokens
	PromptTokens
	CachedTokens
	ReasoningTokens
	Index
	OutputLogprobs
	InputLogprobs
	FinishReason
	MatchedToken
	MatchedStop
	SpecAccepted
	SpecDraft
)

// Fields maps field numbers to what they hold.
type Fields [16]Field

// Layout is where a dialect keeps what, in its GenerateResponse.
type Layout struct {
	Chunk, Complete             uint64 // numbers of the two members of the oneof
	ChunkFields, CompleteFields Fields
	// NumbersByArrival: whole answers all carry index 0 and are told apart by the order in which they come.
	NumbersByArrival bool
}
