package workers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"leeway/workers/engine"
)

// Tokenizer fetches the zip archive of a model's tokenizer files from the first ready worker that has them.
func (p *Pool) Tokenizer(ctx context.Context, model string) ([]byte, error) {
	var failures []error
	for _, s := range p.Workers() {
		if s.Model != model || s.State != Ready {
			continue
		}
		archive, err := p.tokenizer(ctx, s.Spec.URL)
		if err == nil {
			return archive, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", s.Spec.URL, err))
	}
	if len(failures) == 0 {
		return nil, fmt.Errorf("%w: none serves the model %q", ErrNotReady, model)
	}
	return nil, errors.Join(failures...)
}

func (p *Pool) tokenizer(ctx context.Context, id string) ([]byte, error) {
	_, client, err := p.ready(id)
	if err != nil {
		return nil, err
	}
	return client.Tokenizer(ctx)
}

// Embed returns the embedding of a prompt by a target of the fleet; again says that it has failed there before.
func (p *Pool) Embed(ctx context.Context, id string, tokens []uint32, again bool) (engine.Embedding, error) {
	t, ok := (*p.targets.Load())[id]
	if !ok {
		return engine.Embedding{}, fmt.Errorf("%w: %s", ErrUnknownWorker, id)
	}
	client, ticket, err := t.worker.begin(nil)
	if err != nil {
		return engine.Embedding{}, err
	}
	said := success
	defer func() { t.worker.end(nil, ticket, said) }()
	embedding, err := client.Embed(ctx, "leeway-"+rand.Text(), tokens)
	if err == nil {
		return embedding, nil
	}
	if said = neutral; ctx.Err() == nil {
		t.worker.fail(err)
		if !again {
			said = blame(err)
		}
	}
	return engine.Embedding{}, err
}

// Flush empties a worker's KV cache, and what the gateway believes of it: the engine's own word may come at once or with
// the next request only.
func (p *Pool) Flush(ctx context.Context, id string, timeout time.Duration) error {
	w, client, err := p.ready(id)
	if err != nil {
		return err
	}
	select {
	case w.flushing <- struct{}{}:
		defer func() { <-w.flushing }()
	case <-ctx.Done():
	}
	s := w.status()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.State != Ready:
		return fmt.Errorf("%w: %s", ErrNotReady, id)
	}
	feed := w.feed()
	if s.Dialect == engine.TokenSpeed { // which tells of each block that goes
		if err = client.Flush(ctx, timeout); err == nil {
			feed.Empty()
		}
		return err
	}
	feed.Flush(time.Now().Add(timeout + flushPatience))
	err = client.Flush(ctx, timeout)
	feed.Flushed(time.Now().Add(flushPatience), refusal(err) && s.Info.Ranks <= 1) // of several ranks some may have been flushed
	return err
}

// flushPatience is how long an engine may take to tell that its cache was flushed: some do with the next request only.
const flushPatience = 30 * time.Second

// refusal reports whether an error says that nothing was flushed. After any other something may have been.
func refusal(err error) bool {
	var failed *engine.Error
	return errors.As(err, &failed) && (failed.Code == engine.FailedPrecondition || failed.Code == engine.Unimplemented)
}

// Loads asks a worker for its load, past all samples.
func (p *Pool) Loads(ctx context.Context, id string) (engine.Load, error) {
	_, client, err := p.ready(id)
	if err != nil {
		return engine.Load{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, loadDeadline)
	defer cancel()
	return client.Loads(ctx)
}

// ready finds a worker that may be asked for something beside an answer, by id, address or target.
func (p *Pool) ready(id string) (*worker, engine.Client, error) {
	p.mu.Lock()
	w := p.find(id)
	p.mu.Unlock()
	if w == nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrUnknownWorker, id)
	}
	if client := w.currentClient(); client != nil && w.currentState() == Ready {
		return w, client, nil
	}
	return nil, nil, fmt.Errorf("%w: %s", ErrNotReady, id)
}
