package imaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	opaque := gradient(40, 30)
	clear := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	info := func(format string, w, h int) Info {
		kind, _ := sniff.ByExt(format)
		return Info{Format: format, MIME: kind.MIME, Width: w, Height: h, Frames: 1, Orientation: 1}
	}
	with := func(i Info, change func(*Info)) Info { change(&i); return i }
	alpha := func(i *Info) { i.Alpha = true }
	webp := encoded(t, opaque, EncodeOptions{Format: "webp"})
	tests := []struct {
		name string
		src  []byte
		want Info
	}{
		{"png", pngOf(t, opaque), info("png", 40, 30)},
		{"png alpha", pngOf(t, clear), with(info("png", 40, 30), alpha)},
		{"png transparent colour", withChunk(pngOf(t, opaque), "tRNS", make([]byte, 6)), with(info("png", 40, 30), alpha)},
		{
			"animated png", withChunk(pngOf(t, opaque), "acTL", []byte{0, 0, 0, 7, 0, 0, 0, 0}),
			with(info("png", 40, 30), func(i *Info) { i.Frames = 7 }),
		},
		{"jpeg", jpegOf(t, opaque), info("jpeg", 40, 30)},
		{
			"jpeg with fill bytes",
			bytes.Replace(jpegOf(t, opaque), []byte("\xff\xdb"), []byte("\xff\xff\xff\xdb"), 1), info("jpeg", 40, 30),
		},
		{
			"jpeg with broken exif",
			withSegment(jpegOf(t, opaque), markerAPP1, []byte("Exif\x00\x00II*\x00\xff\xff\xff\xff")), info("jpeg", 40, 30),
		},
		{"jpeg orientation 9", withOrientation(jpegOf(t, opaque), 9), info("jpeg", 40, 30)},
		{"webp lossy", webpPlain(bitstream(t, webp)), info("webp", 40, 30)},
		{
			"webp lossless",
			webpPlain(bitstream(t, encoded(t, opaque, EncodeOptions{Format: "webp", Lossless: true}))), info("webp", 40, 30),
		},
		{"webp alpha", encoded(t, clear, EncodeOptions{Format: "webp"}), with(info("webp", 40, 30), alpha)},
		{
			"animated webp", webpFile(0x12, 300, 200, riffChunk("ANIM", make([]byte, 6)),
				riffChunk("ANMF", make([]byte, 25)), riffChunk("ANMF", make([]byte, 24))),
			with(info("webp", 300, 200), func(i *Info) { i.Frames, i.Alpha = 2, true }),
		},
		{"gif", gifOf(t, 1, 40, 30), with(info("gif", 40, 30), alpha)},
		{"animated gif", gifOf(t, 5, 40, 30), with(info("gif", 40, 30), func(i *Info) { i.Frames, i.Alpha = 5, true })},
		{"bmp", bmpOf(t, opaque), info("bmp", 40, 30)},
		{"bmp from the top", topDownBMP(t, opaque), info("bmp", 40, 30)},
		{"bmp whose fourth byte means nothing", bmpOf(t, clear), info("bmp", 40, 30)},
		{"bmp alpha", alphaBMP(40, 30), with(info("bmp", 40, 30), alpha)},
		{"tiff", tiffOf(t, image.NewGray(opaque.Rect)), info("tiff", 40, 30)},
		{"tiff alpha", tiffOf(t, clear), with(info("tiff", 40, 30), alpha)},
		{"two pages", twoPageTIFF(t), with(info("tiff", 16, 16), func(i *Info) { i.Frames, i.Alpha = 2, true })},
		{"avif", encoded(t, opaque, EncodeOptions{Format: "avif"}), info("avif", 40, 30)},
		{"avif alpha", encoded(t, clear, EncodeOptions{Format: "avif"}), with(info("avif", 40, 30), alpha)},
		{"avif of libheif", media(t, "quadrants.avif"), info("avif", 64, 48)},
		{"avif turned", media(t, "quadrants-irot90.avif"), with(info("avif", 64, 48), func(i *Info) { i.Orientation = 8 })},
		{"heic", media(t, "quadrants.heic"), info("heic", 64, 48)},
		{"cmyk jpeg", media(t, "quadrants-cmyk.jpeg"), info("jpeg", 64, 48)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Probe(bytes.NewReader(tt.src), int64(len(tt.src)), sniff.DefaultBounds())
			must(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Probe (-want +got):\n%s", diff)
			}
		})
	}
}

// webpPlain is a WebP file of one chunk.
func webpPlain(chunk []byte) []byte {
	body := append([]byte("WEBP"), chunk...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// topDownBMP gives a BMP a negative height.
func topDownBMP(tb testing.TB, img image.Image) []byte {
	tb.Helper()
	b := bmpOf(tb, img)
	binary.LittleEndian.PutUint32(b[22:], uint32(-int32(img.Bounds().Dy())))
	return b
}

// alphaBMP has a BITMAPV4HEADER, which gives the fourth byte a meaning, and no pixels.
func alphaBMP(w, h int) []byte {
	b := make([]byte, 14+108)
	copy(b, "BM")
	binary.LittleEndian.PutUint32(b[14:], 108)
	binary.LittleEndian.PutUint32(b[18:], uint32(w))
	binary.LittleEndian.PutUint32(b[22:], uint32(h))
	b[26], b[28] = 1, 32
	return b
}

// box is an ISO box; fullBox has version and flags.
func box(kind string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(append(b, kind...), body...)
}

func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// avifHeader is an AVIF of a 400x300 picture with properties, without its pixels.
func avifHeader(brand string, properties ...[]byte) []byte {
	ipco := [][]byte{box("ispe", words(0, 400, 300))}
	list := []byte{1}
	for i, p := range properties {
		ipco = append(ipco, p)
		list = append(list, 0x80|byte(i+2))
	}
	table := append(words(0, 1), 0, 1, byte(len(list)))
	return bytes.Join([][]byte{
		box("ftyp", []byte(brand), words(0), []byte("mif1")),
		box("meta", words(0), box("pitm", words(0), []byte{0, 1}),
			box("iprp", box("ipco", ipco...), box("ipma", table, list))),
	}, nil)
}

func TestProbeHEIFProperties(t *testing.T) {
	t.Parallel()
	samples := box("minf", box("stbl", box("stsz", words(0, 0, 24))))
	sequence := append(avifHeader("avis"), box("moov", box("mvhd", words(0, 0)), box("trak", box("mdia", samples)))...)
	tests := []struct {
		name          string
		src           []byte
		w, h          int // upright
		orientation   int
		frames        int
		alpha         bool
		colourRefused bool
	}{
		{"plain", avifHeader("avif"), 400, 300, 1, 1, false, false},
		{"turned", avifHeader("avif", box("irot", []byte{3})), 300, 400, 6, 1, false, false},
		{
			"turned and mirrored", avifHeader("avif", box("irot", []byte{1}), box("imir", []byte{0})),
			300, 400, 5, 1, false, false,
		},
		{"cropped", avifHeader("avif", box("clap", words(200, 1, 100, 1, 0, 1, 0, 1))), 200, 100, 1, 1, false, false},
		{
			"alpha", avifHeader("avif", box("auxC", words(0), []byte("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\x00"))),
			400, 300, 1, 1, true, false,
		},
		{
			"sRGB code points", avifHeader("avif", box("colr", []byte("nclx\x00\x01\x00\x0d\x00\x06\x80"))),
			400, 300, 1, 1, false, false,
		},
		{
			"P3 code points", avifHeader("avif", box("colr", []byte("nclx\x00\x0c\x00\x0d\x00\x06\x80"))),
			400, 300, 1, 1, false, true,
		},
		{"HDR", avifHeader("avif", box("colr", []byte("nclx\x00\x09\x00\x10\x00\x09\x80"))), 400, 300, 1, 1, false, true},
		{
			"profile decides",
			avifHeader("avif", box("colr", []byte("profxxxx")), box("colr", []byte("nclx\x00\x0c\x00\x0d\x00\x06\x80"))),
			400, 300, 1, 1, false, false,
		},
		{"sequence", sequence, 400, 300, 1, 24, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, err := probe(source{bytes.NewReader(tt.src), int64(len(tt.src))}, sniff.DefaultBounds())
			must(t, err)
			w, height := h.Upright()
			got := []any{w, height, h.Orientation, h.Frames, h.Alpha, h.colour != ""}
			if diff := cmp.Diff([]any{tt.w, tt.h, tt.orientation, tt.frames, tt.alpha, tt.colourRefused}, got); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
			if _, _, err := Encode(t.Context(), tt.src, EncodeOptions{Format: "png"}); err == nil {
				t.Error("a file without pixels was encoded")
			}
		})
	}
}

func TestProbeRefuses(t *testing.T) {
	t.Parallel()
	b := sniff.DefaultBounds()
	noMeta := box("ftyp", []byte("avif"), words(0), []byte("mif1"))
	tests := []struct {
		name string
		src  []byte
		want fault.Code
	}{
		{"nothing", nil, fault.InvalidImage},
		{"text", []byte("a red bicycle"), fault.InvalidImage},
		{"html", []byte("<!doctype html><html></html>"), fault.InvalidImage},
		{"png header only", pngOf(t, gradient(4, 4))[:33], fault.InvalidImage},
		{"png of no width", bombPNG(0, 5), fault.InvalidImage},
		{"png above 2^31", bombPNG(1<<31, 1), fault.InvalidImage},
		{"png of 16385 pixels", bombPNG(16_385, 1), fault.PixelsExceeded},
		{"png at the side's limit", bombPNG(16_384, 6_103), ""},
		{"png over the frame's limit", bombPNG(16_384, 6_104), fault.PixelsExceeded},
		{"many frames", gifOf(t, b.Frames+1, 2, 2), fault.FramesExceeded},
		{"frames at the limit", gifOf(t, b.Frames, 2, 2), ""},
		{"pixels of all frames", withChunk(bombPNG(10_000, 10_000), "acTL", words(3, 0)), fault.PixelsExceeded},
		{"jpeg without a frame", []byte("\xff\xd8\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"), fault.InvalidImage},
		{"jpeg of fill bytes", append([]byte("\xff\xd8"), bytes.Repeat([]byte{0xff}, 50_000)...), fault.InvalidImage},
		{"gif without images", []byte("GIF89a\x04\x00\x04\x00\x00\x00\x00\x3b"), fault.InvalidImage},
		{"gif cut short", gifOf(t, 1, 20, 20)[:20], fault.InvalidImage},
		{"avif without meta", noMeta, fault.InvalidImage},
		{
			"avif with a box of 2^63",
			append(bytes.Clone(noMeta), "\x00\x00\x00\x01meta\x80\x00\x00\x00\x00\x00\x00\x00"...), fault.InvalidImage,
		},
		{"avif without properties", append(bytes.Clone(noMeta), box("meta", words(0))...), fault.InvalidImage},
		{"clap above the picture", avifHeader("avif", box("clap", words(500, 1, 100, 1))), fault.InvalidImage},
		{
			"tiff in a circle",
			[]byte("II*\x00\x08\x00\x00\x00\x01\x00\x00\x01\x04\x00\x01\x00\x00\x00\x05\x00\x00\x00\x08\x00\x00\x00"),
			fault.InvalidImage,
		},
		{
			"webp frame that is no key frame",
			webpPlain(riffChunk("VP8 ", []byte("\x01\x00\x00\x9d\x01\x2a\x10\x00\x10\x00"))), fault.InvalidImage,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Probe(bytes.NewReader(tt.src), int64(len(tt.src)), b)
			if diff := cmp.Diff(tt.want, fault.CodeOf(err)); diff != "" {
				t.Errorf("code (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

func TestProbeZeroBoundsRefuse(t *testing.T) {
	t.Parallel()
	src := pngOf(t, gradient(4, 4))
	_, err := Probe(bytes.NewReader(src), int64(len(src)), sniff.Bounds{})
	if fault.CodeOf(err) != fault.PixelsExceeded {
		t.Errorf("zero bounds: %v, want pixels_exceeded", err)
	}
}

type failingReader struct{ at int64 }

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.at {
		return 0, errors.New("device gone")
	}
	return copy(p, "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"), nil
}

func TestProbeReportsReadErrors(t *testing.T) {
	t.Parallel()
	for _, at := range []int64{0, 4000} {
		_, err := Probe(failingReader{at}, 1<<20, sniff.DefaultBounds())
		if at == 0 && fault.CodeOf(err) != fault.IOFailed {
			t.Errorf("failing at %d: %v, want io_failed", at, err)
		}
		if err == nil {
			t.Errorf("failing at %d: no error", at)
		}
	}
}

func TestProbeReadsAFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a"
	src := pngOf(t, gradient(40, 30))
	must(t, os.WriteFile(path, src, 0o600))
	f, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	got, err := Probe(f, int64(len(src)), sniff.DefaultBounds())
	must(t, err)
	if got.Width != 40 || got.Height != 30 {
		t.Errorf("got %+v", got)
	}
	if _, err := Probe(f, int64(len(src))+100, sniff.DefaultBounds()); err != nil {
		t.Errorf("a size that is too large: %v", err)
	}
}

// A header is read in place: whatever it claims, a probe takes kilobytes. Not parallel, as the heap is everyone's.
func TestProbeAllocatesLittle(t *testing.T) {
	for name, src := range map[string][]byte{
		"png bomb": bombPNG(30_000, 30_000),
		"gif bomb": gifOf(t, 600, 3, 3),
		"avif":     media(t, "quadrants.avif"),
		"jpeg":     withOrientation(jpegOf(t, gradient(64, 64)), 6),
		"tiff":     twoPageTIFF(t),
	} {
		const runs = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			_, _ = Probe(bytes.NewReader(src), int64(len(src)), sniff.DefaultBounds())
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / runs; each > 32<<10 {
			t.Errorf("%s: a probe takes %d bytes, want at most 32 KiB", name, each)
		}
	}
}

func TestHEIFOrientation(t *testing.T) {
	t.Parallel()
	img := [4]int{0, 1, 2, 3} // quarters as stored
	left := func(q [4]int) [4]int { return [4]int{q[1], q[3], q[0], q[2]} }
	for turn := range 4 {
		turned := img
		for range turn {
			turned = left(turned)
		}
		for mirror, want := range map[int][4]int{
			-1: turned,
			0:  {turned[2], turned[3], turned[0], turned[1]},
			1:  {turned[1], turned[0], turned[3], turned[2]},
		} {
			got := orientations[heifOrientation(turn, mirror)]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("turn %d, mirror %d (-want +got):\n%s", turn, mirror, diff)
			}
		}
	}
}

func FuzzProbe(f *testing.F) {
	img := gradient(12, 9)
	for _, b := range [][]byte{
		pngOf(f, img), withOrientation(jpegOf(f, img), 6), gifOf(f, 3, 5, 5), bmpOf(f, img), tiffOf(f, img), twoPageTIFF(f),
		media(f, "quadrants.avif"), media(f, "quadrants.heic"), avifHeader("avis", box("irot", []byte{1})),
		webpFile(0x1a, 9, 9, riffChunk("ANMF", make([]byte, 20)), riffChunk("EXIF", exifBlock(binary.LittleEndian, 3))),
		withChunk(pngOf(f, img), "eXIf", exifBlock(binary.BigEndian, 5)), bombPNG(30_000, 30_000),
	} {
		f.Add(b)
	}
	bounds := sniff.DefaultBounds()
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		info, err := Probe(bytes.NewReader(b), int64(len(b)), bounds)
		runtime.ReadMemStats(&after)
		// The largest single read is 64 KiB; a header walk may make many small ones, in proportion to the file.
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 512<<10+uint64(64*len(b)) {
			t.Fatalf("a probe of %d bytes allocates %d", len(b), grown)
		}
		if err != nil {
			if fault.CodeOf(err) == "" {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		pixels := int64(info.Width) * int64(info.Height)
		if info.Width < 1 || info.Height < 1 || info.Frames < 1 || info.Orientation < 1 || info.Orientation > 8 ||
			info.Width > bounds.Side || info.Height > bounds.Side || pixels > bounds.FramePixels {
			t.Fatalf("accepted %+v", info)
		}
		if again, err := Probe(iotestReaderAt{b}, int64(len(b)), bounds); err != nil || again != info {
			t.Fatalf("a second look gives %+v, %v, the first %+v", again, err, info)
		}
	})
}

// iotestReaderAt returns io.EOF together with the last bytes, as ReaderAt allows.
type iotestReaderAt struct{ b []byte }

func (r iotestReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(r.b)) {
		return 0, io.EOF
	}
	n := copy(p, r.b[off:])
	if int(off)+n == len(r.b) {
		return n, io.EOF
	}
	return n, nil
}

func BenchmarkProbe(b *testing.B) {
	for name, src := range map[string][]byte{
		"png": pngOf(b, gradient(64, 64)), "jpeg": withOrientation(jpegOf(b, gradient(64, 64)), 6),
		"gif": gifOf(b, 50, 20, 20), "avif": media(b, "quadrants.avif"), "bomb": bombPNG(30_000, 30_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Probe(bytes.NewReader(src), int64(len(src)), sniff.DefaultBounds())
			}
		})
	}
}
