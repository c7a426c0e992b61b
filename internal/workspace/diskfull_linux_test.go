package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mediagen/internal/fault"
)

// smallDisk mounts a file system of its own with so many KiB, which only root may.
func smallDisk(t *testing.T, dir, kib string) {
	t.Helper()
	mkdir(t, dir)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+kib+"k,mode=0755"); err != nil {
		t.Skipf("this user cannot mount a small disk: %v; TestFaults injects the same faults", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestDiskFull fills a real disk in the middle of a picture.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	smallDisk(t, s.in("disk"), "256")
	w := open(t, s.config())
	p := spec()
	p.Dest, p.NeedBytes = "disk/", 1<<20
	_, err := w.Plan(p)
	wantCode(t, err, fault.DiskFull)

	p.NeedBytes, p.Overwrite = 100<<10, true
	write(t, s.in("disk/"+specName+".png"), "the old picture")
	f := create(t, plan(t, w, p), 0)
	text := strings.Repeat("0123456789abcdef", 64<<10) // 1 MiB
	fill(t, f, text)
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	if !saved.Spooled || saved.SHA256 != hexSum(text) || read(t, saved.Path) != text {
		t.Errorf("the paid bytes are not whole in the spool: %+v", saved)
	}
	if got := files(t, s.in("disk")); len(got) != 1 || read(t, s.in("disk/"+specName+".png")) != "the old picture" {
		t.Errorf("the full disk has %v", got)
	}
	if err := os.Remove(s.in("disk/" + specName + ".png")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", s.in("disk"), "tmpfs", unix.MS_REMOUNT, "size=4096k"); err != nil {
		t.Fatal(err)
	}
	moved, err := w.MoveSpooled(saved.Path, s.in("disk/"+specName+".png"), false)
	if err != nil || read(t, moved.Path) != text {
		t.Errorf("MoveSpooled after room was made: %+v, %v", moved, err)
	}
}

// TestEverythingFull: target and spool on one full disk; the system's temporary directory takes the bytes.
func TestEverythingFull(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	disk := filepath.Join(s.dir, "disk")
	smallDisk(t, disk, "256")
	mkdir(t, filepath.Join(disk, "media"))
	cfg := s.config()
	cfg.Dirs, cfg.StateDir = []string{filepath.Join(disk, "media")}, filepath.Join(disk, "state")
	w := open(t, cfg)
	f := create(t, plan(t, w, spec()), 0)
	text := strings.Repeat("0123456789abcdef", 64<<10)
	fill(t, f, text)
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	if !saved.Spooled || !strings.Contains(saved.Path, tempSpoolPrefix) || read(t, saved.Path) != text {
		t.Errorf("got %+v", saved)
	}
	if err := os.Remove(saved.Path); err != nil {
		t.Error(err)
	}
	for _, name := range files(t, disk) {
		t.Errorf("the full disk keeps %s", name)
	}
}

// TestReadOnlyDisk: found by Plan, and when it happens later the bytes go to the spool.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	smallDisk(t, s.in("disk"), "256")
	w := open(t, s.config())
	p := spec()
	p.Dest = "disk/"
	target := plan(t, w, p)
	if err := unix.Mount("tmpfs", s.in("disk"), "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("this user cannot remount: %v", err)
	}
	for _, dest := range []string{"disk/", "disk/new/"} {
		p.Dest = dest
		_, err := w.Plan(p)
		wantCode(t, err, fault.ReadOnly)
		_, err = w.Preview(p)
		wantCode(t, err, fault.ReadOnly)
	}
	f := create(t, target, 0)
	fill(t, f, "paid")
	saved, err := f.Commit("png")
	wantCode(t, err, fault.ReadOnly)
	if !saved.Spooled || read(t, saved.Path) != "paid" {
		t.Errorf("got %+v", saved)
	}
}
