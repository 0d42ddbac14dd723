package toolcall

import (
	"strings"
	"testing"
	"time"
)

// longTexts are what a model gone wrong may write without end, by format: before it, and again and again.
var longTexts = []struct{ format, start, again string }{
	{"json", "", " \n"},
	{"json", "", "["},
	{"json", "", `{"`},
	{"json", `{"name":"`, "xxxx"},
	{"json", `{"arguments":{"q":"`, "xxxx"},
	{"json", `{"name":"search","arguments":{"q":`, "["},
	{"qwen", "<tool_call>", " \n"},
	{"qwen", `<tool_call>{"name":"search","arguments":{}}`, " \n"},
	{"qwen", "", "<tool_call"},
	{"qwen_xml", "<tool_call>\n<function=search>", " \n"},
	{"qwen_xml", "<tool_call>\n<function=search>stray", " \n"},
	{"qwen_xml", "<tool_call>\n<function=search><parameter=q>", " \n"},
	{"qwen_xml", "<tool_call>\n<function=get_weather><parameter=opts>", "[1, "},
	{"deepseek", deepseekCall + "function" + deepseekSep, " \n"},
	{"kimik2", kimiCalls, " \n"},
	{"pythonic", "[search(q=[", "1, "},
	{"pythonic", "[search(q='a', ", " \n"},
	{"pythonic", `[search(q="`, `\x`},
	{"gemma4", gemma4.call + "call:search{q:", "1111"},
	{"glm45_moe", "<tool_call>search", " \n"},
	{"harmony", "<|channel|>", " to="},
}

// Text without end costs time in proportion to its length, also where all of it must be held back.
func TestEndlessTextIsReadInLinearTime(t *testing.T) {
	tools := declared(t)
	for _, x := range longTexts {
		p, err := New(x.format, tools)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		p.Add(x.start)
		for range 200_000 / len(x.again) {
			p.Add(x.again)
		}
		p.Flush()
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: %s%s… took %v", x.format, x.start, x.again, took)
		} else if testing.Verbose() {
			t.Logf("%-10s %v %s%s…", x.format, took.Round(time.Millisecond), x.start, strings.TrimSpace(x.again))
		}
	}
}
