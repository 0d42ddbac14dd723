package toolcall

import (
	"encoding/json"
	"strings"
	"testing"
)

// However a value is written, a call that is closed has arguments that are JSON, and the call behind it is found.
func TestWhateverAValueIsItsCallIsWhole(t *testing.T) {
	for _, value := range []string{
		`foo`, `1+2`, `{1, 2}`, `dict(a=1, b=(2))`, `float("inf")`, `f"a {b}"`, `"a" + "b"`, `"a".b()`, `"say "hi" to me"`,
		`it's`, `a, b`, `1, 5`, `[1 2]`, `[x for x in (1, 2)]`, `a == b`, `lambda x, y: x`, `not None`, `007`, `a["b)"]`,
		`'''a''' * 2`, ``, `,`, `}`, `"a" "b" c`, `*a`, `None.x`, `...`, `"a", "b"`, `"a", **b`, `{**a}`,
	} {
		for _, before := range []string{"", "note='', "} {
			text := "[get_weather(city='', " + before + "opts=" + value + "), search()]"
			a := parse(t, "pythonic", declared(t), text)
			if len(a.Calls) != 2 || a.Content != "" || !json.Valid([]byte(a.Calls[0].Arguments)) {
				t.Errorf("%s: %+v", text, a)
			}
		}
	}
}

// Where a value stands changes nothing in what becomes of it.
func TestAFirstArgumentIsReadAsAnyOther(t *testing.T) {
	for _, value := range []string{`foo`, `1+2`, `0x10`, `"a" + b`, `a, b`, `f"x"`, `'a' "b"`} {
		first := parse(t, "pythonic", declared(t), "[search(q="+value+")]")
		later := parse(t, "pythonic", declared(t), "[search(a=1, q="+value+")]")
		if got, want := first.Calls[0].Arguments, strings.Replace(later.Calls[0].Arguments, `"a":1,`, "", 1); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

// Strings and source text of any kind reach the client as they are written.
func TestPythonicStringsAreStreamed(t *testing.T) {
	const size = 1 << 20
	for _, open := range []string{`"`, `"""`, `r'`, `'a' "`, `foo `, `f"`} {
		p, _ := New("pythonic", declared(t))
		p.Add("[search(q=" + open)
		total, longest := 0, 0
		for range size / 8 {
			n := 0
			for _, e := range p.Add("word 42 ") {
				n += len(e.Call.Arguments)
			}
			total, longest = total+n, max(longest, n)
		}
		if total < size-16 || longest > 32 {
			t.Errorf("%s: %d bytes, up to %d at once", open, total, longest)
		}
	}
}

// A dict that is cut off has no key that was not written.
func TestADictThatIsCutOffIsTheBeginningOfJSON(t *testing.T) {
	const text = `[search(q={'a': 1, 'bc': [{d: e}, {2: "x"}]})]`
	all := parse(t, "pythonic", declared(t), text).Calls[0].Arguments
	for end := strings.Index(text, "{") + 1; end < len(text); end++ {
		got := parse(t, "pythonic", declared(t), text[:end]).Calls[0].Arguments
		if !strings.HasPrefix(all, got) {
			t.Errorf("%s\n%s", text[:end], got)
		}
	}
}
