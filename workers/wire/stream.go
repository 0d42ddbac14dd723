package wire

import (
	"context"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"leeway/workers/engine"
)

// Stream is the answer to a Generate call in any dialect.
type Stream struct {
	rpc     grpc.ClientStream
	whole   bool
	arrived int // whole answers so far
	part    part
	matched uint32
}

// generate sends request, a message of the dialect, to method and returns the answer, which layout describes.
func generate(ctx context.Context, conn grpc.ClientConnInterface, method string, request any, streamed bool, layout *Layout) (engine.Stream, error) {
	desc := grpc.StreamDesc{StreamName: "Generate", ServerStreams: true}
	rpc, err := conn.NewStream(ctx, &desc, method, grpc.ForceCodecV2(answerCodec{encoding.GetCodecV2(proto.Name)}))
	if err != nil {
		return nil, Error(err)
	}
	// io.EOF says that the worker has already ended the call; why is for Recv to tell.
	if err := rpc.SendMsg(request); err != nil && err != io.EOF {
		return nil, Error(err)
	}
	if err := rpc.CloseSend(); err != nil {
		return nil, Error(err)
	}
	return &Stream{rpc: rpc, whole: !streamed, part: part{layout: layout}}, nil
}

// Recv implements engine.Stream.
func (s *Stream) Recv(d *engine.Delta) error {
	for {
		if err := s.rpc.RecvMsg(&s.part); err != nil {
			if err == io.EOF {
				return io.EOF
			}
			return Error(err)
		}
		if s.part.kind == s.part.layout.complete || (s.part.kind == s.part.layout.chunk && !s.whole) {
			return s.fill(d)
		}
	}
}

// fill makes a delta of the part. In a stream the ids come from chunks alone: a complete message repeats the last of
// them, or all.
func (s *Stream) fill(d *engine.Delta) (err error) {
	p := &s.part
	*d = engine.Delta{
		Index:           p.count(Index),
		PromptTokens:    p.count(PromptTokens),
		CachedTokens:    p.count(CachedTokens),
		ReasoningTokens: p.count(ReasoningTokens),
		SpecAccepted:    p.count(SpecAccepted),
		SpecDraft:       p.count(SpecDraft),
		Done:            p.kind == p.layout.complete,
	}
	if s.whole || !d.Done {
		d.Tokens = p.tokens
		if d.Logprobs, err = p.output.entries(len(p.tokens)); err != nil {
			return err
		}
		if d.PromptLogprobs, err = p.input.entries(-1); err != nil {
			return err
		}
	}
	if !d.Done {
		return nil
	}
	d.FinishReason, d.MatchedStop = p.finish, p.stop
	if p.hasToken {
		s.matched = uint32(p.numbers[MatchedToken])
		d.MatchedToken = &s.matched
	}
	if s.whole && p.layout.NumbersByArrival {
		d.Index = s.arrived
	}
	s.arrived++
	return nil
}

// answerCodec decodes answers by hand; requests go through the ordinary codec.
type answerCodec struct{ encoding.CodecV2 }

// Unmarshal implements encoding.CodecV2.
func (answerCodec) Unmarshal(data mem.BufferSlice, v any) error {
	p, ok := v.(*part)
	if !ok {
		return fmt.Errorf("answers decode into a part, not into %T", v)
	}
	b := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer b.Free()
	return p.decode(b.ReadOnlyData())
}
