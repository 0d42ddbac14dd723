package wire

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

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

// named says what the dialects call these fields. They agree on the names, not on the numbers.
var named = map[protoreflect.Name]Field{
	"token_ids": Tokens, "output_ids": Tokens, "prompt_tokens": PromptTokens, "cached_tokens": CachedTokens,
	"reasoning_tokens": ReasoningTokens, "index": Index, "output_logprobs": OutputLogprobs, "input_logprobs": InputLogprobs,
	"finish_reason": FinishReason, "matched_token_id": MatchedToken, "matched_stop_str": MatchedStop,
	"spec_accepted_tokens": SpecAccepted, "spec_draft_tokens": SpecDraft,
}

// Layout is where a dialect keeps what, in its GenerateResponse.
type Layout struct {
	chunk, complete             uint64  // numbers of the two members of the oneof
	chunkFields, completeFields []Field // by number
	// NumbersByArrival: whole answers all carry index 0 and are told apart by the order in which they come.
	NumbersByArrival bool
}

// LayoutOf reads the layout off a dialect's GenerateResponse.
func LayoutOf(response proto.Message) Layout {
	var l Layout
	members := response.ProtoReflect().Descriptor().Fields()
	for i := range members.Len() {
		switch m := members.Get(i); m.Name() {
		case "chunk":
			l.chunk, l.chunkFields = uint64(m.Number()), fieldsOf(m.Message())
		case "complete":
			l.complete, l.completeFields = uint64(m.Number()), fieldsOf(m.Message())
		}
	}
	return l
}

func fieldsOf(message protoreflect.MessageDescriptor) []Field {
	var fields []Field
	known := message.Fields()
	for i := range known.Len() {
		number := int(known.Get(i).Number())
		fields = append(fields, make([]Field, max(0, number+1-len(fields)))...)
		fields[number] = named[known.Get(i).Name()]
	}
	return fields
}
