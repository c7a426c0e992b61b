package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// commands are all commands that have a result, with arguments that work against the fake.
func commands() []string {
	return []string{
		"images generate x", "images edit -i a.png x", "images generate --dry-run x", "images compress a.png", "images inspect a.png",
		"jobs list", "jobs show a",
		"jobs resume a", "jobs forget a", "models list", "models show m", "policy test a.png", "config show", "config path",
		"config init --overwrite", "config init --stdout", "doctor", "version", "--version", "completion bash",
	}
}

func (b *bench) ready() *bench {
	b.eng.jobs, b.eng.models = []engine.Job{{ID: "01j9zq"}}, []engine.ModelInfo{{}}
	return b
}

// TestJSONOnSuccess wants one object from every command: schema, ok, the command's name, no error.
func TestJSONOnSuccess(t *testing.T) {
	t.Parallel()
	for _, line := range commands() {
		b := newBench(t, "").ready()
		b.session.Warnings = []string{"a warning with sk-canary"}
		b.wants(0, append(strings.Fields(line), "--json")...)
		r := b.reply()
		if r.Schema != "mediagen/1" || !r.OK || r.Error != nil || !strings.HasPrefix(line, r.Command) && r.Command != "version" {
			t.Errorf("%s: %s", line, b.out)
		}
		if r.Assets == nil || r.Warnings == nil {
			t.Errorf("%s: assets and warnings must be lists: %s", line, b.out)
		}
		if b.opened > 0 {
			if diff := cmp.Diff([]string{"a warning with [redacted]"}, r.Warnings); diff != "" {
				t.Errorf("%s: warnings (-want +got):\n%s", line, diff)
			}
		}
		if b.errOut.Len() != 0 {
			t.Errorf("%s: stderr says %s", line, b.errOut)
		}
		plain := newBench(t, "").ready()
		plain.wants(0, strings.Fields(line)...) // the same exit code without --json
	}
}

// TestJSONOnFailure wants one object from every command too, with the exit code in it.
func TestJSONOnFailure(t *testing.T) {
	t.Parallel()
	failure := engine.Errorf(engine.KindConfig, fault.ConfigInvalid, "sk-canary is not good").WithHint("hint sk-canary")
	for _, line := range commands() {
		if line == "config init --stdout" || strings.Contains(line, "version") || strings.HasPrefix(line, "completion") {
			continue // they cannot fail before they write
		}
		b := newBench(t, "").ready()
		b.openErr = failure
		code := b.run(strings.Fields(line)...)
		text := b.errOut.String()
		b.wants(code, append(strings.Fields(line), "--json")...)
		r := b.reply()
		if code != 3 || r.OK || r.Schema != "mediagen/1" || r.Error == nil || r.Error.Exit != code {
			t.Errorf("%s: exit %d, %s", line, code, b.out)
			continue
		}
		if r.Error.Kind != "config" || r.Error.Code != "config_invalid" || r.Error.Message != "[redacted] is not good" ||
			r.Error.Hint != "hint [redacted]" || r.Error.Billed != "no" {
			t.Errorf("%s: error %+v", line, *r.Error)
		}
		if want := "mediagen: " + r.Command + ": [redacted] is not good\nhint: hint [redacted]\n"; text != want {
			t.Errorf("%s: stderr %q, want %q", line, text, want)
		}
		b.wants(code, append(strings.Fields(line), "--jq", ".error.exit")...)
		if got := b.out.String(); got != "3\n" {
			t.Errorf("%s --jq .error.exit: %q", line, got)
		}
	}
}

// TestJSONOfMistakes wants the object even where the flags could not be parsed to their end.
func TestJSONOfMistakes(t *testing.T) {
	t.Parallel()
	for line, command := range map[string]string{
		"images generate --no-such --json x":          "images generate",
		"images generate --json --no-such x":          "images generate",
		"images generate -n x --json":                 "images generate",
		"imagse --json":                               "",
		"imagse generate --size 3 --json":             "",
		"images generate --json --progress loud x":    "images generate",
		"version extra --json":                        "version",
		"jobs show --json":                            "jobs show",
		"images generate --size --json --quality x y": "", // --json is the value of --size here
	} {
		b := newBench(t, "")
		code := b.run(strings.Fields(line)...)
		if strings.Contains(line, "--size --json") {
			if code != 0 || b.out.String() != "out/a.png\n" {
				t.Errorf("%s: exit %d: %s%s", line, code, b.out, b.errOut)
			}
			continue
		}
		if r := b.reply(); code != 2 || r.OK || r.Error.Exit != 2 || r.Command != command {
			t.Errorf("%s: exit %d: %s", line, code, b.out)
		}
	}
	b := newBench(t, "")
	b.wants(2, "images", "generate", "--no-such", "--jq=.error.code", "x")
	if got := b.out.String(); got != "invalid_argument\n" {
		t.Errorf("--jq= after a bad flag: %q", got)
	}
	b.wants(2, "images", "generate", "--no-such", "--", "--json")
	if b.out.Len() != 0 {
		t.Errorf("--json behind -- is a word: %s", b.out)
	}
}

// TestJSONOfPaidFailures keeps what was saved before the failure.
func TestJSONOfPaidFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.err = engine.Errorf(engine.KindPartial, "partial", "1 of 2 pictures were saved").Bill(engine.BilledYes)
	b.eng.result.Warnings = []string{"w"}
	b.wants(13, "images", "generate", "-n", "2", "--json", "x")
	r := b.reply()
	if len(r.Assets) != 1 || r.Job["id"] != "01j9zq" || r.Error.Billed != "yes" || r.Error.Exit != 13 {
		t.Errorf("%s", b.out)
	}
	if diff := cmp.Diff([]string{"w"}, r.Warnings); diff != "" {
		t.Error(diff)
	}
	b.wants(13, "images", "generate", "-n", "2", "x")
	if got := b.out.String(); got != "out/a.png\n" {
		t.Errorf("stdout %q", got)
	}
	b.eng.result = nil
	b.eng.err = &engine.Error{
		Kind: engine.KindRateLimited, Code: "rate_limited", Message: "slow down", Provider: "openai",
		RequestID: "req_1", RetryAfter: 1500 * time.Millisecond,
	}
	b.wants(6, "images", "generate", "--jq", "[.error.retry_after_s, .error.request_id, .error.provider, .job]", "x")
	if got := b.out.String(); got != `[1.5,"req_1","openai",null]`+"\n" {
		t.Errorf("stdout %q", got)
	}
}

// TestUnreadableJQ is told once: with such an expression nothing can be said on stdout.
func TestUnreadableJQ(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.wants(2, "jobs", "list", "--jq", ".items[0")
	want := "mediagen: jobs list: --jq cannot be read: unexpected EOF\nhint: see: mediagen jobs list --help\n"
	if b.errOut.String() != want || b.out.Len() != 0 {
		t.Errorf("stdout %q, stderr %q", b.out, b.errOut)
	}
	b.wants(2, "jobs", "list", "--jq", "nosuch(1)", "--json")
	if got := b.errOut.String(); strings.Count(got, "cannot be compiled") != 1 {
		t.Errorf("stderr %q", got)
	}
}

// TestRequestIDForPeople stands beside the hint, whatever kind of failure it is, and never leads to a false line.
func TestRequestIDForPeople(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, id, hint, want string }{
		{"neither", "", "", "openai: no\n"},
		{"hint", "", "wait", "openai: no\nhint: wait\n"},
		{"id", "req_1", "", "openai: no\nrequest id: req_1\n"},
		{"both", "req_1", "wait", "openai: no\nrequest id: req_1\nhint: wait\n"},
		{"a secret", "sk-canary", "", "openai: no\nrequest id: [redacted]\n"},
	} {
		for _, kind := range []engine.Kind{engine.KindBlocked, engine.KindRateLimited, engine.KindUnknownOutcome} {
			b := newBench(t, "")
			b.eng.err = &engine.Error{
				Kind: kind, Code: "x", Message: "no", Provider: "openai", RequestID: tc.id, Hint: tc.hint,
			}
			b.run("images", "generate", "x")
			if want := "mediagen: images generate: " + tc.want; b.errOut.String() != want {
				t.Errorf("%s, %s: stderr %q, want %q", tc.name, kind, b.errOut, want)
			}
		}
	}
}

// TestRowsBesideFailures shows rows and error together.
func TestRowsBesideFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.deny = "secret"
	b.wants(4, "policy", "test", "a", "secret", "--json")
	if r := b.reply(); len(r.Items) != 2 || r.Items[1]["allow"] != false || r.Error.Exit != 4 {
		t.Errorf("%s", b.out)
	}
	b.wants(4, "policy", "test", "a", "secret")
	if got := b.out.String(); !strings.Contains(got, "allow  read  a") || !strings.Contains(got, "deny   read  secret") {
		t.Errorf("stdout %q", got)
	}
	report := cli.Report{{Name: "a", Status: "ok", Detail: "x"}, {Name: "b", Status: "fail", Detail: "y"}}
	b.deps.Doctor = doctorSays(report, nil)
	b.wants(1, "doctor", "--jq", `.items[] | select(.status == "fail") | .name`)
	if got := b.out.String(); got != "b\n" {
		t.Errorf("stdout %q", got)
	}
	b.wants(1, "doctor")
	if b.out.String() != "ok    a  x\nfail  b  y\n" || !strings.Contains(b.errOut.String(), "1 of 2 checks failed") {
		t.Errorf("stdout %q, stderr %q", b.out, b.errOut)
	}
	b.deps.Doctor = doctorSays(report, engine.Errorf(engine.KindConfig, "config_invalid", "bad file"))
	b.wants(3, "doctor")
	if b.out.Len() == 0 || !strings.Contains(b.errOut.String(), "bad file") {
		t.Errorf("stdout %q, stderr %q", b.out, b.errOut)
	}
}

// TestJQ prints strings raw and everything else as JSON, and takes the machine's environment for nobody's business.
func TestJQ(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		".schema":                        "mediagen/1\n",
		".items[].id":                    "a\nb\n",
		".items | length":                "2\n",
		".items[0] | {id, state}":        `{"id":"a","state":""}` + "\n",
		"empty":                          "",
		".items[].created | type":        "string\nstring\n",
		`.items[0].params.seed`:          "12345678901234567890\n",
		"env | length":                   "0\n",
		"$ENV | length":                  "0\n",
		`[.items[].id] | join("\u0000")`: "a\x00b\n",
		".ok, .error":                    "true\nnull\n",
	} {
		b := newBench(t, "")
		b.eng.jobs = []engine.Job{{ID: "a", Params: json.RawMessage(`{"seed":12345678901234567890}`)}, {ID: "b"}}
		b.wants(0, "jobs", "list", "--jq", expr)
		if got := b.out.String(); got != want {
			t.Errorf("--jq %s: %q, want %q", expr, got, want)
		}
	}
}

// TestJQFailsOnTheResult says so on stderr, with exit code 1 and with what was paid for. The code of a failure stays.
func TestJQFailsOnTheResult(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.wants(1, "images", "generate", "--jq", ".assets.path", "x")
	for _, part := range []string{"--jq failed", "/base/here/out/a.png", "jobs show 01j9zq"} {
		if !strings.Contains(b.errOut.String(), part) {
			t.Errorf("no %q in: %s", part, b.errOut)
		}
	}
	b.wants(1, "jobs", "list", "--jq", `error("own words")`)
	if !strings.Contains(b.errOut.String(), "own words") {
		t.Errorf("stderr: %s", b.errOut)
	}
	b.wants(1, "jobs", "list", "--jq", `"half", if .ok then error("x") else .error.code end`)
	if b.out.String() != "half\n" || !strings.Contains(b.errOut.String(), "--jq failed") {
		t.Errorf("an answer that broke off is not followed by another: stdout %q, stderr %s", b.out, b.errOut)
	}
	b.eng.err = engine.Errorf(engine.KindBlocked, "moderation_blocked", "no")
	b.wants(5, "images", "generate", "--jq", ".items[].x", "x")
	if !strings.Contains(b.errOut.String(), "mediagen: images generate: no") || !strings.Contains(b.errOut.String(), "a.png") {
		t.Errorf("stderr: %s", b.errOut)
	}
}

// TestBrokenStdout ends every command with exit code 1 and an explanation; what was saved is named.
func TestBrokenStdout(t *testing.T) {
	t.Parallel()
	for _, line := range append(commands(), "images generate -o - x", "images generate -0 x", "images generate --jq .ok x",
		"policy test a.png --json", "doctor --json", "emulator",
		"--help", "images", "images -h", "images generate --help", "help", "help jobs list", "help exit-codes") {
		b := newBench(t, "").ready()
		if line == "images generate --dry-run x" {
			b.eng.result.Plan = &engine.Plan{N: 1}
		}
		if strings.HasPrefix(line, "jobs forget") {
			line += " --json"
		}
		stopped := 0
		b.deps.StartEmulator = fakeEmulator(&stopped)
		b.deps.Streams.Out = brokenWriter{errors.New("no space left on device")}
		b.wants(1, strings.Fields(line)...)
		if !strings.Contains(b.errOut.String(), "stdout") {
			t.Errorf("%s: stderr does not name stdout: %s", line, b.errOut)
		}
		paid := strings.HasPrefix(line, "images ") && strings.HasSuffix(line, "x") && !strings.Contains(line, "-o -") &&
			!strings.Contains(line, "dry-run") && !strings.Contains(line, "inspect")
		if paid && !strings.Contains(b.errOut.String(), "/base/here/out/a.png") {
			t.Errorf("%s: stderr does not name the picture: %s", line, b.errOut)
		}
		if line == "emulator" && stopped != 1 {
			t.Errorf("the emulator was left running")
		}
	}
}

// TestBrokenStdoutAfterFailure keeps the failure's own code and names what was saved before it.
func TestBrokenStdoutAfterFailure(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--json"}} {
		b := newBench(t, "")
		b.eng.err = engine.Errorf(engine.KindPartial, "partial", "1 of 2 pictures")
		b.deps.Streams.Out = brokenWriter{errors.New("broken pipe")}
		b.wants(13, append([]string{"images", "generate", "x"}, more...)...)
		for _, part := range []string{"broken pipe", "out/a.png", "1 of 2 pictures"} {
			if !strings.Contains(b.errOut.String(), part) {
				t.Errorf("%v: no %q in: %s", more, part, b.errOut)
			}
		}
	}
}

// TestBrokenStderr costs nothing: the answer is on stdout, the code is right.
func TestBrokenStderr(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.events = []engine.Event{{Kind: engine.EventSent, Total: 1}}
	b.eng.result.Warnings = []string{"w"}
	b.deps.Streams.Err = brokenWriter{errors.New("gone")}
	b.wants(0, "images", "generate", "x")
	if got := b.out.String(); got != "out/a.png\n" {
		t.Errorf("stdout %q", got)
	}
	b.eng.err = engine.Errorf(engine.KindUnavailable, "down", "down")
	b.wants(7, "images", "generate", "x")
}

// TestEndlessFilter ends with the time limit and with a signal, and what came before those does not stop the answer.
func TestEndlessFilter(t *testing.T) {
	t.Parallel()
	const endless = "last(range(1e12))"
	b := newBench(t, "")
	b.session.Timeout = 50 * time.Millisecond
	b.wants(1, "images", "generate", "--jq", endless, "x")
	if text := b.errOut.String(); !strings.Contains(text, "--jq") || !strings.Contains(text, "deadline") {
		t.Errorf("stderr: %s", text)
	}

	ctx, stop := context.WithCancelCause(t.Context())
	b = newBench(t, "")
	b.ctx = ctx
	timer := time.AfterFunc(50*time.Millisecond, func() { stop(&cli.Signal{Kind: engine.KindInterrupted}) })
	defer timer.Stop()
	b.wants(130, "images", "generate", "--jq", endless, "x")

	b = newBench(t, "")
	b.ctx = signalled(t, engine.KindTerminated)
	b.wants(143, "images", "generate", "--jq", ".error.exit", "x")
	if got := b.out.String(); got != "143\n" {
		t.Errorf("stdout %q", got)
	}
	b.wants(143, "images", "generate", "--jq", endless, "x")
}
