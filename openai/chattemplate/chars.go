package chattemplate

import (
	"strconv"
	"strings"
	"unicode"
)

// isSpace is str.isspace of one character.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }

func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }

func isCased(r rune) bool { return isUpper(r) || isLower(r) || unicode.IsTitle(r) }

func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }

func isDigit(r rune) bool { return isDecimal(r) || otherDigitSet[r] }

func isNumeric(r rune) bool { return unicode.IsNumber(r) || numericLetterSet[r] }

func isAlnum(r rune) bool { return unicode.IsLetter(r) || isNumeric(r) }

// digitValue is the value of a decimal digit of any script, or -1. Unicode keeps every script's ten in one run.
func digitValue(r rune) int {
	if !isDecimal(r) {
		return -1
	}
	d := 0
	for d < 9 && isDecimal(r-1) && (r-1)/10 >= 0 && sameDigitRun(r-1, r) {
		r--
		d++
	}
	return d
}

// sameDigitRun is false where a script's nine ends and the next script's zero begins.
func sameDigitRun(before, at rune) bool {
	for _, table := range unicode.Nd.R16 {
		if at >= rune(table.Lo) && at <= rune(table.Hi) {
			return before >= rune(table.Lo) && (at-rune(table.Lo))%10 != 0
		}
	}
	for _, table := range unicode.Nd.R32 {
		if at >= rune(table.Lo) && at <= rune(table.Hi) {
			return before >= rune(table.Lo) && (at-rune(table.Lo))%10 != 0
		}
	}
	return false
}

var (
	upperOf, titleOf = func() (upper, title map[rune]string) {
		upper, title = map[rune]string{}, map[rune]string{}
		f := strings.Fields(fullCasing)
		for i := 0; i+2 < len(f); i += 3 {
			upper[[]rune(f[i])[0]], title[[]rune(f[i])[0]] = f[i+1], f[i+2]
		}
		return upper, title
	}()
	foldOf = func() map[rune]string {
		fold := map[rune]string{}
		f := strings.Fields(caseFolding)
		for i := 0; i+1 < len(f); i += 2 {
			fold[[]rune(f[i])[0]] = f[i+1]
		}
		return fold
	}()
	otherDigitSet    = runeSet(otherDigits)
	numericLetterSet = runeSet(numericLetters)
)

func runeSet(ranges string) map[rune]bool {
	set := map[rune]bool{}
	for _, field := range strings.Fields(ranges) {
		low, high, isRange := strings.Cut(field, "-")
		if !isRange {
			high = low
		}
		from, _ := strconv.ParseUint(low, 16, 32) // the constants above are well formed
		to, _ := strconv.ParseUint(high, 16, 32)
		for r := from; r <= to; r++ {
			set[rune(r)] = true
		}
	}
	return set
}

func upperRune(r rune) string {
	if s, ok := upperOf[r]; ok {
		return s
	}
	return string(unicode.ToUpper(r))
}

func titleRune(r rune) string {
	if s, ok := titleOf[r]; ok {
		return s
	}
	return string(unicode.ToTitle(r))
}

func foldRune(r rune) string {
	if s, ok := foldOf[r]; ok {
		return s
	}
	switch {
	case r >= 0x13a0 && r <= 0x13f5:
		return string(r)
	case r >= 0x13f8 && r <= 0x13fd:
		return string(r - 8)
	case r >= 0xab70 && r <= 0xabbf:
		return string(r - 0xab70 + 0x13a0)
	}
	return lowerRune(r)
}

func lowerRune(r rune) string {
	if r == 'İ' {
		return "i̇"
	}
	return string(unicode.ToLower(r))
}

// mapRunes builds a string from what each character becomes, given the text around it.
func mapRunes(s string, one func(i int, r rune) string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		b.WriteString(one(i, r))
	}
	return b.String()
}

// lowerAt is the lower case of the character r at s[i:]; a capital sigma that ends a word is special.
func lowerAt(s string, i int, r rune) string {
	if r != 'Σ' {
		return lowerRune(r)
	}
	before := strings.TrimRightFunc(s[:i], isCaseIgnorable)
	after := strings.TrimLeftFunc(s[i+len("Σ"):], isCaseIgnorable)
	if last := []rune(lastRune(before)); len(last) > 0 && isCased(last[0]) {
		if next := []rune(firstRune(after)); len(next) == 0 || !isCased(next[0]) {
			return "ς"
		}
	}
	return "σ"
}

func isCaseIgnorable(r rune) bool {
	if r < unicode.MaxASCII {
		return strings.ContainsRune("'.:^`", r)
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·’‘․‧︓﹕﹒＇．：", r)
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

func lastRune(s string) string {
	c, _ := runeAt(s, -1)
	return c
}

func lower(s string) string {
	return mapRunes(s, func(i int, r rune) string { return lowerAt(s, i, r) })
}

func upper(s string) string { return mapRunes(s, func(_ int, r rune) string { return upperRune(r) }) }

func casefold(s string) string {
	return mapRunes(s, func(_ int, r rune) string { return foldRune(r) })
}

func capitalize(s string) string {
	return mapRunes(s, func(i int, r rune) string {
		if i == 0 {
			return titleRune(r)
		}
		return lowerAt(s, i, r)
	})
}

func swapcase(s string) string {
	return mapRunes(s, func(i int, r rune) string {
		switch {
		case isUpper(r):
			return lowerAt(s, i, r)
		case isLower(r):
			return upperRune(r)
		}
		return string(r)
	})
}

func title(s string) string {
	inWord := false
	return mapRunes(s, func(i int, r rune) string {
		start := !inWord
		inWord = isCased(r)
		if start {
			return titleRune(r)
		}
		return lowerAt(s, i, r)
	})
}
