//go:build linux

package imaging

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"mediagen/internal/fault"
)

// resident is the memory of the process in bytes.
func resident(tb testing.TB) int64 {
	tb.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	must(tb, err)
	var size, pages int64
	_, err = fmt.Sscan(string(b), &size, &pages)
	must(tb, err)
	return pages * int64(os.Getpagesize())
}

// raced reports whether the race detector is on.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}

// A server converts pictures for months: what one conversion takes is given back, also by those that fail.
func TestConvertMemoryIsFlat(t *testing.T) {
	if testing.Short() || raced() {
		t.Skip("2000 conversions, and memory that the race detector takes")
	}
	glass := gradient(64, 48)
	for i := 3; i < len(glass.Pix); i += 8 {
		glass.Pix[i] = 90
	}
	jpg := withOrientation(withProfileJPEG(jpegOf(t, gradient(160, 120)), p3Profile()), 6)
	work := []struct {
		src []byte
		s   Spec
	}{
		{jpg, Spec{Format: "webp", MaxSide: 32}},
		{pngOf(t, glass), Spec{Format: "jpeg", Background: "#102030", MaxBytes: 1500}},
		{pngOf(t, glass), Spec{Format: "png", Box: &Box{Width: 40, Height: 40, Mode: Contain, Bars: "blur"}}},
		{jpg[:len(jpg)/2], Spec{Format: "png"}},
		{pngOf(t, glass)[:900], Spec{Format: "webp", MaxSide: 20}},
		{withProfilePNG(t, pngOf(t, glass), make([]byte, 500)), Spec{Format: "jpeg", MinSSIM: 0.5}},
		{[]byte("<html>"), Spec{Format: "png"}},
		{jpg, Spec{Format: "jpeg", MinSSIM: 1}},
	}
	rounds, failed := 2000, 0
	if brief().Name == "pure-go" {
		rounds = 400
	}
	var warm int64
	for i := range rounds + 400 {
		if i == 400 {
			warm = resident(t)
		}
		w := work[i%len(work)]
		if _, err := Convert(t.Context(), w.src, w.s); err != nil {
			failed++
			if fault.CodeOf(err) == "" {
				t.Fatalf("%+v: %v", w.s, err)
			}
		}
	}
	grown := float64(resident(t)-warm) / (1 << 20)
	t.Logf("%.1f MiB resident after the first 400, %.1f MiB more after %d, %d of which failed", float64(warm)/(1<<20), grown,
		rounds, failed)
	if limit := 6.0; grown > limit {
		t.Errorf("memory grew by %.1f MiB, want at most %.1f", grown, limit)
	}
	if failed < rounds/4 {
		t.Errorf("only %d conversions failed: the failing ones are not tested", failed)
	}
}

// The same bytes whatever the collector does, for libvips reads memory of Go.
func TestConvertUnderGarbageCollection(t *testing.T) {
	t.Parallel()
	src := withOrientation(withProfileJPEG(jpegOf(t, quadrants(320, 240)), p3Profile()), 6)
	specs := []Spec{
		{Format: "webp", MaxSide: 100},
		{Format: "jpeg", MaxBytes: 1200, MaxSide: 150},
		{Format: "png", Box: &Box{Width: 64, Height: 64, Bars: "blur"}},
	}
	want := make([][]byte, len(specs))
	for i, s := range specs {
		want[i] = converted(t, src, s).Data
	}
	deadline := time.Now().Add(2500 * time.Millisecond)
	if testing.Short() {
		deadline = time.Now()
	}
	stop := make(chan struct{})
	var collector, workers sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	for range 2 {
		workers.Go(func() {
			for n := 0; n < len(specs) || time.Now().Before(deadline); n++ {
				i := n % len(specs)
				got, err := Convert(context.Background(), src, specs[i])
				if err != nil || !bytes.Equal(want[i], got.Data) {
					t.Errorf("%+v: the result changed under the collector: %d bytes, %v, want %d bytes", specs[i], len(got.Data),
						err, len(want[i]))
					return
				}
			}
		})
	}
	workers.Wait()
	close(stop)
	collector.Wait()
}
