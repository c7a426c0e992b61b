package main

import (
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mediagen/internal/emulator"
	"mediagen/internal/emulator/openapitest"
	"mediagen/internal/sniff"
)

var update = flag.Bool("update", false, "rewrite the golden parts of scripts")

// TestMain lets the scripts run this very test binary as mediagen.
func TestMain(m *testing.M) {
	testscript.Main(cleaned{m}, map[string]func(){"mediagen": main})
}

// cleaned removes the program that process tests build, after the last test.
type cleaned struct{ *testing.M }

// Run runs the tests.
func (c cleaned) Run() int {
	code := c.M.Run()
	if dir := builtDir.Load(); dir != nil {
		_ = os.RemoveAll(*dir)
	}
	return code
}

// TestScripts runs testdata/script, one behaviour a file. Each script has its own home, state and working directory,
// and no provider: `emulator` starts one for it.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup:               setup,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"emulator": emulatorFor(t),
			"exits":    exits,
			"is":       isType,
			"count":    countFiles,
			"requests": countRequests,
			"media":    copyMedia,
		},
	})
}

func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	for _, kv := range [][2]string{
		{"HOME", home},
		{"XDG_CONFIG_HOME", ""},
		{"XDG_STATE_HOME", ""},
		{"XDG_CACHE_HOME", ""},
		{"NO_PROXY", "*"},
		{"MEDIA", mustAbs("../../testdata/media")},
	} {
		env.Setenv(kv[0], kv[1])
	}
	return os.MkdirAll(home, 0o700)
}

func mustAbs(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return abs
}

// requestLog is where the script's emulator writes one line a request.
const requestLog = "requests.jsonl"

// emulatorFor returns the command that serves the emulator for a script, with faults as the program's own --fault takes
// them, and points OPENAI_BASE_URL and OPENAI_API_KEY at it. Every request that the real SDK sends in a script, and every
// reply, is held against OpenAI's own document.
func emulatorFor(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	t.Helper()
	doc, err := os.ReadFile("../../testdata/cases/openai-openapi-media.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("usage: emulator [FAULT...]")
		}
		log, err := os.OpenFile(ts.MkAbs(requestLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		ts.Check(err)
		o := emulator.Options{Log: log}
		for _, spec := range args {
			f, err := emulator.ParseFault(spec)
			ts.Check(err)
			o.Faults = append(o.Faults, f)
		}
		h, err := emulator.NewHandler(o)
		ts.Check(err)
		srv := httptest.NewServer(openapitest.Handler(t, doc, h))
		ts.Defer(func() {
			srv.CloseClientConnections()
			srv.Close()
			_ = log.Close()
		})
		ts.Setenv("EMULATOR", srv.URL)
		ts.Setenv("OPENAI_BASE_URL", srv.URL+"/v1")
		ts.Setenv("OPENAI_API_KEY", canaryKey)
	}
}

// canaryKey is the key of every script; it must never appear in any output.
const canaryKey = "sk-canary-0123456789abcdefghijklmnop"

// exits runs a program and checks its exact exit code; stdout and stderr can be looked at afterwards.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ee, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%s did not run: %v", args[1], err)
		}
		got = ee.ExitCode()
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(stream), canaryKey) {
			ts.Fatalf("%s holds the API key", stream)
		}
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstderr: %s", got, want, ts.ReadFile("stderr"))
	}
}

// isType checks what files are by their bytes.
func isType(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: is MIME FILE...")
	}
	for _, path := range expand(ts, args[1:]) {
		f, err := os.Open(path)
		ts.Check(err)
		t, err := sniff.DetectReader(f)
		ts.Check(err)
		ts.Check(f.Close())
		if t.MIME != args[0] {
			ts.Fatalf("%s is %q by its bytes, want %q", path, t.MIME, args[0])
		}
	}
}

// countFiles checks how many files match a pattern; temporary files count too.
func countFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: count N PATTERN")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	found, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(found) != want {
		ts.Fatalf("%d files match %s, want %d: %v", len(found), args[1], want, found)
	}
}

// expand resolves patterns that must match something.
func expand(ts *testscript.TestScript, patterns []string) []string {
	var out []string
	for _, p := range patterns {
		found, err := filepath.Glob(ts.MkAbs(p))
		ts.Check(err)
		if len(found) == 0 {
			ts.Fatalf("nothing matches %s", p)
		}
		out = append(out, found...)
	}
	return out
}

// countRequests checks how many requests reached the emulator.
func countRequests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: requests N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	data, err := os.ReadFile(ts.MkAbs(requestLog))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	ts.Check(err)
	if got := strings.Count(string(data), "\n"); got != want {
		ts.Fatalf("%d requests reached the server, want %d\n%s", got, want, data)
	}
}

// copyMedia copies fixtures into the script's directory.
func copyMedia(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: media FILE...")
	}
	for _, name := range args {
		data, err := os.ReadFile(filepath.Join(ts.Getenv("MEDIA"), name))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o600))
	}
}
