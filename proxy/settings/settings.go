// Package settings fills a program's settings from a TOML file and from flags. A setting is a struct field: its `toml`
// tag is its key, its `flag` tag the flags that set it (several names with commas between), its `secret` tag hides it
// from Print. Tables are struct fields; those with a method Validate() error are asked whether their values make sense,
// in errors of the form "key: what is wrong". Every error says where: file, line, table and key, or the flag.
package settings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Load returns defaults, changed by the file that args name and then by args. file finds the file's name in settings that
// were read from args alone; "" means that there is none. Flags of SMG's that have no effect here are left out, with
// a notice each.
func Load[T any](args []string, defaults T, file func(T) string) (T, []Notice, error) {
	own, notices, err := fromSMG(args)
	if err != nil {
		return defaults, nil, err
	}
	s, err := load(own, defaults, file)
	return s, notices, err
}

func load[T any](args []string, defaults T, file func(T) string) (T, error) {
	s := defaults
	if err := Parse(args, &s); err != nil {
		return s, err
	}
	name := file(s)
	if name == "" {
		return s, source{args: args}.validate(reflect.ValueOf(s))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return s, fmt.Errorf("cannot read the settings: %w", err)
	}
	s, from := defaults, source{args, name, string(text), keyNames(reflect.ValueOf(defaults))}
	if err := toml.NewDecoder(strings.NewReader(from.text)).DisallowUnknownFields().Decode(&s); err != nil {
		return s, each(err, from.decoding)
	}
	if err := Parse(args, &s); err != nil {
		return s, err
	}
	return s, from.validate(reflect.ValueOf(s))
}

// source is where settings came from: flags, and a file if it has a name.
type source struct {
	args       []string
	name, text string
	known      map[string][]string // the keys of each table
}

func (s source) validate(tables reflect.Value) error {
	var all []error
	for field, table := range tables.Fields() {
		if v, ok := table.Interface().(interface{ Validate() error }); ok {
			all = append(all, each(v.Validate(), func(err error) error { return s.locate(tables, field.Tag.Get("toml"), err) }))
		}
	}
	return errors.Join(all...)
}

// locate puts the flag or the line that set the key that err begins with before it, or the table alone where neither does.
func (s source) locate(tables reflect.Value, table string, err error) error {
	key, _, _ := strings.Cut(err.Error(), ":")
	if flag := s.flag(tables, table, key); flag != "" {
		return fmt.Errorf("%s: [%s] %w", flag, table, err)
	}
	line := regexp.MustCompile(`^\s*` + regexp.QuoteMeta(key) + `\s*=`)
	within := false
	n := 0
	for text := range strings.SplitSeq(s.text, "\n") {
		n++
		if header := strings.TrimSpace(text); strings.HasPrefix(header, "[") {
			within = strings.HasPrefix(header, "["+table+"]")
		}
		if within && line.MatchString(text) {
			return fmt.Errorf("%s:%d: [%s] %w", s.name, n, table, err)
		}
	}
	return fmt.Errorf("[%s] %w", table, err)
}

// flag returns the flag that set a key, "" if none did.
func (s source) flag(tables reflect.Value, table, key string) (set string) {
	visit("", tables, func(name string, tag reflect.StructTag, within string, _ reflect.Value) {
		given := func(arg string) bool {
			arg, _, _ = strings.Cut(arg, "=")
			return strings.HasPrefix(arg, "-") && strings.TrimLeft(arg, "-") == name
		}
		if within == table && tag.Get("toml") == key && slices.ContainsFunc(s.args, given) {
			set = "--" + name
		}
	})
	return set
}

// decoding words an error of the TOML package.
func (s source) decoding(err error) error {
	var bad *toml.DecodeError
	if !errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	row, _ := bad.Position()
	what := strings.TrimPrefix(bad.Error(), "toml: ")
	if what == "unknown field" || what == "unknown table" || what == "missing table" {
		what = "no such key; config.toml shows all there are" + misplaced(s.known, bad.Key())
	}
	what = regexp.MustCompile(`^cannot decode TOML (\w+) into struct field \S+ of type (\S+)$`).ReplaceAllString(what, "it is of kind $1, but $2 is wanted")
	if key := strings.Join(bad.Key(), "."); key != "" {
		what = key + ": " + what
	}
	return fmt.Errorf("%s:%d: %s", s.name, row, what)
}

// each applies wrap to every error that err joins.
func each(err error, wrap func(error) error) error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, err := range many.Unwrap() {
			all = append(all, each(err, wrap))
		}
		return errors.Join(all...)
	}
	if err == nil {
		return nil
	}
	return wrap(err)
}

// Print writes s as TOML, with secrets masked.
func Print(w io.Writer, s any) error {
	shown := reflect.New(reflect.TypeOf(s)).Elem()
	shown.Set(reflect.ValueOf(s))
	mask(shown)
	return toml.NewEncoder(w).Encode(shown.Interface())
}

func mask(v reflect.Value) {
	for field, value := range v.Fields() {
		switch {
		case field.Type.Kind() == reflect.Struct:
			mask(value)
		case field.Tag.Get("secret") == "" || value.IsZero():
		case field.Type.Kind() == reflect.String:
			value.SetString("***")
		case field.Type.Kind() == reflect.Slice:
			value.Set(reflect.ValueOf([]string{"***"}))
		}
	}
}
