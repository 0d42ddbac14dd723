package toolcall

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"leeway/openai"
)

// Each format stands under a sample of what it reads.
var (
	// {"name": "f", "arguments": {"a": 1}}, anywhere in the text, or an array of such. Also OpenAI's older models and
	// what a forced JSON schema makes of any model, with "parameters" for "arguments".
	jsonFormat = &format{open: []string{"{", "["}, bare: true, more: true, head: jsonHead}

	// <tool_call>
	// {"name": "f", "arguments": {"a": 1}}
	// </tool_call>
	hermesFormat = &format{open: []string{"<tool_call>"}, closes: []string{"</tool_call>"}, more: true, head: taggedHead}

	// <|python_tag|>{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}
	//
	// The marker may be missing at the start of an answer.
	llamaFormat = &format{open: []string{"<|python_tag|>", "{"}, closes: []string{"<|eom_id|>", "<|eot_id|>"}, more: true, head: llamaHead}

	// [TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]
	// [TOOL_CALLS]f[ARGS]{"a": 1}[TOOL_CALLS]g[CALL_ID]123456789[ARGS]{}
	mistralFormat = &format{open: []string{"[TOOL_CALLS]"}, closes: []string{"</s>"}, more: true, head: mistralHead}

	// <|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>
	cohereFormat = &format{
		open: []string{"<|START_ACTION|>"}, closes: []string{"<|END_ACTION|>"}, more: true, head: taggedHead,
		drop: []string{"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"},
	}

	// <TOOLCALL>[{"name": "f", "arguments": {"a": 1}}]</TOOLCALL>
	nemotronFormat = &format{open: []string{"<TOOLCALL>"}, closes: []string{"</TOOLCALL>"}, more: true, head: taggedHead}

	// [{"name": "f", "arguments": {"a": 1}}], at the start of the answer
	xlamFormat = &format{open: []string{"["}, bare: true, more: true, head: xlamHead}

	// [f(a=1, b="x"), g()]
	pythonFormat = &format{
		open: []string{"<|python_start|>", "<|python_tag|>", "["}, closes: []string{"<|python_end|>"},
		bare: true, more: true, head: pythonHead, gap: (*cursor).gap,
	}

	// <|tool_call_start|>[f(a=1, b="x"), g()]<|tool_call_end|>
	lfmFormat = &format{
		open: []string{"<|tool_call_start|>"}, closes: []string{"<|tool_call_end|>"},
		more: true, head: pythonHead, gap: (*cursor).gap,
	}

	// <function_calls>f(a=1, b="x")
	// g()</function_calls>
	olmoFormat = &format{
		open: []string{"<function_calls>"}, closes: []string{"</function_calls>"},
		more: true, head: linesHead, gap: (*cursor).gap,
	}

	// <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f
	// ```json
	// {"a": 1}
	// ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
	//
	// Or, without the fence: <｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>
	deepseekFormat = &format{
		open:   []string{deepseekCalls, deepseekCall},
		closes: []string{"```", deepseekEnd, deepseekLast}, head: deepseekHead,
	}

	// <|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>
	// <|tool_calls_section_end|>
	kimiFormat = &format{
		open: []string{kimiCalls, kimiOneCalls, kimiCall}, closes: []string{kimiEnd, kimiLast, kimiOneLast}, head: kimiHead,
	}

	// <tool_call>
	// <function=f>
	// <parameter=a>
	// 1
	// </parameter>
	// </function>
	// </tool_call>
	qwenFormat = &format{
		open: []string{"<tool_call>", "<function="}, closes: []string{"</function>", "</tool_call>"}, head: tagHead(qwenTags),
	}

	// As qwenFormat, but values begin and end at their tags: <parameter=a>1</parameter>
	directFormat = &format{
		open: []string{"<tool_call>"}, closes: []string{"</function>", "</tool_call>"}, head: tagHead(directTags), more: true,
	}

	// <seed:tool_call>
	// <function=f>
	// <parameter=a>1</parameter>
	// </function>
	// </seed:tool_call>
	seedFormat = &format{
		open: []string{"<seed:tool_call>"}, closes: []string{"</function>", "</seed:tool_call>"}, head: tagHead(seedTags), more: true,
	}

	// <minimax:tool_call>
	// <invoke name="f">
	// <parameter name="a">1</parameter>
	// </invoke>
	// </minimax:tool_call>
	minimaxFormat = invokes("minimax:tool_call", trimNone)

	// As minimaxFormat. A JSON object may stand in place of the tags.
	dotsFormat = orObject(invokes("dots_function_call", trimLine))

	// <function name="f"><param name="a">1</param><param name="b"><![CDATA[<b>]]></param></function>
	cpmFormat = &format{open: []string{`<function name="`}, closes: []string{"</function>"}, head: tagHead(cpmTags)}

	// <｜DSML｜function_calls>
	// <｜DSML｜invoke name="f">
	// <｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>
	// </｜DSML｜invoke>
	// </｜DSML｜function_calls>
	//
	// The empty line before it belongs to it. V4 says tool_calls for function_calls.
	dsmlFormat = &format{
		open: []string{
			"\n\n<｜DSML｜function_calls>", "<｜DSML｜function_calls>", "\n\n<｜DSML｜tool_calls>", "<｜DSML｜tool_calls>",
		},
		closes: []string{"</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"}, head: tagHead(dsmlTags), more: true,
	}

	// <｜DSML｜ calls>
	// <｜DSML｜ invoke name="f">
	// <｜DSML｜ parameter name="a" string="false">1</｜DSML｜ parameter>
	// </｜DSML｜ invoke>
	// </｜DSML｜ calls>
	dsml41Format = &format{
		open: []string{"\n\n<｜DSML｜ calls>", "<｜DSML｜ calls>"}, closes: []string{"</｜DSML｜ calls>"}, head: tagHead(dsml41Tags), more: true,
	}

	// ]<]minimax[>[<tool_call>
	// ]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>
	// ]<]minimax[>[</tool_call>
	m3Format = &format{
		open: []string{m3Mark + "<tool_call>"}, closes: []string{m3Mark + "</tool_call>"}, head: m3Head, more: true,
	}

	// <|message_model|>f<|content_invoke_tool_json|>{"name": "f", "args": {"a": 1}}<|end_message|>
	//
	// The name before the block may be missing.
	inklingFormat = &format{
		open: []string{inklingMessage, inklingCall}, closes: []string{"<|end_message|>"}, opening: inklingOpening, head: inklingHead,
		drop: []string{
			"<|content_text|>", "<|content_invoke_tool_text|>", "<|content_tool_error|>", "<|end_message|>", "<|content_model_end_sampling|>",
		},
	}

	// <|tool_calls|>[{'name': 'f', 'arguments': {'a': 1}}]
	//
	// The marker may be missing at the start of an answer.
	sarashinaFormat = &format{open: []string{"<|tool_calls|>", "["}, bare: true, more: true, head: dictHead}

	// <｜tool_calls_begin｜>
	// <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">
	// <steptml:parameter name="a">1</steptml:parameter>
	// </steptml:invoke><｜tool_call_end｜>
	// <｜tool_calls_end｜>
	stepFormat = &format{
		open:   []string{"<｜tool_calls_begin｜>", "<｜tool_call_begin｜>"},
		closes: []string{"</steptml:invoke>", "<｜tool_call_end｜>", "<｜tool_calls_end｜>"}, head: tagHead(stepTags),
	}

	// <|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="a" type="number"<|sep|>1
	// <|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>
	kimi3Format = &format{
		open: []string{"<|open|>tools<|sep|>"}, closes: []string{"<|close|>tools<|sep|>"}, head: kimi3Head, more: true,
		drop: []string{"<|close|>think<|sep|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"},
	}

	// <|tool_call>call:f{a:1,b:<|"|>x<|"|>}<tool_call|>
	gemmaFormat = &format{open: []string{gemma4.call}, closes: []string{gemma4.end}, head: gemma4.head}

	// <start_function_call>call:f{a:1,b:<escape>x<escape>}<end_function_call>
	functionGemmaFormat = &format{open: []string{functionGemma.call}, closes: []string{functionGemma.end}, head: functionGemma.head}

	// <|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>
	// <|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>
	harmonyFormat = &format{
		opening: harmonyOpening,
		open:    []string{harmonyStart, harmonyChannel}, closes: []string{"<|call|>", "<|end|>", "<|return|>"}, head: harmonyHead,
		drop: []string{harmonyMessage, "<|end|>", "<|call|>", "<|return|>"},
	}

	plainFormat = &format{}
)

// formats are the names that operators and clients use.
var formats = map[string]*format{
	"passthrough":         plainFormat,
	"plain":               plainFormat,
	"json":                jsonFormat,
	"xlam":                xlamFormat,
	"qwen":                hermesFormat,
	"qwen2.5":             hermesFormat,
	"qwen3":               hermesFormat,
	"hermes":              hermesFormat,
	"qwen_xml":            qwenFormat,
	"qwen_coder":          qwenFormat,
	"qwen3_tagged":        qwenFormat,
	"nemotron":            qwenFormat,
	"qwen3_tagged_direct": directFormat,
	"seed_oss":            seedFormat,
	"llama":               llamaFormat,
	"llama_nemotron":      nemotronFormat,
	"pythonic":            pythonFormat,
	"lfm2.5":              lfmFormat,
	"olmo3":               olmoFormat,
	"mistral":             mistralFormat,
	"mistral_v13":         mistralFormat,
	"cohere":              cohereFormat,
	"deepseek":            deepseekFormat,
	"deepseek31":          deepseekFormat,
	"deepseek32":          dsmlFormat,
	"deepseek_v4":         dsmlFormat,
	"deepseek_v41":        dsml41Format,
	"deepseek_v4.1":       dsml41Format,
	"minimax_m2":          minimaxFormat,
	"minimax_m3":          m3Format,
	"dots3":               dotsFormat,
	"minicpm5":            cpmFormat,
	"hy_v4":               hunyuanFormat,
	"hy4":                 hunyuanFormat,
	"inkling":             inklingFormat,
	"sarashina":           sarashinaFormat,
	"kimik2":              kimiFormat,
	"kimi_k3":             kimi3Format,
	"k2_horizon":          horizonFormat,
	"glm45_moe":           glmFormat,
	"glm47_moe":           glmFormat,
	"glm":                 glmFormat,
	"glm4":                glmFormat,
	"ling":                glmFormat,
	"iquest":              iquestFormat,
	"step3":               stepFormat,
	"gemma4":              gemmaFormat,
	"function_gemma":      functionGemmaFormat,
	"harmony":             harmonyFormat,
}

// models says which format a model speaks, by a part of its name.
var models = []struct{ part, format string }{
	{"gpt-oss", "harmony"}, {"gpt_oss", "harmony"},
	{"gpt-4", "json"}, {"gpt-3.5", "json"}, {"claude-", "json"},
	{"mistral-", "mistral"}, {"mixtral-", "mistral"},
	{"qwen", "qwen"}, {"qwen3.5", "qwen_xml"}, {"qwen3.6", "qwen_xml"}, {"qwen3.8", "qwen_xml"}, {"qwen3-coder", "qwen_xml"},
	{"nemotron-3", "qwen_xml"},
	{"llama-", "json"}, {"llama-3.2", "llama"}, {"llama-4", "pythonic"},
	{"deepseek-", "pythonic"}, {"deepseek-v3", "deepseek"}, {"deepseek-v3.1", "deepseek31"},
	{"deepseek-v3.2", "deepseek32"}, {"deepseek-v3.2-exp", "deepseek31"}, {"deepseek-v4", "deepseek_v4"},
	{"deepseek-v4.1", "deepseek_v41"}, {"_v41", "deepseek_v41"}, {"-v41", "deepseek_v41"},
	{"glm-", "json"}, {"glm-4.5", "glm45_moe"}, {"glm-4.6", "glm45_moe"}, {"glm-4.7", "glm47_moe"}, {"glm-5", "glm47_moe"},
	{"step3", "step3"}, {"step-3", "step3"},
	{"kimi-k2", "kimik2"}, {"kimi-k3", "kimi_k3"}, {"kimi_k3", "kimi_k3"},
	{"minimax", "minimax_m2"}, {"minimax-m3", "minimax_m3"}, {"mm-m3", "minimax_m3"},
	{"hy4", "hy_v4"}, {"hy_v4", "hy_v4"}, {"inkling", "inkling"}, {"sarashina", "sarashina"},
	{"command-r", "cohere"}, {"command-a", "cohere"}, {"c4ai-command", "cohere"}, {"cohere", "cohere"},
	{"gemini-", "json"}, {"palm-", "json"}, {"gemma-", "json"}, {"gemma-4", "gemma4"}, {"gemma4", "gemma4"},
}

// ForModel names the format of a model, "" if none is known: the longest part of its name decides.
func ForModel(model string) string {
	model = strings.ToLower(model)
	longest, name := 0, ""
	for _, m := range models {
		if len(m.part) > longest && strings.Contains(model, m.part) {
			longest, name = len(m.part), m.format
		}
	}
	return name
}

// Names lists the formats that New knows.
func Names() []string {
	names := make([]string, 0, len(formats))
	for name := range formats {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// paired are the names that say how a model thinks, too.
var paired = []string{
	"deepseek_v4.1", "dots3", "function_gemma", "glm", "glm4", "hy4", "iquest", "k2_horizon", "lfm2.5", "ling",
	"llama_nemotron", "minicpm5", "mistral_v13", "olmo3", "plain", "qwen2.5", "qwen3", "qwen3_tagged", "qwen3_tagged_direct",
	"seed_oss", "xlam",
}

// Paired reports whether a name that stands alone names the parser of thoughts as well.
func Paired(name string) bool { return slices.Contains(paired, name) }

// New is a parser of one answer in the named format.
func New(name string, declared []openai.Tool) (*Parser, error) {
	f, ok := formats[name]
	if name == "hf" {
		return nil, errors.New(`tool_call_parser: "hf" reads by a response template in the tokenizer's files, which is not supported; ` +
			"name the model's own parser, or none to choose it by the model's name")
	}
	if !ok {
		return nil, fmt.Errorf("tool_call_parser: %q is unknown; use one of %s", name, strings.Join(Names(), ", "))
	}
	return newParser(f, declared), nil
}

func newParser(f *format, declared []openai.Tool) *Parser {
	p := &Parser{format: f, tools: newTools(declared), blank: true}
	if f.opening != nil {
		p.state = atStart
	}
	return p
}
