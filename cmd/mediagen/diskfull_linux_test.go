package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDiskFull fills the disk after payment: the picture is larger than what is free when it arrives. It must lie in the
// spool, named in the message; nothing half-written may stand under the final name; and resume moves it.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a small file system; CI runs as root")
	}
	p := newProgram(t, "big:60")
	out := filepath.Join(p.dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", out, "tmpfs", 0, "size=40m"); err != nil {
		t.Skipf("cannot mount a tmpfs here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(out, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})

	code, stdout, stderr := p.run("images", "generate", "-o", "out/cat.png", "x")
	if code != 1 {
		t.Fatalf("exit %d, want 1: %s", code, stderr)
	}
	if stdout != "" {
		t.Errorf("a path was printed for a picture that is not at its place: %s", stdout)
	}
	if !strings.Contains(stderr, "spool") || !strings.Contains(stderr, "mediagen jobs resume") {
		t.Errorf("the message names neither spool nor remedy: %s", stderr)
	}
	if strings.Contains(stderr, "try again") {
		t.Errorf("a paid job must be resumed, not tried again: %s", stderr)
	}
	if got := files(t, out); len(got) != 0 {
		t.Errorf("left on the full disk: %v", got)
	}
	if got := p.states(); len(got) != 1 || got[0] != "succeeded" {
		t.Errorf("journal %v, want [succeeded]", got)
	}

	if err := syscall.Mount("tmpfs", out, "tmpfs", syscall.MS_REMOUNT, "size=200m"); err != nil {
		t.Fatal(err)
	}
	_, id, _ := p.run("jobs", "list", "--jq", ".items[0].id")
	code, stdout, stderr = p.run("jobs", "resume", strings.TrimSpace(id))
	if code != 0 || strings.TrimSpace(stdout) != "out/cat.png" {
		t.Fatalf("resume: exit %d, %q: %s", code, stdout, stderr)
	}
	if err := whole(filepath.Join(out, "cat.png")); err != nil {
		t.Error(err)
	}
	if got := p.states(); got[0] != "landed" {
		t.Errorf("journal %v, want [landed]", got)
	}
	if got := files(t, filepath.Join(p.dir, "state", "mediagen", "spool")); len(got) != 0 {
		t.Errorf("left in the spool: %v", got)
	}
}

// TestDiskFullBefore finds a disk that is too full before anything is sent.
func TestDiskFullBefore(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a small file system; CI runs as root")
	}
	p := newProgram(t)
	out := filepath.Join(p.dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", out, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a tmpfs here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(out, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if code, _, stderr := p.run("images", "generate", "-o", "out/", "x"); code != 1 || !strings.Contains(stderr, "free") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if n := p.log.lines(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestReadOnlyDirectory refuses a read-only file system before any request, even for root.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a read-only file system; CI runs as root")
	}
	p := newProgram(t)
	out := filepath.Join(p.dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", out, "tmpfs", syscall.MS_RDONLY, "size=1m"); err != nil {
		t.Skipf("cannot mount a tmpfs here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(out, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if code, _, stderr := p.run("images", "generate", "-o", "out/", "x"); code != 1 {
		t.Errorf("exit %d, want 1: %s", code, stderr)
	}
	if n := p.log.lines(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
