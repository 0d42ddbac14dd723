package toolcall

import (
	"reflect"
	"testing"
)

// A comma behind the last call of a list belongs to the list, also where it is cut off.
func TestAListMayEndInAComma(t *testing.T) {
	for format, list := range map[string][3]string{
		"json":           {`[{"name":"search","arguments":{}}`, `]`},
		"xlam":           {`[{"name":"search","arguments":{}}`, `]`},
		"qwen":           {`<tool_call>[{"name":"search","arguments":{}}`, `]`, `</tool_call>`},
		"llama":          {`<|python_tag|>[{"name":"search","parameters":{}}`, `]`},
		"mistral":        {`[TOOL_CALLS][{"name":"search","arguments":{}}`, `]`, `</s>`},
		"cohere":         {`<|START_ACTION|>[{"tool_name":"search","parameters":{}}`, `]`, `<|END_ACTION|>`},
		"llama_nemotron": {`<TOOLCALL>[{"name":"search","arguments":{}}`, `]`, `</TOOLCALL>`},
		"sarashina":      {`<|tool_calls|>[{'name':'search','arguments':{}}`, `]`},
		"pythonic":       {`[search()`, `]`},
		"lfm2.5":         {`<|tool_call_start|>[search()`, `]`, `<|tool_call_end|>`},
	} {
		for _, text := range []string{
			list[0] + "," + list[1] + list[2], list[0] + " ,\n " + list[1] + "\n" + list[2], list[0] + ",", list[0] + ", ", list[0] + list[1],
		} {
			whole := parse(t, format, declared(t), text)
			if len(whole.Calls) != 1 || whole.Calls[0].Arguments != "{}" || whole.Content != "" {
				t.Errorf("%s: %q\n%+v", format, text, whole)
			}
			if got := parse(t, format, declared(t), bytewise(text)...); !reflect.DeepEqual(got, whole) {
				t.Errorf("%s: %q\n got %+v\nwant %+v", format, text, got, whole)
			}
		}
	}
	if a := parse(t, "json", declared(t), `[{"name":"search","arguments":{}}, and so on`); a.Content != ", and so on" {
		t.Errorf("%+v", a)
	}
}
