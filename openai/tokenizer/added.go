package tokenizer

import "strings"

// addedToken is an entry of added_tokens: text that is cut out before the model sees it.
type addedToken struct {
	Content    string `json:"content"`
	ID         uint32 `json:"id"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// matcher finds added tokens in text, leftmost-longest: a trie over bytes, entered only where the first two bytes can
// start a token.
type matcher struct {
	tokens []*addedToken
	nodes  []trieNode
	pairs  [1 << 13]uint8 // a bit for each start of two bytes
	lone   byte           // the byte that all tokens start with, if single
	single bool
	word   *runeSet
	space  *runeSet
}

// trieNode keeps its children as a list of siblings: tries of added tokens are narrow.
type trieNode struct {
	char  byte
	token int32 // index into tokens, -1 for none
	child int32
	next  int32
}

// newMatcher builds a matcher; texts[i] is what tokens[i] looks like in the text (its normalized form, perhaps). Of two
// tokens with one text the first wins.
func newMatcher(tokens []*addedToken, texts []string) *matcher {
	m := &matcher{tokens: tokens, nodes: []trieNode{{token: -1, child: -1, next: -1}}, word: mustClass("rustword"), space: mustClass("space")}
	first := map[byte]bool{}
	for i, text := range texts {
		if text == "" {
			continue
		}
		m.insert(text, int32(i))
		first[text[0]] = true
		m.lone = text[0]
		if len(text) == 1 {
			for b := range 256 {
				m.allow(text[0], byte(b))
			}
		} else {
			m.allow(text[0], text[1])
		}
	}
	m.single = len(first) == 1
	if len(first) == 0 {
		return nil
	}
	return m
}

func (m *matcher) allow(a, b byte) {
	pair := int(a)<<8 | int(b)
	m.pairs[pair>>3] |= 1 << (pair & 7)
}

func (m *matcher) insert(text string, token int32) {
	at := int32(0)
	for i := range len(text) {
		child := m.step(at, text[i])
		if child < 0 {
			child = int32(len(m.nodes))
			m.nodes = append(m.nodes, trieNode{text[i], -1, -1, m.nodes[at].child})
			m.nodes[at].child = child
		}
		at = child
	}
	if m.nodes[at].token < 0 {
		m.nodes[at].token = token
	}
}

func (m *matcher) step(at int32, c byte) int32 {
	child := m.nodes[at].child
	for child >= 0 && m.nodes[child].char != c {
		child = m.nodes[child].next
	}
	return child
}

// find returns the first match at or after i, token nil if there is none.
func (m *matcher) find(s string, i int) (start, end int, token *addedToken) {
	for ; i < len(s); i++ {
		if m.single {
			skip := strings.IndexByte(s[i:], m.lone)
			if skip < 0 {
				break
			}
			i += skip
		}
		var second byte
		if i+1 < len(s) {
			second = s[i+1]
		}
		if pair := int(s[i])<<8 | int(second); m.pairs[pair>>3]>>(pair&7)&1 == 0 {
			continue
		}
		if end, token := m.longest(s, i); token != nil {
			return i, end, token
		}
	}
	return len(s), len(s), nil
}

func (m *matcher) longest(s string, i int) (end int, token *addedToken) {
	for at := int32(0); i < len(s); {
		if at = m.step(at, s[i]); at < 0 {
			break
		}
		i++
		if t := m.nodes[at].token; t >= 0 {
			end, token = i, m.tokens[t]
		}
	}
	return end, token
}

// next returns the next token that counts at or after from: where its text is cut out of s (the flags may have widened or
// refused it) and where to look on. Text before done belongs to what was cut before; what is left of a token may be empty
// or overlap that, as the library does not look. token is nil at the end.
func (m *matcher) next(s string, from, done int) (start, end, resume int, token *addedToken) {
	for {
		start, end, token = m.find(s, from)
		if token == nil {
			return len(s), len(s), len(s), nil
		}
		from = end
		if token.SingleWord && (m.wordBefore(s, start) || m.wordAfter(s, end)) {
			continue
		}
		if token.RStrip {
			// The token before has been widened over this one: white space is known to end there.
			if end < done {
				end = done
			}
			end, _ = m.space.run(s, end, -1)
		}
		if token.LStrip {
			start = m.stripBefore(s, start, done)
		}
		return start, end, from, token
	}
}

// stripBefore returns where the white space before start begins, but not before done.
func (m *matcher) stripBefore(s string, start, done int) int {
	for start > done {
		at := runeBefore(s, start)
		if r, _ := runeAt(s, at); !m.space.has(r) {
			break
		}
		start = at
	}
	return max(start, done)
}

func (m *matcher) wordBefore(s string, i int) bool {
	if i == 0 {
		return false
	}
	r, _ := runeAt(s, runeBefore(s, i))
	return m.word.has(r)
}

func (m *matcher) wordAfter(s string, i int) bool {
	if i == len(s) {
		return false
	}
	r, _ := runeAt(s, i)
	return m.word.has(r)
}
