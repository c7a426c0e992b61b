package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"mediagen/internal/app"
	"mediagen/internal/buildinfo"
	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
)

const workDir = "/base/here"

// now is the clock of every test.
func now() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// fake is an engine that notes what it is asked and answers what the test says. It sends nothing.
type fake struct {
	calls   []any
	result  *engine.Result
	err     error
	events  []engine.Event
	smaller *engine.CompressResult
	seen    []engine.Inspection
	jobs    []engine.Job
	models  []engine.ModelInfo
	deny    string            // paths that contain it are denied
	files   map[string]string // for ReadText
	during  func()            // runs while a paid call is under way
	pipe    string            // what Pipe writes
}

var _ cli.Engine = (*fake)(nil)

// What the fake notes, one type a method.
type (
	generated struct {
		Req engine.GenerateImages
		Out engine.Output
	}
	edited struct {
		Req engine.EditImages
		Out engine.Output
	}
	listed struct{ Filter engine.JobFilter }
	shown  struct{ ID string }
	forgot struct {
		IDs   []string
		Force bool
	}
	resumed struct {
		ID, Dest  string
		Overwrite bool
	}
	modelsAsked struct {
		Kind, Provider string
		All            bool
	}
	modelAsked struct{ ID string }
	tested     struct {
		Path  string
		Write bool
	}
	compressed struct {
		Req engine.CompressImages
		Out engine.CompressOutput
	}
	inspected struct{ Refs []string }
	piped     struct{}
)

func (f *fake) note(call any) { f.calls = append(f.calls, call) }

func (f *fake) paid(p engine.Progress) (*engine.Result, error) {
	for _, e := range f.events {
		p.Event(e)
	}
	if f.during != nil {
		f.during()
	}
	return f.result, f.err
}

func (f *fake) GenerateImages(
	_ context.Context, r *engine.GenerateImages, o engine.Output, p engine.Progress,
) (*engine.Result, error) {
	f.note(generated{*r, o})
	return f.paid(p)
}

func (f *fake) EditImages(
	_ context.Context, r *engine.EditImages, o engine.Output, p engine.Progress,
) (*engine.Result, error) {
	f.note(edited{*r, o})
	return f.paid(p)
}

func (f *fake) CompressImages(
	_ context.Context, r *engine.CompressImages, o engine.CompressOutput, p engine.Progress,
) (*engine.CompressResult, error) {
	f.note(compressed{*r, o})
	for _, e := range f.events {
		p.Event(e)
	}
	return f.smaller, f.err
}

func (f *fake) InspectMedia(ctx context.Context, refs []string) ([]engine.Inspection, error) {
	f.note(inspected{refs})
	return f.seen, either(f.err, ctx.Err())
}

func (f *fake) ListJobs(ctx context.Context, filter engine.JobFilter) ([]engine.Job, error) {
	f.note(listed{filter})
	return f.jobs, either(f.err, ctx.Err())
}

func (f *fake) ShowJob(ctx context.Context, id string) (engine.Job, error) {
	f.note(shown{id})
	if f.err != nil || ctx.Err() != nil {
		return engine.Job{}, either(f.err, ctx.Err())
	}
	return f.jobs[0], nil
}

func (f *fake) ForgetJobs(_ context.Context, ids []string, force bool) (int, error) {
	f.note(forgot{ids, force})
	return len(ids), f.err
}

func (f *fake) ResumeJob(_ context.Context, id, dest string, overwrite bool) (*engine.Result, error) {
	f.note(resumed{id, dest, overwrite})
	return f.result, f.err
}

func (f *fake) Models(kind, provider string, all bool) []engine.ModelInfo {
	f.note(modelsAsked{kind, provider, all})
	return f.models
}

func (f *fake) Model(id string) (engine.ModelInfo, error) {
	f.note(modelAsked{id})
	if f.err != nil {
		return engine.ModelInfo{}, f.err
	}
	return f.models[0], nil
}

func (f *fake) TestPath(path string, write bool) engine.Verdict {
	f.note(tested{path, write})
	v := engine.Verdict{Target: path, Access: "read", Allow: true, Rule: "own authority"}
	if f.deny != "" && strings.Contains(path, f.deny) {
		v.Allow, v.Rule, v.Code, v.Reason = false, "roots", "path_denied", "outside of every directory"
	}
	return v
}

func (f *fake) ReadText(path string) (string, error) {
	text, ok := f.files[path]
	if !ok {
		return "", engine.Errorf(engine.KindNotFound, "not_found", "%s does not exist", path)
	}
	return text, nil
}

func (f *fake) Pipe(_ context.Context, _ *engine.Result, w io.Writer) error {
	f.note(piped{})
	if _, err := io.WriteString(w, f.pipe); err != nil {
		return engine.Errorf(engine.KindFailure, "io_failed", "the picture could not be written to stdout; it is safe at %s",
			"/state/spool/a.png").Bill(engine.BilledYes)
	}
	return nil
}

func either(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// bench runs command lines against a fake engine. The tree, its settings and its words are the program's own.
type bench struct {
	t       testing.TB
	eng     *fake
	deps    cli.Deps
	session cli.Session
	openErr error
	opened  int
	options cli.OpenOptions
	out     *bytes.Buffer
	errOut  *bytes.Buffer
	ctx     context.Context //nolint:containedctx // of the runs of one test
}

func newBench(t testing.TB, stdin string) *bench {
	t.Helper()
	b := &bench{t: t, eng: &fake{result: oneResult("/base/here/out/a.png"), smaller: oneSmaller(), seen: []engine.Inspection{onePhoto()}}, ctx: t.Context()}
	var streams *iostreams.Streams
	streams, b.out, b.errOut = iostreams.Test(stdin)
	b.deps = app.Deps(app.Process{WorkDir: workDir, HomeDir: "/home/me", Streams: streams, Now: now})
	b.deps.Build = func() buildinfo.Info {
		return buildinfo.Info{Version: "1.2.3", Commit: "abc", Go: "go1.26", OS: "linux", Arch: "amd64"}
	}
	b.deps.Imaging = func(bool) engine.Imaging { return engine.Imaging{Name: "fake", Version: "9"} }
	b.deps.Open = func(_ context.Context, _ *pflag.FlagSet, o cli.OpenOptions) (cli.Session, error) {
		b.opened++
		b.options = o
		if b.openErr != nil {
			return cli.Session{}, b.openErr
		}
		s := b.session
		s.Engine = b.eng
		return s, nil
	}
	b.deps.Scrub = func(s string) string { return strings.ReplaceAll(s, "sk-canary", "[redacted]") }
	b.deps.Config = cli.ConfigDeps{
		Show: func(*pflag.FlagSet) ([]cli.SettingRow, []string, error) {
			return []cli.SettingRow{{Key: "timeout", Value: "90s", From: "env X"}}, b.session.Warnings, b.openErr
		},
		Path:   func(*pflag.FlagSet) (string, error) { return "/home/me/.config/mediagen/config.yaml", b.openErr },
		Sample: func() []byte { return []byte("#timeout: 0s\n") },
		Init: func(_ context.Context, _ *pflag.FlagSet, overwrite bool) (string, error) {
			if !overwrite && b.openErr == nil {
				return "", engine.Errorf(engine.KindExists, "exists", "it exists")
			}
			return "/home/me/.config/mediagen/config.yaml", b.openErr
		},
	}
	b.deps.Doctor = func(context.Context, *pflag.FlagSet) (cli.Report, error) {
		return cli.Report{{Name: "journal", Status: cli.CheckOK, Detail: "fine"}}, b.openErr
	}
	b.deps.StartEmulator = func(context.Context, cli.EmulatorOptions) (cli.Emulator, error) {
		return nil, either(b.openErr, errors.New("no emulator in this test"))
	}
	return b
}

// run runs one command line and returns the exit code. What earlier runs printed is gone.
func (b *bench) run(args ...string) int {
	b.t.Helper()
	b.out.Reset()
	b.errOut.Reset()
	return cli.Execute(b.ctx, b.deps, args)
}

// wants runs a command line and checks its exit code.
func (b *bench) wants(code int, args ...string) {
	b.t.Helper()
	if got := b.run(args...); got != code {
		b.t.Fatalf("mediagen %q: exit %d, want %d\nstdout: %s\nstderr: %s", args, got, code, b.out, b.errOut)
	}
}

// call returns the last call of the engine.
func (b *bench) call() any {
	b.t.Helper()
	if len(b.eng.calls) == 0 {
		b.t.Fatalf("the engine was not called; stderr: %s", b.errOut)
	}
	return b.eng.calls[len(b.eng.calls)-1]
}

// reply is the envelope as a program reads it.
type reply struct {
	Schema   string           `json:"schema"`
	OK       bool             `json:"ok"`
	Command  string           `json:"command"`
	Job      map[string]any   `json:"job"`
	Assets   []map[string]any `json:"assets"`
	Items    []map[string]any `json:"items"`
	Warnings []string         `json:"warnings"`
	Error    *struct {
		Kind, Code, Message, Hint, Billed string
		Exit                              int
	} `json:"error"`
}

// reply reads stdout, which must be one JSON object and nothing else.
func (b *bench) reply() reply {
	b.t.Helper()
	var r reply
	dec := json.NewDecoder(bytes.NewReader(b.out.Bytes()))
	if err := dec.Decode(&r); err != nil {
		b.t.Fatalf("stdout is no JSON object: %v\n%s\nstderr: %s", err, b.out, b.errOut)
	}
	if dec.More() {
		b.t.Fatalf("stdout has more than one value: %s", b.out)
	}
	return r
}

// oneResult is a picture that was made and saved.
func oneResult(paths ...string) *engine.Result {
	micros := int64(40_100)
	r := &engine.Result{
		Job:  &engine.JobInfo{ID: "01j9zq", State: "landed", Provider: "openai", Model: "m", Created: now()},
		Cost: engine.Cost{Micros: &micros, Basis: engine.BasisReported}, Warnings: []string{}, Assets: []engine.Asset{},
	}
	for i, p := range paths {
		r.Assets = append(r.Assets, engine.Asset{Path: p, MediaType: "image/png", Bytes: 3, SHA256: "00", Index: i})
	}
	return r
}

// oneSmaller is a picture that was compressed.
func oneSmaller() *engine.CompressResult {
	facts := &engine.PictureFacts{Bytes: 3, Width: 4, Height: 2, MediaType: "image/png"}
	return &engine.CompressResult{
		Assets: []engine.Asset{{Path: "/base/here/out/a.png", MediaType: "image/png", Bytes: 3, Source: "/base/here/a.png"}},
		Items: []engine.Compressed{{
			Source: "/base/here/a.png", Status: engine.Smaller, Path: "/base/here/out/a.png", Before: facts, After: facts,
			Quality: new(80), Encodes: 2, Notes: []string{},
		}},
		Warnings: []string{},
	}
}

// onePhoto is a picture that was inspected.
func onePhoto() engine.Inspection {
	return engine.Inspection{
		Source: "/base/here/a.png", Kind: "image", Format: "png", MediaType: "image/png", Bytes: 3, Width: 4, Height: 2,
		Frames: 1, Image: &engine.ImageDetails{Orientation: 1},
	}
}

// brokenWriter fails like a pipe whose reader is gone.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// signalled is a context that a signal has ended.
func signalled(t testing.TB, kind engine.Kind) context.Context {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	stop(&cli.Signal{Kind: kind})
	return ctx
}
