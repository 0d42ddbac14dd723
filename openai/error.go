package openai

import (
	"strings"
)

// Error is a failure in the shape that OpenAI's clients understand. Status is the HTTP status it travels under; Param
// names the field at fault, "" when there is none.
type Error struct {
	Status  int
	Type    string
	Code    string
	Message string
	Param   string
}

// The types of an Error: what the client may conclude without reading further.
const (
	TypeInvalidRequest = "invalid_request_error" // the request will fail again unless it is changed
	TypePermission     = "permission_error"
	TypeRateLimit      = "rate_limit_error"
	TypeServer         = "server_error" // not the client's fault; another attempt may succeed
)

// The codes that decoding a body can end with.
const (
	CodeInvalidJSON      = "invalid_json"
	CodeMissing          = "missing_required_parameter"
	CodeInvalidValue     = "invalid_value"
	CodeInvalidType      = "invalid_type"
	CodeIntegerBelow     = "integer_below_min_value"
	CodeIntegerAbove     = "integer_above_max_value"
	CodeDecimalBelow     = "decimal_below_min_value"
	CodeDecimalAbove     = "decimal_above_max_value"
	CodeEmptyArray       = "empty_array"
	CodeArrayAbove       = "array_above_max_length"
	CodeEmptyString      = "empty_string"
	CodeUnsupported      = "unsupported_parameter"
	CodeUnsupportedPart  = "unsupported_content_part"
	CodeUnsupportedMedia = "unsupported_output_modality"
	CodeUnsupportedAudio = "audio_output_not_supported"
	CodeInvalidTools     = "invalid_tool_configuration"
)

// The codes of fields that do not go together.
const (
	CodeStreamOptions    = "stream_options_requires_stream"
	CodeTopLogprobs      = "top_logprobs_requires_logprobs"
	CodeMinTokens        = "min_tokens_exceeds_max"
	CodeConstraints      = "multiple_constraints"
	CodeConstraintJSON   = "regex_conflicts_with_json"
	CodeSchemaName       = "json_schema_name_empty"
	CodeSchemaNoObject   = "json_schema_schema_not_object"
	CodeInvalidRole      = "invalid_role"
	CodeBiasKey          = "logit_bias_invalid_key"
	CodeChoiceNeedsTools = "tool_choice_requires_tools"
	CodeChoiceNotFound   = "tool_choice_function_not_found"
)

// Invalid is a 400 about the field param; an empty param speaks of the body as a whole.
func Invalid(param, code, message string) *Error {
	return &Error{Status: 400, Type: TypeInvalidRequest, Code: code, Message: message, Param: param}
}

func (e *Error) Error() string {
	if e.Param == "" || strings.Contains(e.Message, e.Param) {
		return e.Message
	}
	return e.Param + ": " + e.Message
}

// AppendJSON appends the error as the object of an answer's body or of an error event.
func (e *Error) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"error":{"message":`...)
	dst = AppendString(dst, e.Message)
	dst = append(dst, `,"type":`...)
	dst = AppendString(dst, e.Type)
	dst = append(dst, `,"param":`...)
	dst = appendStringOrNull(dst, e.Param)
	dst = append(dst, `,"code":`...)
	dst = appendStringOrNull(dst, e.Code)
	return append(dst, "}}"...)
}

func appendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}
