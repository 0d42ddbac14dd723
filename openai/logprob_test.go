package openai

import (
	"encoding/json"
	"strings"
	"testing"
)

// As OpenAI has it: what is no text by itself is shown by its bytes, the chosen token is among the candidates, no name
// stands twice.
func TestCompletionsShowTokensThatAreNoTextByTheirBytes(t *testing.T) {
	for _, tc := range []struct {
		name string
		of   TokenLogprob
		want string
	}{
		{"text", TokenLogprob{"a", -1, []TopLogprob{{"a", -1}, {"é", -2}}, 0}, `"tokens":["a"],"token_logprobs":[-1],"top_logprobs":[{"a":-1,"é":-2}]`},
		{"parts of characters", TokenLogprob{"\xe4\xbd", -1, []TopLogprob{{"\xe4\xbd", -1}, {"\xe4", -2}, {"\xa0", -3}}, 0},
			`"tokens":["bytes:\\xe4\\xbd"],"token_logprobs":[-1],"top_logprobs":[{"bytes:\\xe4\\xbd":-1,"bytes:\\xe4":-2,"bytes:\\xa0":-3}]`},
		{"a space before a part", TokenLogprob{" \xf0\x9f", -1, nil, 0}, `"tokens":["bytes: \\xf0\\x9f"]`},
		{"quotes, backslashes and controls beside a part", TokenLogprob{"\"\\\n\x7f\xf0", -1, nil, 0}, `"tokens":["bytes:\\x22\\x5c\\x0a\\x7f\\xf0"]`},
		{"U+FFFD itself", TokenLogprob{"\uFFFD", -1, nil, 0}, `"tokens":["` + "\uFFFD" + `"]`},
		{"the chosen is not among the likeliest", TokenLogprob{"z", -9, []TopLogprob{{"a", -1}}, 0}, `[{"a":-1,"z":-9}]`},
		{"no candidates were asked for", TokenLogprob{"z", -9, nil, 0}, `"top_logprobs":[{"z":-9}]`},
		{"two tokens of one text", TokenLogprob{"a", -2, []TopLogprob{{"a", -3}, {"b", -2.5}, {"a", -2}}, 0}, `[{"b":-2.5,"a":-2}]`},
		{"the likelier is the chosen", TokenLogprob{"a", -2, []TopLogprob{{"a", -3}, {"b", -4}}, 0}, `[{"b":-4,"a":-2}]`},
	} {
		got := string(appendTextLogprobs(nil, []TokenLogprob{tc.of}, 0))
		if !json.Valid([]byte(got)) || !strings.Contains(got, tc.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, got, tc.want)
		}
	}
}
