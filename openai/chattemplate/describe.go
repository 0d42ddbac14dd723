package chattemplate

import (
	"slices"
	"strings"
	"time"
)

// describe reads off a template what it expects of the messages.
func describe(tpl *Template) (*chatTemplate, error) {
	body, err := parse(tpl.source)
	if err != nil {
		return nil, err
	}
	d := &chatTemplate{Template: tpl}
	a := contentAnalysis{tainted: map[string]bool{}}
	a.run(body)
	d.takesParts = a.loops
	d.wrapsText = a.loops && !a.testsString
	if d.wrapsText && !d.probeParts() {
		d.takesParts, d.wrapsText = false, false
	}
	d.takesDeveloper = a.namesDeveloper
	for _, name := range []string{"enable_thinking", "thinking"} {
		if slices.Contains(tpl.names, name) {
			d.thinkingNames = append(d.thinkingNames, name)
		}
	}
	d.thinksAlone = d.probeThinking()
	return d, nil
}

// probeText is what the probes' conversation says.
const probeText = "leeway asks"

// probe renders a small conversation; "" is a failure.
func (d *chatTemplate) probe(content Value, thinking Value) string {
	vars, message := NewDict(4), NewDict(2)
	message.Set("role", Str("user"))
	message.Set("content", content)
	vars.Set("messages", newList([]Value{message}))
	vars.Set("add_generation_prompt", Bool(true))
	for _, name := range d.thinkingNames {
		if thinking != nil {
			vars.Set(name, thinking)
		}
	}
	out, err := d.Template.Render(vars, RenderOptions{Now: time.Unix(0, 0).UTC(), Limits: Limits{Steps: 1_000_000, Output: 1 << 20}})
	if err != nil {
		return ""
	}
	return out
}

// probeParts tells whether text belongs in a list of parts, when the template loops over something that looks like a
// content: not if it can do something with bare text, and with a list nothing but print that, or fail.
func (d *chatTemplate) probeParts() bool {
	parts := d.probe(newList([]Value{textPart(probeText)}), nil)
	says := strings.Contains(parts, probeText) && !strings.Contains(parts, "'text'") && !strings.Contains(parts, `"text"`)
	return says || !strings.Contains(d.probe(Str(probeText), nil), probeText)
}

// probeThinking tells whether leaving the thinking switch out means on. A template whose text does not depend on it, or
// that fails, counts as thinking.
func (d *chatTemplate) probeThinking() bool {
	if len(d.thinkingNames) == 0 {
		return true
	}
	var content Value = Str(probeText)
	if d.wrapsText {
		content = newList([]Value{textPart(probeText)})
	}
	unset, on, off := d.probe(content, nil), d.probe(content, Bool(true)), d.probe(content, Bool(false))
	return unset == on || unset != off
}

func textPart(s string) *Dict {
	part := NewDict(2)
	part.Set("type", Str("text"))
	part.Set("text", Str(s))
	return part
}

// contentAnalysis finds out how a template treats message contents: whether it loops over their parts, and whether it
// tells strings from lists.
type contentAnalysis struct {
	tainted        map[string]bool // variables that hold a content
	macros         map[string]signature
	loops          bool
	testsString    bool
	namesDeveloper bool
	changed        bool
}

// run visits the template until no more variables turn out to hold contents.
func (a *contentAnalysis) run(body []stmt) {
	a.macros = map[string]signature{}
	for {
		a.changed = false
		a.body(body)
		if !a.changed {
			return
		}
	}
}

func (a *contentAnalysis) taint(name string) {
	if !a.tainted[name] {
		a.tainted[name], a.changed = true, true
	}
}

// isContent tells whether x is a message's content, or a variable that holds one.
func (a *contentAnalysis) isContent(x expr) bool {
	switch x := x.(type) {
	case nameExpr:
		return a.tainted[x.name]
	case attrExpr:
		return x.name == "content"
	case itemExpr:
		key, ok := x.key.(constExpr)
		return ok && key.value == Str("content")
	case condExpr:
		return a.isContent(x.then) || x.otherwise != nil && a.isContent(x.otherwise)
	case binaryExpr:
		return (x.op == "or" || x.op == "and") && (a.isContent(x.x) || a.isContent(x.y))
	case filterExpr:
		return x.x != nil && a.isContent(x.x) && keepsParts(x.name)
	}
	return false
}

// keepsParts names the filters that turn a list of parts into another one.
func keepsParts(filter string) bool {
	return slices.Contains(strings.Fields("selectattr rejectattr select reject list reverse sort default d"), filter)
}

func (a *contentAnalysis) body(body []stmt) {
	for _, s := range body {
		a.stmt(s)
	}
}

func (a *contentAnalysis) stmt(s stmt) {
	switch s := s.(type) {
	case forStmt:
		a.loops = a.loops || a.isContent(s.iter)
		a.exprs(s.iter, s.test)
		a.body(s.body)
		a.body(s.otherwise)
	case ifStmt:
		for _, b := range s.branches {
			a.exprs(b.test)
			a.body(b.body)
		}
		a.body(s.otherwise)
	case setStmt:
		if target, ok := s.target.(nameExpr); ok && a.isContent(s.value) {
			a.taint(target.name)
		}
		a.exprs(s.value)
	case macroStmt:
		a.macros[s.name] = s.sig
		a.body(s.body)
	case outputStmt:
		a.exprs(s.items...)
	case setBlockStmt:
		a.body(s.body)
	case callStmt:
		a.exprs(s.call)
		a.body(s.body)
	case generationStmt:
		a.body(s.body)
	case filterBlockStmt:
		a.body(s.body)
	case withStmt:
		a.exprs(s.values...)
		a.body(s.body)
	case blockStmt:
		a.body(s.body)
	}
}

func (a *contentAnalysis) exprs(list ...expr) {
	for _, x := range list {
		a.expr(x)
	}
}

func (a *contentAnalysis) expr(x expr) {
	switch x := x.(type) {
	case constExpr:
		s, _ := x.value.(Str)
		a.namesDeveloper = a.namesDeveloper || strings.Contains(string(s), "developer")
	case tupleExpr:
		a.exprs(x.items...)
	case listExpr:
		a.exprs(x.items...)
	case dictExpr:
		a.exprs(x.keys...)
		a.exprs(x.values...)
	case unaryExpr:
		a.expr(x.x)
	case binaryExpr:
		a.exprs(x.x, x.y)
	case concatExpr:
		a.exprs(x.items...)
	case compareExpr:
		a.expr(x.x)
		for _, c := range x.rest {
			a.expr(c.x)
		}
	case attrExpr:
		a.expr(x.x)
	case itemExpr:
		a.exprs(x.x, x.key)
	case condExpr:
		a.exprs(x.test, x.then, x.otherwise)
	case callExpr:
		a.call(x)
	case filterExpr:
		a.expr(x.x)
		a.exprs(x.args.pos...)
	case testExpr:
		a.testsString = a.testsString || x.name == "string" && a.isContent(x.x)
		a.expr(x.x)
		a.exprs(x.args.pos...)
	}
}

// call passes contents on to the parameters of macros.
func (a *contentAnalysis) call(x callExpr) {
	if name, ok := x.x.(nameExpr); ok {
		sig := a.macros[name.name]
		for i, arg := range x.args.pos {
			if i < len(sig.params) && a.isContent(arg) {
				a.taint(sig.params[i])
			}
		}
	}
	a.expr(x.x)
	a.exprs(x.args.pos...)
	for _, kw := range x.args.kw {
		if a.isContent(kw.value) {
			a.taint(kw.name)
		}
		a.expr(kw.value)
	}
}
