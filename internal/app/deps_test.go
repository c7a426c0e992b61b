package app_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tests in this file hold the architecture. They read every source file with the parser, whatever its build tags or
// target system, so that a rule cannot be escaped in a file that this machine does not compile.

const (
	module        = "mediagen"
	maxFileLines  = 600
	maxFuncLines  = 100
	maxDirectDeps = 23
)

// leaves are the packages that every other may import. They come in two layers.
func leaves() []string {
	return append(bottom(), "internal/param", "internal/catalog", "internal/sniff")
}

func bottom() []string {
	return []string{"internal/fault", "internal/redact", "internal/buildinfo"}
}

// arrows says which packages of ours a package may import beside the leaves. A package that is missing here fails the
// test: its place in the drawing has to be decided first. anything marks the composition root and the developer's
// generator.
func arrows() map[string][]string {
	return map[string][]string{
		"internal/workspace":            {},
		"internal/journal":              {},
		"internal/imaging":              {},
		"internal/fetch":                {},
		"internal/iostreams":            {},
		"internal/config":               {},
		"internal/engine":               {"internal/imaging", "internal/fetch", "internal/workspace", "internal/journal"},
		"internal/provider/openai":      {"internal/engine"},
		"internal/provider/google":      {"internal/engine"},
		"internal/emulator":             {"internal/imaging", "internal/emulator/drawing"},
		"internal/emulator/drawing":     {"internal/imaging"},
		"internal/emulator/openapitest": {},
		"internal/cli":                  {"internal/engine", "internal/iostreams"},
		"internal/mcpserver":            {"internal/engine"},
		"internal/app":                  anything(),
		"cmd/gendocs":                   anything(),
		"cmd/mediagen":                  {"internal/app", "internal/iostreams"},
	}
}

func anything() []string { return []string{"*"} }

// soleImporters says who may import a library. A key ending in "/" covers everything below it.
func soleImporters() map[string][]string {
	return map[string][]string{
		"C":                                {"internal/imaging"},
		"github.com/h2non/bimg":            {"internal/imaging"},
		"github.com/spf13/cobra/":          {"internal/cli", "cmd/gendocs"},
		"github.com/spf13/pflag":           {"internal/cli", "internal/config", "internal/app", "cmd/gendocs"},
		"github.com/spf13/viper/":          {"internal/config"},
		"github.com/go-viper/":             {"internal/config"},
		"github.com/openai/":               {"internal/provider/openai"},
		"google.golang.org/genai/":         {"internal/provider/google"},
		"github.com/modelcontextprotocol/": {"internal/mcpserver"},
		"github.com/google/jsonschema-go/": {"internal/mcpserver"},
		"github.com/schollz/progressbar/":  {"internal/iostreams"},
		"github.com/itchyny/gojq":          {"internal/cli"},
		"modernc.org/":                     {"internal/journal"},
		"database/sql":                     {"internal/journal"},
		// Test code never ships.
		"testing/":          {"internal/emulator/openapitest"},
		"net/http/httptest": {"internal/emulator/openapitest"},
		module + "/internal/emulator/openapitest": {},
	}
}

// source is one hand-written Go file of the module, tests included.
type source struct {
	path  string // slash-separated, from the module's root
	test  bool
	lines int
	file  *ast.File
}

func (s source) pkg() string { return path.Dir(s.path) }

func (s source) imports(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: import %s: %v", s.path, spec.Path.Value, err)
		}
		out = append(out, p)
	}
	return out
}

// sources parses the module's files. Folders that hold no code of this module are left out: hidden ones, testdata, and
// folders with a go.mod of their own.
func sources(t *testing.T) (*token.FileSet, []source) {
	t.Helper()
	root := filepath.Join("..", "..")
	fset := token.NewFileSet()
	var out []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(root, name, d.Name())
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if ast.IsGenerated(file) {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		out = append(out, source{
			path:  filepath.ToSlash(rel),
			test:  strings.HasSuffix(name, "_test.go"),
			lines: bytes.Count(data, []byte("\n")),
			file:  file,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("found %d source files below %s, want the whole module", len(out), root)
	}
	return fset, out
}

func skipDir(root, name, base string) error {
	if name == root {
		return nil
	}
	if strings.HasPrefix(base, ".") || base == "testdata" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func TestImportArrows(t *testing.T) {
	t.Parallel()
	_, files := sources(t)
	for _, s := range files {
		if s.test {
			continue
		}
		allowed, ok := allowedFor(s.pkg())
		if !ok {
			t.Errorf("%s: package %s has no place in the table of arrows; decide which packages it may import", s.path, s.pkg())
			continue
		}
		for _, imp := range s.imports(t) {
			own, isOurs := strings.CutPrefix(imp, module+"/")
			if !isOurs || own == s.pkg() || slices.Contains(allowed, "*") || slices.Contains(allowed, own) {
				continue
			}
			t.Errorf("%s imports %s; package %s may import only %s", s.path, own, s.pkg(), strings.Join(allowed, ", "))
		}
	}
}

func allowedFor(pkg string) ([]string, bool) {
	if slices.Contains(bottom(), pkg) {
		return bottom(), true
	}
	if slices.Contains(leaves(), pkg) {
		return bottom(), true
	}
	extra, ok := arrows()[pkg]
	return append(leaves(), extra...), ok
}

func TestSoleImporters(t *testing.T) {
	t.Parallel()
	_, files := sources(t)
	rules := soleImporters()
	for _, s := range files {
		if s.test {
			continue
		}
		for _, imp := range s.imports(t) {
			for _, lib := range slices.Sorted(maps.Keys(rules)) {
				if covers(lib, imp) && !slices.Contains(rules[lib], s.pkg()) {
					t.Errorf("%s imports %s; only %q may", s.path, imp, rules[lib])
				}
			}
		}
	}
}

// covers reports whether the rule for lib is about the import path imp.
func covers(lib, imp string) bool {
	dir, prefix := strings.CutSuffix(lib, "/")
	return imp == dir || prefix && strings.HasPrefix(imp, lib)
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		lib, imp string
		want     bool
	}{
		{"C", "C", true},
		{"C", "Cx", false},
		{"testing/", "testing", true},
		{"testing/", "testing/fstest", true},
		{"testing/", "testingx", false},
		{"database/sql", "database/sql/driver", false},
	} {
		if got := covers(tc.lib, tc.imp); got != tc.want {
			t.Errorf("covers(%q, %q) = %v, want %v", tc.lib, tc.imp, got, tc.want)
		}
	}
}

func TestFileLength(t *testing.T) {
	t.Parallel()
	_, files := sources(t)
	for _, s := range files {
		if s.lines > maxFileLines {
			t.Errorf("%s has %d lines, at most %d are allowed: split it by topic", s.path, s.lines, maxFileLines)
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	fset, files := sources(t)
	for _, s := range files {
		if s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function: starting the binary does no work; call it where it is needed", s.path)
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFuncLines {
				t.Errorf("%s: %s has %d lines, at most %d are allowed", s.path, fn.Name.Name, n, maxFuncLines)
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	t.Parallel()
	_, files := sources(t)
	comments := map[string][]string{}
	for _, s := range files {
		if s.test {
			continue
		}
		if _, ok := comments[s.pkg()]; !ok {
			comments[s.pkg()] = nil
		}
		if s.file.Doc != nil && strings.TrimSpace(s.file.Doc.Text()) != "" {
			comments[s.pkg()] = append(comments[s.pkg()], s.path)
		}
	}
	for pkg, where := range comments {
		if len(where) != 1 {
			t.Errorf("%s has %d package comments %v, want exactly one that says what it does and what it does not", pkg, len(where), where)
		}
	}
}

func TestDirectDependencies(t *testing.T) {
	t.Parallel()
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(goCommand(t, nil, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, r := range mod.Require {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	if len(direct) == 0 || len(direct) > maxDirectDeps {
		t.Errorf("go.mod has %d direct dependencies, want 1 to %d:\n%s", len(direct), maxDirectDeps, strings.Join(direct, "\n"))
	}
}

// TestBinaryContent looks at everything that is linked into the program, other people's packages included.
func TestBinaryContent(t *testing.T) {
	t.Parallel()
	never := []string{"testing", "net/http/httptest", "net/http/pprof", "expvar", module + "/internal/emulator/openapitest"}
	for _, tc := range []struct {
		name, cgo string
		args      []string
		want, not []string
	}{
		{
			name: "libvips", cgo: "1",
			want: []string{"github.com/h2non/bimg", "runtime/cgo"},
			not:  []string{"github.com/tetratelabs/wazero"},
		},
		{
			name: "pure Go", cgo: "0", args: []string{"-tags=novips,nodynamic"},
			not: []string{"github.com/h2non/bimg", "runtime/cgo", "github.com/ebitengine/purego"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"list", "-deps", "-f", "{{.ImportPath}}"}, tc.args...)
			deps := strings.Fields(string(goCommand(t, []string{"CGO_ENABLED=" + tc.cgo}, append(args, "./cmd/mediagen")...)))
			for _, p := range tc.want {
				if !slices.Contains(deps, p) {
					t.Errorf("the program does not contain %s", p)
				}
			}
			for _, p := range append(tc.not, never...) {
				if slices.Contains(deps, p) {
					t.Errorf("the program contains %s", p)
				}
			}
		})
	}
}

// goCommand runs the go command in the module's root and returns its standard output.
func goCommand(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(cmd.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}
