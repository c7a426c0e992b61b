package engine_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mediagen/internal/catalog"
	"mediagen/internal/emulator"
	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/fetch"
	"mediagen/internal/journal"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// today is the engine's clock: after the release of GPT Image 2.6, before the end of GPT Image 1.5.
func today() time.Time { return time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC) }

// secretPrompt is a prompt that no message may repeat.
const secretPrompt = "zebra quartz over the violet harbour"

// rig is an engine over a real workspace, a real journal and the real catalog, in a directory of its own.
type rig struct {
	*engine.Engine

	t       testing.TB
	cfg     engine.Config
	dir     string // working directory and default output
	state   string
	ws      *workspace.Workspace
	journal *journal.Journal
	table   *table
}

// options of newRig; the zero value is a person's shell with a journal.
type options struct {
	mcp        bool
	noJournal  bool
	dir        string // output directory; a new one when empty
	state      string
	providers  []engine.ImageProvider // the first is preferred; all have their key
	keyed      []string               // overrides which have
	change     func(*engine.Config)
	journalNow func() time.Time
}

func newRig(t testing.TB, o options) *rig {
	t.Helper()
	r := &rig{t: t, dir: o.dir, state: o.state}
	if r.dir == "" {
		r.dir = filepath.Join(t.TempDir(), "work")
		mkdir(t, r.dir)
	}
	if r.state == "" {
		r.state = filepath.Join(t.TempDir(), "state")
	}
	wc := workspace.Config{WorkDir: r.dir, Shell: !o.mcp, TempRoot: r.dir, StateDir: r.state, Now: today}
	if o.mcp {
		wc.Dirs = []string{r.dir}
	}
	ws, err := workspace.Open(wc)
	must(t, err)
	t.Cleanup(func() { _ = ws.Close() })
	r.ws = ws
	cat, err := catalog.New(nil)
	must(t, err)
	r.table = &table{list: o.providers, keyed: o.keyed}
	r.cfg = engine.Config{
		Workspace: ws, Catalog: cat, Providers: r.table, Bounds: sniff.DefaultBounds(), Shell: !o.mcp, Now: today,
	}
	if !o.noJournal {
		if o.journalNow == nil {
			o.journalNow = today
		}
		r.journal, err = journal.Open(t.Context(), filepath.Join(r.state, "jobs.db"),
			journal.Options{Now: o.journalNow, KeepPrompts: true})
		must(t, err)
		t.Cleanup(func() { _ = r.journal.Close() })
		r.cfg.Journal = func(context.Context) (*journal.Journal, error) { return r.journal, nil }
	}
	if o.change != nil {
		o.change(&r.cfg)
	}
	r.Engine = engine.New(r.cfg)
	return r
}

// rows returns the journal, newest first.
func (r *rig) rows() []journal.Job {
	r.t.Helper()
	rows, err := r.journal.List(context.Background(), journal.Filter{})
	must(r.t, err)
	return rows
}

// row returns the only job.
func (r *rig) row() journal.Job {
	r.t.Helper()
	rows := r.rows()
	if len(rows) != 1 {
		r.t.Fatalf("the journal has %d rows, want 1", len(rows))
	}
	return rows[0]
}

// files lists everything below the working directory, relative and sorted.
func (r *rig) files() []string { return filesBelow(r.t, r.dir) }

// spool lists what lies in the spool.
func (r *rig) spool() []string { return filesBelow(r.t, filepath.Join(r.state, "spool")) }

func filesBelow(t testing.TB, dir string) []string {
	t.Helper()
	names := []string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !d.IsDir() {
			rel, err := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	must(t, err)
	slices.Sort(names)
	return names
}

func (r *rig) write(name string, data []byte) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	mkdir(r.t, filepath.Dir(path))
	must(r.t, os.WriteFile(path, data, 0o600))
}

func (r *rig) in(name string) string { return filepath.Join(r.dir, name) }

func mkdir(t testing.TB, dir string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// table is the composition root's part: a list of providers.
type table struct {
	list  []engine.ImageProvider
	keyed []string
	asked atomic.Int64 // clients that were asked for
}

func (p *table) Image(name string) (engine.ImageProvider, error) {
	p.asked.Add(1)
	for _, c := range p.list {
		if c.Name() == name && (p.keyed == nil || name == "emulator" || slices.Contains(p.keyed, name)) {
			return c, nil
		}
	}
	return nil, engine.Errorf(engine.KindAuth, "no_key", "no API key for %s", name)
}

func (p *table) Keyed() []string {
	if p.keyed != nil {
		return p.keyed
	}
	var names []string
	for _, c := range p.list {
		if c.Name() != "emulator" {
			names = append(names, c.Name())
		}
	}
	return names
}

func (p *table) Names() []string { return []string{"openai", "azure", "emulator"} }

// fake is a provider whose every moment the test decides.
type fake struct {
	name     string // "openai" when empty
	endpoint string
	native   bool
	do       func(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error)

	mu    sync.Mutex
	calls []engine.ImageCall
}

func (f *fake) Name() string {
	if f.name == "" {
		return "openai"
	}
	return f.name
}

func (f *fake) Endpoint() string {
	if f.endpoint == "" {
		return "http://fake.invalid/v1/"
	}
	return f.endpoint
}

func (f *fake) Native() bool { return f.native }

func (f *fake) GenerateImages(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	if f.do == nil {
		return draw(call, sink)
	}
	return f.do(ctx, call, sink)
}

func (f *fake) EditImages(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
	return f.GenerateImages(ctx, call, sink)
}

// last returns the call that was sent, of exactly one.
func (f *fake) last(t testing.TB) engine.ImageCall {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) != 1 {
		t.Fatalf("%d calls were sent, want 1", len(f.calls))
	}
	return f.calls[0]
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// draw answers with as many pictures as were asked for.
func draw(call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
	for i := range call.N {
		if err := put(sink, engine.Slot{Index: i}, tinyPNG()); err != nil {
			return engine.ImageReply{}, err
		}
	}
	return engine.ImageReply{RequestID: "req_1", Pictures: call.N}, nil
}

func put(sink engine.ImageSink, slot engine.Slot, data []byte) error {
	w, err := sink.Picture(slot)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Commit()
}

// server is the emulator behind a counter.
type server struct {
	*httptest.Server

	requests atomic.Int64
}

func serve(t testing.TB, h http.Handler) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// emulate starts the emulator with faults and returns the real client for it. The client calls itself by name; it acts
// as the vendor's own host when it is called openai.
func emulate(t testing.TB, name string, faults ...string) (*openai.Client, *server) {
	t.Helper()
	opt := emulator.Options{Now: today}
	for _, spec := range faults {
		f, err := emulator.ParseFault(spec)
		must(t, err)
		opt.Faults = append(opt.Faults, f)
	}
	h, err := emulator.NewHandler(opt)
	must(t, err)
	s := serve(t, h)
	return client(t, name, s.URL), s
}

func client(t testing.TB, name, origin string) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{
		Name: name, BaseURL: origin + "/v1", APIKey: redact.NewSecret("sk-test"), ActsNative: name == "emulator",
		HTTPClient: fetch.NewProviderClient(fetch.ProviderConfig{}),
		Retry: openai.Retry{Sleep: func(ctx context.Context, _ time.Duration) error {
			return ctx.Err()
		}},
	})
	must(t, err)
	return c
}

// small is a request that the emulator draws in no time.
func small() *engine.GenerateImages {
	r := engine.NewGenerateImages()
	r.Prompt, r.Model, r.Size = secretPrompt, "test-model", "96x64"
	return r
}

// wantError checks an error's kind, code and answer about money, and that it does not tell the prompt. It returns a
// copy, for closer looks.
func wantError(t testing.TB, err error, kind engine.Kind, code fault.Code, billed engine.Billed) engine.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s %s", kind, code)
	}
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		t.Fatalf("got a %T: %v", err, err)
	}
	if e.Kind != kind || e.Code != code || e.Billed != billed {
		t.Errorf("got kind %s, code %s, billed %q, want %s, %s, %q: %v", e.Kind, e.Code, e.Billed, kind, code, billed, err)
	}
	noPrompt(t, e)
	return *e
}

func noPrompt(t testing.TB, e *engine.Error) {
	t.Helper()
	for _, text := range []string{e.Error(), e.Message, e.Hint} {
		if strings.Contains(text, secretPrompt) {
			t.Errorf("the message repeats the prompt: %s", text)
		}
	}
}

func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in %q", part, text)
		}
	}
}

// tinyColor fills the smallest picture.
var tinyColor = color.NRGBA{R: 200, A: 255}

// tinyPNG is the smallest picture that is one.
var tinyPNG = sync.OnceValue(func() []byte { return pngOf(8, 6, tinyColor) })

func fill(w, h int, c color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, c)
		}
	}
	return img
}

func encodePNG(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}

func pngOf(w, h int, c color.Color) []byte { return encodePNG(fill(w, h, c)) }

// jpegOf is a JPEG of the size of tinyPNG.
func jpegOf(c color.Color) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, fill(8, 6, c), nil); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}

// record keeps the events of a call.
type record struct {
	mu     sync.Mutex
	events []engine.Event
	on     func(engine.Event)
}

func (p *record) Event(e engine.Event) {
	p.mu.Lock()
	p.events = append(p.events, e)
	p.mu.Unlock()
	if p.on != nil {
		p.on(e)
	}
}

func (p *record) kinds() []engine.EventKind {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kinds []engine.EventKind
	for _, e := range p.events {
		kinds = append(kinds, e.Kind)
	}
	return slices.Compact(kinds)
}
