package proxy

import (
	"bytes"
	"strings"
)

// typed gives samples in Prometheus' text format what the format asks for around them: all of a family stand together,
// under a line that says of what type they are. Within a family, and among the families, the order stays.
func typed(samples []byte) []byte {
	compound := map[string]string{} // the type of each family that has samples of several names
	for line := range bytes.Lines(samples) {
		name := sampleName(line)
		if base, ok := strings.CutSuffix(name, "_bucket"); ok {
			compound[base] = "histogram"
		} else if bytes.Contains(line, []byte(`quantile="`)) {
			compound[name] = "summary"
		}
	}
	var families []string
	lines := map[string][]byte{}
	for line := range bytes.Lines(samples) {
		if name := sampleName(line); name != "" {
			family := familyOf(compound, name)
			if lines[family] == nil {
				families = append(families, family)
			}
			lines[family] = append(lines[family], line...)
		}
	}
	text := make([]byte, 0, len(samples)*5/4)
	for _, family := range families {
		text = append(text, "# TYPE "+family+" "+typeOf(compound, family)+"\n"...)
		text = append(text, lines[family]...)
	}
	return text
}

// sampleName is what a line measures; "" where it is a comment, or empty.
func sampleName(line []byte) string {
	if len(line) == 0 || line[0] == '#' {
		return ""
	}
	end := bytes.IndexAny(line, "{ \n")
	return string(line[:max(end, 0)])
}

func familyOf(compound map[string]string, name string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && compound[base] != "" {
			return base
		}
	}
	return name
}

func typeOf(compound map[string]string, family string) string {
	switch {
	case compound[family] != "":
		return compound[family]
	case strings.HasSuffix(family, "_total"):
		return "counter"
	}
	return "gauge"
}
