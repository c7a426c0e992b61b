//go:build unix

package workspace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mediagen/internal/fault"
)

// raceTime bounds each race; -short makes it a smoke test.
func raceTime() time.Duration {
	if testing.Short() {
		return 300 * time.Millisecond
	}
	return 2500 * time.Millisecond
}

// racing goes on for the race time, and longer on a busy machine until both outcomes were seen.
func racing(start time.Time, both bool) bool {
	took := time.Since(start)
	return took < raceTime() || (!both && took < time.Minute)
}

// swapping exchanges the media directory's d with a link to a closed directory, until stop is called.
func swapping(t *testing.T, s sandbox, closed string) (stop func() int64) {
	t.Helper()
	dir, link := s.in("d"), s.in("l")
	mkdir(t, dir)
	symlink(t, closed, link)
	var halt atomic.Bool
	var swaps atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for !halt.Load() {
			if err := exchange(dir, link); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("exchange: %v", err)
				return
			}
			swaps.Add(1)
		}
	})
	return func() int64 {
		halt.Store(true)
		wg.Wait()
		return swaps.Load()
	}
}

// raceReads reads a name through the directory that is being swapped: not one byte may come from outside.
func raceReads(t *testing.T, _ attack) {
	t.Helper()
	s := newSandbox(t)
	outside := filepath.Join(s.dir, "outside")
	write(t, filepath.Join(outside, "f"), "OUTSIDE")
	raceReadsOf(t, s, open(t, s.config()), outside)
}

// TestRacePattern: the link stays inside the root but leads out of what its pattern opens, so that os.Root alone would
// follow it.
func TestRacePattern(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	write(t, filepath.Join(s.dir, "srv", "closed", "f"), "OUTSIDE")
	cfg := s.config()
	cfg.Dirs = []string{filepath.Join(s.dir, "srv") + "/*/d"}
	raceReadsOf(t, s, open(t, cfg), "../closed")
}

func raceReadsOf(t *testing.T, s sandbox, w *Workspace, closed string) {
	t.Helper()
	write(t, s.in("d/f"), "inside")
	stop := swapping(t, s, closed)
	var good, refused, leaked int
	for start := time.Now(); racing(start, good > 0 && refused > 0); {
		f, err := w.Open(s.in("d/f"), 0)
		if err != nil {
			refused++
			continue
		}
		b, err := io.ReadAll(f)
		_ = f.Close()
		switch {
		case err == nil && string(b) == "inside":
			good++
		case string(b) != "":
			leaked++
		}
	}
	swaps := stop()
	t.Logf("%d swaps: %d reads inside, %d refused, %d outside", swaps, good, refused, leaked)
	if leaked > 0 {
		t.Errorf("%d reads returned bytes from outside the root", leaked)
	}
	if good == 0 || refused == 0 {
		t.Errorf("no race took place: %d swaps, %d good, %d refused", swaps, good, refused)
	}
}

// TestRaceWrites saves through the directory that is being swapped: no file may appear outside, and what Commit reports
// as saved is whole.
func TestRaceWrites(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	outside := filepath.Join(s.dir, "outside")
	mkdir(t, outside)
	raceWritesOf(t, s, open(t, s.config()), outside, outside)
}

// TestRacePatternWrites is TestRacePattern for writing.
func TestRacePatternWrites(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	closed := filepath.Join(s.dir, "srv", "closed")
	mkdir(t, closed)
	cfg := s.config()
	cfg.Dirs = []string{s.work, filepath.Join(s.dir, "srv") + "/*/d"}
	raceWritesOf(t, s, open(t, cfg), "../closed", closed)
}

func raceWritesOf(t *testing.T, s sandbox, w *Workspace, link, closed string) {
	t.Helper()
	w.ops.sync, w.ops.syncDir = noSync, noSync // durability is not what is raced for
	stop := swapping(t, s, link)
	var saved, spooled, refused int
	start := time.Now()
	for i := 0; racing(start, refused > 0 && saved+spooled > 0); i++ {
		p := spec()
		p.Dest = s.in("d/" + strconv.Itoa(i) + ".png")
		target, err := w.Plan(p)
		if err != nil {
			refused++
			continue
		}
		f, err := target.Create(0)
		if err != nil {
			t.Fatal(err)
		}
		fill(t, f, "inside")
		got, err := f.Commit("")
		switch {
		case err == nil:
			saved++
		case got.Spooled && read(t, got.Path) == "inside":
			spooled++
		default:
			t.Fatalf("Commit lost the bytes: %+v, %v", got, err)
		}
		_ = target.Close()
	}
	swaps := stop()
	t.Logf("%d swaps: %d saved, %d spooled, %d refused", swaps, saved, spooled, refused)
	if got := files(t, closed); got != nil {
		t.Errorf("%d files outside the root: %v", len(got), got[:min(len(got), 3)])
	}
	if refused == 0 || saved+spooled == 0 {
		t.Errorf("no race took place: %d swaps, %d saved, %d spooled, %d refused", swaps, saved, spooled, refused)
	}
}

// TestRootReplaced: a root that is renamed away and replaced by a link keeps meaning the directory that was opened.
func TestRootReplaced(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	outside := filepath.Join(s.dir, "outside")
	write(t, filepath.Join(outside, "a.png"), "OUTSIDE")
	write(t, s.in("a.png"), "inside")
	w := open(t, s.config())
	p := spec()
	p.Dest = "b.png"
	target := plan(t, w, p)
	if err := os.Rename(s.media, s.media+"-moved"); err != nil {
		t.Fatal(err)
	}
	symlink(t, outside, s.media)

	in, err := w.Open("a.png", 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(in)
	_ = in.Close()
	if err != nil || string(b) != "inside" {
		t.Errorf("read %q, %v; want the original directory's file", b, err)
	}

	f := create(t, target, 0)
	fill(t, f, "paid")
	saved, err := f.Commit("")
	wantCode(t, err, fault.IOFailed) // it is not where the caller would look for it
	if !saved.Spooled || read(t, saved.Path) != "paid" {
		t.Errorf("got %+v, want the bytes in the spool", saved)
	}
	if _, err := os.Stat(filepath.Join(outside, "b.png")); err == nil {
		t.Error("a file was written outside")
	}
}
