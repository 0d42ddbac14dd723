package chattemplate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The templates of the comparison with Python, and the conversations they render.
var (
	benchTemplates = []string{
		"hf_js_e2e/Qwen__Qwen3-0.6B.jinja", "llamacpp/meta-llama-Llama-3.3-70B-Instruct.jinja", "llamacpp/deepseek-ai-DeepSeek-V3.1.jinja",
		"llamacpp/openai-gpt-oss-120b.jinja", "llamacpp/GLM-4.6.alt.jinja", "llamacpp/Kimi-K2-Instruct.jinja", "ollama/gemma4_e2b_chat_template.jinja",
	}
	benchConversations = []string{"multi", "tool_call", "long_multi"}
)

// pythonBench times renders with Python: a request is [template path, conversation], the answer microseconds a render.
const pythonBench = `
import json, sys, time
sys.path.insert(0, sys.argv[1])
import goldens
conversations = json.load(open(sys.argv[2]))
for path, name in json.loads(sys.argv[3]):
    template = goldens.environment().from_string(open(path, newline="").read())
    best = 1e9
    try:
        template.render(**conversations[name])
        for _ in range(10):
            start = time.perf_counter()
            for _ in range(20):
                template.render(**conversations[name])
            best = min(best, (time.perf_counter() - start) / 20 * 1e6)
        print(best, flush=True)
    except Exception:
        print(0, flush=True)
`

// TestRendersBesidePython renders the same conversations with Python in the same run.
func TestRendersBesidePython(t *testing.T) {
	dir, interpreter := sharedDir(t), python(t)
	conversations := readGolden(t, filepath.Join(dir, "conversations.json.gz"))
	asJSON, err := compactJSON.append(&render{limits: DefaultLimits()}, nil, conversations, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "conversations.json")
	if err := os.WriteFile(file, asJSON, 0o600); err != nil {
		t.Fatal(err)
	}
	var jobs [][2]string
	for _, tpl := range benchTemplates {
		for _, c := range benchConversations {
			jobs = append(jobs, [2]string{filepath.Join(dir, tpl), c})
		}
	}
	list, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(interpreter, "-c", pythonBench, "testdata", file, string(list))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	worst := compareWithPython(t, jobs, bufio.NewScanner(out), conversations)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("slowest ratio: %.1f times Python's speed", worst)
}

func compareWithPython(t *testing.T, jobs [][2]string, answers *bufio.Scanner, conversations *Dict) float64 {
	worst := 1e9
	for _, job := range jobs {
		var theirs float64
		if !answers.Scan() {
			t.Fatal("Python stopped early")
		}
		if _, err := fmt.Sscan(answers.Text(), &theirs); err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(job[0])
		if err != nil {
			t.Fatal(err)
		}
		ours := timeRender(t, string(source), get(t, conversations, job[1]).(*Dict))
		if theirs == 0 || ours == 0 {
			continue
		}
		t.Logf("%-48s %-11s %8.1f µs, Python %8.1f µs: %5.1f", filepath.Base(job[0]), job[1], ours, theirs, theirs/ours)
		worst = min(worst, theirs/ours)
	}
	return worst
}

// timeRender is the best of twenty, in microseconds a render; 0 when the template fails.
func timeRender(t *testing.T, source string, vars *Dict) float64 {
	tpl, err := Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	best := time.Hour
	for range 20 {
		start := time.Now()
		for range 20 {
			if _, err := tpl.Render(vars, RenderOptions{Now: goldenNow}); err != nil {
				return 0
			}
		}
		best = min(best, time.Since(start)/20)
	}
	return float64(best.Nanoseconds()) / 1000
}

func BenchmarkQwen3(b *testing.B) {
	dir := sharedDir(b)
	conversations := readGolden(b, filepath.Join(dir, "conversations.json.gz"))
	source, err := os.ReadFile(filepath.Join(dir, benchTemplates[0]))
	if err != nil {
		b.Fatal(err)
	}
	tpl, err := Compile(string(source))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range benchConversations {
		vars := get(b, conversations, name).(*Dict)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tpl.Render(vars, RenderOptions{Now: goldenNow}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
