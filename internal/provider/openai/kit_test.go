package openai_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"mediagen/internal/emulator"
	"mediagen/internal/emulator/openapitest"
	"mediagen/internal/engine"
	"mediagen/internal/fetch"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
)

// testKey is no real key: long, and of the shape that scrubbers know.
const testKey = "sk-canary-Zx81qPl0Rt5uVw2y"

// flare is a current model, so that the emulator applies OpenAI's rules.
const flare = "gpt-image-2.6-flare"

// sink is an engine.ImageSink that keeps everything.
type sink struct {
	saved    map[engine.Slot][]byte
	aborted  []engine.Slot
	links    map[int]string
	pauses   []time.Duration
	causes   []error
	warnings []string
	open     int // writers that were neither committed nor aborted

	failPicture, failWrite, failCommit error
}

func newSink() *sink { return &sink{saved: map[engine.Slot][]byte{}, links: map[int]string{}} }

func (s *sink) Picture(slot engine.Slot) (engine.PictureWriter, error) {
	if s.failPicture != nil {
		return nil, s.failPicture
	}
	s.open++
	return &picture{s: s, slot: slot}, nil
}

func (s *sink) Link(index int, raw string) { s.links[index] = raw }

func (s *sink) Retrying(_ int, pause time.Duration, cause error) {
	s.pauses = append(s.pauses, pause)
	s.causes = append(s.causes, cause)
}

func (s *sink) Warn(message string) { s.warnings = append(s.warnings, message) }

// final returns the final pictures in order.
func (s *sink) final() [][]byte {
	var out [][]byte
	for i := range 100 {
		if b, ok := s.saved[engine.Slot{Index: i}]; ok {
			out = append(out, b)
		}
	}
	return out
}

type picture struct {
	s    *sink
	slot engine.Slot
	buf  bytes.Buffer
	done bool
}

func (p *picture) Write(b []byte) (int, error) {
	if p.done {
		return 0, errors.New("write after the end")
	}
	if p.s.failWrite != nil {
		return 0, p.s.failWrite
	}
	return p.buf.Write(b)
}

func (p *picture) Commit() error {
	p.end()
	if p.s.failCommit != nil {
		return p.s.failCommit
	}
	if _, twice := p.s.saved[p.slot]; twice {
		return errors.New("the slot is taken")
	}
	p.s.saved[p.slot] = p.buf.Bytes()
	return nil
}

func (p *picture) Abort() {
	p.end()
	p.s.aborted = append(p.s.aborted, p.slot)
}

func (p *picture) end() {
	if p.done {
		panic("a picture was ended twice")
	}
	p.done = true
	p.s.open--
}

// clock stands still.
func clock() time.Time { return time.Unix(1_800_000_000, 0) }

// server counts the requests that reach a handler and keeps the last one.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	posts    int // creates
	gets     int // downloads
	last     *http.Request
	lastBody []byte
	encoding []string
}

// serve runs a handler on loopback.
func serve(t testing.TB, h http.Handler) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.note(r)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *server) note(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet {
		s.gets++
		return
	}
	s.posts++
	s.last, s.encoding = r, r.TransferEncoding
}

func (s *server) counts() (posts, gets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts, s.gets
}

// record reads the body of each request before h sees it.
func (s *server) record(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		s.mu.Lock()
		s.last, s.lastBody, s.encoding = r, body, r.TransferEncoding
		s.mu.Unlock()
		if err != nil {
			return // the client broke off
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}

// emulated runs the emulator behind the OpenAPI document: every request and reply is held against it.
func emulated(t testing.TB, specs ...string) *server {
	t.Helper()
	doc, err := os.ReadFile("../../../testdata/cases/openai-openapi-media.json")
	if err != nil {
		t.Fatal(err)
	}
	o := emulator.Options{Now: clock}
	for _, spec := range specs {
		f, err := emulator.ParseFault(spec)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	h, err := emulator.NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	checked := openapitest.Handler(t, doc, h)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { checked.ServeHTTP(w, r) }))
	if len(specs) == 0 { // faults may cut a body that nobody may wait for
		inner := s.Config.Handler
		s.Config.Handler = s.record(inner)
	}
	return s
}

// naps records pauses instead of waiting.
type naps struct {
	mu    sync.Mutex
	slept []time.Duration
	err   error
}

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slept = append(n.slept, d)
	if n.err != nil {
		return n.err
	}
	return ctx.Err()
}

// client returns a client for origin+/v1 that never waits.
func client(t testing.TB, origin string, change ...func(*openai.Config)) *openai.Client {
	t.Helper()
	h := fetch.NewProviderClient(fetch.ProviderConfig{UserAgent: "mediagen/test"})
	t.Cleanup(h.CloseIdleConnections)
	cfg := openai.Config{
		Name: "openai", BaseURL: origin + "/v1", APIKey: redact.NewSecret(testKey), HTTPClient: h,
		Retry: openai.Retry{Sleep: (&naps{}).sleep},
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// outcome is what a caller learns from a failed call.
type outcome struct {
	Kind   engine.Kind
	Code   string
	Billed engine.Billed
}

// told returns the outcome of a call and fails when err is no *engine.Error.
func told(t testing.TB, err error) (*engine.Error, outcome) {
	t.Helper()
	if err == nil {
		t.Fatal("the call succeeded, want an error")
	}
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		t.Fatalf("error is a %T, want *engine.Error: %v", err, err)
	}
	billed := e.Billed
	if billed == "" {
		billed = engine.BilledNo
	}
	return e, outcome{e.Kind, string(e.Code), billed}
}

// pngOf draws a picture; the left half of one with a hole is transparent.
func pngOf(t testing.TB, w, h int, hole bool) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(x), uint8(y), 160, 255}
			if hole && x < w/2 {
				c.A = 0
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// input makes an engine.Input of bytes.
func input(name, mime string, data []byte) engine.Input {
	return engine.Input{Name: name, MIME: mime, Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}
