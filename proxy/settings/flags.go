package settings

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// ErrHelp says that the flags ask for help. Help writes it.
var ErrHelp = flag.ErrHelp

// Parse sets the fields of target, a pointer to a struct, that args name. A flag may be written --name VALUE or
// --name=VALUE, a list also --name A B C or several times; the first value of a list replaces what was there.
func Parse(args []string, target any) error {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var names []string
	visit("", reflect.ValueOf(target).Elem(), func(name string, _ reflect.StructTag, _ string, value reflect.Value) {
		names = append(names, "--"+name)
		flags.Var(&setting{value: value}, name, "")
	})
	flat, err := spread(flags, args)
	if err == nil {
		err = flags.Parse(flat)
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("%q is neither a flag nor the value of one", flags.Arg(0))
	}
	if err != nil && !errors.Is(err, ErrHelp) {
		what := strings.NewReplacer("flag -", "flag --", ": -", ": --").Replace(err.Error())
		if name, unknown := strings.CutPrefix(what, "flag provided but not defined: "); unknown {
			what = name + " is no flag" + Meant(name, names)
		}
		return fmt.Errorf("%s (--help lists the flags)", what)
	}
	return err
}

// visit calls do for every flag of a struct and the tables in it.
func visit(table string, v reflect.Value, do func(name string, tag reflect.StructTag, table string, value reflect.Value)) {
	for field, value := range v.Fields() {
		if field.Type.Kind() == reflect.Struct {
			visit(field.Tag.Get("toml"), value, do)
			continue
		}
		if names := field.Tag.Get("flag"); names != "" {
			for name := range strings.SplitSeq(names, ",") {
				do(name, field.Tag, table, value)
			}
		}
	}
}

// Help lists the flags that fill target. A flag's text is its `help` tag, or the comment above its key in annotated, a
// TOML file in which every key stands with its default.
func Help(w io.Writer, target any, annotated string) {
	about := comments(annotated)
	visit("", reflect.ValueOf(target).Elem(), func(name string, tag reflect.StructTag, table string, _ reflect.Value) {
		text := tag.Get("help")
		if text == "" {
			text = about[table+"."+tag.Get("toml")]
		}
		fmt.Fprintf(w, "  --%s\n        %s\n", name, text)
	})
}

// comments finds, for each table.key of a TOML text, the comment lines right above it and its value there.
func comments(text string) map[string]string {
	about, table, above := map[string]string{}, "", []string(nil)
	for line := range strings.SplitSeq(text, "\n") {
		if comment, ok := strings.CutPrefix(line, "# "); ok {
			above = append(above, comment)
			continue
		}
		if header, ok := strings.CutPrefix(line, "["); ok {
			table = strings.TrimSuffix(header, "]")
		}
		if key, value, ok := strings.Cut(line, " = "); ok {
			about[table+"."+key] = strings.Join(above, "\n        ") + " (default " + value + ")"
		}
		above = nil
	}
	return about
}

// spread turns `--list a b` into `--list=a --list=b`, which is what package flag understands, and does not let a flag
// that was left without a value take the next flag for one.
func spread(flags *flag.FlagSet, args []string) (flat []string, err error) {
	list, single := "", ""
	for _, arg := range args {
		switch {
		case single != "" && strings.HasPrefix(arg, "--"):
			return nil, fmt.Errorf("%s needs a value; if it is %q, write %s=%s", single, arg, single, arg)
		case single != "":
			single = ""
		case strings.HasPrefix(arg, "-"):
			list = ""
			switch kind := kindOf(flags, arg); kind {
			case reflect.Slice:
				list = arg
				continue
			case reflect.Bool, reflect.Invalid:
			default:
				single = arg
			}
		case list != "":
			arg = list + "=" + arg
		}
		flat = append(flat, arg)
	}
	return flat, nil
}

// kindOf is the kind of value that a flag takes; reflect.Invalid where arg is no flag's bare name.
func kindOf(flags *flag.FlagSet, arg string) reflect.Kind {
	f := flags.Lookup(strings.TrimLeft(arg, "-"))
	if f == nil {
		return reflect.Invalid
	}
	return f.Value.(*setting).value.Kind()
}

// setting is a field as a flag.
type setting struct {
	value reflect.Value
	again bool
}

func (s *setting) IsBoolFlag() bool { return s.value.Kind() == reflect.Bool }
func (s *setting) String() string   { return "" }

func (s *setting) Set(text string) (err error) {
	switch to := s.value.Addr().Interface().(type) {
	case *string:
		*to = text
	case *[]string:
		if !s.again {
			*to = nil
		}
		*to, s.again = append(*to, text), true
	case *time.Duration:
		*to, err = time.ParseDuration(text)
	default:
		if json.Unmarshal([]byte(text), to) != nil {
			err = fmt.Errorf("not a value of kind %s", s.value.Kind())
		}
	}
	return err
}
