package chattemplate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"leeway/openai"
)

// Set is what a model's files say about prompts: its chat templates by name, or a renderer of our own for the models
// that have none. It does not change after Load and can be used by several goroutines at once.
type Set struct {
	templates map[string]*chatTemplate
	native    nativeRenderer // of a model whose prompts are written by code; it then has no templates here
	limits    Limits
}

// chatTemplate is a template with what its text says about the messages that it expects.
type chatTemplate struct {
	*Template
	wrapsText      bool // string contents become one text part
	takesParts     bool // contents may be lists of parts; otherwise these are joined
	takesDeveloper bool // it knows the role developer
	thinkingNames  []string
	thinksAlone    bool // without a switch the model thinks
}

// defaultName is the template that is used unless a more special one fits.
const defaultName = "default"

// toolUseName is preferred when the request brings tools.
const toolUseName = "tool_use"

// ErrNoTemplate is what Render returns for a model that comes without a chat template.
var ErrNoTemplate = errors.New("the model has no chat template: give one with --chat-template, or use /v1/completions")

// Load finds the chat templates among a model's files. The first of these that exists decides: override, a template's
// source given by the operator; config.json, when it names a model whose prompts are written by code; chat_template.jinja,
// with more named ones in additional_chat_templates; tokenizer_config.json; chat_template.json; another *.jinja file. It
// is no error when there is none.
func Load(files fs.FS, override string) (*Set, error) {
	if override != "" {
		return Parse(override)
	}
	native, err := nativeFor(files)
	if err != nil || native != nil {
		return &Set{native: native}, err
	}
	s := &Set{templates: map[string]*chatTemplate{}}
	for _, load := range []func(fs.FS) (bool, error){s.loadJinja, s.loadConfig("tokenizer_config.json"), s.loadConfig("chat_template.json"), s.loadOtherJinja} {
		found, err := load(files)
		if err != nil {
			return nil, err
		}
		if found {
			break
		}
	}
	return s, nil
}

// Parse makes a set of one template.
func Parse(source string) (*Set, error) {
	s := &Set{templates: map[string]*chatTemplate{}}
	return s, s.add(defaultName, source, "the chat template given")
}

func (s *Set) add(name, source, where string) error {
	tpl, err := Compile(source)
	if err != nil {
		return fmt.Errorf("%s: template %q: %w", where, name, err)
	}
	if s.templates[name], err = describe(tpl); err != nil {
		return fmt.Errorf("%s: template %q: %w", where, name, err)
	}
	return nil
}

// readText reads a file that need not exist.
func readText(files fs.FS, name string) (string, bool, error) {
	data, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", name, err)
	}
	return string(data), true, nil
}

func (s *Set) loadJinja(files fs.FS) (bool, error) {
	source, found, err := readText(files, "chat_template.jinja")
	if err != nil || !found {
		return false, err
	}
	more, err := fs.Glob(files, "additional_chat_templates/*.jinja")
	if err != nil {
		return false, err
	}
	for _, name := range more {
		source, _, err := readText(files, name)
		if err != nil {
			return false, err
		}
		if err := s.add(strings.TrimSuffix(path.Base(name), ".jinja"), source, name); err != nil {
			return false, err
		}
	}
	return true, s.add(defaultName, source, "chat_template.jinja")
}

// loadConfig reads the chat_template of a JSON file: a source, a list of {"name", "template"}, or an object of sources by
// name. The file itself may be the source, as a JSON string.
func (s *Set) loadConfig(name string) func(fs.FS) (bool, error) {
	return func(files fs.FS) (bool, error) {
		data, found, err := readText(files, name)
		if err != nil || !found {
			return false, err
		}
		v, err := ParseJSON([]byte(data))
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		if d, ok := v.(*Dict); ok {
			if v, ok = d.Get("chat_template"); !ok {
				return false, nil
			}
		}
		named, err := namedSources(v)
		if err != nil {
			return false, fmt.Errorf("%s: chat_template: %w", name, err)
		}
		for i, key := range named.keys {
			if err := s.add(string(key.(Str)), string(named.values[i].(Str)), name); err != nil {
				return false, err
			}
		}
		return named.Len() > 0, nil
	}
}

func namedSources(v Value) (*Dict, error) {
	named := NewDict(2)
	add := func(name, source Value) error {
		n, ok1 := name.(Str)
		t, ok2 := source.(Str)
		if !ok1 || !ok2 {
			return errors.New("every entry needs a string name and a string template")
		}
		named.Set(string(n), t)
		return nil
	}
	switch v := v.(type) {
	case None:
		return named, nil
	case Str:
		return named, add(Str(defaultName), v)
	case *Dict:
		for i, key := range v.keys {
			if err := add(key, v.values[i]); err != nil {
				return nil, err
			}
		}
		return named, nil
	case *List:
		for _, item := range v.items {
			d, ok := item.(*Dict)
			if !ok {
				return nil, errors.New("a list must hold objects with name and template")
			}
			name, _ := d.Get("name")
			source, _ := d.Get("template")
			if err := add(name, source); err != nil {
				return nil, err
			}
		}
		return named, nil
	}
	return nil, errors.New("it must be a string, a list or an object")
}

func (s *Set) loadOtherJinja(files fs.FS) (bool, error) {
	names, err := fs.Glob(files, "*.jinja")
	if err != nil || len(names) == 0 {
		return false, err
	}
	slices.Sort(names)
	source, _, err := readText(files, names[0])
	if err != nil {
		return false, err
	}
	return true, s.add(defaultName, source, names[0])
}

// Special are the texts of a tokenizer's special tokens; an empty one is undefined in the template.
type Special struct{ BOS, EOS, UNK, PAD string }

// Render is the whole prompt of a chat request. An *openai.Error says what is wrong with a message; other errors are the
// template's own, an *Error, or ErrNoTemplate.
func (s *Set) Render(req *openai.ChatRequest, special Special, now time.Time) (string, error) {
	tpl, err := s.choose(req)
	if err != nil {
		return "", err
	}
	if tpl == nil {
		return s.native.render(req, now)
	}
	c, err := newConversation(req, tpl)
	if err != nil {
		return "", err
	}
	return c.render(special, RenderOptions{Now: now, Limits: s.limits})
}

// choose picks the template as transformers does; nil stands for the native renderer.
func (s *Set) choose(req *openai.ChatRequest) (*chatTemplate, error) {
	if len(s.templates) == 0 {
		if s.native == nil {
			return nil, ErrNoTemplate
		}
		return nil, nil
	}
	if tpl := s.templates[toolUseName]; tpl != nil && len(req.Callable()) > 0 {
		return tpl, nil
	}
	if tpl := s.templates[defaultName]; tpl != nil {
		return tpl, nil
	}
	names := []string{}
	for name := range s.templates {
		names = append(names, name)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("the model has the chat templates %s, but none named default: give one with --chat-template", strings.Join(names, ", "))
}
