package tokenizer

import "testing"

// The charsmap replaces graphemes: a mark does not belong to a control character before it, and a character belongs to
// the prepended sign before it, so that it is then looked at by itself.
func TestACharsmapReplacesGraphemesAsTheLibraryCutsThem(t *testing.T) {
	tok := loadGzip(t, "testdata/zoo/t5.tokenizer.json.gz")
	for text, want := range map[string]string{
		"a\u200b\u0301b":                 "aéb",
		"\u0600\u00a0\u0301b":            "\u0600 éb",
		"\u0600\u200b\u0301x":            "\u0600éx",
		"\u0600…\u0301":                  "\u0600...é",
		"\t\u0301a":                      " éa",
		"\u0605\u0600\t\u0301\r\n\u0301": "\u0605\u0600 é é",
	} {
		if got := tok.normalize(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
