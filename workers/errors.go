package workers

import "errors"

// What a caller of the pool may have to tell apart.
var (
	ErrUnknownWorker = errors.New("no such worker")
	ErrWorkerExists  = errors.New("a worker with this address exists already")
	ErrNotReady      = errors.New("the worker is not ready")
	ErrBrokenAnswer  = errors.New("the worker broke its answer off")
)
