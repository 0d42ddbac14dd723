package workers

import "context"

func (w *worker) followEvents(ctx context.Context) {}
