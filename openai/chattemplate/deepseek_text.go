package chattemplate

import "strings"

// What DeepSeek's models were trained to read about their tools and their effort, word for word.
var (
	deepSeekV32 = &deepSeekDialect{contents: plainTemplate, block: "function_calls", call: "invoke", parameter: "parameter",
		tools: deepSeekToolsV32, effortSays: noEffortSays, write: writeV32}
	deepSeekV4 = &deepSeekDialect{contents: partsTemplate, block: "tool_calls", call: "invoke", parameter: "parameter",
		tools: deepSeekToolsV4, thinks: true, effortSays: anyEffortSays, write: writeV4,
		effort: effortV4(map[string]string{"high": deepSeekEffortAbsolute, "max": deepSeekEffortBeyond})}
	deepSeekV4First = &deepSeekDialect{contents: partsTemplate, block: "tool_calls", call: "invoke", parameter: "parameter",
		tools: deepSeekToolsV4, thinks: true, effortSays: anyEffortSays, write: writeV4,
		effort: effortV4(map[string]string{"max": deepSeekEffortAbsolute})}
	deepSeekV41 = &deepSeekDialect{contents: partsTemplate, block: " calls", call: " invoke", parameter: " parameter",
		tools: deepSeekToolsV41, thinks: true, effortSays: knownEffortSays, write: writeV4, effort: effortV41, system: "<｜System｜>"}
)

// deepSeekToolsV41 has V4's words with V4.1's tags, whose names begin with a space.
var deepSeekToolsV41 = strings.NewReplacer("｜DSML｜tool_calls", "｜DSML｜ calls", "｜DSML｜invoke", "｜DSML｜ invoke",
	"｜DSML｜parameter", "｜DSML｜ parameter").Replace(deepSeekToolsV4)

const deepSeekToolsV32 = `## Tools

You have access to a set of tools you can use to answer the user's question.
You can invoke functions by writing a "<｜DSML｜function_calls>" block like the following as part of your reply to the user:
<｜DSML｜function_calls>
<｜DSML｜invoke name="$FUNCTION_NAME">
<｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
...
</｜DSML｜invoke>
<｜DSML｜invoke name="$FUNCTION_NAME2">
...
</｜DSML｜invoke>
</｜DSML｜function_calls>

String and scalar parameters should be specified as is without any escaping or quotes, while lists and objects should use JSON format. The "string" attribute should be set to "true" for string type parameters and "false" for other types (numbers, booleans, arrays, objects).

If the thinking_mode is enabled, then after function results you should strongly consider outputting a thinking block. Here is an example:

<｜DSML｜function_calls>
...
</｜DSML｜function_calls>

<function_results>
...
</function_results>

<think>...thinking about results</think>

Here are the functions available in JSONSchema format:
<functions>
%s
</functions>
`

const deepSeekToolsV4 = `## Tools

You have access to a set of tools to help answer the user's question. You can invoke tools by writing a "<｜DSML｜tool_calls>" block like the following:

<｜DSML｜tool_calls>
<｜DSML｜invoke name="$TOOL_NAME">
<｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
...
</｜DSML｜invoke>
<｜DSML｜invoke name="$TOOL_NAME2">
...
</｜DSML｜invoke>
</｜DSML｜tool_calls>

String parameters should be specified as is and set ` + "`string=\"true\"`" + `. For all other types (numbers, booleans, arrays, objects), pass the value in JSON format and set ` + "`string=\"false\"`" + `.

If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside <think>...</think> BEFORE any tool calls or final response.

Otherwise, output directly after </think> with tool calls or final response.

### Available Tool Schemas

%s

You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
`

const deepSeekEffortAbsolute = `Reasoning Effort: Absolute maximum with no shortcuts permitted.
You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve the root cause, rigorously stress-testing your logic against all potential paths, edge cases, and adversarial scenarios.
Explicitly write out your entire deliberation process, documenting every intermediate step, considered alternative, and rejected hypothesis to ensure absolutely no assumption is left unchecked.

`

const deepSeekEffortBeyond = `Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.
You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: exhaustively decompose the problem into its most fundamental components, trace every causal chain to its root, and resolve the underlying cause rather than any surface symptom.
Do not stop reasoning until you have independently verified the solution from multiple angles and are certain that no assumption remains unchecked and no error remains undiscovered.

`
