package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
)

// evil clears the screen, rings, turns the direction of text, uses an 8-bit control and forges a line.
const evil = "a\x1b[2J\x07\u202e\u009b31m\x7f\r\nmediagen: saved b"

// raw returns the runes of text that a terminal might obey, lines apart.
func raw(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return r
		}
		return -1
	}, text)
}

// TestNothingSteersTheTerminal puts hostile text into everything that is shown.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"images", "generate", "x"},
		{"images", "generate", "--json", "x"},
		{"images", "generate", "--jq", ".assets[].path, .warnings[], .assets", "x"},
		{"images", "generate", "--progress", "plain", "x"},
		{"images", "generate", "--dry-run", evil},
		{"images", "generate", "--no-such-" + evil, "x"},
		{"images", "generate", "-n", evil, "x"},
		{"images", "generate", "--progress", evil, "x"},
		{evil},
		{"help", evil},
		{"jobs", "list", evil},
		{"models", "list", "--kind", evil},
		{"jobs", "list"},
		{"jobs", "list", "--json"},
		{"jobs", "show", "a"},
		{"jobs", "resume", "a"},
		{"models", "list"},
		{"models", "show", "m"},
		{"models", "show", "m", "--json"},
		{"policy", "test", evil},
		{"policy", "test", "--json", evil},
		{"config", "show"},
		{"config", "path"},
		{"doctor"},
		{"doctor", "--json"},
	} {
		for _, fails := range []bool{false, true} {
			b := newBench(t, "")
			b.deps.Streams.OutTTY, b.deps.Streams.Width = true, 80
			b.setEvil(fails)
			_ = b.run(args...)
			if got := raw(b.out.String()); got != "" {
				t.Errorf("%q: stdout holds %q: %q", args, got, b.out)
			}
			if got := raw(b.errOut.String()); got != "" {
				t.Errorf("%q: stderr holds %q: %q", args, got, b.errOut)
			}
			text := b.errOut.String()
			if !slices.Contains(args, "--jq") { // which prints strings raw, line breaks included
				text += b.out.String()
			}
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "mediagen: saved") {
					t.Errorf("%q: a line was forged: %q", args, line)
				}
			}
		}
	}
}

// setEvil makes everything that the fake says hostile.
func (b *bench) setEvil(fails bool) {
	b.session.Warnings = []string{evil}
	b.eng.result = oneResult("/base/here/" + evil)
	b.eng.result.Warnings = []string{evil}
	b.eng.result.Plan = &engine.Plan{Op: evil, Provider: evil, Endpoint: evil, Model: evil, Size: evil, Paths: []string{evil}}
	b.eng.events = []engine.Event{
		{Kind: engine.EventSent, Total: 1}, {Kind: engine.EventRetrying, Message: evil}, {Kind: engine.EventPartial, Path: evil},
	}
	job := engine.Job{
		ID: evil, State: evil, Op: evil, Model: evil, Prompt: evil, RequestID: evil, Endpoint: evil,
		Assets: []engine.Asset{{Path: evil, MediaType: evil}, {URL: evil}}, Error: &engine.JobError{Message: evil},
	}
	b.eng.jobs = []engine.Job{job}
	model := engine.ModelInfo{Status: evil}
	model.ID, model.Notes, model.Sizes = evil, evil, []string{evil}
	b.eng.models = []engine.ModelInfo{model}
	b.deps.Config.Show = showSays([]cli.SettingRow{{Key: evil, Value: evil, From: evil}})
	b.deps.Config.Path = pathSays(evil)
	b.deps.Doctor = doctorSays(cli.Report{{Name: evil, Status: "ok", Detail: evil}}, nil)
	if !fails {
		return
	}
	err := &engine.Error{Kind: engine.KindFailure, Code: "x", Message: evil, Hint: evil, Provider: evil, RequestID: evil}
	b.eng.err = err
	b.deps.Doctor = doctorSays(nil, err)
}

// TestErrorsKeepTheirLines shows every line of a long error, further ones indented, so that a person can read a list of
// faults and no foreign text can pass for a line of ours.
func TestErrorsKeepTheirLines(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.openErr = engine.Errorf(engine.KindFailure, "x", "%s", "first\r\nsecond\nmediagen: saved x\n")
	b.wants(1, "jobs", "list")
	if want := "mediagen: jobs list: first\n  second\n  mediagen: saved x\n"; b.errOut.String() != want {
		t.Errorf("stderr %q, want %q", b.errOut, want)
	}
}

// TestJQOnTerminal keeps the lines and tabs that a person asked for, and nothing else that a terminal obeys.
func TestJQOnTerminal(t *testing.T) {
	t.Parallel()
	const expr = `"a\nb\tc\u001b[2J\u009bd"`
	for tty, want := range map[bool]string{true: "a\nb\tc\\x1b[2J\\u009bd\n", false: "a\nb\tc\x1b[2J\u009bd\n"} {
		b := newBench(t, "")
		b.deps.Streams.OutTTY = tty
		b.wants(0, "jobs", "list", "--jq", expr)
		if got := b.out.String(); got != want {
			t.Errorf("terminal %v: %q, want %q", tty, got, want)
		}
	}
}

// TestPaths shows saved paths: relative below the working directory, exact for a program, harmless on a terminal.
func TestPaths(t *testing.T) {
	t.Parallel()
	const latin = "/base/here/caf\xe9.png" // a legal name in a file system of bytes
	for _, tc := range []struct {
		name, path, pipe, tty, nul string
		warns                      bool
	}{
		{"below", "/base/here/out/a.png", "out/a.png", "out/a.png", "out/a.png", false},
		{"elsewhere", "/srv/a.png", "/srv/a.png", "/srv/a.png", "/srv/a.png", false},
		{"above", "/base/a.png", "/base/a.png", "/base/a.png", "/base/a.png", false},
		{"like a flag", "/base/here/-rf.png", "./-rf.png", "./-rf.png", "./-rf.png", false},
		{"blank", "/base/here/ a b .png", " a b .png", " a b .png", " a b .png", false},
		{"not UTF-8", latin, "caf\xe9.png", `caf\xe9.png`, "caf\xe9.png", false},
		{"escape", "/base/here/a\x1b.png", "a\x1b.png", `a\x1b.png`, "a\x1b.png", false},
		{"right to left", "/base/here/\u200fא.png", "\u200fא.png", `\u200fא.png`, "\u200fא.png", false},
		{"line break", "/base/here/a\nb.png", `a\nb.png`, `a\nb.png`, "a\nb.png", true},
		{"return", "/base/here/a\rb.png", `a\rb.png`, `a\rb.png`, "a\rb.png", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, tty := range []bool{false, true} {
				b := newBench(t, "")
				b.deps.Streams.OutTTY = tty
				b.eng.result = oneResult(tc.path)
				want := tc.pipe
				if tty {
					want = tc.tty
				}
				b.wants(0, "images", "generate", "x")
				if got := b.out.String(); got != want+"\n" {
					t.Errorf("terminal %v: %q, want %q", tty, got, want)
				}
				if warned := strings.Contains(b.errOut.String(), "--print0"); warned != tc.warns {
					t.Errorf("terminal %v: warned %v: %s", tty, warned, b.errOut)
				}
				for _, args := range [][]string{{"images", "generate", "-0", "x"}, {"jobs", "resume", "a", "--print0"}} {
					b.wants(0, args...)
					if got := b.out.String(); got != tc.nul+"\x00" {
						t.Errorf("terminal %v, %v: %q, want %q", tty, args, got, tc.nul)
					}
				}
			}
		})
	}
}

// TestPathsOfManyAssets prints each saved file once, and none that is not at its place.
func TestPathsOfManyAssets(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.result = oneResult("/base/here/a.png", "/base/here/b.png", "/state/spool/c.png")
	b.eng.result.Assets[2].Spooled = true
	b.eng.result.Assets = append(b.eng.result.Assets, engine.Asset{URL: "https://example.org/d.png"})
	b.wants(0, "images", "generate", "x")
	if got := b.out.String(); got != "a.png\nb.png\n" {
		t.Errorf("lines %q", got)
	}
	b.wants(0, "images", "generate", "-0", "x")
	if got := b.out.String(); got != "a.png\x00b.png\x00" {
		t.Errorf("NUL %q", got)
	}
}

// TestBytesToStdout writes the picture and nothing else, and never to a terminal that did not ask.
func TestBytesToStdout(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.pipe = "\x89PNG\x00"
	b.wants(0, "images", "generate", "-o", "-", "x")
	if got := b.out.String(); got != b.eng.pipe {
		t.Errorf("stdout %q", got)
	}
	b.deps.Streams.OutTTY = true
	b.opened = 0
	b.wants(2, "images", "generate", "-o", "-", "x")
	if b.out.Len() != 0 || b.opened != 0 || !strings.Contains(b.errOut.String(), "--force") {
		t.Errorf("stdout %q, stderr %q, opened %d times", b.out, b.errOut, b.opened)
	}
	b.wants(0, "images", "generate", "-o", "-", "--force", "x")
	if got := b.out.String(); got != b.eng.pipe {
		t.Errorf("--force: stdout %q", got)
	}
	b.eng.result.Plan = &engine.Plan{Op: "images generate", N: 1}
	b.wants(0, "images", "generate", "-o", "-", "--dry-run", "x")
	if !strings.Contains(b.out.String(), "nothing sent") {
		t.Errorf("a dry run has no bytes and may show its plan: %q", b.out)
	}
	b.eng.result, b.eng.err = oneResult("/base/here/a.png"), engine.Errorf(engine.KindFailure, "x", "x")
	b.wants(1, "images", "generate", "-o", "-", "--force", "x")
	if b.out.Len() != 0 {
		t.Errorf("a failure wrote a path where bytes were wanted: %q", b.out)
	}
}

// TestWarnings stand on stderr before the paths, in the object with --json, and nowhere with -q.
func TestWarnings(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.session.Warnings = []string{"of the settings"}
	b.eng.result.Warnings = []string{"of the call with sk-canary"}
	b.wants(0, "images", "generate", "x")
	if want := "warning: of the settings\nwarning: of the call with [redacted]\n"; b.errOut.String() != want {
		t.Errorf("stderr %q, want %q", b.errOut, want)
	}
	b.wants(0, "images", "generate", "--json", "x")
	if diff := cmp.Diff([]string{"of the settings", "of the call with [redacted]"}, b.reply().Warnings); diff != "" {
		t.Error(diff)
	}
	b.wants(0, "images", "generate", "-q", "x")
	if b.errOut.Len() != 0 || b.out.String() != "out/a.png\n" {
		t.Errorf("-q: stdout %q, stderr %q", b.out, b.errOut)
	}
	b.eng.err = engine.Errorf(engine.KindBlocked, "blocked", "no")
	b.wants(5, "images", "generate", "-q", "x")
	if want := "mediagen: images generate: no\n"; b.errOut.String() != want {
		t.Errorf("-q keeps errors: %q", b.errOut)
	}
}

// TestJobsListWarnsWhenCut tells that there are more jobs than were listed, to people and programs, unless they asked
// for so many.
func TestJobsListWarnsWhenCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	for i := range 101 {
		b.eng.jobs = append(b.eng.jobs, engine.Job{ID: fmt.Sprint("job", i)})
	}
	b.wants(0, "jobs", "list", "--json")
	if r := b.reply(); len(r.Items) != 100 || len(r.Warnings) != 1 {
		t.Errorf("%s", b.out)
	}
	b.wants(0, "jobs", "list")
	if !strings.Contains(b.errOut.String(), "--limit 0") || strings.Contains(b.out.String(), "job100") {
		t.Errorf("stdout %q, stderr %q", b.out, b.errOut)
	}
	b.eng.jobs = b.eng.jobs[:100]
	b.wants(0, "jobs", "list")
	if b.errOut.Len() != 0 {
		t.Errorf("warned without cause: %q", b.errOut)
	}
	b.eng.jobs = b.eng.jobs[:1] // what an engine that is asked for one answers
	b.wants(0, "jobs", "list", "--limit", "1")
	if b.errOut.Len() != 0 {
		t.Errorf("warned without cause: %q", b.errOut)
	}
}

// TestStdoutThatLosesBytes refuses before anything is asked of the engine; a plan is no picture.
func TestStdoutThatLosesBytes(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"images generate -o - x", "images generate -o - --force x", "images edit -i a.png -o - x",
	} {
		b := newBench(t, "")
		b.deps.Streams.OutNull = true
		b.wants(2, strings.Fields(line)...)
		if len(b.eng.calls) != 0 {
			t.Errorf("%s: %v", line, b.eng.calls)
		}
		if !strings.Contains(b.errOut.String(), "would be lost; name a file with -o FILE") {
			t.Errorf("%s: stderr: %s", line, b.errOut)
		}
		b.wants(0, append(strings.Fields(line), "--dry-run")...)
	}
}
