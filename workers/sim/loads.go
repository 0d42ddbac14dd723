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
	if f, ok := l.w.faults.one(FaultLoads); ok {
		f.Set.apply(load)
	}
}

// apply sets the fields in a message that has them; those of other messages are passed over.
func (fields Fields) apply(message proto.Message) {
	m := message.ProtoReflect()
	for name, text := range fields {
		field := m.Descriptor().Fields().ByName(protoreflect.Name(name))
		if field == nil || field.IsList() {
			continue
		}
		number, _ := strconv.ParseFloat(text, 64)
		whole, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			whole = int64(number)
		}
		switch field.Kind() {
		case protoreflect.Int32Kind:
			m.Set(field, protoreflect.ValueOfInt32(int32(number)))
		case protoreflect.Uint32Kind:
			m.Set(field, protoreflect.ValueOfUint32(uint32(number)))
		case protoreflect.Int64Kind:
			m.Set(field, protoreflect.ValueOfInt64(whole))
		case protoreflect.EnumKind:
			m.Set(field, protoreflect.ValueOfEnum(protoreflect.EnumNumber(number)))
		case protoreflect.StringKind:
			m.Set(field, protoreflect.ValueOfString(text))
		case protoreflect.DoubleKind:
			m.Set(field, protoreflect.ValueOfFloat64(number))
		}
	}
}
