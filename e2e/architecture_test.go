package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	maxFunction     = 60
	maxTestFunction = 100
	maxFile         = 400
	maxMain         = 150
	maxMethods      = 6
	maxChain        = 6
)

// imports says which of our packages a package may import; "/..." takes in what lies below.
var imports = map[string][]string{
	".":                       {"proxy", "proxy/settings", "workers", "workers/sim/...", "routing", "openai/..."},
	"proxy":                   {"workers", "workers/engine", "routing", "openai/..."},
	"proxy/settings":          {},
	"workers":                 {"workers/engine", "workers/sglang", "workers/vllm", "workers/tokenspeed", "workers/wire", "routing", "routing/prefix"},
	"workers/engine":          {},
	"workers/wire":            {"workers/engine", "workers/enginepb/..."},
	"workers/sglang":          {"workers/engine", "workers/wire", "workers/enginepb/..."},
	"workers/vllm":            {"workers/engine", "workers/wire", "workers/enginepb/..."},
	"workers/tokenspeed":      {"workers/engine", "workers/wire", "workers/enginepb/..."},
	"workers/enginepb/...":    {"workers/enginepb/..."},
	"workers/sim":             {"workers/engine", "workers/enginepb/...", "openai/tokenizer"},
	"workers/sim/trial":       {"routing", "routing/prefix", "workers/sim"},
	"routing":                 {"routing/prefix"},
	"routing/prefix":          {},
	"openai":                  {},
	"openai/chattemplate/...": {"openai", "openai/chattemplate/..."},
	"openai/tokenizer/...":    {"openai", "openai/tokenizer/..."},
	"openai/toolcall":         {"openai"},
	"openai/reasoning":        {"openai"},
}

// custody says which rooms may import a dependency; tests and e2e may import any.
var custody = map[string][]string{
	"net/http":                           {".", "proxy"},
	"github.com/go-chi/chi/v5":           {"proxy"},
	"github.com/tmaxmax/go-sse":          {"proxy"},
	"google.golang.org/grpc":             {"workers/..."},
	"google.golang.org/protobuf":         {"workers/..."},
	"github.com/bufbuild/protocompile":   {"workers/enginepb/gen"},
	"github.com/rs/zerolog":              {"proxy", "workers", ".", "workers/sim"},
	"github.com/VictoriaMetrics/metrics": {"proxy", "workers", "routing"},
	"github.com/pelletier/go-toml/v2":    {"proxy/settings"},
	"github.com/zeebo/xxh3":              {"routing/..."},
	"golang.org/x/sync":                  {".", "proxy", "workers/..."},
	"golang.org/x/net":                   {"proxy", "workers/..."},
	"os/signal":                          {"."},
	"flag":                               {"proxy/settings"},
}

// pure lists what must not appear in rooms that hold data or decide.
var pure = map[string][]string{
	"routing/...": {"net", "os", "log", "log/slog"},
	"openai/...":  {"net", "os/exec", "log", "log/slog"},
}

var topLevel = []string{"go.mod", "go.sum", "main.go", "proxy", "routing", "workers", "openai", "config.toml", "Dockerfile", "e2e", "README.md", "LICENSE"}

type source struct {
	path, dir string
	file      *ast.File
	fset      *token.FileSet
	lines     int
	test      bool
	generated bool
	program   bool
}

func TestArchitecture(t *testing.T) {
	files := parseTree(t, "..")
	t.Run("top level", checkTopLevel)
	t.Run("import plan", func(t *testing.T) { checkImports(t, files) })
	t.Run("chain", func(t *testing.T) { checkChain(t, files) })
	t.Run("budgets", func(t *testing.T) { checkBudgets(t, files) })
	t.Run("package docs and names", func(t *testing.T) { checkPackages(t, files) })
	t.Run("globals", func(t *testing.T) { checkGlobals(t, files) })
}

func parseTree(t *testing.T, root string) []source {
	var files []source
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && (base == "testdata" || base == "node_modules" || len(base) > 2 && base[0] == '.') {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		files = append(files, source{
			path: rel, dir: filepath.ToSlash(filepath.Dir(rel)), file: file, fset: fset,
			lines: strings.Count(string(text), "\n"), test: strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(file), program: file.Name.Name == "main",
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func checkTopLevel(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		built := name == "leeway" || strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".prof")
		if name[0] != '.' && !built && !slices.Contains(topLevel, name) {
			t.Errorf("%s does not belong at the top level", name)
		}
	}
}

func checkImports(t *testing.T, files []source) {
	for _, src := range files {
		for _, spec := range src.file.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			if ours, ok := strings.CutPrefix(name, "leeway/"); ok && !src.test && !src.program && src.dir != "e2e" && !may(lookup(imports, src.dir), ours) {
				t.Errorf("%s imports %s, which the plan does not allow", src.path, ours)
			}
			if src.test || strings.HasPrefix(src.dir, "e2e") {
				continue
			}
			if rooms := lookup(custody, name); rooms != nil && !may(rooms, src.dir) {
				t.Errorf("%s imports %s, which is in the custody of %v", src.path, name, rooms)
			}
			if slices.Contains(lookup(pure, src.dir), name) {
				t.Errorf("%s imports %s: the room is pure", src.path, name)
			}
		}
	}
}

// lookup finds the entry for name: itself, or the nearest "parent/..." or parent module above it.
func lookup(table map[string][]string, name string) []string {
	if entry, ok := table[name]; ok {
		return entry
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if entry, ok := table[dir+"/..."]; ok {
			return entry
		}
		if entry, ok := table[dir]; ok && strings.Contains(dir, ".") {
			return entry
		}
	}
	return nil
}

func may(allowed []string, name string) bool {
	return slices.ContainsFunc(allowed, func(pattern string) bool {
		prefix, below := strings.CutSuffix(pattern, "/...")
		return prefix == name || below && strings.HasPrefix(name, prefix+"/")
	})
}

func checkChain(t *testing.T, files []source) {
	edges := map[string][]string{}
	for _, src := range files {
		for _, spec := range src.file.Imports {
			if ours, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "leeway/"); ok && !src.test {
				edges[src.dir] = append(edges[src.dir], ours)
			}
		}
	}
	var depth func(dir string) int
	depth = func(dir string) int {
		longest := 0
		for _, next := range edges[dir] {
			longest = max(longest, depth(next))
		}
		return longest + 1
	}
	if got := depth("."); got > maxChain {
		t.Errorf("the import chain from main is %d packages long, at most %d", got, maxChain)
	}
}

func checkBudgets(t *testing.T, files []source) {
	for _, src := range files {
		if src.generated {
			continue
		}
		limit, functions := maxFile, maxFunction
		if src.path == "main.go" {
			limit = maxMain
		}
		if src.test {
			functions = maxTestFunction
		}
		if src.lines > limit {
			t.Errorf("%s has %d lines, at most %d", src.path, src.lines, limit)
		}
		ast.Inspect(src.file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if n := src.height(node); n > functions {
					t.Errorf("%s: %s has %d lines, at most %d", src.path, node.Name.Name, n, functions)
				}
				if node.Name.Name == "init" && node.Recv == nil {
					t.Errorf("%s has an init", src.path)
				}
			case *ast.InterfaceType:
				if n := len(node.Methods.List); n > maxMethods {
					t.Errorf("%s: an interface has %d methods, at most %d", src.path, n, maxMethods)
				}
			}
			return true
		})
	}
}

func (s source) height(node ast.Node) int {
	return s.fset.Position(node.End()).Line - s.fset.Position(node.Pos()).Line + 1
}

func checkPackages(t *testing.T, files []source) {
	docs := map[string]int{}
	for _, src := range files {
		if slices.Contains([]string{"util", "utils", "common", "base", "helper", "helpers", "types", "models"}, src.file.Name.Name) {
			t.Errorf("%s: package %s says nothing", src.path, src.file.Name.Name)
		}
		if src.generated || src.test {
			continue
		}
		docs[src.dir] += 0
		if src.file.Doc != nil {
			docs[src.dir]++
		}
	}
	for dir, n := range docs {
		if n != 1 {
			t.Errorf("package %s has %d package comments, want 1", dir, n)
		}
	}
}

// checkGlobals allows errors, metrics, embedded files and tables that nobody writes to.
func checkGlobals(t *testing.T, files []source) {
	for _, src := range files {
		if src.generated || src.test || path.Base(src.path) == "metrics.go" {
			continue
		}
		for _, decl := range src.file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				if !harmless(group, value) {
					t.Errorf("%s: global %s is neither an error nor a table", src.path, value.Names[0].Name)
				}
			}
		}
	}
}

func harmless(group *ast.GenDecl, value *ast.ValueSpec) bool {
	name := value.Names[0].Name
	embedded := group.Doc != nil && strings.Contains(group.Doc.List[len(group.Doc.List)-1].Text, "go:embed")
	if name == "_" || embedded || strings.HasPrefix(strings.ToLower(name), "err") {
		return true
	}
	return len(value.Values) > 0 && !slices.ContainsFunc(value.Values, func(v ast.Expr) bool { return !isTable(v) })
}

// isTable reports whether v is a literal, the address of one, or what a function made of some.
func isTable(v ast.Expr) bool {
	switch v := v.(type) {
	case *ast.CompositeLit, *ast.CallExpr, *ast.FuncLit:
		return true
	case *ast.UnaryExpr:
		return isTable(v.X)
	}
	return false
}
