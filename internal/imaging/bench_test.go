//go:build unix

package imaging

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cpuTime is what the process has used of the processors.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	must(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reference is the loop of the tool that this one replaces: quality from 85 down by 10 to 15, then the same at 0.8 of
// the sides, from the file each time. It returns the bytes and how often it encoded.
func reference(tb testing.TB, src []byte, format string, budget int64) (size int64, encodes int) {
	tb.Helper()
	ctx := context.Background()
	info := probed(tb, src)
	for scale := 1.0; ; scale *= 0.8 {
		for quality := 85; quality > 20-10; quality -= 10 {
			s := Spec{Format: format, Quality: quality}
			if scale < 1 {
				s.MaxSide = int(math.Round(scale * float64(max(info.Width, info.Height))))
			}
			r, err := Convert(ctx, src, s)
			must(tb, err)
			encodes++
			size = int64(len(r.Data))
			if size <= budget {
				return size, encodes
			}
		}
		if scale <= 0.3 {
			return size, encodes
		}
	}
}

// BenchmarkBudget fits pictures like photographs into byte budgets, and lets the reference do the same: encodes, how
// full the budget is, and how many times the processor time the reference takes (geometric mean of the pairs).
func BenchmarkBudget(b *testing.B) {
	var sources [][]byte
	for i, size := range [][2]int{{4000, 3000}, {4000, 3000}, {1024, 1536}, {1024, 1536}} {
		img := photo(uint64(i), size[0], size[1], []float64{3, 20, 2, 14}[i])
		if size[0] == 1024 {
			sources = append(sources, pngOf(b, img))
			continue
		}
		sources = append(sources, jpegOf(b, img))
	}
	budgets := []int64{819_200, 300_000, 120_000, 50_000}
	if testing.Short() { // the reference takes minutes for the large ones
		sources, budgets = sources[2:], budgets[2:]
	}
	for _, format := range []string{"jpeg", "webp"} {
		b.Run(format, func(b *testing.B) {
			var encodes, theirs []int
			var ratios, fill, loose float64
			for b.Loop() {
				for _, src := range sources {
					for _, budget := range budgets {
						began := cpuTime(b)
						r, err := Convert(context.Background(), src, Spec{Format: format, MaxBytes: budget})
						must(b, err)
						ours := cpuTime(b) - began
						if r.Untouched {
							continue
						}
						began = cpuTime(b)
						size, n := reference(b, src, format, budget)
						ratios += math.Log(float64(cpuTime(b)-began) / float64(ours))
						fill, loose = fill+float64(len(r.Data))/float64(budget), loose+float64(size)/float64(budget)
						encodes, theirs = append(encodes, r.Encodes), append(theirs, n)
					}
				}
			}
			slices.Sort(encodes)
			slices.Sort(theirs)
			n := len(encodes)
			b.ReportMetric(float64(encodes[n/2]), "encodes-median")
			b.ReportMetric(float64(encodes[n-1]), "encodes-max")
			b.ReportMetric(float64(theirs[n/2]), "reference-median")
			b.ReportMetric(float64(theirs[n-1]), "reference-max")
			b.ReportMetric(math.Exp(ratios/float64(n)), "reference-cpu-ratio")
			b.ReportMetric(fill/float64(n), "fill")
			b.ReportMetric(loose/float64(n), "reference-fill")
		})
	}
}

// BenchmarkParallel converts 20 pictures of 12 megapixels at once and reports the most memory that the process had.
func BenchmarkParallel(b *testing.B) {
	src := jpegOf(b, photo(1, 4000, 3000, 8))
	debug.FreeOSMemory() // what it took to paint the picture is not ours
	clearPeak()
	for b.Loop() {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_, err := Convert(context.Background(), src, Spec{Format: "webp", MaxSide: 1024, Quality: 80})
				if err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(peak(), "peak-MiB")
	b.ReportMetric(0, "ns/op")
}

// clearPeak makes Linux forget the most memory that there was, where it allows it.
func clearPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peak is the most resident memory in MiB, 0 where the system does not tell.
func peak() float64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024
		}
	}
	return 0
}
