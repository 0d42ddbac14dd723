package toolcall

import (
	"strings"
	"testing"
	"time"
)

type longText struct{ format, start, again string }

// longTexts are what a model gone wrong may write without end, by format: before it, and again and again.
var longTexts = []longText{
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
	{"qwen_xml", "<tool_call>\n<function=search><parameter=q>\na</parameter>", " "},
	{"qwen_xml", "<tool_call>\n<function=search><parameter=q>\n", "a</parameter> b"},
	{"qwen_xml", "<tool_call>\n<function=get_weather><parameter=opts>\n", "a</parameter> b"},
	{"deepseek", deepseekCall + "function" + deepseekSep, " \n"},
	{"kimik2", kimiCalls, " \n"},
	{"pythonic", "[search(q=[", "1, "},
	{"pythonic", "[search(q='a', ", " \n"},
	{"pythonic", `[search(q="`, `\x`},
	{"pythonic", `[search(q="""`, `""\"`},
	{"pythonic", "[search(q=", "'a' "},
	{"pythonic", "[search(q=", "'a' + "},
	{"pythonic", "[search(q='a' +", "#"},
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
	{"gemma4", gemma4.call + "call:search{q:" + gemma4.quote, gemma4.end + "x"},
	{"gemma4", gemma4.call + "call:search{q:1", ",,"},
	{"gemma4", gemma4.call + "call:search{q:[[1]", "x "},
	{"gemma4", gemma4.call + `call:search{"q`, "x "},
	{"gemma4", gemma4.call + "call:search{}", "} "},
	{"minimax_m3", m3Mark + "<tool_call>" + m3Mark + `<invoke name="get_weather">` + m3Mark + "<opts>1", m3Mark + "<x>1"},
	{"minimax_m3", m3Mark + "<tool_call>" + m3Mark + `<invoke name="get_weather">` + m3Mark + "<opts>1", m3Mark + "</x>1"},
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

// openTags are calls in tags up to a parameter that is no string, by format.
var openTags = map[string]string{
	"qwen_xml":            "<tool_call>\n<function=get_weather>\n<parameter=opts>",
	"qwen3_tagged_direct": "<tool_call><function=get_weather><parameter=opts>",
	"seed_oss":            "<seed:tool_call>\n<function=get_weather>\n<parameter=opts>",
	"minimax_m2":          "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"opts\">",
	"minimax_m3":          m3Mark + "<tool_call>" + m3Mark + `<invoke name="get_weather">` + m3Mark + "<opts>",
	"dots3":               "<dots_function_call>\n<invoke name=\"get_weather\">\n<parameter name=\"opts\">",
	"minicpm5":            `<function name="get_weather"><param name="opts">`,
	"deepseek32":          "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"opts\" string=\"false\">",
	"deepseek_v41":        "<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"get_weather\">\n<｜DSML｜ parameter name=\"opts\" string=\"false\">",
	"step3":               `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather"><steptml:parameter name="opts">`,
	"kimi_k3":             kimi3Tools + `<|open|>call tool="get_weather" index="1"<|sep|>` + kimi3Argument + `opts" type="object"<|sep|>`,
	"glm45_moe":           "<tool_call>get_weather\n<arg_key>opts</arg_key>\n<arg_value>",
	"iquest":              "<iquest_tool_call>get_weather<arg_key>opts</arg_key><arg_value>",
	"k2_horizon":          "<ifm|tool_calls><ifm|tool_call>get_weather<ifm|arg_key>opts</ifm|arg_key><ifm|arg_value>",
	"hy4":                 "<tool_calls:x><tool_call:x>get_weather<arg_key:x>opts</arg_key:x><arg_value:x>",
}

// endlessTexts are longTexts and, for every format of tags, what may stand in a value: brackets, and marks behind which
// its own end still may come.
func endlessTexts() []longText {
	list := longTexts
	for format, start := range openTags {
		text := strings.NewReplacer("get_weather", "search", "opts", "q", `"object"`, `"string"`, `"false"`, `"true"`).Replace(start)
		for _, value := range []string{start, text} {
			for _, again := range []string{"<li>x</li>\n", ">", "\n</", "\n</function>", value[strings.LastIndexAny(value[:len(value)-20], "]<"):], value} {
				list = append(list, longText{format, value, again})
			}
		}
	}
	return list
}

// Text without end costs time in proportion to its length, also where all of it must be held back, and whether it comes
// bit by bit or at once.
func TestEndlessTextIsReadInLinearTime(t *testing.T) {
	const size = 200_000
	tools := declared(t)
	for _, x := range endlessTexts() {
		text := strings.Repeat(x.again, size/len(x.again))
		for _, step := range []int{min(4, len(x.again)), len(text)} {
			p, err := New(x.format, tools)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			p.Add(x.start)
			for at := 0; at < len(text); at += step {
				p.Add(text[at:min(at+step, len(text))])
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
