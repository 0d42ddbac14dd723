package sim

import (
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// staleLoads is the sample that a worker with FaultStaleLoads goes on reporting.
type staleLoads struct {
	mu      sync.Mutex
	samples []Sample
}

// samples takes the load of every rank, or repeats an old one. With nobody to ask there is none.
func (l *life) samples() []Sample {
	if l.w.faults.on(FaultNoLoads) {
		return nil
	}
	samples := make([]Sample, len(l.cores))
	for i, c := range l.cores {
		samples[i] = c.sample()
	}
	l.stale.mu.Lock()
	defer l.stale.mu.Unlock()
	if !l.w.faults.on(FaultStaleLoads) {
		l.stale.samples = samples
	} else if l.stale.samples == nil {
		l.stale.samples = samples
	}
	return l.stale.samples
}

// rankCount is the number of ranks that a report of n claims.
func (l *life) rankCount(n int) int32 {
	if f, ok := l.w.faults.one(FaultRankCount); ok {
		return int32(f.N)
	}
	return int32(n)
}

// distort overrides what a load entry says with what a fault wants it to say.
func (l *life) distort(load proto.Message) {
	f, ok := l.w.faults.one(FaultLoads)
	if !ok {
		return
	}
	m := load.ProtoReflect()
	for name, text := range f.Set {
		field := m.Descriptor().Fields().ByName(protoreflect.Name(name))
		if field == nil {
			continue // another dialect's
		}
		v, _ := strconv.ParseFloat(text, 64)
		if field.Kind() == protoreflect.Int32Kind {
			m.Set(field, protoreflect.ValueOfInt32(int32(v)))
		} else {
			m.Set(field, protoreflect.ValueOfFloat64(v))
		}
	}
}
