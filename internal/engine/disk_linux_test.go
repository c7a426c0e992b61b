package engine_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// smallDisk mounts a file system of its own of so many KiB, which only root may.
func smallDisk(t *testing.T, dir, kib string) {
	t.Helper()
	mkdir(t, dir)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+kib+"k,mode=0755"); err != nil {
		t.Skipf("this user cannot mount a small disk: %v; TestSpooled takes the same way without one", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestDiskFull fills a real disk after payment. The first picture fits, the second does not, the third does again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	large := append(bytes.Clone(tinyPNG()), make([]byte, 40<<20)...)
	f := &fake{do: answer(tinyPNG(), large, tinyPNG())}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	smallDisk(t, r.in("disk"), strconv.Itoa(100<<10))
	f.do = func(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		must(t, os.WriteFile(r.in("disk/ballast"), make([]byte, 90<<20), 0o600))
		return answer(tinyPNG(), large, tinyPNG())(ctx, call, sink)
	}
	req := small()
	req.N = 3
	res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: "disk/a.png"}, nil)
	e := wantError(t, err, engine.KindFailure, fault.DiskFull, engine.BilledYes)
	contains(t, e.Hint, "free some space, then resume with: mediagen jobs resume "+res.Job.ID)
	if res.Assets[0].Spooled || !res.Assets[1].Spooled || res.Assets[2].Spooled || r.row().State != "succeeded" {
		t.Errorf("assets %+v, state %s", res.Assets, r.row().State)
	}
	if _, err := r.ResumeJob(t.Context(), res.Job.ID, "", false); engine.AsError(err).Code != fault.DiskFull {
		t.Errorf("resume on a full disk: %v", err)
	}
	must(t, os.Remove(r.in("disk/ballast")))
	_, err = r.ResumeJob(t.Context(), res.Job.ID, "", false)
	must(t, err)
	if !bytes.Equal(read(t, r.in("disk/a_2.png")), large) || r.row().State != "landed" {
		t.Error("the large picture is not at its place")
	}
}

// TestDiskFullBefore is found before paying.
func TestDiskFullBefore(t *testing.T) {
	t.Parallel()
	p, s := emulate(t, "openai")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	smallDisk(t, r.in("disk"), "256")
	for _, dry := range []bool{true, false} {
		_, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "disk/", DryRun: dry}, nil)
		wantError(t, err, engine.KindFailure, fault.DiskFull, engine.BilledNo)
	}
	untouched(t, r, s)
}

// TestUnreadable: the bytes that were written cannot be read back when they have to move. That picture is lost, the next
// one arrives.
func TestUnreadable(t *testing.T) {
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	noSpool(t, r)
	f.do = func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		w, err := sink.Picture(engine.Slot{})
		must(t, err)
		_, err = w.Write(tinyPNG()[:20])
		must(t, err)
		full(t, r.in("out"))
		n, err := w.Write(tinyPNG()[20:])
		if n != len(tinyPNG())-20 || err != nil {
			t.Errorf("the reply is not read on: %d, %v", n, err)
		}
		must(t, w.Commit())
		return engine.ImageReply{RequestID: "req_1"}, put(sink, engine.Slot{Index: 1}, tinyPNG())
	}
	req := small()
	req.N = 2
	res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: "out/"}, nil)
	check(t, r, res, err, outcome{engine.KindPartial, fault.IOFailed, engine.BilledYes, "landed", 1, 0},
		"1 of 2 pictures were saved, then: the bytes received so far cannot be read back")
}

// full turns this process's open files below dir into a full disk that cannot be read.
func full(t *testing.T, dir string) {
	t.Helper()
	dev, err := unix.Open("/dev/full", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	must(t, err)
	defer func() { _ = unix.Close(dev) }()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	turned := 0
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err != nil || !strings.HasPrefix(name, dir+"/") {
			continue
		}
		fd, err := strconv.Atoi(e.Name())
		must(t, err)
		must(t, unix.Dup3(dev, fd, unix.O_CLOEXEC))
		turned++
	}
	if turned != 1 {
		t.Fatalf("%d open files below the directory, want 1", turned)
	}
}

// stateDisk gives the journal a small disk of its own.
func stateDisk(t *testing.T, dir string) {
	t.Helper()
	smallDisk(t, dir, "8192")
}
