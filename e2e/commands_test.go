package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const demoFiles = "../workers/sim/demo"

// pipe runs a command on in and returns what it wrote to its two outputs.
func pipe(t *testing.T, in string, args ...string) (out, problem string, ok bool) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
	err := cmd.Run()
	return stdout.String(), stderr.String(), err == nil
}

func TestTokenizeAndDetokenizeAreEachOthersInverse(t *testing.T) {
	lines := "\"Hello, wörld 🙂\"\n\"\"\n\"<|im_start|>user\\n\"\n"
	ids, problem, ok := pipe(t, lines, "tokenize", "--tokenizer-path", demoFiles)
	if !ok || strings.Count(ids, "\n") != 3 || !strings.Contains(ids, "\n[]\n") {
		t.Fatalf("ids %q, %s", ids, problem)
	}
	back, problem, ok := pipe(t, ids, "detokenize", "--tokenizer-path", demoFiles)
	if !ok || back != lines {
		t.Errorf("got %q back, %s", back, problem)
	}
	if back, _, ok := pipe(t, ids, "detokenize", "--tokenizer-path", demoFiles, "--skip-special-tokens"); !ok || !strings.Contains(back, "\"user\\n\"") {
		t.Errorf("without special tokens: %q", back)
	}
}

func TestRenderShowsThePromptOrTheError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jinja")
	if err := os.WriteFile(file, []byte("{{ messages[0].content }} {{ strftime_now('%Y') }}{% if bad %}{{ raise_exception('no') }}{% endif %}"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, problem, ok := pipe(t, `{"messages":[{"content":"hi"}]}`+"\n"+`{"messages":[{"content":"hi"}],"bad":true}`+"\n", "render", "--chat-template", file, "--now", "2025-07-26 13:04:05")
	lines := strings.Split(out, "\n")
	if !ok || lines[0] != `{"text": "hi 2025"}` || !strings.HasPrefix(lines[1], `{"error": "TemplateError: no`) {
		t.Errorf("got %q, %s", out, problem)
	}
	out, problem, ok = pipe(t, `{"model":"demo","messages":[{"role":"user","content":"hi"}]}`, "render", "--tokenizer-path", demoFiles)
	if !ok || !strings.Contains(out, "<|im_start|>user\\nhi") || !strings.Contains(out, `"ids": [`) {
		t.Errorf("got %q, %s", out, problem)
	}
}

func TestBadLinesAndPathsAreNamed(t *testing.T) {
	for _, c := range []struct {
		in   string
		args []string
		want string
	}{
		{"\"a\"\nnope\n", []string{"tokenize", "--tokenizer-path", demoFiles}, "line 2"},
		{"[1]\n[1.5]\n", []string{"detokenize", "--tokenizer-path", demoFiles}, "line 2"},
		{"{}\n[", []string{"render", "--tokenizer-path", demoFiles}, "line"},
		{"", []string{"tokenize", "--tokenizer-path", "/nowhere"}, "/nowhere"},
		{"", []string{"tokenize"}, "tokenizer-path"},
		{"", []string{"render"}, "chat-template"},
		{"", []string{"render", "--chat-template", "/nowhere"}, "/nowhere"},
		{"", []string{"render", "--chat-template", "../go.mod", "--now", "noon"}, "noon"},
		{"", []string{"sim", "--dialect", "latin"}, "latin"},
		{"", []string{"sim", "--engine", "L9B"}, "L9B"},
		{"", []string{"sim", "--replies", "/nowhere"}, "/nowhere"},
	} {
		if _, problem, ok := pipe(t, c.in, c.args...); ok || !strings.Contains(problem, c.want) {
			t.Errorf("%v: ok %v, said %q; want it to name %q", c.args, ok, problem, c.want)
		}
	}
}

// case F12
func TestAHangupReadsTheModeAnewAndABrokenFileChangesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[routing]\nleast_load_cache_mode = 'shadow'\n")
	_, url := simulate(t, "vllm", "")
	g := serve(t, "--config", file, "--worker-urls", url)
	mode := func(want string) func() bool {
		return func() bool { return strings.Contains(g.get("/routing/mode"), want) }
	}
	eventually(t, time.Second, "the mode is shadow", mode("shadow"))
	write("[routing]\nleast_load_cache_mode = 'enforce'\n")
	g.signal(syscall.SIGHUP)
	eventually(t, 2*time.Second, "the mode is enforce", mode("enforce"))
	write("[routing]\nleast_load_cache_mode = 'often'\n")
	g.signal(syscall.SIGHUP)
	eventually(t, 2*time.Second, "the fault is logged", func() bool { return strings.Contains(g.output.String(), "often") })
	if !mode("enforce")() || g.status("/readiness") != 200 {
		t.Error("a broken file changed something")
	}
}
