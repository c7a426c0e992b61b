package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// spooled makes a workspace that has one output in its spool.
func spooled(t *testing.T, text string) (sandbox, *Workspace, Saved) {
	t.Helper()
	s := newSandbox(t)
	w := open(t, s.config())
	target := plan(t, w, spec())
	w.ops.write = broken{tempPrefix, 1, syscall.ENOSPC}.write
	f := create(t, target, 0)
	fill(t, f, text)
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	w.ops.write = systemOps().write
	return s, w, saved
}

func TestMoveSpooled(t *testing.T) {
	t.Parallel()
	s, w, from := spooled(t, "paid bytes")
	final := s.in("new/dir/hero.jpg") // the extension is the caller's
	got, err := w.MoveSpooled(from.Path, final, false)
	if err != nil {
		t.Fatal(err)
	}
	want := Saved{Path: final, Bytes: 10, SHA256: hexSum("paid bytes")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Saved (-want +got):\n%s", diff)
	}
	if read(t, final) != "paid bytes" || exists(from.Path) {
		t.Errorf("final %q; spool has %v", read(t, final), files(t, s.state))
	}
	_, err = w.MoveSpooled(from.Path, final, false)
	wantCode(t, err, fault.NotFound)
}

// TestMoveSpooledFails: whatever goes wrong, the spool file stays.
func TestMoveSpooledFails(t *testing.T) {
	t.Parallel()
	s, w, from := spooled(t, "paid bytes")
	write(t, s.in("taken.png"), "other")
	write(t, s.in("dir/x"), "other")
	write(t, filepath.Join(s.dir, "elsewhere", "a.png"), "other")
	spool := filepath.Dir(from.Path)
	symlink(t, filepath.Join(s.dir, "elsewhere", "a.png"), filepath.Join(spool, "link"))
	symlink(t, filepath.Base(from.Path), filepath.Join(spool, "inner"))
	mkdir(t, filepath.Join(spool, "dir"))
	tests := []struct {
		spool, final string
		code         fault.Code
	}{
		{from.Path, "taken.png", fault.Exists},
		{from.Path, "dir", fault.NotRegular},
		{from.Path, "../a.png", fault.PathDenied},
		{from.Path, ".env", fault.PathDenied},
		{from.Path, "taken.png/a.png", fault.PathInvalid},
		{filepath.Join(s.dir, "elsewhere", "a.png"), "a.png", fault.PathDenied},
		{filepath.Join(spool, "..", "..", "elsewhere", "a.png"), "a.png", fault.PathDenied},
		{filepath.Join(spool, "dir", "x"), "a.png", fault.PathDenied},
		{filepath.Join(spool, "link"), "a.png", fault.PathDenied},
		{filepath.Join(spool, "inner"), "a.png", fault.PathDenied},
		{filepath.Join(spool, "dir"), "a.png", fault.NotRegular},
		{filepath.Join(spool, "missing"), "a.png", fault.NotFound},
		{"", "a.png", fault.PathDenied},
	}
	for _, tt := range tests {
		_, err := w.MoveSpooled(tt.spool, tt.final, false)
		if got := fault.CodeOf(err); got != tt.code {
			t.Errorf("MoveSpooled(%q, %q): %v (%q), want %q", tt.spool, tt.final, err, got, tt.code)
		}
	}
	w.ops.write = broken{tempPrefix, 3, syscall.ENOSPC}.write
	_, err := w.MoveSpooled(from.Path, "a.png", false)
	wantCode(t, err, fault.DiskFull)
	w.ops.write = systemOps().write
	w.ops.sync = func(*os.File) error { return syscall.EIO }
	_, err = w.MoveSpooled(from.Path, "a.png", false)
	wantCode(t, err, fault.IOFailed)
	if read(t, from.Path) != "paid bytes" {
		t.Error("the spool file changed")
	}
	if diff := cmp.Diff([]string{"dir/x", "taken.png"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	w.ops.sync = systemOps().sync
	if _, err := w.MoveSpooled(from.Path, "taken.png", true); err != nil || read(t, s.in("taken.png")) != "paid bytes" {
		t.Errorf("overwrite: %v", err)
	}
}

// TestSpoolOfAnotherRun: a file that went to the temporary directory in an earlier process can be resumed.
func TestSpoolOfAnotherRun(t *testing.T) {
	s := newSandbox(t)
	tmp := filepath.Join(s.dir, "tmp")
	mkdir(t, tmp)
	t.Setenv("TMPDIR", tmp)
	cfg := s.config()
	cfg.StateDir = ""
	w, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	target := plan(t, w, spec())
	w.ops.write = broken{tempPrefix, 1, syscall.ENOSPC}.write
	f := create(t, target, 0)
	fill(t, f, "paid")
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(saved.Path, filepath.Join(tmp, tempSpoolPrefix)) {
		t.Fatalf("spooled at %q", saved.Path)
	}
	later := open(t, s.config())
	for name, make := range map[string]func(path string){
		"link":   func(path string) { symlink(t, filepath.Dir(saved.Path), path) },
		"theirs": func(path string) { chown(t, filepath.Dir(saved.Path), path) },
	} {
		fake := filepath.Join(tmp, tempSpoolPrefix+name)
		make(fake)
		_, err := later.MoveSpooled(filepath.Join(fake, filepath.Base(saved.Path)), "a.png", false)
		wantCode(t, err, fault.PathDenied)
	}
	if _, err := later.MoveSpooled(saved.Path, "a.png", false); err != nil || read(t, s.in("a.png")) != "paid" {
		t.Errorf("MoveSpooled: %v", err)
	}
}

// chown copies a directory and gives it to another user, which only root may; else it makes nothing.
func chown(t *testing.T, from, to string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(to, 12345, 12345); err != nil {
		t.Fatal(err)
	}
}

// TestUnusableStateDir: a state directory that is a file costs nothing but the better place.
func TestUnusableStateDir(t *testing.T) {
	s := newSandbox(t)
	tmp := filepath.Join(s.dir, "tmp")
	mkdir(t, tmp)
	t.Setenv("TMPDIR", tmp)
	write(t, s.state, "a file")
	w := open(t, s.config())
	target := plan(t, w, spec())
	w.ops.write = broken{tempPrefix, 1, syscall.ENOSPC}.write
	f := create(t, target, 0)
	fill(t, f, "paid")
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	if !saved.Spooled || read(t, saved.Path) != "paid" || !strings.HasPrefix(saved.Path, tmp) {
		t.Errorf("got %+v", saved)
	}
}

// TestPlanSpool is what "-o -" does: paid bytes are safe until they were piped.
func TestPlanSpool(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.shell())
	p := spec()
	p.Dest, p.Template, p.NeedBytes = "-", "{nonsense}", 10
	target, err := w.PlanSpool(p)
	if err != nil {
		t.Fatal(err)
	}
	if target.Paths() == nil || len(target.Paths()) != 0 || target.Dir() != "" {
		t.Errorf("the spool plans %v in %q", target.Paths(), target.Dir())
	}
	f := create(t, target, 0)
	fill(t, f, "paid")
	saved, err := f.Commit("webp")
	if err != nil {
		t.Fatal(err)
	}
	want := Saved{Path: saved.Path, Bytes: 4, SHA256: hexSum("paid"), Spooled: true}
	if diff := cmp.Diff(want, saved); diff != "" {
		t.Errorf("Saved (-want +got):\n%s", diff)
	}
	if filepath.Dir(saved.Path) != filepath.Join(s.state, "spool") || filepath.Ext(saved.Path) != ".webp" {
		t.Errorf("spooled at %q", saved.Path)
	}
	if got := files(t, s.work); got != nil {
		t.Errorf("files in the working directory: %v", got)
	}
	wantCode(t, w.DropSpooled(filepath.Join(s.work, "x")), fault.PathDenied)
	wantCode(t, w.DropSpooled(saved.Path), "")
	wantCode(t, w.DropSpooled(saved.Path), fault.NotFound)

	g := create(t, target, 0)
	fill(t, g, "half")
	if err := g.Abort(); err != nil || len(files(t, s.state)) != 0 {
		t.Errorf("after Abort: %v, %v", files(t, s.state), err)
	}
}

func TestPlanSpoolFull(t *testing.T) {
	s := newSandbox(t)
	tmp := filepath.Join(s.dir, "tmp")
	mkdir(t, tmp)
	t.Setenv("TMPDIR", tmp)
	w := open(t, s.shell())
	w.ops.space = func(*os.File) (int64, bool) { return 99, true }
	p := spec()
	p.NeedBytes = 100
	_, err := w.PlanSpool(p)
	wantCode(t, err, fault.DiskFull)
	w.ops.space = systemOps().space
	w.ops.write = func(*os.File, []byte) (int, error) { return 0, syscall.ENOSPC }
	_, err = w.PlanSpool(p)
	wantCode(t, err, fault.DiskFull)

	p.ID = ""
	_, err = w.PlanSpool(p)
	wantCode(t, err, fault.InvalidArgument)
}

func TestWriteSidecar(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	write(t, s.in("sub/a.png"), "x")
	v := map[string]any{"prompt": "<a & b>", "n": 1}
	got, err := w.WriteSidecar(s.in("sub/a.png"), v, false)
	if err != nil {
		t.Fatal(err)
	}
	if want := s.in("sub/a.png.json"); got != want {
		t.Errorf("path %q, want %q", got, want)
	}
	if diff := cmp.Diff("{\n  \"n\": 1,\n  \"prompt\": \"<a & b>\"\n}\n", read(t, got)); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	_, err = w.WriteSidecar(s.in("sub/a.png"), v, false)
	wantCode(t, err, fault.Exists)
	_, err = w.WriteSidecar(s.in("sub/a.png"), "new", true)
	if err != nil || read(t, got) != "\"new\"\n" {
		t.Errorf("overwrite: %v, %q", err, read(t, got))
	}
	_, err = w.WriteSidecar("../a.png", v, false)
	wantCode(t, err, fault.PathDenied)
	_, err = w.WriteSidecar("b.png", func() {}, false)
	wantCode(t, err, fault.InvalidArgument)
	w.ops.write = broken{tempPrefix, 1, syscall.ENOSPC}.write
	_, err = w.WriteSidecar("b.png", v, false)
	wantCode(t, err, fault.DiskFull)
	if diff := cmp.Diff([]string{"sub/a.png", "sub/a.png.json"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
