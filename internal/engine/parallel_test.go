package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"mediagen/internal/engine"
)

// TestParallel runs many calls through one engine, one journal and one directory.
func TestParallel(t *testing.T) {
	calls := 2000
	if raceDetector {
		calls = 200
	}
	if testing.Short() {
		calls = 50
	}
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	if _, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil); err != nil { // opens what is opened once
		t.Fatal(err)
	}
	routines, handles := runtime.NumGoroutine(), openFiles()
	req := small()
	var wg sync.WaitGroup
	var mu sync.Mutex
	paths := map[string]bool{}
	for range calls {
		wg.Go(func() {
			res, err := r.GenerateImages(context.Background(), req, engine.Output{}, &record{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || len(res.Assets) != 1 || len(res.Warnings) != 1 || paths[res.Assets[0].Path] {
				t.Errorf("%v, %+v", err, res)
				return
			}
			paths[res.Assets[0].Path] = true
		})
	}
	wg.Wait()
	if got := len(r.files()); got != calls+1 || len(paths) != calls {
		t.Errorf("%d files, %d paths, want %d", got, len(paths), calls)
	}
	landed := 0
	for _, row := range r.rows() {
		if row.State == "landed" && len(row.Assets) == 1 {
			landed++
		}
	}
	if landed != calls+1 {
		t.Errorf("%d rows landed", landed)
	}
	settled(t, func() bool { return runtime.NumGoroutine() <= routines && openFiles() <= handles }, func() {
		t.Errorf("%d goroutines, %d open files, before %d, %d", runtime.NumGoroutine(), openFiles(), routines, handles)
	})
}

// settled waits until what ends in the background has ended.
func settled(t *testing.T, done func() bool, otherwise func()) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(10 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			otherwise()
			return
		}
	}
}

// openFiles counts this process's handles, where the system tells.
func openFiles() int {
	entries, err := os.ReadDir(filepath.FromSlash("/proc/self/fd"))
	if err != nil {
		return 0
	}
	return len(entries)
}
