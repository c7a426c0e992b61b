//go:build unix

package workspace

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// fsRunners are the rows that need files, by id.
func fsRunners() map[string]func(*testing.T, attack) {
	return map[string]func(*testing.T, attack){
		"fs-001": readCase("link", func(t *testing.T, s sandbox) {
			t.Helper()
			symlink(t, "/etc/passwd", s.in("link"))
		}),
		"fs-002": readCase("link", func(t *testing.T, s sandbox) {
			t.Helper()
			write(t, filepath.Join(s.dir, "srv", "outside", "f"), "secret")
			symlink(t, "../outside/f", s.in("link"))
		}),
		"fs-003": readCase("dirlink/f", outsideDirLink),
		"fs-004": readCase("dirlink/", outsideDirLink),
		"fs-005": readCase("link", func(t *testing.T, s sandbox) {
			t.Helper()
			write(t, s.in("real/f"), "inside")
			symlink(t, "real/f", s.in("link"))
		}),
		"fs-006": readCase("link", func(t *testing.T, s sandbox) {
			t.Helper()
			symlink(t, "link", s.in("link"))
		}),
		"fs-007": raceReads,
		"fs-009": danglingLink,
		"fs-010": linkAtName,
		"fs-012": readCase("pipe", func(t *testing.T, s sandbox) {
			t.Helper()
			if err := syscall.Mkfifo(s.in("pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
		}),
		"fs-013": readCase("zero", func(t *testing.T, s sandbox) {
			t.Helper()
			if err := makeZeroDevice(s.in("zero")); err != nil {
				t.Skipf("this user cannot make device nodes: %v", err)
			}
		}),
		"fs-014": readCase("sock", unixSocket),
		"fs-015": readCase("dir", func(t *testing.T, s sandbox) {
			t.Helper()
			mkdir(t, s.in("dir"))
		}),
		"fs-016": growingFile,
		"fs-020": diskFullInTheMiddle,
		"fs-024": caseInsensitiveRoot,
		"fs-025": unicodeForms,
	}
}

// readCase makes files and opens one for reading.
func readCase(name string, setup func(*testing.T, sandbox)) func(*testing.T, attack) {
	return func(t *testing.T, a attack) {
		t.Helper()
		s := newSandbox(t)
		setup(t, s)
		w := open(t, s.config())
		f, err := w.Open(name, 0)
		verdict(t, a, err)
		if code, deny := strings.CutPrefix(a.Expected, "deny:"); deny && code == string(fault.PathDenied) {
			wantCode(t, w.Check(name, Read).Err, fault.PathDenied)
			return
		}
		if err == nil {
			b, rerr := io.ReadAll(f)
			if rerr != nil || string(b) != "inside" {
				t.Errorf("read %q, %v; want the inside file", b, rerr)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func outsideDirLink(t *testing.T, s sandbox) {
	t.Helper()
	outside := filepath.Join(s.dir, "outside")
	write(t, filepath.Join(outside, "f"), "secret")
	symlink(t, outside, s.in("dirlink"))
}

func unixSocket(t *testing.T, s sandbox) {
	t.Helper()
	// The name of a socket has at most about 100 bytes, so it is made through a short relative path.
	old := filepath.Join("/tmp", "mg"+strings.ReplaceAll(filepath.Base(s.dir), "/", ""))
	_ = os.Remove(old)
	symlink(t, s.media, old)
	defer func() { _ = os.Remove(old) }()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(old, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}

func danglingLink(t *testing.T, a attack) {
	t.Helper()
	s := newSandbox(t)
	outside := filepath.Join(s.dir, "outside", "new.png")
	mkdir(t, filepath.Dir(outside))
	symlink(t, outside, s.in("a.png"))
	w := open(t, s.config())
	p := spec()
	p.Dest = "a.png"
	_, err := w.Plan(p)
	verdict(t, a, err)
	wantCode(t, w.Check("a.png", Write).Err, fault.PathDenied)
	if got := files(t, filepath.Dir(outside)); got != nil {
		t.Errorf("files outside: %v", got)
	}
}

func linkAtName(t *testing.T, _ attack) {
	t.Helper()
	s := newSandbox(t)
	outside := filepath.Join(s.dir, "outside", "f.png")
	write(t, outside, "untouched")
	symlink(t, outside, s.in("a.png"))
	w := open(t, s.config())
	p := spec()
	p.Dest, p.Overwrite = "a.png", true
	f := create(t, plan(t, w, p), 0)
	fill(t, f, "new")
	if _, err := f.Commit("png"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, outside); got != "untouched" {
		t.Errorf("the link's target holds %q", got)
	}
	info, err := os.Lstat(s.in("a.png"))
	if err != nil || !info.Mode().IsRegular() || read(t, s.in("a.png")) != "new" {
		t.Errorf("the name is %v, %v; want the new regular file", info, err)
	}
}

func growingFile(t *testing.T, _ attack) {
	t.Helper()
	s := newSandbox(t)
	write(t, s.in("a.png"), "1234")
	w := open(t, s.config())
	f, err := w.Open("a.png", 8)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	write(t, s.in("a.png"), "123456789012")
	var copied strings.Builder
	if _, err := io.Copy(&copied, f); err != nil {
		t.Fatal(err)
	}
	at := make([]byte, 12)
	n, _ := f.ReadAt(at, 0)
	if diff := cmp.Diff([]string{"1234", "1234"}, []string{copied.String(), string(at[:n])}); diff != "" {
		t.Errorf("bytes of a growing file (-want +got):\n%s", diff)
	}
	_, err = w.Open("a.png", 8)
	wantCode(t, err, fault.ItemTooLarge)
}

// caseInsensitiveRoot stands in for a disk that ignores case: a link makes two spellings one directory, as such a disk
// does. Two directories whose names differ only in case stay two.
func caseInsensitiveRoot(t *testing.T, _ attack) {
	t.Helper()
	s := newSandbox(t)
	upper, lower := filepath.Join(s.dir, "srv", "Photos"), filepath.Join(s.dir, "srv", "photos")
	write(t, filepath.Join(upper, "a.png"), "inside")
	symlink(t, "Photos", lower)
	cfg := s.config()
	cfg.Dirs = []string{upper}
	w := open(t, cfg)
	d := w.Check(filepath.Join(lower, "a.png"), Read)
	wantCode(t, d.Err, "")

	if err := os.Remove(lower); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(lower, "a.png"), "another directory")
	wantCode(t, w.Check(filepath.Join(lower, "a.png"), Read).Err, fault.PathDenied)
}

// unicodeForms: one logical name in patterns and in the check for existing targets, and the bytes given on disk.
func unicodeForms(t *testing.T, _ attack) {
	t.Helper()
	const nfc, nfd = "caf\u00e9.png", "cafe\u0301.png"
	s := newSandbox(t)
	write(t, s.in(nfd), "decomposed")
	cfg := s.config()
	cfg.Dirs = []string{s.media + "/caf\u00e9*"}
	patterns := open(t, cfg)
	for _, name := range []string{nfc, nfd} {
		wantCode(t, patterns.Check(s.in(name), Read).Err, "")
	}
	f, err := patterns.Open(s.in(nfd), 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	_, err = patterns.Open(s.in(nfc), 0)
	if err == nil {
		t.Skip("this disk treats both forms as one name")
	}
	wantCode(t, err, fault.NotFound)

	w := open(t, s.config())
	p := spec()
	p.Dest = nfc
	_, err = w.Plan(p)
	wantCode(t, err, fault.Exists)
}

// diskFullInTheMiddle is the corpus row; TestFaults has the variants.
func diskFullInTheMiddle(t *testing.T, a attack) {
	t.Helper()
	s := newSandbox(t)
	write(t, s.in("a.png"), "the old picture")
	w := open(t, s.config())
	p := spec()
	p.Dest, p.Overwrite = "a.png", true
	target := plan(t, w, p)
	w.ops.write = broken{tempPrefix, 5000, syscall.ENOSPC}.write
	f := create(t, target, 0)
	text := strings.Repeat("paid ", 2000)
	fill(t, f, text)
	saved, err := f.Commit("png")
	code, _, _ := strings.Cut(strings.TrimPrefix(a.Expected, "deny:"), ";")
	wantCode(t, err, fault.Code(code))
	if diff := cmp.Diff([]string{"a.png"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if read(t, s.in("a.png")) != "the old picture" {
		t.Error("the target changed")
	}
	if !saved.Spooled || read(t, saved.Path) != text {
		t.Errorf("the paid bytes are not in the spool: %+v", saved)
	}
}
