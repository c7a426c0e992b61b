package imaging

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"mediagen/internal/sniff"
)

// The colours of the four quarters of a fixture: top left, top right, bottom left, bottom right.
var quarters = [4]color.NRGBA{{220, 40, 40, 255}, {40, 200, 60, 255}, {50, 60, 210, 255}, {240, 220, 50, 255}}

// quadrants draws a w x h picture of four coloured quarters.
func quadrants(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			i := 0
			if x >= w/2 {
				i = 1
			}
			if y >= h/2 {
				i += 2
			}
			img.SetNRGBA(x, y, quarters[i])
		}
	}
	return img
}

// gradient draws a smooth picture with some texture, which lossy formats must come close to.
func gradient(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			ripple := 12 * math.Sin(float64(x)/5) * math.Cos(float64(y)/7)
			img.SetNRGBA(x, y, color.NRGBA{
				clamp8(float64(255*x)/float64(w) + ripple), clamp8(float64(255*y)/float64(h) - ripple), clamp8(128 + ripple), 255,
			})
		}
	}
	return img
}

func clamp8(v float64) uint8 { return uint8(min(max(v, 0), 255)) }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func pngOf(tb testing.TB, img image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	must(tb, png.Encode(&b, img))
	return b.Bytes()
}

func jpegOf(tb testing.TB, img image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	must(tb, jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

func tiffOf(tb testing.TB, img image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	must(tb, tiff.Encode(&b, img, &tiff.Options{Compression: tiff.Deflate}))
	return b.Bytes()
}

func bmpOf(tb testing.TB, img image.Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	must(tb, bmp.Encode(&b, img))
	return b.Bytes()
}

// gifOf writes an animation of n frames of w x h pixels.
func gifOf(tb testing.TB, n, w, h int) []byte {
	tb.Helper()
	g := &gif.GIF{}
	for i := range n {
		frame := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{quarters[0], quarters[1], color.NRGBA{}})
		frame.SetColorIndex(i%w, 0, 1)
		g.Image, g.Delay = append(g.Image, frame), append(g.Delay, 1)
	}
	var b bytes.Buffer
	must(tb, gif.EncodeAll(&b, g))
	return b.Bytes()
}

// encoded writes img with the engine under test, for the formats that Go has no encoder of its own for.
func encoded(tb testing.TB, img image.Image, o EncodeOptions) []byte {
	tb.Helper()
	b, err := EncodeImage(context.Background(), img, o)
	must(tb, err)
	return b
}

func media(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "media", name))
	must(tb, err)
	return b
}

// exifBlock is the smallest EXIF block with an orientation, in either byte order.
func exifBlock(order binary.AppendByteOrder, orientation int) []byte {
	b := []byte("II*\x00")
	if order == binary.BigEndian {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 1)
	b = order.AppendUint16(b, tagOrientation)
	b = order.AppendUint16(b, 3)
	b = order.AppendUint32(b, 1)
	b = order.AppendUint16(b, uint16(orientation))
	return append(b, 0, 0, 0, 0, 0, 0)
}

// withSegment puts an APPn segment behind a JPEG's SOI.
func withSegment(jpg []byte, marker byte, data []byte) []byte {
	out := append(bytes.Clone(jpg[:2]), 0xff, marker)
	out = binary.BigEndian.AppendUint16(out, uint16(len(data)+2))
	return append(append(out, data...), jpg[2:]...)
}

func withOrientation(jpg []byte, orientation int) []byte {
	return withSegment(jpg, markerAPP1, append([]byte("Exif\x00\x00"), exifBlock(binary.BigEndian, orientation)...))
}

// withChunk puts a chunk behind a PNG's IHDR.
func withChunk(p []byte, kind string, data []byte) []byte {
	return bytes.Join([][]byte{p[:33], pngChunk(kind, data), p[33:]}, nil)
}

func pngChunk(kind string, data []byte) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(append(chunk, kind...), data...)
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
}

// bombPNG announces w x h pixels of one bit. Its pixels are never there: whoever wants them has lost already.
func bombPNG(w, h int) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = append(binary.BigEndian.AppendUint32(head, uint32(h)), 1, 0, 0, 0, 0)
	return bytes.Join([][]byte{
		[]byte("\x89PNG\r\n\x1a\n"), pngChunk("IHDR", head), pngChunk("IDAT", make([]byte, 50)), pngChunk("IEND", nil),
	}, nil)
}

// riffChunk is a chunk of a WebP file.
func riffChunk(kind string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, len(data)%2)...)
}

// bitstream returns the VP8 or VP8L chunk of a WebP file.
func bitstream(tb testing.TB, b []byte) []byte {
	tb.Helper()
	var chunk []byte
	must(tb, walkRIFF(source{bytes.NewReader(b), int64(len(b))}, func(kind string, off, n int64) (bool, error) {
		if kind == "VP8 " || kind == "VP8L" {
			chunk = b[off-8 : off+n+n&1]
		}
		return chunk != nil, nil
	}))
	return chunk
}

// webpFile wraps chunks in an extended WebP file with the flags and a canvas of w x h.
func webpFile(flags byte, w, h int, chunks ...[]byte) []byte {
	vp8x := []byte{flags, 0, 0, 0, byte(w - 1), byte((w - 1) >> 8), 0, byte(h - 1), byte((h - 1) >> 8), 0}
	body := append([]byte("WEBP"), riffChunk("VP8X", vp8x)...)
	for _, c := range chunks {
		body = append(body, c...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// p3Profile is a Display P3 profile: the primaries adapted to D50 and the curve of sRGB.
func p3Profile() []byte {
	return rgbProfile([3][3]float64{
		{0.515121, 0.241196, -0.001053}, {0.291977, 0.692245, 0.041885}, {0.157104, 0.066574, 0.784073},
	})
}

// rgbProfile builds a matrix profile of version 4 from its three colorants.
func rgbProfile(colorants [3][3]float64) []byte {
	fixed := func(b []byte, v float64) []byte {
		return binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*65536))))
	}
	xyz := func(v [3]float64) []byte {
		b := []byte("XYZ \x00\x00\x00\x00")
		for _, c := range v {
			b = fixed(b, c)
		}
		return b
	}
	curve := []byte("para\x00\x00\x00\x00\x00\x03\x00\x00")
	for _, v := range []float64{2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045} {
		curve = fixed(curve, v)
	}
	text := []byte("mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0cenUS\x00\x00\x00\x04\x00\x00\x00\x1c\x00P\x003")
	tags := []struct {
		name string
		data []byte
	}{
		{"desc", text},
		{"cprt", text},
		{"wtpt", xyz([3]float64{0.9642, 1, 0.8249})},
		{"rXYZ", xyz(colorants[0])},
		{"gXYZ", xyz(colorants[1])},
		{"bXYZ", xyz(colorants[2])},
		{"rTRC", curve},
		{"gTRC", curve},
		{"bTRC", curve},
	}
	head := make([]byte, 128)
	binary.BigEndian.PutUint32(head[8:], 0x04000000)
	copy(head[12:], "mntrRGB XYZ ")
	copy(head[36:], "acsp")
	copy(head[68:], xyz([3]float64{0.9642, 1, 0.8249})[8:])
	table := binary.BigEndian.AppendUint32(nil, uint32(len(tags)))
	var body []byte
	start := 128 + 4 + 12*len(tags)
	for _, tag := range tags {
		table = append(table, tag.name...)
		table = binary.BigEndian.AppendUint32(table, uint32(start+len(body)))
		table = binary.BigEndian.AppendUint32(table, uint32(len(tag.data)))
		body = append(body, tag.data...)
	}
	p := bytes.Join([][]byte{head, table, body}, nil)
	binary.BigEndian.PutUint32(p, uint32(len(p)))
	return p
}

func withProfileJPEG(jpg, profile []byte) []byte {
	return withSegment(jpg, markerAPP2, append([]byte("ICC_PROFILE\x00\x01\x01"), profile...))
}

func withProfilePNG(tb testing.TB, p, profile []byte) []byte {
	tb.Helper()
	var z bytes.Buffer
	zw := zlib.NewWriter(&z)
	_, err := zw.Write(profile)
	must(tb, err)
	must(tb, zw.Close())
	return withChunk(p, "iCCP", append([]byte("p\x00\x00"), z.Bytes()...))
}

// decoded reads a result: PNG and JPEG with the standard library, the others with the engine under test.
func decoded(tb testing.TB, b []byte) *image.NRGBA {
	tb.Helper()
	switch info := probed(tb, b); info.Format {
	case "png", "jpeg":
		img, _, err := image.Decode(bytes.NewReader(b))
		must(tb, err)
		return toNRGBA(img)
	}
	px, err := decode(tb.Context(), b, sniff.DefaultBounds())
	must(tb, err)
	return px.image()
}

func probed(tb testing.TB, b []byte) Info {
	tb.Helper()
	info, err := Probe(bytes.NewReader(b), int64(len(b)), sniff.DefaultBounds())
	must(tb, err)
	return info
}

// near reports whether two colours differ by at most tolerance in each channel.
func near(a, b color.NRGBA, tolerance int) bool {
	for _, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B), int(a.A) - int(b.A)} {
		if d > tolerance || d < -tolerance {
			return false
		}
	}
	return true
}

// checkQuadrants compares the middles of the four quarters.
func checkQuadrants(tb testing.TB, img *image.NRGBA, want [4]color.NRGBA, tolerance int) {
	tb.Helper()
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for i, c := range want {
		x, y := w/4+(i%2)*w/2, h/4+(i/2)*h/2
		if got := img.NRGBAAt(x, y); !near(got, c, tolerance) {
			tb.Errorf("quarter %d at %d,%d is %v, want %v within %d", i, x, y, got, c, tolerance)
		}
	}
}

// psnr is the peak signal-to-noise ratio of the colours in decibels.
func psnr(a, b *image.NRGBA) float64 {
	var sum float64
	for i := 0; i < len(a.Pix); i += 4 {
		for c := range 3 {
			d := float64(a.Pix[i+c]) - float64(b.Pix[i+c])
			sum += d * d
		}
	}
	if sum == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(255*255/(sum/float64(len(a.Pix)/4*3)))
}

func orderOf(orientation int) binary.AppendByteOrder {
	if orientation%2 == 0 {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// withTIFFOrientation rewrites the directory of a TIFF at its end, with the orientation added in tag order.
func withTIFFOrientation(tb testing.TB, b []byte, orientation int) []byte {
	tb.Helper()
	le := binary.LittleEndian
	dir := int(le.Uint32(b[4:]))
	n := int(le.Uint16(b[dir:]))
	out := bytes.Clone(b)
	le.PutUint32(out[4:], uint32(len(out)))
	out = le.AppendUint16(out, uint16(n+1))
	added := false
	for i := range n {
		entry := b[dir+2+12*i:][:12]
		if !added && le.Uint16(entry) > tagOrientation {
			out = append(out, 0x12, 0x01, 3, 0, 1, 0, 0, 0, byte(orientation), 0, 0, 0)
			added = true
		}
		out = append(out, entry...)
	}
	if !added {
		tb.Fatal("no tag behind the orientation")
	}
	return append(out, 0, 0, 0, 0)
}

// twoPageTIFF repeats the directory of a TIFF as its second page.
func twoPageTIFF(tb testing.TB) []byte {
	tb.Helper()
	b := tiffOf(tb, quadrants(16, 16))
	le := binary.LittleEndian
	dir := int(le.Uint32(b[4:]))
	end := dir + 2 + 12*int(le.Uint16(b[dir:]))
	second := append(bytes.Clone(b[dir:end]), 0, 0, 0, 0)
	le.PutUint32(b[end:], uint32(len(b)))
	return append(b, second...)
}

// deepBMP claims 16 bits a pixel.
func deepBMP(tb testing.TB) []byte {
	tb.Helper()
	b := bmpOf(tb, quadrants(16, 16))
	binary.LittleEndian.PutUint16(b[28:], 16)
	return b
}
