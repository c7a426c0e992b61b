package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

func hexSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestCommit(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	target := plan(t, w, spec())
	f := create(t, target, 0)
	text := strings.Repeat("0123456789", 1000)
	fill(t, f, text)
	if got := string(f.Head()); got != text[:sniff.HeadBytes] {
		t.Errorf("Head has %d bytes, want the first %d written", len(got), sniff.HeadBytes)
	}
	if got := content(t, f); got != text {
		t.Error("File does not give the bytes that were written")
	}
	if got := files(t, s.media); len(got) != 1 || !strings.HasPrefix(got[0], tempPrefix) {
		t.Errorf("before Commit the directory has %v, want the temporary file alone", got)
	}
	got, err := f.Commit("")
	if err != nil {
		t.Fatal(err)
	}
	want := Saved{Path: s.in(specName + ".png"), Bytes: 10000, SHA256: hexSum(text)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Saved (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{specName + ".png"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if read(t, got.Path) != text {
		t.Error("the file differs from what was written")
	}
	if err := f.Abort(); err != nil || !exists(got.Path) {
		t.Errorf("Abort after Commit: %v; the file must stay", err)
	}
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("Write after Commit succeeds")
	}
	if err := f.Replace(nil); err == nil {
		t.Error("Replace after Commit succeeds")
	}
	if _, err := f.Commit(""); err == nil {
		t.Error("a second Commit succeeds")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestAbort(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	f := create(t, plan(t, w, spec()), 0)
	fill(t, f, "half of a picture")
	if err := f.Abort(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, s.dir); got != nil {
		t.Errorf("files after Abort: %v", got)
	}
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("Write after Abort succeeds")
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	f := create(t, plan(t, w, spec()), 0)
	fill(t, f, strings.Repeat("a long original ", 1000))
	if err := f.Replace([]byte("converted")); err != nil {
		t.Fatal(err)
	}
	if got := string(f.Head()) + "|" + content(t, f); got != "converted|converted" {
		t.Errorf("after Replace the Temp holds %q", got)
	}
	got, err := f.Commit("webp")
	if err != nil {
		t.Fatal(err)
	}
	want := Saved{Path: s.in(specName + ".webp"), Bytes: 9, SHA256: hexSum("converted")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Saved (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{specName + ".webp"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestExtensionOfTheBytes: several outputs, each named after what it is.
func TestExtensionOfTheBytes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	p := spec()
	p.Count = 2
	target := plan(t, w, p)
	var got []string
	for i, ext := range []string{"jpeg", "", "webp"} { // the third was not asked for, but it was paid for
		f := create(t, target, i)
		fill(t, f, ext)
		saved, err := f.Commit(ext)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.Base(saved.Path))
	}
	want := []string{specName + "_1.jpeg", specName + "_2.png", specName + "_3.webp"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	f, err := target.CreatePartial(1, 3)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := f.Commit("png")
	if err != nil || filepath.Base(saved.Path) != specName+"_2.partial-3.png" {
		t.Errorf("preview saved as %q, %v", saved.Path, err)
	}
}

// TestLateCollision: a name that was taken after the plan is never overwritten, and the bytes are kept.
func TestLateCollision(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	p := spec()
	p.Dest = "a.png"
	target := plan(t, w, p)
	write(t, s.in("a.png"), "somebody else's")
	f := create(t, target, 0)
	fill(t, f, "paid")
	got, err := f.Commit("png")
	wantCode(t, err, fault.Exists)
	want := Saved{Path: got.Path, Bytes: 4, SHA256: hexSum("paid"), Spooled: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Saved (-want +got):\n%s", diff)
	}
	if read(t, s.in("a.png")) != "somebody else's" || read(t, got.Path) != "paid" {
		t.Error("the existing file changed or the paid bytes are not in the spool")
	}
	if filepath.Dir(got.Path) != filepath.Join(s.state, "spool") || !strings.HasSuffix(got.Path, "-a.png") {
		t.Errorf("spooled at %s", got.Path)
	}
	if diff := cmp.Diff([]string{"a.png"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestOneWinner: of many writers that planned the same free name exactly one publishes, whole; the others keep their
// bytes.
func TestOneWinner(t *testing.T) {
	t.Parallel()
	const writers = 2000
	s := newSandbox(t)
	w := open(t, s.config())
	w.ops.sync, w.ops.syncDir = noSync, noSync // 4,000 flushes would measure the disk
	p := spec()
	p.Dest = "same.png"
	temps := make([]*Temp, writers)
	target := plan(t, w, p)
	body := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1000+i) }
	for i := range temps {
		if i%100 == 0 { // several plans, as several calls have
			target = plan(t, w, p)
		}
		temps[i] = create(t, target, 0)
		fill(t, temps[i], body(i))
	}
	type outcome struct {
		saved Saved
		err   error
	}
	results := make([]outcome, writers)
	var wg sync.WaitGroup
	for i := range temps {
		wg.Go(func() { results[i].saved, results[i].err = temps[i].Commit("png") })
	}
	wg.Wait()
	wins := 0
	for i, r := range results {
		if r.err == nil {
			wins++
		} else {
			wantCode(t, r.err, fault.Exists)
		}
		if r.saved.Spooled == (r.err == nil) || read(t, r.saved.Path) != body(i) {
			t.Fatalf("writer %d: %+v, %v: its bytes are not where it was told", i, r.saved, r.err)
		}
	}
	if wins != 1 {
		t.Errorf("%d writers won, want 1", wins)
	}
	if diff := cmp.Diff([]string{"same.png"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestNoLinks: a file system without hard links still publishes exclusively and whole.
func TestNoLinks(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	w.ops.link = func(*os.Root, string, string) error {
		return &os.LinkError{Op: "link", Err: syscall.EPERM}
	}
	p := spec()
	p.Dest = "a.png"
	target := plan(t, w, p)
	first, second := create(t, target, 0), create(t, target, 0)
	fill(t, first, "first")
	fill(t, second, "second")
	if _, err := first.Commit("png"); err != nil {
		t.Fatal(err)
	}
	saved, err := second.Commit("png")
	wantCode(t, err, fault.Exists)
	if got := read(t, s.in("a.png")) + "|" + read(t, saved.Path); got != "first|second" {
		t.Errorf("files hold %q", got)
	}
	if diff := cmp.Diff([]string{"a.png"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestOverwrite replaces in one step and leaves nothing behind.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	write(t, s.in("a.png"), "old")
	w := open(t, s.config())
	p := spec()
	p.Dest, p.Overwrite = "a.png", true
	f := create(t, plan(t, w, p), 0)
	fill(t, f, "new")
	if read(t, s.in("a.png")) != "old" {
		t.Error("the old file changed before Commit")
	}
	if _, err := f.Commit("png"); err != nil {
		t.Fatal(err)
	}
	if read(t, s.in("a.png")) != "new" || len(files(t, s.media)) != 1 {
		t.Errorf("got %v", files(t, s.media))
	}
}

// TestManyOverwriters: the name always holds one writer's whole bytes, and whoever is told "saved" or "spooled" finds
// the bytes there at that moment or keeps them.
func TestManyOverwriters(t *testing.T) {
	t.Parallel()
	const writers = 200
	s := newSandbox(t)
	w := open(t, s.config())
	w.ops.sync, w.ops.syncDir = noSync, noSync
	p := spec()
	p.Dest, p.Overwrite = "same.png", true
	target := plan(t, w, p)
	bodies := map[string]bool{}
	var wg sync.WaitGroup
	for i := range writers {
		f := create(t, target, 0)
		body := strings.Repeat(string(rune('a'+i%26)), 1000+i)
		bodies[body] = true
		fill(t, f, body)
		wg.Go(func() {
			saved, err := f.Commit("png")
			if err != nil && (!saved.Spooled || read(t, saved.Path) != body) {
				t.Errorf("writer lost its bytes: %+v, %v", saved, err)
			}
		})
	}
	wg.Wait()
	if !bodies[read(t, s.in("same.png"))] {
		t.Error("the file is no writer's")
	}
	if diff := cmp.Diff([]string{"same.png"}, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestPolicyAtCommit: an extension that the pattern of a root does not open is refused, and the bytes are kept.
func TestPolicyAtCommit(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	other := filepath.Join(s.dir, "other")
	mkdir(t, other)
	cfg := s.config()
	cfg.Dirs = append(cfg.Dirs, other+"/*.png")
	w := open(t, cfg)
	p := spec()
	p.Dest = filepath.Join(other, "a.png")
	f := create(t, plan(t, w, p), 0)
	fill(t, f, "really a webp")
	saved, err := f.Commit("webp")
	wantCode(t, err, fault.PathDenied)
	if !saved.Spooled || read(t, saved.Path) != "really a webp" || len(files(t, other)) != 0 {
		t.Errorf("got %+v and %v", saved, files(t, other))
	}
}

// broken makes writes to files that match fail once a number of bytes is in, as a disk that runs full does.
type broken struct {
	match string
	after int64
	err   error
}

func (b broken) write(f *os.File, p []byte) (int, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	left := b.after - info.Size()
	if !strings.Contains(f.Name(), b.match) || int64(len(p)) <= left {
		return f.Write(p)
	}
	n, err := f.Write(p[:max(left, 0)])
	if err != nil {
		return n, err
	}
	return n, &fs.PathError{Op: "write", Path: f.Name(), Err: b.err}
}

// TestFaults breaks each place in turn: every byte stays, the hash is right, and the error says why.
func TestFaults(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 1000)
	always := func(err error) func(*os.File) error { return func(*os.File) error { return err } }
	tests := []struct {
		name  string
		setup func(t *testing.T, w *Workspace, s sandbox)
		code  fault.Code
		where string // part of the path where the bytes are; "memory" for none; "" for the final name
	}{
		{"healthy", func(*testing.T, *Workspace, sandbox) {}, "", ""},
		{"full at the first byte", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 0, syscall.ENOSPC}.write
		}, fault.DiskFull, "state/spool"},
		{"full in the middle", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 7777, syscall.ENOSPC}.write
		}, fault.DiskFull, "state/spool"},
		{"quota", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 7777, syscall.EDQUOT}.write
		}, fault.DiskFull, "state/spool"},
		{"turned read-only", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 7777, syscall.EROFS}.write
		}, fault.ReadOnly, "state/spool"},
		{"I/O error", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 7777, syscall.EIO}.write
		}, fault.IOFailed, "state/spool"},
		{"spool full too", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = chain(broken{tempPrefix, 5000, syscall.ENOSPC}, broken{"state/spool", 9000, syscall.ENOSPC})
		}, fault.DiskFull, tempSpoolPrefix},
		{"everything full", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = chain(broken{tempPrefix, 5000, syscall.ENOSPC}, broken{"state/spool", 9000, syscall.ENOSPC},
				broken{tempSpoolPrefix, 12000, syscall.ENOSPC})
		}, fault.DiskFull, "memory"},
		{"no state directory", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.cfg.StateDir = ""
			w.ops.write = broken{tempPrefix, 5000, syscall.ENOSPC}.write
		}, fault.DiskFull, tempSpoolPrefix},
		{"flush fails", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.sync = func(f *os.File) error {
				if strings.Contains(f.Name(), tempPrefix) {
					return &fs.PathError{Op: "sync", Path: f.Name(), Err: syscall.EIO}
				}
				return f.Sync()
			}
		}, fault.IOFailed, "state/spool"},
		{"every flush fails", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.sync = always(syscall.EIO)
		}, fault.IOFailed, tempSpoolPrefix},
		{"taken, and no spool", func(t *testing.T, w *Workspace, s sandbox) {
			t.Helper()
			write(t, s.in(specName+".png"), "taken")
			w.ops.write = chain(broken{"state/spool", 0, syscall.ENOSPC}, broken{tempSpoolPrefix, 0, syscall.ENOSPC})
		}, fault.Exists, keptPrefix},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t)
			mkdir(t, filepath.Join(s.dir, "tmp"))
			t.Setenv("TMPDIR", filepath.Join(s.dir, "tmp"))
			w := open(t, s.config())
			target := plan(t, w, spec())
			tt.setup(t, w, s)
			f := create(t, target, 0)
			fill(t, f, text)
			if content(t, f) != text {
				t.Fatal("the bytes cannot be read back before Commit")
			}
			saved, err := f.Commit("png")
			wantCode(t, err, tt.code)
			want := Saved{Path: saved.Path, Bytes: int64(len(text)), SHA256: hexSum(text)}
			want.Spooled = tt.where != "" && tt.where != "memory"
			if diff := cmp.Diff(want, saved); diff != "" {
				t.Errorf("Saved (-want +got):\n%s", diff)
			}
			if tt.where == "memory" {
				if saved.Path != "" || content(t, f) != text {
					t.Error("the bytes are not in memory")
				}
				return
			}
			if read(t, saved.Path) != text || !strings.Contains(filepath.ToSlash(saved.Path), tt.where) {
				t.Errorf("the bytes are not whole or not below %q: %s", tt.where, saved.Path)
			}
			left := 0
			for _, name := range files(t, s.dir) {
				if strings.Contains(name, tempPrefix) || strings.HasSuffix(name, ".part") {
					left++
				}
			}
			if left > 0 && tt.name != "every flush fails" {
				t.Errorf("temporary files stay: %v", files(t, s.dir))
			}
		})
	}
}

func chain(all ...broken) func(*os.File, []byte) (int, error) {
	return func(f *os.File, p []byte) (int, error) {
		for _, b := range all {
			if strings.Contains(f.Name(), b.match) {
				return b.write(f, p)
			}
		}
		return f.Write(p)
	}
}

// TestRoomComesBack: bytes that had to leave return to their final name when there is room again.
func TestRoomComesBack(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	target := plan(t, w, spec())
	w.ops.write = broken{tempPrefix, 100, syscall.ENOSPC}.write
	f := create(t, target, 0)
	fill(t, f, strings.Repeat("x", 5000))
	w.ops.write = systemOps().write
	w.ops.space = func(*os.File) (int64, bool) { return 4999, true } // one byte short: not tried
	if saved, err := f.Commit("png"); fault.CodeOf(err) != fault.DiskFull || !saved.Spooled {
		t.Errorf("with no room: %+v, %v", saved, err)
	}
	w.ops.space = systemOps().space
	w.ops.write = broken{tempPrefix, 100, syscall.ENOSPC}.write
	g := create(t, target, 1)
	fill(t, g, strings.Repeat("y", 5000))
	w.ops.write = systemOps().write
	saved, err := g.Commit("png")
	if err != nil || saved.Spooled || read(t, saved.Path) != strings.Repeat("y", 5000) {
		t.Errorf("with room: %+v, %v", saved, err)
	}
	if got := files(t, filepath.Join(s.state, "spool")); len(got) != 1 {
		t.Errorf("spool has %v, want the first output alone", got)
	}
}

// TestReplaceWhenFull: converted bytes that do not fit go to the spool, and the old ones go only then.
func TestReplaceWhenFull(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	f := create(t, plan(t, w, spec()), 0)
	fill(t, f, "original")
	w.ops.write = broken{tempPrefix, 3, syscall.ENOSPC}.write
	if err := f.Replace([]byte("converted")); err != nil {
		t.Fatal(err)
	}
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	if read(t, saved.Path) != "converted" || len(files(t, s.media)) != 0 {
		t.Errorf("got %+v and %v", saved, files(t, s.media))
	}
}

// TestLostBytes: when bytes cannot be read back, Write says so instead of pretending.
func TestLostBytes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	f := create(t, plan(t, w, spec()), 0)
	fill(t, f, "received")
	if err := f.sink.f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := f.Write([]byte("more"))
	if fault.CodeOf(err) != fault.IOFailed || !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v, want io_failed with its cause", err)
	}
}

// TestMemoryThenCommit: a Temp whose bytes are in memory can be committed again once there is room.
func TestMemoryThenCommit(t *testing.T) {
	s := newSandbox(t)
	mkdir(t, filepath.Join(s.dir, "tmp"))
	t.Setenv("TMPDIR", filepath.Join(s.dir, "tmp"))
	w := open(t, s.config())
	target := plan(t, w, spec())
	w.ops.write = func(*os.File, []byte) (int, error) { return 0, syscall.ENOSPC }
	f := create(t, target, 0)
	fill(t, f, "paid")
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	if saved.Path != "" || saved.Spooled {
		t.Fatalf("got %+v, want no path", saved)
	}
	w.ops.write = systemOps().write
	saved, err = f.Commit("png")
	if err != nil || read(t, saved.Path) != "paid" || saved.Spooled {
		t.Errorf("second Commit: %+v, %v", saved, err)
	}
	if !bytes.Equal(f.Head(), []byte("paid")) {
		t.Errorf("Head is %q", f.Head())
	}
}
