package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestACommandLineOfSMGsStartsOrSaysWhyNot(t *testing.T) {
	line := "launch --host 127.0.0.1 --port 0 --prometheus-host 127.0.0.1 --prometheus-port 0 --worker-urls grpc://127.0.0.1:1 --policy cache_aware " +
		"--cache-threshold 0.5 --spill-abs-threshold 32 --balance-rel-threshold 1.1 --max-tree-size 1000 --eviction-interval-secs 60 " +
		"--worker-startup-timeout-secs 600 --runtime sglang --model ../workers/sim/demo --sticky-sessions --model-alias gpt-4=demo --enable-igw"
	p := start(t, strings.Fields(line)...)
	eventually(t, 10*time.Second, "the flags without effect are told", func() bool {
		printed := p.output.String()
		for _, flag := range []string{"--cache-threshold", "--max-tree-size", "--eviction-interval-secs", "--worker-startup-timeout-secs", "--enable-igw"} {
			if !strings.Contains(printed, flag) {
				return false
			}
		}
		return true
	})
	for _, own := range []string{"--spill-abs-threshold", "--runtime", "--sticky-sessions"} {
		if strings.Contains(p.output.String(), own) {
			t.Errorf("%s has an effect, and is told to have none", own)
		}
	}
	p = start(t, "launch", "--service-discovery", "--selector", "app=vllm")
	if code := p.end(10 * time.Second); code == 0 || !strings.Contains(p.output.String(), "--service-discovery") || !strings.Contains(p.output.String(), "discovery_file") {
		t.Errorf("exit code %d, printed %s", code, p.output)
	}
}

func TestNoFlagIsBothLeewaysAndForeign(t *testing.T) {
	table, err := os.ReadFile("../proxy/settings/smg.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "--help")
	p.end(10 * time.Second)
	own := regexp.MustCompile(`(?m)^  --(\S+)$`).FindAllStringSubmatch(p.output.String(), -1)
	if len(own) < 50 {
		t.Fatalf("--help lists %d flags", len(own))
	}
	for _, flag := range own {
		if regexp.MustCompile(`(?m)^(value|values|switch)\s+\S+\s+(\S+,)?` + regexp.QuoteMeta(flag[1]) + `[, ]`).Match(table) {
			t.Errorf("--%s is leeway's, and smg.txt says that it is not", flag[1])
		}
	}
}
