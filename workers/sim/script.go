package sim

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
)

// script is what the faults that struck a request want of its answer.
type script struct {
	delay, tokenDelay time.Duration
	linger            time.Duration
	stall, fail       *Fault
	finish            *Fault
	chunk             int
	noUsage, deaf     bool
}

// script asks the faults about a request.
func (w *Worker) script(req *engine.Request) script {
	s := script{chunk: 1}
	prompt, decoded := "", false
	contains := func(text string) bool {
		if !decoded {
			prompt, decoded = w.voice.decode(req.Tokens), true
		}
		return strings.Contains(prompt, text)
	}
	struck := w.faults.fire(func(f Fault) bool {
		return ofAnswers(f) && (f.Contains == "" || contains(f.Contains))
	})
	for i := range struck {
		s.apply(&struck[i])
	}
	return s
}

// ofAnswers tells the faults that concern a request's answer from the others.
func ofAnswers(f Fault) bool {
	switch f.Kind {
	case FaultDelay, FaultStall, FaultError:
		return f.method() == "Generate"
	case FaultTokenDelay, FaultReset, FaultEnd, FaultFinish, FaultChunk, FaultNoUsage, FaultDeaf, FaultLinger, FaultKillCore, FaultRestart:
		return true
	}
	return false
}

// apply writes a fault into the script. Of two that would end the answer the later one in the list counts.
func (s *script) apply(f *Fault) {
	switch f.Kind {
	case FaultDelay:
		s.delay = time.Duration(f.For)
	case FaultTokenDelay:
		s.tokenDelay = time.Duration(f.For)
	case FaultStall:
		s.stall = f
	case FaultFinish:
		s.finish = f
	case FaultChunk:
		s.chunk = max(f.N, 1)
	case FaultNoUsage:
		s.noUsage = true
	case FaultDeaf:
		s.deaf = true
	case FaultLinger:
		s.linger = time.Duration(f.For)
	default:
		s.fail = f
	}
}

// strike does what the script has in store after so many tokens.
func (o *outlet) strike(ctx context.Context) error {
	if f := o.script.stall; f != nil && o.sent >= f.After {
		o.script.stall = nil
		span := time.Duration(f.For)
		if span == 0 {
			span = forever
		}
		if err := o.wait(ctx, span); err != nil {
			return err
		}
	}
	f := o.script.fail
	if f == nil || o.sent < f.After {
		return nil
	}
	message := f.Message
	if message == "" {
		message = "a fault was asked for"
	}
	switch f.Kind {
	case FaultEnd:
		return errEnd
	case FaultReset:
		o.l.dropConnection(ctx)
	case FaultKillCore:
		o.l.killCore()
		return o.l.coreDead()
	case FaultRestart:
		o.l.w.restartSoon(f.KeepSeq)
		<-ctx.Done()
		return ctx.Err()
	}
	return status.Error(f.code(codes.Unavailable), message)
}
