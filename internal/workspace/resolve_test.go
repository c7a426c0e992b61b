package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"mediagen/internal/fault"
)

// TestCheckRoots: what is decided, the path that is meant, and the rule that decided.
func TestCheckRoots(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	second, globbed := filepath.Join(s.dir, "second"), filepath.Join(s.dir, "globbed")
	write(t, filepath.Join(second, "b.png"), "b")
	write(t, filepath.Join(globbed, "p", "raw", "c.png"), "c")
	write(t, s.in("file"), "x")
	cfg := s.config()
	cfg.Dirs = []string{s.media, second, globbed + "/*/raw"}
	w := open(t, cfg)
	tests := []struct {
		path   string
		access Access
		want   string // path below the sandbox, "" when denied
		code   fault.Code
	}{
		{"a.png", Read, "srv/media/a.png", ""},
		{"a.png", Write, "srv/media/a.png", ""},
		{"x/../a.png", Read, "srv/media/a.png", ""},
		{"./x/", Write, "srv/media/x", ""},
		{".", Read, "srv/media", ""},
		{s.media, Write, "srv/media", ""},
		{"file://" + filepath.ToSlash(s.media) + "/x%20y.png", Read, "srv/media/x y.png", ""},
		{"FILE://localhost" + filepath.ToSlash(second) + "/b.png", Read, "second/b.png", ""},
		{filepath.Join(second, "new", "deep.png"), Write, "second/new/deep.png", ""},
		{filepath.Join(globbed, "p", "raw", "c.png"), Read, "globbed/p/raw/c.png", ""},
		{filepath.Join(globbed, "p", "raw", "new.png"), Write, "globbed/p/raw/new.png", ""},
		{filepath.Join(globbed, "p", "raw"), Read, "globbed/p/raw", ""},
		{"../a.png", Read, "", fault.PathDenied},
		{"x/../../a.png", Read, "", fault.PathDenied},
		{"..", Read, "", fault.PathDenied},
		{s.media + "-evil/a.png", Read, "", fault.PathDenied},
		{filepath.Join(globbed, "p", "raw-evil", "c.png"), Read, "", fault.PathDenied},
		{filepath.Join(globbed, "p", "c.png"), Read, "", fault.PathDenied},
		{globbed, Read, "", fault.PathDenied},
		{"file://" + filepath.ToSlash(s.media) + "/%2e%2e/x", Read, "", fault.PathDenied},
		{"file:///etc/passwd", Read, "", fault.PathDenied},
		{"file://media/a.png", Read, "", fault.PathDenied},
		{"file:a.png", Read, "", fault.PathInvalid},
		{".env", Read, "", fault.PathDenied},
		{"sub/.git/config", Write, "", fault.PathDenied},
		{"tls.key", Read, "", fault.PathDenied},
		{"file/below.png", Write, "", fault.PathInvalid},
		{"file/below.png", Read, "srv/media/file/below.png", ""}, // Open will say that it is not there
		{"", Read, "", fault.PathInvalid},
	}
	for _, tt := range tests {
		d := w.Check(tt.path, tt.access)
		if fault.CodeOf(d.Err) != tt.code || d.Allow != (tt.code == "") || d.Rule == "" {
			t.Errorf("Check(%q, %v) = %+v, want code %q", tt.path, tt.access, d, tt.code)
			continue
		}
		if want := filepath.Join(s.dir, filepath.FromSlash(tt.want)); d.Allow && d.Path != want {
			t.Errorf("Check(%q) means %q, want %q", tt.path, d.Path, want)
		}
		if d.Allow && !strings.Contains(d.Rule, "MEDIA_GEN_DIRS entry") {
			t.Errorf("Check(%q): rule %q", tt.path, d.Rule)
		}
	}
}

// TestMessagesNameOnlyWhatWasGiven: where a relative path leads is not the caller's business.
func TestMessagesNameOnlyWhatWasGiven(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	symlink(t, "/etc/passwd", s.in("link"))
	symlink(t, "loop", s.in("loop"))
	mkdir(t, s.in("dir"))
	w := open(t, s.config())
	for _, p := range []string{"link", "loop", "dir", "missing", "../x", "a:b", strings.Repeat("x", 300)} {
		_, err := w.Open(p, 0)
		if err == nil || strings.Contains(err.Error(), s.dir) || strings.Contains(err.Error(), "passwd") {
			t.Errorf("Open(%.20q): %v", p, err)
		}
	}
	p := spec()
	p.Dest = "dir/../../x.png"
	if _, err := w.Plan(p); err == nil || strings.Contains(err.Error(), s.dir) {
		t.Errorf("Plan: %v", err)
	}
}

// TestShellWithDirs: relative paths of a person start where that person is, and the directories bind.
func TestShellWithDirs(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	cfg := s.config()
	cfg.Shell = true
	w := open(t, cfg)
	wantCode(t, w.Check("a.png", Read).Err, fault.PathDenied) // the working directory is no root
	cfg.WorkDir = s.in("sub")
	mkdir(t, cfg.WorkDir)
	w = open(t, cfg)
	d := w.Check("a.png", Write)
	if !d.Allow || d.Path != s.in("sub/a.png") {
		t.Errorf("got %+v", d)
	}
	if got := plan(t, w, spec()).Dir(); got != s.media {
		t.Errorf("outputs go to %q, want the first entry", got)
	}
}

// TestStrictShell binds the shell to its working directory.
func TestStrictShell(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	cfg := s.shell()
	cfg.Strict = true
	w := open(t, cfg)
	d := w.Check("sub/a.png", Write)
	if !d.Allow || d.Path != filepath.Join(s.work, "sub", "a.png") || !strings.Contains(d.Rule, "strict mode") {
		t.Errorf("inside: %+v", d)
	}
	d = w.Check("../a.png", Write)
	if d.Allow || !strings.Contains(d.Err.Error(), "strict mode") {
		t.Errorf("outside: %+v", d)
	}
}

// TestOwnAuthority: a person reads and writes what the system lets them, under any odd name, but not devices.
func TestOwnAuthority(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.shell())
	odd := []string{"a:b.png", "con", "x~1.png", "ends in dot.", "tab\u200bzero", ".hidden.png", "id_rsa", "a\\b", "a*b?"}
	if runtime.GOOS == "windows" {
		odd = []string{".hidden.png", "id_rsa"}
	}
	for _, name := range odd {
		write(t, filepath.Join(s.work, name), "odd")
		f, err := w.Open(name, 0)
		if err != nil {
			t.Errorf("Open(%q): %v", name, err)
			continue
		}
		if f.Path != filepath.Join(s.work, name) || f.Name != name || f.Size != 3 {
			t.Errorf("Open(%q) = %q, %q, %d", name, f.Path, f.Name, f.Size)
		}
		_ = f.Close()
	}
	write(t, s.in("a.png"), "x")
	symlink(t, s.in("a.png"), filepath.Join(s.work, "link"))
	for _, p := range []string{"../srv/media/a.png", s.in("a.png"), "link", "file://" + filepath.ToSlash(s.in("a.png"))} {
		if d := w.Check(p, Read); !d.Allow || !strings.Contains(d.Rule, "own authority") {
			t.Errorf("Check(%q) = %+v", p, d)
		}
	}
	denied := map[string]fault.Code{
		"": fault.PathInvalid, "a\x00b": fault.PathInvalid, "a\nb": fault.PathDenied, "~/x": fault.PathDenied,
		"file:x": fault.PathInvalid, "file://host/x": fault.PathDenied,
	}
	for p, code := range denied {
		wantCode(t, w.Check(p, Read).Err, code)
		_, err := w.Open(p, 0)
		wantCode(t, err, code)
	}
	wantCode(t, w.Check("a\xffb", Read).Err, "")
	wantCode(t, w.Check("a\xffb", Write).Err, fault.PathInvalid)
}

func TestOwnAuthorityDevices(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no /dev")
	}
	s := newSandbox(t)
	w := open(t, s.shell())
	for _, a := range []Access{Read, Write} {
		wantCode(t, w.Check("/dev/null", a).Err, fault.NotRegular)
	}
	_, err := w.Open("/dev/zero", 0)
	wantCode(t, err, fault.NotRegular)
	p := spec()
	p.Dest, p.Overwrite = "/dev/null", true
	_, err = w.Preview(p) // Plan would probe /dev before it says the same
	wantCode(t, err, fault.NotRegular)
}

func TestPathError(t *testing.T) {
	t.Parallel()
	wrap := func(err error) error { return &fs.PathError{Op: "openat", Path: "/secret/place", Err: err} }
	tests := []struct {
		err  error
		code fault.Code
	}{
		{wrap(syscall.ENOENT), fault.NotFound},
		{wrap(syscall.EEXIST), fault.Exists},
		{wrap(syscall.ELOOP), fault.PathDenied},
		{wrap(errors.New("path escapes from parent")), fault.PathDenied},
		{wrap(syscall.ENAMETOOLONG), fault.PathInvalid},
		{wrap(syscall.ENOTDIR), fault.PathInvalid},
		{wrap(syscall.ENOSPC), fault.DiskFull},
		{wrap(syscall.EROFS), fault.ReadOnly},
		{wrap(syscall.EACCES), fault.IOFailed},
		{wrap(syscall.EIO), fault.IOFailed},
		{wrap(os.ErrClosed), fault.IOFailed},
		{fault.New(fault.NotRegular, "kept"), fault.NotRegular},
	}
	for _, tt := range tests {
		got := pathError("given", tt.err)
		if got.Code != tt.code || strings.Contains(got.Error(), "secret") {
			t.Errorf("pathError(%v) = %q %v, want %q", tt.err, got.Code, got, tt.code)
		}
		if tt.code != fault.NotRegular && !errors.Is(got, tt.err) {
			t.Errorf("pathError(%v) drops the cause", tt.err)
		}
	}
	if got := fault.CodeOf(writeError("given", wrap(syscall.EACCES))); got != fault.ReadOnly {
		t.Errorf("writeError(EACCES) = %q, want read_only", got)
	}
}

// TestReadsWithoutPermission needs a user who can be refused.
func TestReadsWithoutPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("root is refused nothing")
	}
	s := newSandbox(t)
	write(t, s.in("a.png"), "x")
	if err := os.Chmod(s.in("a.png"), 0); err != nil {
		t.Fatal(err)
	}
	w := open(t, s.config())
	_, err := w.Open("a.png", 0)
	wantCode(t, err, fault.IOFailed)
	wantCode(t, w.Check("a.png", Read).Err, "")
}
