package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mediagen/internal/fault"
)

// testNow is the clock of the tests.
func testNow() time.Time { return time.Unix(1_800_000_000, 0).UTC() }

// sandbox is a temporary directory with everything that a workspace may touch.
type sandbox struct {
	dir, media, work, state string
}

func newSandbox(tb testing.TB) sandbox {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	s := sandbox{
		dir: dir, media: filepath.Join(dir, "srv", "media"), work: filepath.Join(dir, "work"),
		state: filepath.Join(dir, "state"),
	}
	for _, d := range []string{s.media, s.work} {
		mkdir(tb, d)
	}
	return s
}

// in is a path below the media directory.
func (s sandbox) in(name string) string { return filepath.Join(s.media, filepath.FromSlash(name)) }

// config is an MCP server's with the media directory as its only root.
func (s sandbox) config() Config {
	return Config{
		Dirs: []string{s.media}, WorkDir: s.work, StateDir: s.state, HomeDir: filepath.Join(s.dir, "home"), Now: testNow,
	}
}

// shell is that of a person without MEDIA_GEN_DIRS.
func (s sandbox) shell() Config {
	c := s.config()
	c.Dirs, c.Shell = nil, true
	return c
}

func open(tb testing.TB, cfg Config) *Workspace {
	tb.Helper()
	w, err := Open(cfg)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	tb.Cleanup(func() {
		if err := w.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return w
}

func mkdir(tb testing.TB, dir string) {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	mkdir(tb, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func symlink(tb testing.TB, target, link string) {
	tb.Helper()
	if err := os.Symlink(target, link); err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// files lists what lies below dir, as slash-separated relative names.
func files(tb testing.TB, dir string) []string {
	tb.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && p == dir {
				return nil
			}
			return err
		}
		if !d.IsDir() {
			rel, err := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return names
}

// wantCode fails unless err is a fault with the code, or nil for "".
func wantCode(tb testing.TB, err error, code fault.Code) {
	tb.Helper()
	if code == "" {
		if err != nil {
			tb.Fatalf("got error %v, want none", err)
		}
		return
	}
	if got := fault.CodeOf(err); got != code {
		tb.Fatalf("got error %v with code %q, want code %q", err, got, code)
	}
}

// spec is a plan for one default-named PNG.
func spec() OutputSpec {
	return OutputSpec{Tool: "openai-images-generate", ID: "b3b1f6c2-0f3e-4c57-9a43-1b8a0c3d2e4f", Count: 1, Ext: "png"}
}

const specName = "output_1800000000_media-gen__openai-images-generate_b3b1f6c2-0f3e-4c57-9a43-1b8a0c3d2e4f"

func plan(tb testing.TB, w *Workspace, s OutputSpec) *Target {
	tb.Helper()
	target, err := w.Plan(s)
	if err != nil {
		tb.Fatalf("Plan: %v", err)
	}
	tb.Cleanup(func() {
		if err := target.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return target
}

func create(tb testing.TB, target *Target, index int) *Temp {
	tb.Helper()
	f, err := target.Create(index)
	if err != nil {
		tb.Fatalf("Create: %v", err)
	}
	tb.Cleanup(func() {
		if err := f.Abort(); err != nil {
			tb.Errorf("Abort: %v", err)
		}
	})
	return f
}

// fill writes text in pieces, as a network does.
func fill(tb testing.TB, f *Temp, text string) {
	tb.Helper()
	for r := strings.NewReader(text); r.Len() > 0; {
		if _, err := io.CopyN(f, r, min(int64(r.Len()), 1000)); err != nil {
			tb.Fatalf("Write: %v", err)
		}
	}
}

// content reads a Temp through File.
func content(tb testing.TB, f *Temp) string {
	tb.Helper()
	r, size := f.File()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.NewSectionReader(r, 0, size)); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// noSync takes the place of flushes in tests that save thousands of files.
func noSync(*os.File) error { return nil }
