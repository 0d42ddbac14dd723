package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
)

// commonFace answers the calls that are the same in every dialect.
type commonFace struct{ life *life }

// tokenizerChunk is the size of the slices in which a tokenizer travels.
const tokenizerChunk = 64 << 10

// GetTokenizer sends the tokenizer's archive in slices, the digest of the whole with the last.
func (f commonFace) GetTokenizer(_ *commonpb.GetTokenizerRequest, stream grpc.ServerStreamingServer[commonpb.GetTokenizerChunk]) error {
	bundle := f.life.w.bundle
	if bundle == nil {
		return status.Error(codes.FailedPrecondition, "the worker has no tokenizer directory")
	}
	sum := sha256.Sum256(bundle)
	for len(bundle) > 0 {
		n := min(len(bundle), tokenizerChunk)
		chunk := &commonpb.GetTokenizerChunk{Data: bundle[:n]}
		if bundle = bundle[n:]; len(bundle) == 0 {
			chunk.Sha256 = hex.EncodeToString(sum[:])
		}
		if err := stream.Send(chunk); err != nil {
			return err
		}
	}
	return nil
}

// SubscribeKvEvents follows the cache; what it tells of the past depends on the servicer.
func (f commonFace) SubscribeKvEvents(req *commonpb.SubscribeKvEventsRequest, stream grpc.ServerStreamingServer[commonpb.KvEventBatch]) error {
	return f.life.subscribe(req, stream)
}

// FlushCache empties the cache of every rank, unless a request holds part of it.
func (f commonFace) FlushCache(context.Context, *commonpb.FlushCacheRequest) (*commonpb.FlushCacheResponse, error) {
	for _, c := range f.life.cores {
		if !c.flush() {
			return &commonpb.FlushCacheResponse{Message: "requests are running"}, nil
		}
	}
	return &commonpb.FlushCacheResponse{Success: true, Message: "the cache is empty"}, nil
}

// StartProfile says yes to whoever asks.
func (f commonFace) StartProfile(context.Context, *commonpb.StartProfileRequest) (*commonpb.ProfileResponse, error) {
	return &commonpb.ProfileResponse{Success: true, Message: "there is nothing to profile"}, nil
}

// StopProfile says yes as well.
func (f commonFace) StopProfile(context.Context, *commonpb.StopProfileRequest) (*commonpb.ProfileResponse, error) {
	return &commonpb.ProfileResponse{Success: true, Message: "there was nothing to profile"}, nil
}

// check is a HealthCheck: the servicers of two dialects run a real token for it, which takes its time.
func (l *life) check(ctx context.Context) (healthy bool, message string) {
	if !sleep(ctx, l.w.o.HealthDelay) || !l.healthy() {
		return false, "the engine does not answer"
	}
	return true, "healthy"
}

// coreDead is how a servicer says that there is no engine behind it any more.
func (l *life) coreDead() error {
	if l.w.o.servicer() == Rust {
		return status.Error(codes.Unavailable, "the engine core is dead")
	}
	return status.Error(codes.Internal, "the engine core is dead")
}

// blockSize is what the worker says of its blocks.
func (l *life) blockSize() int {
	if f, ok := l.w.faults.one(FaultKVBlockSize); ok {
		return f.N
	}
	return l.w.o.BlockSize
}

// ranks is how many data-parallel ranks the worker says it has.
func (l *life) ranks() int {
	if f, ok := l.w.faults.one(FaultRanks); ok {
		return f.N
	}
	return len(l.cores)
}

// modelPath is where the model would lie.
func (l *life) modelPath() string {
	if l.w.o.TokenizerPath != "" {
		return l.w.o.TokenizerPath
	}
	return l.w.o.Model
}

// endIDs is what GetModelInfo says of them: the usual servicer reads the model's config alone, which names one.
func (l *life) endIDs() []int32 {
	var ids []int32
	for _, id := range l.w.voice.eos {
		ids = append(ids, int32(id))
	}
	if l.w.o.servicer() != Rust && len(ids) > 1 {
		ids = ids[:1]
	}
	return ids
}

func (l *life) uptime() time.Duration { return time.Since(l.started) }

// timestamp is the time as GetLoads writes it.
func timestamp() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// version is what a worker calls its engine.
func version(d engine.Dialect) string { return fmt.Sprintf("%s-sim", d) }

// ptr is a client's value that has no presence on the wire.
func ptr[T, U int | int32 | uint32 | float32 | float64](v T) *U { return new(U(v)) }

// maybe is a client's value, if it came.
func maybe[T, U int | int32 | uint32 | uint64 | float32 | float64 | int64](v *T) *U {
	if v == nil {
		return nil
	}
	return new(U(*v))
}

// bias gives the logit biases by token id; keys that are none are left out.
func bias[K int32 | string, V float32](in map[K]V, id func(K) (uint32, bool)) map[uint32]float64 {
	if len(in) == 0 {
		return nil
	}
	out := make(map[uint32]float64, len(in))
	for k, v := range in {
		if n, ok := id(k); ok {
			out[n] = float64(v)
		}
	}
	return out
}
