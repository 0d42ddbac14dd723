package proxy

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"leeway/openai/chattemplate"
	"leeway/openai/tokenizer"
	"leeway/routing"
	"leeway/workers"
)

// library holds what is known of the models that the workers serve: how their text becomes tokens, and their limits.
// run keeps it up with the pool; requests only read.
type library struct {
	config ModelConfig
	pool   *workers.Pool
	log    zerolog.Logger
	given  *language         // from the configured path; nil: every model's comes from its workers
	alias  map[string]string // models by their other names

	mu      sync.RWMutex // guards what follows
	models  map[string]*model
	unheard bool // there is a worker that has not said yet what it serves
}

// model is one served name. It is replaced, never edited.
type model struct {
	name     string
	context  int // the longest prompt and answer together; 0: not reported
	vocab    int // ids below this exist; 0: not reported
	defaults sampling
	version  string // of the weights
	thoughts string // the parser of reasoning that the engine names
	start    string // where the engine begins to constrain an answer that thinks: after_reasoning, first_token or ""
	ready    int    // workers that may be chosen
	language *language
	problem  error // why there is no language: errTokenizing, errBadTokenizer or errNoTokenizer
}

// language is a tokenizer and the chat templates that go with it.
type language struct {
	tokens    *tokenizer.Tokenizer
	cache     *tokenizer.Cache // of the beginnings of prompts; nil: none
	templates *chattemplate.Set
	special   chattemplate.Special
	end       []uint32 // ids that end an answer
	size      int      // of the vocabulary
}

func newLibrary(c ModelConfig, pool *workers.Pool, log zerolog.Logger) (*library, error) {
	l := &library{config: c, pool: pool, log: log, models: map[string]*model{}, alias: c.aliases()}
	for _, at := range []struct{ key, path string }{{"tokenizer_path", c.TokenizerPath}, {"model_path", c.ModelPath}} {
		if at.path == "" {
			continue
		}
		if info, err := os.Stat(at.path); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s: %q is no directory; name the one that holds tokenizer.json", at.key, at.path)
		}
		given, err := l.learn(os.DirFS(at.path))
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", at.key, at.path, err)
		}
		l.given = given
		break
	}
	return l, nil
}

// learn reads a model's files.
func (l *library) learn(files fs.FS) (*language, error) {
	tokens, err := tokenizer.Load(files)
	if err != nil {
		return nil, err
	}
	override := ""
	if path := l.config.ChatTemplate; path != "" {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("chat_template: %w", err)
		}
		override = string(source)
	}
	templates, err := chattemplate.Load(files, override)
	if err != nil {
		return nil, err
	}
	var cache *tokenizer.Cache
	if l.config.TokenizerCache > 0 {
		cache = tokens.NewCache(int(l.config.TokenizerCache))
	}
	return &language{tokens: tokens, cache: cache, templates: templates, end: tokens.EOS(), size: tokens.VocabSize(), special: chattemplate.Special{
		BOS: tokens.SpecialToken("bos_token"), EOS: tokens.SpecialToken("eos_token"),
		UNK: tokens.SpecialToken("unk_token"), PAD: tokens.SpecialToken("pad_token"),
	}}, nil
}

// encode returns the ids of a prompt in which the special tokens are written out.
func (l *language) encode(text string) []uint32 {
	if l.cache != nil {
		return l.cache.Encode(text)
	}
	return l.tokens.Encode(text, false)
}

// canonical is what the workers call a model.
func (l *library) canonical(name string) string { return cmp.Or(l.alias[name], name) }

// find returns a model that requests can be made of, by any of its names.
func (l *library) find(name string) (*model, error) {
	name = l.canonical(name)
	l.mu.RLock()
	m, unheard := l.models[name], l.unheard
	l.mu.RUnlock()
	switch {
	case m == nil && unheard:
		return nil, fmt.Errorf("%w: %q, as far as is known", routing.ErrNoHealthy, clip(name, 200))
	case m == nil:
		return nil, unknownModel(name)
	case m.problem != nil && m.ready == 0:
		return nil, fmt.Errorf("%w: %q", routing.ErrNoHealthy, clip(name, 200))
	case m.problem != nil:
		return nil, m.problem
	}
	return m, nil
}

// label is a model's name in the metrics, whose number is bounded by what the workers serve.
func (l *library) label(name string) string {
	name = l.canonical(name)
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.models[name] == nil {
		return "other"
	}
	return name
}

// list returns all models by name.
func (l *library) list() []*model {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var all []*model
	for _, m := range l.models {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *model) int { return strings.Compare(a.name, b.name) })
	return all
}

// complete reports whether every healthy worker's model can be spoken to.
func (l *library) complete(all []workers.Status) bool {
	if l.config.DisableTokenizerAutoload {
		return true
	}
	for _, w := range all {
		if _, err := l.find(w.Model); w.State == workers.Ready && err != nil {
			return false
		}
	}
	return true
}

// run follows the pool until ctx ends. Tokenizers are fetched one after the other.
func (l *library) run(ctx context.Context) {
	const again = 10 * time.Second // a tokenizer that failed to load is asked for anew
	for {
		changed := l.pool.Changed()
		l.survey()
		failed := false
		for _, m := range l.list() {
			if m.language == nil && m.ready > 0 && !errors.Is(m.problem, errNoTokenizer) {
				failed = l.fetch(ctx, m) != nil || failed
			}
		}
		var retry <-chan time.Time
		if failed {
			retry = time.After(again)
		}
		select {
		case <-changed:
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// survey takes in what the workers serve at present.
func (l *library) survey() {
	seen, unheard := map[string]*model{}, false
	for _, w := range l.pool.Workers() {
		if w.Model == "" {
			unheard = true
			continue
		}
		m := seen[w.Model]
		if m == nil {
			m = &model{name: w.Model, problem: errTokenizing, language: l.given, defaults: parseSampling(w.Info.DefaultSampling), version: cmp.Or(w.Info.WeightVersion, "default"), thoughts: w.Info.ReasoningParser, start: w.Info.ConstrainedStart}
			seen[w.Model] = m
		}
		if w.State == workers.Ready {
			m.ready++
		}
		m.context = smaller(m.context, w.Info.ContextLength)
		m.vocab = smaller(m.vocab, w.Info.VocabSize)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, m := range seen {
		if before := l.models[name]; before != nil && m.language == nil {
			m.language, m.problem = before.language, before.problem
		}
		switch {
		case m.language != nil:
			m.problem = nil
		case l.config.DisableTokenizerAutoload:
			m.problem = errNoTokenizer
		}
	}
	l.models, l.unheard = seen, unheard
}

// smaller is the lesser of two limits of which 0 is none.
func smaller(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// fetch asks the model's workers for their tokenizer.
func (l *library) fetch(ctx context.Context, m *model) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	spoken, err := l.ask(ctx, m.name)
	if err != nil {
		l.log.Warn().Err(err).Str("model", m.name).Msg("no tokenizer from the workers")
	} else {
		l.log.Info().Str("model", m.name).Int("vocabulary", spoken.size).Msg("tokenizer loaded")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *m
	if next.language, next.problem = spoken, nil; err != nil {
		next.problem = errBadTokenizer
	}
	if l.models[m.name] != nil {
		l.models[m.name] = &next
	}
	return err
}

func (l *library) ask(ctx context.Context, name string) (*language, error) {
	bundle, err := l.pool.Tokenizer(ctx, name)
	if err != nil {
		return nil, err
	}
	files, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		return nil, fmt.Errorf("the worker's tokenizer archive: %w", err)
	}
	return l.learn(files)
}
