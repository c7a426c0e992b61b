package cli_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// TestEngineErrors pass through every command that asks the engine, with nothing on stdout but the object.
func TestEngineErrors(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"images generate x", "images generate -o - x", "images generate -0 x", "images generate --dry-run x", "images edit -i a x",
		"jobs list", "jobs show a", "jobs resume a", "jobs resume -0 a", "jobs forget a", "models show m",
	} {
		b := newBench(t, "").ready()
		b.eng.result = nil
		b.eng.err = fault.New(fault.JournalBroken, "the journal %s is broken", "/state/journal.db").WithHint("move it away")
		b.wants(1, strings.Fields(line)...)
		if b.out.Len() != 0 {
			t.Errorf("%s: stdout %q", line, b.out)
		}
		want := "the journal /state/journal.db is broken\nhint: move it away\n"
		if !strings.HasSuffix(b.errOut.String(), want) {
			t.Errorf("%s: stderr %q", line, b.errOut)
		}
	}
}

// TestForeignErrors are errors of nobody's kind: they end in 1 and are shown.
func TestForeignErrors(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.openErr = errors.New("something else")
	b.wants(1, "models", "list", "--json")
	if r := b.reply(); r.Error.Kind != "failure" || r.Error.Code != "failed" || r.Error.Message != "something else" {
		t.Errorf("%s", b.out)
	}
}

// TestStdinFails is not an empty prompt.
func TestStdinFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.deps.Streams.In = io.MultiReader(strings.NewReader("half"), failing{errors.New("input/output error")})
	b.wants(1, "images", "generate", "-")
	if !strings.Contains(b.errOut.String(), "stdin cannot be read") || len(b.eng.calls) != 0 {
		t.Errorf("calls %v, stderr: %s", b.eng.calls, b.errOut)
	}
}

// TestPromptOfEdit comes from the same places as that of generate, and stdin has one reader.
func TestPromptOfEdit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line, stdin, want string
		images            []string
	}{
		{"-i a.png a sofa", "", "a sofa", []string{"a.png"}},
		{"-i a.png -p flagged", "", "flagged", []string{"a.png"}},
		{"-i a.png -", "from stdin\n", "from stdin", []string{"a.png"}},
		{"-i a.png --prompt-file p.txt", "", "from a file", []string{"a.png"}},
		{"-i - a sofa", "bytes", "a sofa", []string{"-"}},
		{"-i a.png -i b,c.png x", "", "x", []string{"a.png", "b,c.png"}},
	} {
		b := newBench(t, tc.stdin)
		b.eng.files = map[string]string{"p.txt": "from a file\n"}
		b.wants(0, append([]string{"images", "edit"}, strings.Fields(tc.line)...)...)
		got, ok := b.call().(edited)
		if !ok || got.Req.Prompt != tc.want {
			t.Errorf("%s: prompt %q, want %q", tc.line, got.Req.Prompt, tc.want)
		}
		if diff := cmp.Diff(tc.images, got.Req.Images); diff != "" {
			t.Errorf("%s: images (-want +got):\n%s", tc.line, diff)
		}
	}
	for line, says := range map[string]string{
		"x":                                   "name the picture to edit with -i",
		"-i a.png":                            "a prompt is required",
		strings.Repeat("-i a.png ", 17) + "x": "between 1 and 16",
	} {
		b := newBench(t, "")
		b.wants(2, append([]string{"images", "edit"}, strings.Fields(line)...)...)
		if !strings.Contains(b.errOut.String(), says) || len(b.eng.calls) != 0 {
			t.Errorf("%s: %d calls, stderr: %s", line, len(b.eng.calls), b.errOut)
		}
	}
}

// TestRunsShareNothing runs two command lines at once, and one after another: no flag of one may reach the other.
func TestRunsShareNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, "").ready()
	b.wants(0, "images", "generate", "-n", "4", "--size", "1024x1024", "--overwrite", "--json", "x")
	b.wants(0, "images", "generate", "y")
	got, _ := b.call().(generated)
	want := engine.NewGenerateImages()
	want.Prompt = "y"
	if diff := cmp.Diff(generated{Req: *want}, got); diff != "" {
		t.Errorf("the second run (-want +got):\n%s", diff)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			b := newBench(t, "").ready()
			b.wants(0, "images", "generate", "--help")
			b.wants(0, "jobs", "list", "--json")
		})
	}
	group.Wait()
}

// TestSignalAndProgressTogether lets events and a signal come at the same time, from two goroutines.
func TestSignalAndProgressTogether(t *testing.T) {
	t.Parallel()
	for range 20 {
		ctx, stop := context.WithCancelCause(t.Context())
		b := newBench(t, "")
		b.ctx = ctx
		for i := range 50 {
			b.eng.events = append(b.eng.events,
				engine.Event{Kind: engine.EventSent, Total: 2}, engine.Event{Kind: engine.EventReceived, Index: i % 2, Total: 2, Bytes: 1})
		}
		gone := make(chan struct{})
		go func() { defer close(gone); stop(&cli.Signal{Kind: engine.KindInterrupted}) }()
		b.eng.during = func() { <-gone }
		b.wants(130, "images", "generate", "x")
		if b.out.String() != "out/a.png\n" {
			t.Fatalf("stdout %q", b.out)
		}
	}
}

// TestOpenedOnce opens the settings once a run, and not at all for commands that need none.
func TestOpenedOnce(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"images generate x": 1, "images edit -i a x": 1, "jobs list": 1, "jobs show a": 1, "models list": 1, "policy test a": 1,
		"version": 0, "--version": 0, "help": 0, "images": 0, "completion bash": 0, "config path": 0, "doctor": 0,
	} {
		b := newBench(t, "").ready()
		b.wants(0, strings.Fields(line)...)
		if b.opened != want {
			t.Errorf("%s opened the engine %d times, want %d", line, b.opened, want)
		}
	}
}

// TestFlagsReachTheSettings hands the parsed flags to whoever loads the settings, wherever they stood on the line.
func TestFlagsReachTheSettings(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"--config my.yaml --max-cost 2 models list", "models --config my.yaml list --max-cost=2", "models list --max-cost 2 --config my.yaml",
	} {
		b := newBench(t, "")
		open := b.deps.Open
		seen := false
		b.deps.Open = func(ctx context.Context, f *pflag.FlagSet, o cli.OpenOptions) (cli.Session, error) {
			seen = f.Lookup("config").Value.String() == "my.yaml" && f.Lookup("max-cost").Value.String() == "2" &&
				f.Lookup("max-cost").Changed && !f.Lookup("timeout").Changed
			return open(ctx, f, o)
		}
		b.wants(0, strings.Fields(line)...)
		if !seen {
			t.Errorf("%s: the flags did not arrive", line)
		}
	}
}
