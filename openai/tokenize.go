package openai

import "strconv"

// TokenizeRequest is the body of POST /v1/tokenize.
type TokenizeRequest struct {
	Model            string
	Prompt           Prompts // texts only
	AddSpecialTokens bool

	ignored []string
}

var tokenizeFields = map[string]func(*scanner, *TokenizeRequest){
	"model":              func(s *scanner, r *TokenizeRequest) { r.Model = s.text() },
	"prompt":             func(s *scanner, r *TokenizeRequest) { r.Prompt = s.textsOrNone() },
	"add_special_tokens": func(s *scanner, r *TokenizeRequest) { r.AddSpecialTokens = s.flag(false) },
}

// DecodeTokenize reads and checks the body of a tokenize request. Its error is an *Error with status 400.
func DecodeTokenize(body []byte) (*TokenizeRequest, error) {
	r := &TokenizeRequest{}
	return decode(body, r, tokenizeFields, nil, &r.ignored, func(s *scanner) {
		if r.Prompt.List == nil {
			s.missing("prompt")
		}
	})
}

// Tokenized is the answer: the ids of each text, and how many characters it has.
type Tokenized struct {
	Tokens     [][]uint32
	CharCounts []int
	Batch      bool
}

// AppendJSON appends the body; a single text is answered with a flat list.
func (t Tokenized) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"tokens":`...)
	dst = appendOneOrAll(dst, t.Tokens, t.Batch, appendIDs)
	dst = append(dst, `,"count":`...)
	dst = appendOneOrAll(dst, t.Tokens, t.Batch, func(dst []byte, ids []uint32) []byte {
		return strconv.AppendInt(dst, int64(len(ids)), 10)
	})
	dst = append(dst, `,"char_count":`...)
	dst = appendOneOrAll(dst, t.CharCounts, t.Batch, func(dst []byte, n int) []byte {
		return strconv.AppendInt(dst, int64(n), 10)
	})
	return append(dst, '}')
}

// DetokenizeRequest is the body of POST /v1/detokenize.
type DetokenizeRequest struct {
	Model             string
	Tokens            Prompts // ids only
	SkipSpecialTokens bool    // true unless the client says false

	ignored []string
}

var detokenizeFields = map[string]func(*scanner, *DetokenizeRequest){
	"model":               func(s *scanner, r *DetokenizeRequest) { r.Model = s.text() },
	"tokens":              func(s *scanner, r *DetokenizeRequest) { r.Tokens = s.idLists() },
	"skip_special_tokens": func(s *scanner, r *DetokenizeRequest) { r.SkipSpecialTokens = s.flag(true) },
}

// textsOrNone reads texts, of which there may be none.
func (s *scanner) textsOrNone() Prompts {
	if s.emptyArray() {
		return Prompts{List: []Prompt{}, Batch: true}
	}
	return s.prompts(textPrompts)
}

// idLists reads token ids, of which there may be none, or lists of them.
func (s *scanner) idLists() Prompts {
	if s.emptyArray() {
		return Prompts{List: []Prompt{{Tokens: []uint32{}}}}
	}
	return s.prompts(idPrompts)
}

// emptyArray steps over an array without elements.
func (s *scanner) emptyArray() bool {
	if s.peek() != '[' {
		return false
	}
	inside := *s
	if inside.pos++; inside.peek() != ']' {
		return false
	}
	s.skip()
	return true
}

// DecodeDetokenize reads and checks the body of a detokenize request. Its error is an *Error with status 400.
func DecodeDetokenize(body []byte) (*DetokenizeRequest, error) {
	r := &DetokenizeRequest{SkipSpecialTokens: true}
	return decode(body, r, detokenizeFields, nil, &r.ignored, func(s *scanner) {
		if r.Tokens.List == nil {
			s.missing("tokens")
		}
	})
}

// Detokenized is the answer: one text, or one for each list of ids.
type Detokenized struct {
	Texts []string
	Batch bool
}

// AppendJSON appends the body.
func (t Detokenized) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"text":`...)
	return append(appendOneOrAll(dst, t.Texts, t.Batch, AppendString[string]), '}')
}

// appendOneOrAll writes a single answer bare, and those of a batch as an array.
func appendOneOrAll[T any](dst []byte, all []T, batch bool, one func([]byte, T) []byte) []byte {
	if !batch && len(all) == 1 {
		return one(dst, all[0])
	}
	dst = append(dst, '[')
	for i, t := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, t)
	}
	return append(dst, ']')
}

func appendIDs(dst []byte, ids []uint32) []byte {
	dst = append(dst, '[')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(id), 10)
	}
	return append(dst, ']')
}
