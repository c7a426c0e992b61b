package workspace

import (
	"crypto/sha256"
	"encoding/hex"
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
