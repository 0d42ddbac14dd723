package proxy

import (
	"context"
	"net/http"
	"os"
	"syscall"
	"time"
)

// unwatched is how long nobody must have asked anything, not even for readiness, for the gateway to end without giving
// balancers time: there are none that look.
const unwatched = 30 * time.Second

// accepting is how long new requests are still taken while readiness says no.
func (g *Gateway) accepting(now time.Time) time.Duration {
	inside, waiting := g.admission.counts()
	if inside+waiting == 0 && now.Sub(time.Unix(0, g.asked.Load())) > unwatched {
		return 0
	}
	return min(secs(g.config.ShutdownGrace)/2, secs(g.config.ShutdownAccept))
}

// drain gives balancers time to look elsewhere and requests time to end, and then ends them.
func (g *Gateway) drain(ctx context.Context, s *http.Server, cut context.CancelCauseFunc) {
	grace, accepting := secs(g.config.ShutdownGrace), g.accepting(time.Now())
	g.draining.Store(true)
	g.log.Info().Stringer("accepting", accepting).Stringer("grace", grace).
		Msg("draining: readiness says no, new requests are taken for a moment, running ones may end; a second signal ends at once")
	time.Sleep(accepting)
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace-accepting)
	defer cancel()
	if s.Shutdown(rest) == nil {
		return
	}
	g.log.Warn().Msg("the grace period is over: ending what still runs")
	cut(errDraining)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	s.Shutdown(last)
}

// UntilSignal is a context that the first signal ends; a second ends the process at once. Who started it may have had
// SIGINT ignored, as a shell's script does for what runs in its background: so neither is left to the system's default.
func UntilSignal(notify func(chan<- os.Signal, ...os.Signal)) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		if again, ok := (<-signals).(syscall.Signal); ok {
			os.Exit(128 + int(again)) // as a shell says it of a process that a signal ended
		}
	}()
	return ctx
}
