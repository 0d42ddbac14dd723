package chattemplate

import (
	"strings"
)

func wordwrapFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "wordwrap", 0, "width", "break_long_words", "wrapstring", "break_on_hyphens"); err != nil {
		return nil, err
	}
	s, ok := text(v)
	if !ok {
		if u, isU := v.(*Undefined); isU {
			return nil, u.fail()
		}
		return nil, raise("AttributeError", "'"+v.typeName()+"' object has no attribute 'splitlines'")
	}
	sep := "\n"
	if !isNone(p[2]) {
		if sep, ok = text(p[2]); !ok {
			return nil, raise("AttributeError", "'"+p[2].typeName()+"' object has no attribute 'join'")
		}
	}
	if err := r.spend(1 + 8*len(s)); err != nil {
		return nil, err
	}
	lines := splitLines(s, false)
	width, err := wrapWidth(p[0], len(s))
	if err != nil && len(lines) > 0 {
		return nil, err
	}
	w := wrapper{width: width, breakLong: p[1] == nil || truth(p[1]), hyphens: p[3] == nil || truth(p[3])}
	size := 0
	for i, line := range lines {
		pieces := w.wrap(line)
		if size += len(line) + len(pieces)*len(sep); size > r.limits.Output && r.limits.Output > 0 {
			return nil, limitError("output size")
		}
		lines[i] = strings.Join(pieces, sep)
	}
	out := strings.Join(lines, sep)
	return Str(out), r.spendText(len(out))
}

// wrapWidth reads the width for a text of size bytes.
func wrapWidth(v Value, size int) (int, error) {
	if v == nil {
		return 79, nil
	}
	if _, isBig := v.(Big); isBig {
		return size + 1, nil // wide enough for any line
	}
	width, ok := asInt(v)
	switch {
	case !ok:
		return 0, typeError("'<=' not supported between instances of '%s' and 'int'", v.typeName())
	case width <= 0:
		return 0, valueError("invalid width %s (must be > 0)", reprInt(width))
	}
	return width, nil
}

// wrapper is Python's textwrap.TextWrapper without indents, tab expansion and whitespace replacement.
type wrapper struct {
	width              int
	breakLong, hyphens bool
}

// isWrapSpace is the whitespace that textwrap knows: ASCII only.
func isWrapSpace(c rune) bool { return c >= '\t' && c <= '\r' || c == ' ' }

func (w wrapper) wrap(line string) []string {
	chunks := w.chunks([]rune(line))
	reverse(chunks)
	lines := []string{}
	for len(chunks) > 0 {
		if len(lines) > 0 && isBlank(chunks[len(chunks)-1]) {
			chunks = chunks[:len(chunks)-1]
		}
		var cur [][]rune
		n := 0
		for len(chunks) > 0 {
			next := chunks[len(chunks)-1]
			if n+len(next) > w.width {
				break
			}
			cur = append(cur, next)
			n += len(next)
			chunks = chunks[:len(chunks)-1]
		}
		if len(chunks) > 0 && len(chunks[len(chunks)-1]) > w.width {
			cur, chunks = w.longWord(cur, chunks, n)
		}
		if len(cur) > 0 && isBlank(cur[len(cur)-1]) {
			cur = cur[:len(cur)-1]
		}
		if len(cur) > 0 {
			var b strings.Builder
			for _, c := range cur {
				b.WriteString(string(c))
			}
			lines = append(lines, b.String())
		}
	}
	return lines
}

func isBlank(chunk []rune) bool {
	for _, c := range chunk {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// longWord puts the part of a too long word that fits on the current line, or all of it on a line of its own.
func (w wrapper) longWord(cur, chunks [][]rune, used int) (line, rest [][]rune) {
	last := len(chunks) - 1
	word := chunks[last]
	if !w.breakLong {
		if len(cur) == 0 {
			return append(cur, word), chunks[:last]
		}
		return cur, chunks
	}
	left := w.width - used
	if w.width < 1 {
		left = 1
	}
	end := left
	if w.hyphens && len(word) > left {
		for i := left - 1; i > 0; i-- {
			if word[i] == '-' {
				if strings.Trim(string(word[:i]), "-") != "" {
					end = i + 1
				}
				break
			}
		}
	}
	chunks[last] = word[end:]
	return append(cur, word[:end]), chunks
}

// chunks cuts a line into words, runs of space and, when hyphens break, the parts of hyphenated words.
func (w wrapper) chunks(s []rune) [][]rune {
	var chunks [][]rune
	for from, before := 0, 0; from < len(s); {
		end := from + 1
		switch {
		case isWrapSpace(s[from]):
			for end < len(s) && isWrapSpace(s[end]) {
				end++
			}
		case w.hyphens:
			end = from + hyphenChunk(s[before:], from-before)
		default:
			for end < len(s) && !isWrapSpace(s[end]) {
				end++
			}
		}
		chunks = append(chunks, s[from:end:end])
		before, from = from, end
	}
	return chunks
}

// hyphenChunk follows textwrap's wordsep_re: a dash of two or more between words is a chunk of its own, and a word ends
// behind a hyphen between letters. The chunk starts at offset of all, behind the chunk before it, into which look-behinds
// may reach.
func hyphenChunk(all []rune, offset int) int {
	if s := all[offset:]; s[0] == '-' && offset > 0 {
		n := 0
		for n < len(s) && s[n] == '-' {
			n++
		}
		if n >= 2 && n < len(s) && isWord(s[n]) && isWordPunct(all[offset-1]) {
			return n
		}
	}
	for n := 1; ; n++ {
		at := offset + n // end of the word so far
		if at == len(all) || isWrapSpace(all[at]) {
			return n
		}
		if all[at] == '-' {
			if isHyphenBreak(all, at) {
				return n + 1
			}
			if isWordPunct(all[at-1]) && isDash(all[at:]) {
				return n
			}
		}
	}
}

func isDash(s []rune) bool {
	n := 0
	for n < len(s) && s[n] == '-' {
		n++
	}
	return n >= 2 && n < len(s) && isWord(s[n])
}

func isWordLetter(c rune) bool { return isWord(c) && !isDecimal(c) }

func isWordPunct(c rune) bool { return isWord(c) || strings.ContainsRune(`!"'&.,?`, c) }

// isHyphenBreak tells whether the hyphen at s[i] lies between letters as wordsep_re wants it.
func isHyphenBreak(s []rune, i int) bool {
	behind := i >= 2 && isWordLetter(s[i-1]) && isWordLetter(s[i-2]) ||
		i >= 3 && isWordPunct(s[i-1]) && s[i-2] == '-' && isWordLetter(s[i-3])
	if !behind || i+2 >= len(s) || !isWordLetter(s[i+1]) {
		return false
	}
	return isWordLetter(s[i+2]) || s[i+2] == '-' && i+3 < len(s) && isWordLetter(s[i+3])
}
