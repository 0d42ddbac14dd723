package openai

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTheScannerAgreesWithEncodingJSON asks both whether a text is JSON.
func TestTheScannerAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range []string{
		`0`, `-0`, `01`, `1.`, `1.5e+3`, `1e`, `-`, `+1`, `.5`, `1E-2`, `""`, `"`, `"\`, `"\u12"`, `"\u12aF"`, `"\x"`, "\"\t\"", `"é"`,
		`true`, `tru`, `nul`, `null `, ` [ ] `, `[1,]`, `[,1]`, `[1 2]`, `[[[]]]`, `{}`, `{"a":1}`, `{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":}`,
		`{"a":1 "b":2}`, `{"a":1,"a":{"b":[null,true,false]}}`, `[}`, `{]`, ``, ` `, `[`, `{`, `{"a`, `{"a":`, `[1`, `"a" "b"`, `truefalse`, "\x00", `[1]x`,
	} {
		s := &scanner{data: []byte(text)}
		s.document(s.skip)
		if got, want := s.err == nil, json.Valid([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v (%v)", text, got, want, s.err)
		}
	}
}

func TestSyntaxErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		``:                             "at byte 0, it is empty; send a JSON object",
		"\xEF\xBB\xBF{}":               "at byte 0, there is a byte order mark; send UTF-8 without one",
		"\x1F\x8B\x08":                 "at byte 0, there is gzip data; send the body uncompressed",
		`é`:                            "at byte 0, unexpected 'é' where a value should be",
		`{"model" "m"}`:                `at byte 9, unexpected '"' after a key`,
		`{"model":"m"`:                 "at byte 12, it ends where ',' or '}' should be",
		`{"model":"m`:                  "at byte 11, it ends inside a string",
		`{"a":01}`:                     "at byte 6, unexpected '1' where ',' or '}' should be",
		`{} {}`:                        "at byte 3, text follows the value",
		"{\"a\":\"\n\"}":               "at byte 6, control character '\\n' in a string; escape it",
		`{"a":"\q"}`:                   `at byte 6, unknown escape "\\q" in a string`,
		"{\"a\":\"\xff\"}":             "at byte 6, there are bytes that are no UTF-8",
		strings.Repeat("[", 200) + "1": "at byte 128, it nests deeper than 128 levels",
		`[]`:                           "Invalid body: expected an object, but got an array.",
	} {
		_, err := DecodeTokenize([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestMessagesTellTheWayOut(t *testing.T) {
	for fields, want := range map[string]string{
		`,"n":11`:          "Invalid 'n': 11 is above the maximum of 10.",
		`,"top_k":0`:       "Invalid 'top_k': 0 leaves no candidate; use -1 for no limit, or 1 and above.",
		`,"stream":"yes"`:  "Invalid 'stream': expected a boolean, but got a string.",
		`,"verbosity":"x"`: "Invalid 'verbosity': \"x\" is not supported; use 'low', 'medium' or 'high'.",
		`,"tool_choice":"auto","tools":[{"type":"function"}]`: "Missing required parameter: 'tools[0].function'.",
		`,"stop":["a","b","c","d","e"]`:                       "Invalid 'stop': it has 5 elements; at most 4 are allowed.",
		`,"logit_bias":{"%d":1}`:                              "Invalid 'logit_bias.%d': the key \"%d\" is no token id; use a non-negative integer.",
		`,"regex":"a","ebnf":"b"`:                             "Invalid 'ebnf': only one of response_format, regex and ebnf can shape an answer; leave the others out.",
	} {
		_, err := DecodeChat([]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]` + fields + `}`))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", fields, err, want)
		}
	}
}
