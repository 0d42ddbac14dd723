package chattemplate

import (
	"testing"

	"leeway/openai"
)

// The goldens are made by the encoders that the models are published with; testdata/native.py runs them.
func TestNativePromptsAgreeWithThePublishedEncoders(t *testing.T) {
	refused := 0
	cases := get(t, readGolden(t, "testdata/native.json.gz"), "cases").(*List).items
	for _, c := range cases {
		body := dumpJSON(compactJSON, get(t, c, "request"))
		set, err := Load(files("config.json", dumpJSON(compactJSON, get(t, c, "config"))), "")
		if err != nil {
			t.Fatal(err)
		}
		req, err := openai.DecodeChat([]byte(body))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		got, failure := "", ""
		if got, err = set.Render(req, Special{}, goldenNow); err != nil {
			failure = err.Error()
			refused++
		}
		if !agrees(t, c, got, failure) {
			reportDifference(t, body, c, got, failure)
		}
	}
	t.Logf("%d requests compared, %d refused", len(cases), refused)
}
