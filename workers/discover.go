package workers

import "context"

func (p *Pool) discover(ctx context.Context) {}
