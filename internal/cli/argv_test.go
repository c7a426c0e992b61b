package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
)

// TestGenerateFlags says for each command line what the engine is asked.
func TestGenerateFlags(t *testing.T) {
	t.Parallel()
	image := func(change func(*engine.Image)) engine.GenerateImages {
		r := engine.NewGenerateImages()
		r.Prompt = "x"
		change(&r.Image)
		return *r
	}
	same := func(*engine.Image) {}
	for _, tc := range []struct {
		line string
		want generated
	}{
		{"x", generated{Req: image(same)}},
		{"a red bicycle", generated{Req: image(func(i *engine.Image) { i.Prompt = "a red bicycle" })}},
		{"-- -x", generated{Req: image(func(i *engine.Image) { i.Prompt = "-x" })}},
		{"--prompt x", generated{Req: image(same)}},
		{"-p=x", generated{Req: image(same)}},
		{"-n 3 x", generated{Req: image(func(i *engine.Image) { i.N = 3 })}},
		{"x -n3", generated{Req: image(func(i *engine.Image) { i.N = 3 })}},
		{"--provider azure -m my-model x", generated{Req: image(func(i *engine.Image) { i.Provider, i.Model = "azure", "my-model" })}},
		{"--size 1024x1024 --quality high --background transparent x", generated{Req: image(func(i *engine.Image) {
			i.Size, i.Quality, i.Background = "1024x1024", "high", "transparent"
		})}},
		{"--output-format webp --output-compression 0 x", generated{Req: image(func(i *engine.Image) {
			i.OutputFormat, i.OutputCompression = "webp", new(0)
		})}},
		{"--complexity low --partials 2 x", generated{Req: image(func(i *engine.Image) { i.Complexity, i.Partials = "low", 2 })}},
		{"--frame-count 4 --frame-duration-ms 100 x", generated{Req: image(func(i *engine.Image) {
			i.FrameCount, i.FrameDurationMS = 4, 100
		})}},
		{"--svg-model m --svg-effort high x", generated{Req: image(func(i *engine.Image) { i.SVGModel, i.SVGEffort = "m", "high" })}},
		{"--safety-identifier s --user u x", generated{Req: image(func(i *engine.Image) { i.SafetyIdentifier, i.User = "s", "u" })}},
		{"--param a=1,2 --param b=c x", generated{Req: image(func(i *engine.Image) { i.Param = []string{"a=1,2", "b=c"} })}},
		{"--moderation low x", generated{Req: func() engine.GenerateImages {
			r := image(same)
			r.Moderation = "low"
			return r
		}()}},
		{"-o out/ x", generated{Req: image(same), Out: engine.Output{Dest: "out/"}}},
		{"-o a.png --overwrite --sidecar x", generated{Req: image(same), Out: engine.Output{Dest: "a.png", Overwrite: true, Sidecar: true}}},
		{"-o - x", generated{Req: image(same), Out: engine.Output{Stream: true}}},
		{"-o - --dry-run --json x", generated{Req: image(same), Out: engine.Output{Stream: true, DryRun: true}}},
		{"--name {slug}.{ext} x", generated{Req: image(same), Out: engine.Output{Template: "{slug}.{ext}"}}},
		{"--dry-run --allow-unknown-cost x", generated{Req: image(same), Out: engine.Output{DryRun: true, AllowUnknownCost: true}}},
	} {
		t.Run(tc.line, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "")
			b.wants(0, append([]string{"images", "generate"}, strings.Fields(tc.line)...)...)
			if diff := cmp.Diff(tc.want, b.call()); tc.want.Out.Stream && !tc.want.Out.DryRun {
				if diff := cmp.Diff([]any{tc.want, piped{}}, b.eng.calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			} else if diff != "" {
				t.Errorf("call (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEditFlags covers what editing has beside generating.
func TestEditFlags(t *testing.T) {
	t.Parallel()
	want := engine.NewEditImages()
	want.Prompt, want.Images, want.Mask, want.MaskWhiteIsEdit = "a green sofa", []string{"a,b.png", "c.jpg"}, "m.png", true
	want.Markup, want.InputFidelity, want.N = "u.png", "high", 2
	b := newBench(t, "")
	b.wants(0, "images", "edit", "-i", "a,b.png", "--image", "c.jpg", "--mask", "m.png", "--mask-white-is-edit",
		"--markup", "u.png", "--input-fidelity", "high", "-n", "2", "-o", "x/", "a", "green", "sofa")
	if diff := cmp.Diff(edited{Req: *want, Out: engine.Output{Dest: "x/"}}, b.call()); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
}

// TestOutputDir puts the configured directory where -o is missing, and only there.
func TestOutputDir(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]engine.Output{
		"x":          {Dest: "/pictures/"},
		"-o here/ x": {Dest: "here/"},
		"-o - x":     {Stream: true},
	} {
		b := newBench(t, "")
		b.session.OutputDir = "/pictures"
		b.wants(0, append([]string{"images", "generate"}, strings.Fields(line)...)...)
		got, ok := b.eng.calls[0].(generated)
		if diff := cmp.Diff(want, got.Out); !ok || diff != "" {
			t.Errorf("%s: output (-want +got):\n%s", line, diff)
		}
	}
}

// TestOtherFlags says the same for the commands that read.
func TestOtherFlags(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line string
		want any
	}{
		{"jobs list", listed{engine.JobFilter{Limit: 101}}},
		{"jobs list --limit 0", listed{engine.JobFilter{}}},
		{"jobs list --state unknown,failed --state landed --limit 5", listed{engine.JobFilter{
			States: []string{"unknown", "failed", "landed"}, Limit: 5,
		}}},
		{"jobs list --provider azure -m m --since 90m", listed{engine.JobFilter{
			Provider: "azure", Model: "m", Since: now().Add(-90 * time.Minute), Limit: 101,
		}}},
		{"jobs list --since 7d", listed{engine.JobFilter{Since: now().AddDate(0, 0, -7), Limit: 101}}},
		{"jobs show 01j9", shown{"01j9"}},
		{"jobs forget a b --force", forgot{[]string{"a", "b"}, true}},
		{"jobs forget a", forgot{[]string{"a"}, false}},
		{"jobs resume a", resumed{ID: "a"}},
		{"jobs resume a -o dir --overwrite", resumed{"a", "dir", true}},
		{"models list", modelsAsked{}},
		{"models list --kind video --provider google -a", modelsAsked{"video", "google", true}},
		{"models show m", modelAsked{"m"}},
		{"policy test a.png", tested{"a.png", false}},
		{"policy test -w a.png", tested{"a.png", true}},
	} {
		t.Run(tc.line, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "")
			b.eng.jobs, b.eng.models = []engine.Job{{ID: "01j9zq"}}, []engine.ModelInfo{{}}
			b.wants(0, strings.Fields(tc.line)...)
			if diff := cmp.Diff(tc.want, b.call()); diff != "" {
				t.Errorf("call (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGlobalFlags reach the place where the engine is built.
func TestGlobalFlags(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]cli.OpenOptions{
		"models list":                             {},
		"-v models list":                          {Verbose: 1},
		"models list -vv":                         {Verbose: 2},
		"models list -q --log-requests":           {Quiet: true, LogRequests: true},
		"models -v list --verbose --log-requests": {Verbose: 2, LogRequests: true},
	} {
		b := newBench(t, "")
		b.wants(0, strings.Fields(line)...)
		if diff := cmp.Diff(want, b.options); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// TestUsageErrors lists command lines that can never work. Nothing may be opened for them, and each says what is wrong.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ line, says string }{
		{"imagse", `unknown command "imagse"; did you mean images?`},
		{"imagse generate --size 3", `unknown command "imagse"; did you mean images?`},
		{"generate x", `did you mean images generate?`},
		{"images generte x", `did you mean generate?`},
		{"images edit --siz 1", "unknown flag --siz; did you mean --size?"},
		{"images generate --output_format png x", "did you mean --output-format?"},
		{"images generate --zzzzzz x", "unknown flag --zzzzzz\n"},
		{"images generate -Z x", "unknown shorthand flag: 'Z'"},
		{"images generate -red bicycle", "--help; put -- before a prompt that begins with a dash"},
		{"images edit -i a.png --Red bicycle", "--help; put -- before a prompt that begins with a dash"},
		{"jobs list -Z", "unknown shorthand flag: 'Z' in -Z\nhint: see: mediagen jobs list --help"},
		{"jobs list --state nonsense", `state must be planned or sent or queued or running or succeeded or landed or failed ` +
			`or blocked or cancelled or expired or unknown, not "nonsense"`},
		{"images generate", "a prompt is required"},
		{"images generate --prompt-file= ", "a prompt is required"},
		{"images generate -p x y", "more than one place"},
		{"images generate -p x --prompt-file f", "more than one place"},
		{"images generate --size", "flag needs an argument"},
		{"images generate -n many x", "n must be a whole number"},
		{"images generate -n 11 x", "between 1 and 10"},
		{"images generate --output= x", "-o is empty"},
		{"images generate --progress loud x", "progress must be auto, bar, plain or none"},
		{"images generate --jq .[ x", "--jq cannot be read"},
		{"images generate --jq nothing x", "--jq cannot be compiled"},
		{"images generate -o - --json x", "both want stdout"},
		{"images generate -o - -0 x", "prints no paths"},
		{"images generate -0 --json x", "both shape stdout"},
		{"images edit -i - -", "stdin can be the prompt or one picture"},
		{"images edit -i - -i - x", "stdin can be the prompt or one picture"},
		{"images edit -i - --mask - x", "stdin can be the prompt or one picture"},
		{"jobs show", "want one job id, got 0"},
		{"jobs show a b", "want one job id, got 2"},
		{"jobs forget", "name at least one job id"},
		{"jobs resume a --output= ", "-o is empty"},
		{"jobs resume a -0 --json", "both shape stdout"},
		{"jobs list extra", `unexpected argument "extra"`},
		{"jobs list --limit -1", "limit must not be negative"},
		{"jobs list --since soon", "want a duration such as 90m, 24h or 7d"},
		{"jobs list --since -1h", "want a duration"},
		{"jobs list --since 99999999999d", "want a duration"},
		{"models list --kind sound", `kind must be image or video, not "sound"`},
		{"models list --provider x", "provider must be openai or google"},
		{"models show", "want one model id"},
		{"policy test", "name at least one path"},
		{"config path x", "unexpected argument"},
		{"doctor x", "unexpected argument"},
		{"version x", "unexpected argument"},
		{"emulator x", "unexpected argument"},
		{"completion tcsh", `unknown command "tcsh"`},
		{"help nothing", `unknown command "nothing"`},
		{"help images nothing", `unknown command "nothing"`},
		{"--log-level loud models list", "log-level"},
		{"--max-cost much models list", "max-cost"},
	} {
		t.Run(tc.line, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "")
			b.wants(2, strings.Fields(tc.line)...)
			text := b.errOut.String()
			if strings.Contains(tc.line, "--json") {
				if r := b.reply(); r.Error.Exit != 2 {
					t.Errorf("error.exit %d, want 2", r.Error.Exit)
				}
				text = b.reply().Error.Message
			}
			if !strings.Contains(text, tc.says) {
				t.Errorf("want %q in:\n%s", tc.says, text)
			}
			if b.opened != 0 {
				t.Errorf("the engine was opened for a command line that cannot work")
			}
			if !strings.Contains(tc.line, "--json") && !strings.Contains(text, "hint: see: mediagen") {
				t.Errorf("no pointer to --help in:\n%s", text)
			}
		})
	}
}

// TestPromptSources reads the prompt from each place. One line end is dropped, the rest stays.
func TestPromptSources(t *testing.T) {
	t.Parallel()
	files := map[string]string{"p.txt": "from a file\n", "crlf.txt": "two\r\nlines\r\n", "empty.txt": " \n"}
	for _, tc := range []struct {
		name, line, stdin, want, problem string
	}{
		{name: "words", line: "a red  bicycle", want: "a red bicycle"},
		{name: "flag", line: "-p flagged", want: "flagged"},
		{name: "file", line: "--prompt-file p.txt", want: "from a file"},
		{name: "file with CRLF", line: "--prompt-file crlf.txt", want: "two\r\nlines"},
		{name: "dash", line: "-", stdin: "from stdin\n", want: "from stdin"},
		{name: "file dash", line: "--prompt-file -", stdin: "from stdin\n\n", want: "from stdin\n"},
		{name: "flag dash", line: "-p -", stdin: " kept blanks \n", want: " kept blanks "},
		{name: "dash among words", line: "a - b", want: "a - b"},
		{name: "missing file", line: "--prompt-file none.txt", problem: "none.txt does not exist"},
		{name: "empty file", line: "--prompt-file empty.txt", problem: "the prompt from the prompt file is empty"},
		{name: "empty stdin", line: "-", problem: "the prompt from stdin is empty"},
		{name: "long stdin", line: "-", stdin: strings.Repeat("x", 1<<20+1), problem: "longer than 1048576 bytes"},
		{name: "not UTF-8", line: "-", stdin: "\xff", problem: "valid UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.stdin)
			b.eng.files = files
			code := b.run(append([]string{"images", "generate"}, strings.Fields(tc.line)...)...)
			if tc.problem != "" {
				if code != 2 && code != 4 || !strings.Contains(b.errOut.String(), tc.problem) || len(b.eng.calls) != 0 {
					t.Errorf("exit %d with %d calls, want %q: %s", code, len(b.eng.calls), tc.problem, b.errOut)
				}
				return
			}
			got, ok := b.call().(generated)
			if code != 0 || !ok || got.Req.Prompt != tc.want {
				t.Errorf("exit %d, prompt %q, want %q: %s", code, got.Req.Prompt, tc.want, b.errOut)
			}
		})
	}
}

// TestPromptFromTerminal tells the person who sees nothing happen how to go on.
func TestPromptFromTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t, "typed\n")
	b.deps.Streams.InTTY = true
	b.wants(0, "images", "generate", "-")
	if !strings.Contains(b.errOut.String(), "Ctrl-D") {
		t.Errorf("stderr: %s", b.errOut)
	}
	b.deps.Streams.In = strings.NewReader("typed\n")
	b.wants(0, "images", "generate", "-q", "-")
	if b.errOut.Len() != 0 {
		t.Errorf("-q still says: %s", b.errOut)
	}
}
