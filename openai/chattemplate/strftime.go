package chattemplate

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats as Python's datetime.strftime of a naive local time does in the C locale of glibc, with its flags.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		start := i
		for i++; i+1 < len(format) && strings.IndexByte("-_0^", format[i]) >= 0; i++ {
		}
		flags := format[start+1 : i]
		if out, known := strftimeField(t, format[i]); known && (format[i] != 'f' || flags == "") { // %f is Python's own
			b.WriteString(flagged(out, flags))
		} else {
			b.WriteString(format[start : i+1])
		}
	}
	return b.String()
}

// flagged applies flags in their order: no padding, padding with spaces or with zeros, capitals.
func flagged(s, flags string) string {
	for _, flag := range flags {
		switch numeric := strings.Trim(s, " 0123456789") == ""; {
		case flag == '^':
			s = strings.ToUpper(s)
		case flag == '-':
			s = unpadded(s)
		case flag == '_' && numeric:
			s = fmt.Sprintf("%*s", len(s), unpadded(s))
		case flag == '0' && numeric:
			s = strings.ReplaceAll(s, " ", "0")
		}
	}
	return s
}

// unpadded leaves out zeros and spaces in front, but not the last digit.
func unpadded(s string) string {
	if t := strings.TrimLeft(s, "0 "); t != "" || s == "" {
		return t
	}
	return s[len(s)-1:]
}

// timeLayouts are the fields that Go formats as C does.
var timeLayouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02",
	'D': "01/02/06", 'e': "_2", 'F': "2006-01-02", 'H': "15", 'I': "03", 'm': "01", 'M': "04", 'p': "PM", 'r': "03:04:05 PM",
	'R': "15:04", 'S': "05", 'T': "15:04:05", 'x': "01/02/06", 'X': "15:04:05", 'y': "06", 'Y': "2006", 'j': "002",
}

func strftimeField(t time.Time, field byte) (string, bool) {
	if layout, ok := timeLayouts[field]; ok {
		return t.Format(layout), true
	}
	year, week := t.ISOWeek()
	weekday, day := int(t.Weekday()), t.YearDay()-1
	switch field {
	case '%':
		return "%", true
	case 'P':
		return t.Format("pm"), true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'g':
		return fmt.Sprintf("%02d", year%100), true
	case 'G':
		return fmt.Sprintf("%04d", year), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'u':
		return fmt.Sprint((weekday+6)%7 + 1), true
	case 'w':
		return fmt.Sprint(weekday), true
	case 'U':
		return fmt.Sprintf("%02d", (day+7-weekday)/7), true
	case 'W':
		return fmt.Sprintf("%02d", (day+7-(weekday+6)%7)/7), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'z', 'Z': // a naive time has no zone
		return "", true
	}
	return "", false
}
