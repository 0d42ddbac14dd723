package tokenizer

import (
	"encoding/json"
	"fmt"
)

// templatePiece is an element of a TemplateProcessing: a special token or the text itself.
type templatePiece struct {
	SpecialToken *templateRef `json:"SpecialToken"`
	Sequence     *templateRef `json:"Sequence"`
}

type templateRef struct {
	ID     string `json:"id"`
	TypeID int    `json:"type_id"`
}

// templateSpecial holds the ids of a template's special token.
type templateSpecial struct {
	ID     string   `json:"id"`
	IDs    []uint32 `json:"ids"`
	Tokens []string `json:"tokens"`
}

// sepToken is a token as the BERT processors write it: a text and an id.
type sepToken struct {
	text string
	id   uint32
}

func (t *sepToken) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&t.text, &t.id})
}

// newSurround returns the ids that the post-processor puts before and after a text. Of a sequence one may add any: the
// library applies a second to every part that the first has made.
func newSurround(c *component) (prefix, suffix []uint32, err error) {
	for _, part := range c.flat() {
		var before, after []uint32
		switch part.Type {
		case "ByteLevel":
			continue
		case "TemplateProcessing":
			before, after, err = part.template()
		case "BertProcessing", "RobertaProcessing":
			if part.Sep == nil || part.Cls == nil {
				err = fmt.Errorf("sep and cls are required")
				break
			}
			before, after = []uint32{part.Cls.id}, []uint32{part.Sep.id}
		default:
			err = fmt.Errorf("not supported")
		}
		if err == nil && len(prefix)+len(suffix) > 0 {
			err = fmt.Errorf("a second processor after one that adds tokens is not supported")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("post_processor %s: %w", part.Type, err)
		}
		prefix, suffix = before, after
	}
	return prefix, suffix, nil
}

func (c *component) template() (before, after []uint32, err error) {
	texts := 0
	for _, piece := range c.Single {
		switch {
		case piece.Sequence != nil && piece.Sequence.ID == "A":
			texts++
		case piece.SpecialToken != nil:
			token, ok := c.SpecialTokens[piece.SpecialToken.ID]
			if !ok {
				return nil, nil, fmt.Errorf("special token %q has no ids", piece.SpecialToken.ID)
			}
			if texts == 0 {
				before = append(before, token.IDs...)
			} else {
				after = append(after, token.IDs...)
			}
		default:
			return nil, nil, fmt.Errorf("single: a piece that is neither $A nor a special token")
		}
	}
	if texts != 1 {
		return nil, nil, fmt.Errorf("single: the text comes %d times, want once", texts)
	}
	return before, after, nil
}
