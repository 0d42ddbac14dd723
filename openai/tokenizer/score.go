package tokenizer

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseScore reads a score as the library's JSON reader does: as a whole number of at most 64 bits and a power of ten, of
// which it takes a single product or quotient. That is not always the nearest number, and where two segmentations of a
// word are all but equal the last bit decides.
func parseScore(text string) (float64, error) {
	digits, negative := strings.CutPrefix(text, "-")
	n, power, at := uint64(0), 0, 0
	full, point := false, -1
	for ; at < len(digits) && digits[at] != 'e' && digits[at] != 'E'; at++ {
		c := digits[at]
		if c == '.' && point < 0 && at > 0 {
			point = at
			continue
		}
		digit := uint64(c - '0')
		if digit > 9 {
			return 0, fmt.Errorf("bad score %.40q", text)
		}
		full = full || n > (math.MaxUint64-digit)/10
		switch {
		case !full && point < 0:
			n = n*10 + digit
		case !full:
			n, power = n*10+digit, power-1
		case point < 0:
			power++
		}
	}
	if at == 0 || point == at-1 {
		return 0, fmt.Errorf("bad score %.40q", text)
	}
	if at < len(digits) {
		e, err := strconv.ParseInt(digits[at+1:], 10, 32)
		if err != nil {
			return 0, fmt.Errorf("bad score %.40q", text)
		}
		power += int(e)
	}
	f := scaled(float64(n), power)
	if math.IsInf(f, 0) {
		return 0, fmt.Errorf("score %.40q is too large", text)
	}
	if negative {
		f = -f
	}
	return f, nil
}

// scaled returns f times ten to the given power.
func scaled(f float64, power int) float64 {
	for ; power < -308 && f != 0; power += 308 {
		f /= 1e308
	}
	if f == 0 {
		return 0
	}
	if power < 0 {
		return f / powerOfTen(-power)
	}
	return f * powerOfTen(power)
}

// powerOfTen returns the number nearest to a power of ten; math.Pow10 is a product beyond 1e31.
func powerOfTen(n int) float64 {
	if n < 32 {
		return math.Pow10(n)
	}
	f, _ := strconv.ParseFloat("1e"+strconv.Itoa(n), 64)
	return f
}
