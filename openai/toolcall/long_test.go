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
	{"pythonic", `[search(q="""`, `""\"`},
	{"pythonic", "[search(q=", "'a' "},
	{"pythonic", "[search(q=foo", " "},
	{"pythonic", "[search(q=foo", ",#"},
	{"pythonic", "[search(q=foo", ",a="},
	{"pythonic", "[search(q=foo", "(' "},
	{"pythonic", "[search(q='a' ", "#"},
	{"pythonic", "[search(q=0x", "1"},
	{"pythonic", "[search(q=1", "_1"},
	{"pythonic", "[search(", "# \n"},
	{"pythonic", "[search(),", "\\\n"},
	{"gemma4", gemma4.call + "call:search{q:", "1111"},
	{"glm45_moe", "<tool_call>search", " \n"},
	{"harmony", "<|channel|>", " to="},
	{"minicpm5", `<function name="search"><param name="q">`, "<![CDATA["},
	{"minicpm5", `<function name="search"><param name="q"><![CDATA[`, "]]"},
	{"seed_oss", "<seed:tool_call>\n<function=get_weather>\n<parameter=opts>", "{'a': ["},
	{"k2_horizon", "<ifm|tool_calls>", "<ifm|tool_call>"},
	{"k2_horizon", "<ifm|tool_calls><ifm|tool_call>", " \n"},
	{"dots3", "", "<dots_function_call>"},
	{"step3", "", "<｜tool_calls_begin｜>"},
	{"deepseek", "", deepseekCalls},
	{"cohere", "", "<|START_ACTION|>"},
	{"dots3", "<dots_function_call>", `<invoke name="`},
	{"dots3", "<dots_function_call>", `{"`},
	{"olmo3", "<function_calls>", "search() \n"},
	{"lfm2.5", "<|tool_call_start|>[search(q=", "[{'"},
	{"function_gemma", "<start_function_call>call:search{", "a:<escape>b<escape>,"},
	{"hy4", "", "<tool_calls:x"},
	{"minimax_m3", m3Mark + "<tool_call>" + m3Mark + `<invoke name="get_weather">`, m3Mark + "<opts>"},
	{"sarashina", "[", "{'a': "},
	{"xlam", "[", "[{"},
	{"llama_nemotron", "<TOOLCALL>", "["},
	{"mistral", "[TOOL_CALLS]", "[ARGS]"},
	{"inkling", "", "<|content_invoke_tool_json|>"},
	{"inkling", "", "<|content_text|>"},
	{"qwen_xml", "", "<function="},
	{"kimi_k3", "", "<|end_of_msg|>"},
}

// Text without end costs time in proportion to its length, also where all of it must be held back, and whether it comes
// bit by bit or at once.
func TestEndlessTextIsReadInLinearTime(t *testing.T) {
	const size = 200_000
	tools := declared(t)
	for _, x := range longTexts {
		text := strings.Repeat(x.again, size/len(x.again))
		for _, step := range []int{len(x.again), len(text)} {
			p, err := New(x.format, tools)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			p.Add(x.start)
			for at := 0; at < len(text); at += step {
				p.Add(text[at : at+step])
			}
			p.Flush()
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("%s: %s%s… by %d took %v", x.format, x.start, x.again, step, took)
			} else if testing.Verbose() {
				t.Logf("%-10s %v by %d %s%s…", x.format, took.Round(time.Millisecond), step, x.start, strings.TrimSpace(x.again))
			}
		}
	}
}
