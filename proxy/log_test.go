package proxy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestLogIsTextOrJSONFromItsLevelOn(t *testing.T) {
	var out bytes.Buffer
	c := DefaultConfig()
	c.LogLevel = "warn"
	log := c.Logger(&out)
	log.Info().Msg("quiet")
	log.Warn().Str("key", "value").Msg("loud")
	if text := out.String(); strings.Contains(text, "quiet") || !strings.Contains(text, "loud key=value") {
		t.Errorf("text: %q", text)
	}
	out.Reset()
	c.LogJSON = true
	log = c.Logger(&out)
	log.Warn().Str("key", "value").Msg("loud")
	line := map[string]string{}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["key"] != "value" || line["level"] != "warn" || line["time"] == "" {
		t.Errorf("JSON: %q, %v", out.String(), err)
	}
}
