package proxy

import (
	"context"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// abreast is how many prompts of one request are computed at once: what an engine is commonly set to run.
const abreast = 256

// together does one thing for each of n prompts, abreast. The first that fails ends the others.
func (x *exchange) together(ctx context.Context, n int, one func(ctx context.Context, i int) error) error {
	if n == 1 {
		return one(ctx, 0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(abreast)
	for i := range n {
		group.Go(func() (err error) {
			defer x.survive(&err)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return one(ctx, i)
		})
	}
	return group.Wait()
}

// survive turns a panic into an error where no handler would.
func (x *exchange) survive(err *error) {
	if p := recover(); p != nil {
		x.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("panic in a handler")
		*err = errPanic
	}
}
