package main

import (
	"os"
	"path"
	"strings"
	"testing"
)

func TestReadmeHasTheKnownDifferences(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := readLines[known]("differences.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want, err := withTable(string(text), table(all))
	if err != nil {
		t.Fatal(err)
	}
	if want != string(text) {
		t.Error("README.md is not up to date: go run ./e2e/dropin --table")
	}
	if _, err := withTable("no marks", ""); err == nil {
		t.Error("a README without marks was taken")
	}
}

func TestTheDataIsWellFormed(t *testing.T) {
	all, err := readLines[known]("differences.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if k.Area == "" || k.Reason == "" || len(k.Where) == 0 || strings.ContainsAny(k.Reason, "|\n") {
			t.Errorf("%+v says too little", k)
		}
		for _, where := range k.Where {
			for _, pattern := range where {
				if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
					t.Errorf("%q is no pattern", pattern)
				}
			}
		}
	}
	requests, err := readLines[request]("requests.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range requests {
		if names[r.Name] || r.Name == "" {
			t.Errorf("the name %q stands for two requests, or for none", r.Name)
		}
		names[r.Name] = true
	}
}

func TestWhatMayStreamIsSentBothWays(t *testing.T) {
	chat := request{Name: "a", Body: []byte(`{"model":"m"}`)}
	got := chat.variants()
	if len(got) != 2 || got[0].Name != "a/whole" || string(got[1].Body) != `{"stream":true,"model":"m"}` || got[1].Method != "POST" {
		t.Errorf("%+v", got)
	}
	for _, r := range []request{
		{Name: "says", Body: []byte(`{"stream":false}`)}, {Name: "broken", Body: []byte(`"{"`)}, {Name: "other", Path: "/workers", Body: []byte(`{}`)}, {Name: "none"},
	} {
		if got := r.variants(); len(got) != 1 || got[0].Name != r.Name {
			t.Errorf("%+v", got)
		}
	}
}

func TestIdsTimesAndPortsAreMasked(t *testing.T) {
	for in, want := range map[string]string{
		"chatcmpl-abcdefghijklmnopqrstuvwx":                                      "chatcmpl-ID",
		"chatcmpl-abcdefghijklmnopqrstuvwx-0190d6b0-5d3e-7c3a-8b1e-0123456789ab": "chatcmpl-ID",
		"mine-1-0190d6b0-5d3e-7c3a-8b1e-0123456789ab":                            "mine-1-UUID",
		"mine-1-abcdefghijklmnopqrstuv23":                                        "mine-1-UUID",
		"functions.weather:0":                                                    "functions.weather:0",
		"grpc://127.0.0.1:31000":                                                 "grpc://WORKER",
		"at 2026-12-02T06:00:00.123Z":                                            "at TIME",
	} {
		if got := mask(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
