package imaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func probeVideoOf(b []byte) (VideoInfo, error) { return ProbeVideo(bytes.NewReader(b), int64(len(b))) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestProbeVideoRefuses(t *testing.T) {
	t.Parallel()
	clock := box("mvhd", words(0, 0, 0, 0, 5000))
	longTrack := box("trak", box("mdia", words(400), []byte("mdhd")))
	tests := []struct {
		name string
		src  []byte
		says string
	}{
		{"nothing", nil, "is empty"},
		{"html", []byte("<!doctype html><html><body>expired</body></html>"), "text/html"},
		{"json", []byte(`{"error":{"message":"not ready"}}`), "application/json"},
		{"png", pngOf(t, gradient(4, 4)), "image/png"},
		{"heic", media(t, "quadrants.heic"), "image/heic"},
		{"avif", media(t, "quadrants.avif"), "image/avif"},
		{"picture of a generic brand", box("ftyp", []byte("mif1"), words(0), []byte("mif1isom")), "no known video format"},
		{"noise", bytes.Repeat([]byte{0x93, 0x01}, 200), "no known video format"},
		{"unknown brand", box("ftyp", []byte("zzzz"), words(0), []byte("yyyy")), "no known video format"},
		{"mp3", append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), make([]byte, 50)...), "audio/mpeg"},
		{"clock of 0 ticks", join(ftyp("isom"), box("moov", clock)), "0 ticks"},
		{"box longer than its parent", join(ftyp("isom"), box("moov", longTrack)), "longer than the one that holds it"},
		{"box shorter than its header", join(ftyp("isom"), words(7), []byte("moov")), "no moov box"},
		{"moov above 64 MiB", join(ftyp("isom"), hugeBox("moov", 65<<20)[:16], make([]byte, 65<<20-16)), "at most 67108864"},
		{"webm clock of 0 ns", webm(segment(el(idInfo, el(idTimestampScale, []byte{0})))), "0 ns"},
		{"webm number of 9 bytes", webm(segment(el(idInfo, el(idTimestampScale, make([]byte, 9))))), "more than 8 bytes"},
		{"webm float of 3 bytes", webm(segment(el(idInfo, el(idDuration, make([]byte, 3))))), "4 or 8 bytes"},
		{"webm element over its parent", webm(segment(el(idInfo, []byte{0x44, 0x89, 0x88, 0, 0}))), "longer than the one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := probeVideoOf(tt.src)
			if fault.CodeOf(err) != fault.MIMEMismatch || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %+v, %v; want mime_mismatch that says %q", got, err, tt.says)
			}
			if diff := cmp.Diff(VideoInfo{}, got); diff != "" {
				t.Errorf("an error comes with an answer:\n%s", diff)
			}
		})
	}
}

func TestProbeVideoReportsReadErrors(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{"mp4": mp4File(mp4Options{}), "webm": webmFile()} {
		for at := range len(b) {
			got, err := ProbeVideo(brokenReader{b, int64(at)}, int64(len(b)))
			if err != nil && fault.CodeOf(err) != fault.IOFailed {
				t.Fatalf("%s failing at %d: %v, want io_failed", name, at, err)
			}
			if err == nil && at < 40 {
				t.Fatalf("%s failing at %d: no error but %+v", name, at, got)
			}
		}
	}
}

// brokenReader lets the look at the type pass and fails behind an offset.
type brokenReader struct {
	b  []byte
	at int64
}

func (r brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if len(p) < 300 && off+int64(len(p)) > r.at {
		return 0, errors.New("device gone")
	}
	return bytes.NewReader(r.b).ReadAt(p, off)
}

func TestSpan(t *testing.T) {
	t.Parallel()
	tests := []struct {
		ticks uint64
		scale uint32
		want  time.Duration
	}{
		{10_010, 1000, 10*time.Second + 10*time.Millisecond},
		{1, 3, 333_333_333},
		{5, 0, 0},
		{math.MaxUint64, 1, 0},
		{math.MaxUint64, math.MaxUint32, (1<<32 + 1) * time.Second},
	}
	for _, tt := range tests {
		if got := span(tt.ticks, tt.scale); got != tt.want {
			t.Errorf("span(%d, %d) = %v, want %v", tt.ticks, tt.scale, got, tt.want)
		}
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	tests := []struct{ frames, seconds, want float64 }{
		{300, 10.01, 29.97}, {24, 1, 24}, {1, 0, 0}, {0, 1, 0}, {1e9, 1, 0}, {0, 0, 0},
	}
	for _, tt := range tests {
		if got := rate(tt.frames, tt.seconds); got != tt.want {
			t.Errorf("rate(%v, %v) = %v, want %v", tt.frames, tt.seconds, got, tt.want)
		}
	}
}

// Headers are read in place. Not parallel, as the heap is everyone's.
func TestProbeVideoAllocatesLittle(t *testing.T) {
	table := make([]byte, 8<<20)
	big := box("trak", box("mdia", box("minf", box("stbl", box("stco", table)))))
	for name, src := range map[string][]byte{
		"tables": join(ftyp("isom"), box("moov", movieClock(5000), big), box("mdat", table)),
		"webm":   webm(segment(webmTracks(), el(idCluster, table))),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := probeVideoOf(src)
		runtime.ReadMemStats(&after)
		must(t, err)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
			t.Errorf("%s: a probe takes %d bytes, want at most 64 KiB", name, got)
		}
	}
}

func FuzzProbeVideo(f *testing.F) {
	for _, b := range [][]byte{
		mp4File(mp4Options{}), mp4File(mp4Options{moovLast: true}), mp4File(mp4Options{wide: true}), fragmentedFile(true, true),
		webmFile(), liveWebM(), media(f, "quadrants.avif"), ftyp("qt  "), append(ftyp("isom"), words(1, 0x6d6f6f76)...),
	} {
		f.Add(b)
		f.Add(b[:len(b)*2/3])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := probeVideoOf(b)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<10+uint64(64*len(b)) {
			t.Fatalf("a probe of %d bytes allocates %d", len(b), grown)
		}
		if err != nil {
			if fault.CodeOf(err) == "" {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		if got.Duration < 0 || got.Width < 0 || got.Height < 0 || got.Frames < 0 || got.FPS < 0 || got.Missing < 0 ||
			math.IsNaN(got.FPS) || got.Rotation%90 != 0 || got.Whole && got.Missing != 0 || got.Format == "" {
			t.Fatalf("accepted %+v", got)
		}
		if again, err := ProbeVideo(iotestReaderAt{b}, int64(len(b))); err != nil || again != got {
			t.Fatalf("a second look gives %+v, %v, the first %+v", again, err, got)
		}
	})
}

// u64 is 8 bytes, big-endian.
func u64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }
