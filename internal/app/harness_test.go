package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mediagen/internal/app"
	"mediagen/internal/emulator"
	"mediagen/internal/iostreams"
)

// canary is the key of every test. It looks like none of the vendors' keys, so that only who knows it can hide it.
const canary = "canary.KEY+0123456789/abcdef"

// TestMain lets tests start this binary as the program itself, for what only a process has: signals and pipes.
func TestMain(m *testing.M) {
	if os.Getenv("APP_TEST_MAIN") != "" {
		os.Exit(app.Main(app.System()))
	}
	os.Exit(m.Run())
}

// home is an isolated place for one program: nothing of the machine's environment reaches it.
type home struct {
	t     *testing.T
	dir   string // HOME
	work  string // working directory
	env   []string
	stdin string
	tty   bool
}

func newHome(t *testing.T, env ...string) *home {
	t.Helper()
	root := t.TempDir()
	h := &home{t: t, dir: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	for _, dir := range []string{h.dir, h.work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append([]string{"HOME=" + h.dir}, env...)
	return h
}

func now() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// result is what one run came to.
type result struct {
	code   int
	out    string
	errOut string
}

// run runs one command line to its end.
func (h *home) run(args ...string) result {
	h.t.Helper()
	return h.runIn(h.t.Context(), context.Background(), args...)
}

func (h *home) runIn(ctx, abort context.Context, args ...string) result {
	h.t.Helper()
	streams, out, errOut := iostreams.Test(h.stdin)
	streams.ErrTTY = h.tty
	code := app.Run(ctx, abort, app.Process{
		Args: args, Environ: h.env, WorkDir: h.work, HomeDir: h.dir, Streams: streams, Now: now,
	})
	r := result{code, out.String(), errOut.String()}
	if strings.Contains(r.out+r.errOut, canary) {
		h.t.Errorf("mediagen %q shows the key:\n%s\n%s", args, r.out, r.errOut)
	}
	return r
}

// wants runs a command line and checks its exit code and what it says, on whichever stream.
func (h *home) wants(code int, says string, args ...string) result {
	h.t.Helper()
	r := h.run(args...)
	if r.code != code || !strings.Contains(r.out+r.errOut, says) {
		h.t.Fatalf("mediagen %q: exit %d, want %d and %q\nstdout: %s\nstderr: %s", args, r.code, code, says, r.out, r.errOut)
	}
	return r
}

// jq runs a command line and returns what the filter yields.
func (h *home) jq(filter string, args ...string) string {
	h.t.Helper()
	r := h.run(append(args, "--jq", filter)...)
	if r.code != 0 {
		h.t.Fatalf("mediagen %q: exit %d\n%s%s", args, r.code, r.out, r.errOut)
	}
	return strings.TrimSuffix(r.out, "\n")
}

// write puts a file below the home or, with a relative name, below the working directory, and returns its path.
func (h *home) write(name, text string) string {
	h.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(h.work, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// tree lists every file and directory of home and work.
func (h *home) tree() []string {
	h.t.Helper()
	var found []string
	root := filepath.Dir(h.dir)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(root, path); rel != "." && rel != "home" && rel != "work" {
			found = append(found, rel)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

// seen is a request that reached a server.
type seen struct {
	Path, Query, Auth, APIKey, Org, Project string
	Body                                    map[string]any
}

// server is a provider on loopback: the emulator, with every request noted.
type server struct {
	URL string

	mu   sync.Mutex
	seen []seen
}

// newServer serves the emulator; answer, when not nil, answers instead.
func newServer(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	h, err := emulator.NewHandler(emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		one := seen{
			Path: r.URL.Path, Query: r.URL.RawQuery, Auth: r.Header.Get("Authorization"), APIKey: r.Header.Get("Api-Key"),
			Org: r.Header.Get("Openai-Organization"), Project: r.Header.Get("Openai-Project"),
		}
		_ = json.Unmarshal(body.Bytes(), &one.Body) // nil for a form
		s.mu.Lock()
		s.seen = append(s.seen, one)
		s.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		r.Body = http.NoBody
		if body.Len() > 0 {
			r2 := httptest.NewRequest(r.Method, "/v1/images/generations", &body)
			r2.Header, r2.Host = r.Header.Clone(), r.Host
			r2.Header.Set("Authorization", "Bearer any") // some servers take none; the emulator wants one
			r = r2
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	return s
}

// requests returns what has come so far.
func (s *server) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.seen...)
}

// only returns the one request that came.
func (s *server) only(t *testing.T) seen {
	t.Helper()
	all := s.requests()
	if len(all) != 1 {
		t.Fatalf("%d requests came, want one: %+v", len(all), all)
	}
	return all[0]
}
