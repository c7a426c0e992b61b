package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/app"
	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
)

const checkout = "../.."

func generated(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := generate(checkout, fixedProcess())
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCommittedFilesAreFresh is what "gendocs -check" says about this checkout.
func TestCommittedFilesAreFresh(t *testing.T) {
	t.Parallel()
	stale, err := update(checkout, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stale {
		t.Errorf("%s is stale; run make generate", name)
	}
}

// TestNoFactOfTheMachine generates for another process: nothing may differ.
func TestNoFactOfTheMachine(t *testing.T) {
	t.Parallel()
	streams, _, _ := iostreams.Test("x")
	streams.OutTTY, streams.Color, streams.Width = true, true, 40
	other, err := generate(checkout, app.Process{
		Args:    []string{"images", "generate"},
		Environ: []string{"HOME=/home/someone", "MEDIA_GEN_IMAGES_MODEL=other", "OPENAI_API_KEY=sk-canary"},
		WorkDir: "/home/someone/work", HomeDir: "/home/someone", Streams: streams, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generated(t), other); diff != "" {
		t.Errorf("generated files depend on the process (-fixed +other):\n%s", diff)
	}
}

// TestUpdate writes into an empty checkout, finds it fresh, and notices what is changed, missing or left over.
func TestUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"README.md", "ARCHITECTURE.md"} {
		text, err := os.ReadFile(filepath.Join(checkout, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stderr bytes.Buffer
	step := func(want int, args ...string) {
		t.Helper()
		stderr.Reset()
		if got := run(append([]string{"-C", dir}, args...), &stderr); got != want {
			t.Fatalf("gendocs %v: exit code %d, want %d\n%s", args, got, want, stderr.String())
		}
	}
	step(1, "-check")
	step(0)
	step(0, "-check")

	stray := filepath.Join(dir, "man", "mediagen-gone.1")
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "completions", "mediagen.fish")); err != nil {
		t.Fatal(err)
	}
	step(1, "-check")
	for _, name := range []string{"man/mediagen-gone.1", "completions/mediagen.fish"} {
		if !strings.Contains(stderr.String(), name+" is stale") {
			t.Errorf("%s is not named:\n%s", name, stderr.String())
		}
	}
	step(0)
	if _, err := os.Stat(stray); err == nil {
		t.Errorf("%s is still there", stray)
	}
	step(0, "-check")
	step(2, "-no-such-flag")
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("no marks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	step(1)
}

func TestFill(t *testing.T) {
	t.Parallel()
	marked := "a\n<!-- begin generated: x -->\nold\n<!-- end generated: x -->\nb\n"
	for _, tc := range []struct{ name, text, want, problem string }{
		{name: "replaced", text: marked, want: "a\n<!-- begin generated: x -->\n\nnew\n\n<!-- end generated: x -->\nb\n"},
		{name: "missing", text: "a\n", problem: "0 generated regions"},
		{name: "twice", text: marked + marked, problem: "2 generated regions"},
		{name: "unknown", text: strings.ReplaceAll(marked, ": x", ": y"), problem: `region "x"`},
		{name: "not closed", text: strings.Replace(marked, "end", "END", 1), problem: `region "x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := fill([]byte(tc.text), map[string][]byte{"x": []byte("new\n")})
			if tc.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tc.problem) {
					t.Errorf("error %v, want one that holds %q", err, tc.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	text := `One sentence that
goes on:
  mediagen version
   {"indented": more}

Keys
  NAME          what it is,
                in two lines
  ALONE, OTHERS
  LAST          the last
A word          stands out
Plain again.

Another paragraph.

#### Linux:

	tab`
	want := []block{
		{kind: blockText, lines: []string{"One sentence that", "goes on:"}},
		{kind: blockCode, lines: []string{"  mediagen version", `   {"indented": more}`}},
		{kind: blockHead, lines: []string{"Keys"}},
		{kind: blockTerm, lines: []string{"NAME"}, text: "what it is, in two lines"},
		{kind: blockTerm, lines: []string{"ALONE, OTHERS"}},
		{kind: blockTerm, lines: []string{"LAST"}, text: "the last"},
		{kind: blockTerm, lines: []string{"A word"}, text: "stands out"},
		{kind: blockText, lines: []string{"Plain again."}},
		{kind: blockText, lines: []string{"Another paragraph."}},
		{kind: blockHead, lines: []string{"Linux"}},
		{kind: blockCode, lines: []string{"\ttab"}},
	}
	if diff := cmp.Diff(want, parse(text), cmp.AllowUnexported(block{})); diff != "" {
		t.Errorf("parse (-want +got):\n%s", diff)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	r := &roff{}
	r.prose(escape(`.items[] it's "a\b" --x ~ ^ ` + "`"))
	want := `\&.items[] it\(aqs \(dqa\eb\(dq \-\-x \(ti \(ha \(ga` + "\n"
	if diff := cmp.Diff(want, r.b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestEveryPage holds the promises that each page makes: its sections, all its flags, an example and exit codes.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	files := generated(t)
	root := cli.NewRoot(app.Deps(fixedProcess()))
	addDefaults(root)
	for _, c := range all(root) {
		text := string(files["man/"+pageName(c)+".1"])
		for _, title := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "SEE ALSO"} {
			_, section, ok := strings.Cut(text, "\n.SH "+title+"\n")
			if body, _, _ := strings.Cut(section, "\n.SH "); !ok || strings.TrimSpace(body) == "" {
				t.Errorf("%s has no section %s, or an empty one", pageName(c), title)
			}
		}
		if !strings.Contains(text, "\n\\fB0\\fR\nSuccess.\n") {
			t.Errorf("%s does not explain exit code 0", pageName(c))
		}
		for line := range strings.Lines(examples(c)) {
			if !strings.Contains(line, "mediagen") {
				t.Errorf("an example of %s is not about mediagen: %s", pageName(c), line)
			}
		}
	}
	page := string(files["man/mediagen-images-generate.1"])
	for _, flag := range []string{`\-\-prompt`, `\-\-output\-format`, `\-\-max\-cost`, `\-\-jq`} {
		if !strings.Contains(page, `\fB`+flag+`\fR`) {
			t.Errorf("mediagen-images-generate.1 does not list %s", flag)
		}
	}
}

// TestPagesAreClean shows every page to man(1), which must have nothing to say, and to lexgrog(1), which finds the name
// for apropos(1).
func TestPagesAreClean(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"man", "lexgrog", "groff"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	dir := t.TempDir()
	for name, data := range generated(t) {
		if filepath.Ext(name) != ".1" {
			continue
		}
		path := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{{"man", "--warnings", "-Tutf8", "-l", path}, {"lexgrog", path}} {
				cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
				cmd.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8", "MANPAGER=cat", "PAGER=cat")
				var out, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &stderr
				if err := cmd.Run(); err != nil || stderr.Len() > 0 || out.Len() == 0 {
					t.Errorf("%s: %v, %d bytes\n%s", args[0], err, out.Len(), stderr.String())
				}
			}
		})
	}
}

// TestCompletionsParse lets each installed shell read its script.
func TestCompletionsParse(t *testing.T) {
	t.Parallel()
	files := generated(t)
	for shell, name := range map[string]string{"bash": "mediagen.bash", "zsh": "mediagen.zsh", "fish": "mediagen.fish"} {
		if !bytes.Contains(files["completions/"+name], []byte("__complete")) {
			t.Errorf("%s does not ask the program for its words", name)
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), shell, "-n", filepath.Join(checkout, "completions", name))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s -n %s: %v\n%s", shell, name, err, out)
		}
	}
}

// TestKinds holds the list of kinds against the source of the engine.
func TestKinds(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(checkout, "internal/engine/errors.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []engine.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Kind") {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, engine.Kind(text))
		}
		return true
	})
	if diff := cmp.Diff(want, kinds()); diff != "" {
		t.Errorf("kinds (-source +gendocs):\n%s", diff)
	}
}

// TestReadmeStaysShort counts the lines that people wrote: what nobody reads to the end is not documentation.
func TestReadmeStaysShort(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"README.md": 250, "ARCHITECTURE.md": 200} {
		text, err := os.ReadFile(filepath.Join(checkout, name))
		if err != nil {
			t.Fatal(err)
		}
		regions := regexp.MustCompile(`(?s)<!-- begin generated: (.*?) -->.*?<!-- end generated: `)
		if n := bytes.Count(regions.ReplaceAll(text, nil), []byte("\n")); n > limit {
			t.Errorf("%s has %d hand-written lines, want at most %d", name, n, limit)
		}
	}
}

// TestArchitectureNamesFiles follows the paths that the tour names, from the checkout or from internal.
func TestArchitectureNamesFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(checkout, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("`([a-z./]+/[A-Za-z_.]+\\.(?:go|yaml|yml))`").FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		_, err := os.Stat(filepath.Join(checkout, m[1]))
		if err != nil {
			_, err = os.Stat(filepath.Join(checkout, "internal", m[1]))
		}
		if err != nil {
			t.Errorf("ARCHITECTURE.md names %s, which is not there", m[1])
		}
	}
	if len(found) == 0 {
		t.Error("ARCHITECTURE.md names no file")
	}
}

// TestArchitectureNamesEveryPackage keeps the tour complete.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(checkout, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(checkout, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "tools") {
				return filepath.SkipDir
			}
			if filepath.Ext(path) == ".go" {
				packages[filepath.Base(filepath.Dir(path))] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !bytes.Contains(text, []byte("**"+name+"**")) {
			t.Errorf("ARCHITECTURE.md does not introduce the package **%s**", name)
		}
	}
}
