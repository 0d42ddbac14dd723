package wire

import (
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/sglangpb"
)

// layout is that of one dialect.
var layout = LayoutOf(&pb.GenerateResponse{})

func chunkOf(c *pb.GenerateStreamChunk) *pb.GenerateResponse {
	return &pb.GenerateResponse{RequestId: "r", Response: &pb.GenerateResponse_Chunk{Chunk: c}}
}

func completeOf(c *pb.GenerateComplete) *pb.GenerateResponse {
	return &pb.GenerateResponse{RequestId: "r", Response: &pb.GenerateResponse_Complete{Complete: c}}
}

func decode(t *testing.T, m proto.Message) *Stream {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	s := &Stream{part: part{layout: &layout}}
	if err := s.part.decode(b); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAChunkDecodesToItsIdsAndCounters(t *testing.T) {
	s := decode(t, chunkOf(&pb.GenerateStreamChunk{
		TokenIds: []uint32{1, 300, 151645}, PromptTokens: 40, CompletionTokens: 99, CachedTokens: 32, Index: 1, ReasoningTokens: 2,
	}))
	var d engine.Delta
	if err := s.fill(&d); err != nil {
		t.Fatal(err)
	}
	want := engine.Delta{Index: 1, Tokens: []uint32{1, 300, 151645}, PromptTokens: 40, CachedTokens: 32, ReasoningTokens: 2}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got %+v, want %+v", d, want)
	}
}

// case H2
func TestACompleteMessageOfAStreamAddsNoIds(t *testing.T) {
	s := decode(t, completeOf(&pb.GenerateComplete{
		OutputIds: []uint32{1, 2, 3}, FinishReason: "stop", PromptTokens: 7, CachedTokens: 4,
		MatchedStop: &pb.GenerateComplete_MatchedTokenId{MatchedTokenId: 0},
	}))
	var d engine.Delta
	if err := s.fill(&d); err != nil {
		t.Fatal(err)
	}
	if len(d.Tokens) != 0 || !d.Done || d.FinishReason != "stop" || d.MatchedToken == nil || *d.MatchedToken != 0 {
		t.Errorf("got %+v", d)
	}
}

func TestWholeAnswersThatAllCarryIndexZeroAreNumberedAsTheyCome(t *testing.T) {
	numbered := layout
	numbered.NumbersByArrival = true
	s := &Stream{whole: true, part: part{layout: &numbered}}
	for want := range 3 {
		b, _ := proto.Marshal(completeOf(&pb.GenerateComplete{OutputIds: []uint32{uint32(want)}, FinishReason: "length"}))
		var d engine.Delta
		if err := s.part.decode(b); err != nil {
			t.Fatal(err)
		}
		if err := s.fill(&d); err != nil {
			t.Fatal(err)
		}
		if d.Index != want || len(d.Tokens) != 1 {
			t.Errorf("answer %d came as %+v", want, d)
		}
	}
}

func TestLogprobsStandBesideTheirTokens(t *testing.T) {
	s := decode(t, chunkOf(&pb.GenerateStreamChunk{
		TokenIds: []uint32{5, 6},
		OutputLogprobs: &pb.OutputLogProbs{
			TokenIds: []uint32{5, 6}, TokenLogprobs: []float32{-0.5, -1},
			TopLogprobs: []*pb.TopLogProbs{{TokenIds: []uint32{5, 9}, Values: []float32{-0.5, -2}}, {TokenIds: []uint32{6}, Values: []float32{-1}}},
		},
		InputLogprobs: &pb.InputLogProbs{
			TokenIds: []uint32{1, 2}, TokenLogprobs: []*pb.InputTokenLogProb{{}, {Value: proto.Float32(-3)}},
		},
	}))
	var d engine.Delta
	if err := s.fill(&d); err != nil {
		t.Fatal(err)
	}
	want := []engine.Logprob{
		{Token: 5, Value: -0.5, Top: []engine.TopLogprob{{Token: 5, Value: -0.5}, {Token: 9, Value: -2}}},
		{Token: 6, Value: -1, Top: []engine.TopLogprob{{Token: 6, Value: -1}}},
	}
	if !reflect.DeepEqual(d.Logprobs, want) {
		t.Errorf("got %+v, want %+v", d.Logprobs, want)
	}
	if p := d.PromptLogprobs; len(p) != 2 || !math.IsNaN(p[0].Value) || p[1].Value != -3 {
		t.Errorf("prompt: got %+v", p)
	}
}

func TestMissingLogprobsAreAnError(t *testing.T) {
	s := decode(t, chunkOf(&pb.GenerateStreamChunk{
		TokenIds: []uint32{5, 6}, OutputLogprobs: &pb.OutputLogProbs{TokenIds: []uint32{5}, TokenLogprobs: []float32{-1}},
	}))
	if err := s.fill(new(engine.Delta)); err == nil {
		t.Error("a token without its log probability went through")
	}
}

func TestBuffersHoldNothingOfTheMessageBefore(t *testing.T) {
	s := decode(t, chunkOf(&pb.GenerateStreamChunk{
		TokenIds: []uint32{1, 2, 3}, CachedTokens: 9, Index: 1,
		OutputLogprobs: &pb.OutputLogProbs{TokenIds: []uint32{1, 2, 3}, TokenLogprobs: []float32{-1, -1, -1}},
	}))
	b, _ := proto.Marshal(chunkOf(&pb.GenerateStreamChunk{TokenIds: []uint32{4}}))
	if err := s.part.decode(b); err != nil {
		t.Fatal(err)
	}
	var d engine.Delta
	if err := s.fill(&d); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d, engine.Delta{Tokens: []uint32{4}}) {
		t.Errorf("got %+v", d)
	}
}

func FuzzDecode(f *testing.F) {
	seed, _ := proto.Marshal(completeOf(&pb.GenerateComplete{
		OutputIds: []uint32{1, 2}, FinishReason: "stop", MatchedStop: &pb.GenerateComplete_MatchedStopStr{MatchedStopStr: "x"},
		OutputLogprobs: &pb.OutputLogProbs{TokenIds: []uint32{1, 2}, TokenLogprobs: []float32{-1, -2}},
	}))
	f.Add(seed)
	seed, _ = proto.Marshal(chunkOf(&pb.GenerateStreamChunk{TokenIds: []uint32{1, 1 << 31}, Index: 3, PromptTokens: 70000}))
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		p := part{layout: &layout}
		err := p.decode(b)
		var m pb.GenerateResponse
		if proto.Unmarshal(b, &m) != nil || err != nil {
			return
		}
		if chunk := m.GetChunk(); chunk != nil && m.GetComplete() == nil {
			if !reflect.DeepEqual(p.tokens, chunk.GetTokenIds()) && len(p.tokens)+len(chunk.GetTokenIds()) > 0 {
				t.Errorf("ids: got %v, protobuf reads %v", p.tokens, chunk.GetTokenIds())
			}
			if uint32(p.numbers[Index]) != chunk.GetIndex() || uint32(p.numbers[PromptTokens]) != chunk.GetPromptTokens() {
				t.Errorf("numbers: got %v, protobuf reads %v", p.numbers, chunk)
			}
		}
		if done := m.GetComplete(); done != nil && done.GetFinishReason() != p.finish {
			t.Errorf("finish reason: got %q, protobuf reads %q", p.finish, done.GetFinishReason())
		}
	})
}

func BenchmarkDecodeChunk(b *testing.B) {
	wire, _ := proto.Marshal(chunkOf(&pb.GenerateStreamChunk{TokenIds: []uint32{151645}, PromptTokens: 1200, CompletionTokens: 64, CachedTokens: 1024}))
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		s := &Stream{part: part{layout: &layout}}
		var d engine.Delta
		for b.Loop() {
			if s.part.decode(wire) != nil || s.fill(&d) != nil {
				b.Fatal("broken")
			}
		}
	})
	b.Run("protobuf", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m pb.GenerateResponse
			if proto.Unmarshal(wire, &m) != nil {
				b.Fatal("broken")
			}
		}
	})
}
