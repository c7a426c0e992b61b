package emulator_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"golang.org/x/image/webp"

	"mediagen/internal/emulator"
)

func jpegOf(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withAlpha returns a PNG that has an alpha channel and not one pixel that uses it; the PNG encoder of the standard
// library would leave the channel out.
func withAlpha(t *testing.T, w, h int) []byte {
	t.Helper()
	var raw bytes.Buffer
	z := zlib.NewWriter(&raw)
	for range h {
		if _, err := z.Write(append([]byte{0}, bytes.Repeat([]byte{255}, 4*w)...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	out := []byte("\x89PNG\r\n\x1a\n")
	for _, c := range []struct {
		kind string
		body []byte
	}{{"IHDR", append(head, 8, 6, 0, 0, 0)}, {"IDAT", raw.Bytes()}, {"IEND", nil}} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(c.body)))
		start := len(out)
		out = append(append(out, c.kind...), c.body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
	}
	return out
}

// withOrientation puts an EXIF segment with an orientation into a JPEG.
func withOrientation(data []byte, o byte) []byte {
	tiff := []byte{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, o, 0, 0, 0, 0, 0, 0}
	body := append([]byte("Exif\x00\x00"), tiff...)
	seg := append([]byte{0xff, 0xe1, 0, byte(len(body) + 2)}, body...)
	return append(append(bytes.Clone(data[:2]), seg...), data[2:]...)
}

// picture asks for one picture and returns its bytes.
func picture(t *testing.T, origin string, params map[string]any, header map[string]string) []byte {
	t.Helper()
	r := must[reply](t)(create(t, origin, params, header))
	if r.status != 200 {
		t.Fatalf("status = %d: %.300s", r.status, r.body)
	}
	return unbase64(t, parse(t, r.body).Data[0].B64)
}

func decodeAs(t *testing.T, format string, data []byte) image.Image {
	t.Helper()
	decode := map[string]func(io.Reader) (image.Image, error){
		"png": png.Decode, "jpeg": jpeg.Decode, "webp": webp.Decode, "gif": gif.Decode,
	}[format]
	img, err := decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return img
}

func TestSizesAndFormats(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	for _, size := range []string{"512x288", "16x16", "33x47", "640x64", "64x640"} {
		for _, format := range []string{"png", "jpeg", "webp"} {
			t.Run(size+"/"+format, func(t *testing.T) {
				t.Parallel()
				data := picture(t, origin, map[string]any{"size": size, "output_format": format, "n": 1}, nil)
				b := decodeAs(t, format, data).Bounds()
				if got := fmt.Sprintf("%dx%d", b.Dx(), b.Dy()); got != size {
					t.Errorf("picture is %s, want %s", got, size)
				}
			})
		}
	}
}

func TestSameRequestSamePicture(t *testing.T) {
	t.Parallel()
	a, _ := start(t, emulator.Options{})
	b, _ := start(t, emulator.Options{})
	base := map[string]any{"prompt": "a lighthouse", "size": "320x240"}
	first := picture(t, a, base, nil)
	for _, origin := range []string{a, b} {
		if !bytes.Equal(first, picture(t, origin, base, nil)) {
			t.Error("the same request gives another picture")
		}
	}
	base["quality"] = "high"
	if !bytes.Equal(first, picture(t, a, base, nil)) {
		t.Error("quality changes the picture")
	}
}

func TestOtherPromptOtherScene(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	var seen []image.Image
	for _, prompt := range []string{"a", "b", "a fox", "a fox in snow", "A fox", "owl", "日本", "library at night"} {
		img := decodeAs(t, "png", picture(t, origin, map[string]any{"prompt": prompt, "size": "128x128"}, nil))
		for i, other := range seen {
			if d := distance(img, other); d < 8 {
				t.Errorf("prompt %q differs from number %d by %.1f levels a pixel, want a visible difference", prompt, i, d)
			}
		}
		seen = append(seen, img)
	}
}

// distance is the mean difference of the upper half, where the scene is, in levels of 255.
func distance(a, b image.Image) float64 {
	var sum, n float64
	r := a.Bounds()
	for y := r.Min.Y; y < r.Max.Y/2; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			for _, d := range []int64{int64(ar) - int64(br), int64(ag) - int64(bg), int64(ab) - int64(bb)} {
				sum += float64(max(d, -d)) / 257
				n++
			}
		}
	}
	return sum / n
}

func TestTransparentBackground(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	for _, format := range []string{"png", "webp"} {
		img := decodeAs(t, format, picture(t, origin,
			map[string]any{"size": "128x128", "background": "transparent", "output_format": format}, nil))
		_, _, _, corner := img.At(0, 0).RGBA()
		_, _, _, middle := img.At(64, 50).RGBA()
		if corner != 0 || middle != 0xffff {
			t.Errorf("%s: alpha %d in the corner and %d in the middle, want 0 and 65535", format, corner, middle)
		}
	}
	img := decodeAs(t, "png", picture(t, origin, map[string]any{"size": "128x128"}, nil))
	if o, ok := img.(interface{ Opaque() bool }); !ok || !o.Opaque() {
		t.Error("a picture without transparent background is not opaque")
	}
}

// metadata returns every text that a file carries beside its pixels.
func metadata(t *testing.T, format string, data []byte) string {
	t.Helper()
	var all strings.Builder
	switch format {
	case "png":
		for at := 8; at < len(data); {
			n := int(binary.BigEndian.Uint32(data[at:]))
			kind, body := string(data[at+4:at+8]), data[at+8:at+8+n]
			if sum := binary.BigEndian.Uint32(data[at+8+n:]); sum != crc32.ChecksumIEEE(data[at+4:at+8+n]) {
				t.Errorf("chunk %s has a wrong checksum", kind)
			}
			if kind == "iTXt" || kind == "tEXt" {
				all.Write(body)
			}
			at += 12 + n
		}
	case "jpeg":
		for at := 2; data[at+1] != 0xda; {
			n := int(binary.BigEndian.Uint16(data[at+2:]))
			if data[at+1] == 0xe1 || data[at+1] == 0xfe {
				all.Write(data[at+4 : at+2+n])
			}
			at += 2 + n
		}
	case "webp":
		if n := int(binary.LittleEndian.Uint32(data[4:])); n != len(data)-8 {
			t.Errorf("RIFF says %d bytes, file has %d", n, len(data)-8)
		}
		for at := 12; at < len(data); {
			n := int(binary.LittleEndian.Uint32(data[at+4:]))
			if string(data[at:at+4]) == "XMP " {
				all.Write(data[at+8 : at+8+n])
			}
			at += 8 + n + n%2
		}
	}
	return all.String()
}

func TestPromptIsInTheMetadata(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	for name, prompt := range map[string]string{
		"short": "Füchse & <Eulen> 日本 🦊", "long": strings.Repeat("漢字 ", 10_600),
	} {
		for _, format := range []string{"png", "jpeg", "webp"} {
			t.Run(name+"/"+format, func(t *testing.T) {
				t.Parallel()
				data := picture(t, origin, map[string]any{"prompt": prompt, "output_format": format}, nil)
				decodeAs(t, format, data)
				text := metadata(t, format, data)
				unescaped := strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(text)
				if !strings.Contains(unescaped, prompt) {
					t.Errorf("%d bytes of metadata lack the prompt of %d bytes", len(text), len(prompt))
				}
				if !strings.Contains(text, "mediagen emulator") {
					t.Error("metadata does not name the emulator")
				}
			})
		}
	}
}

func TestPaddingIsLegal(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	for _, format := range []string{"png", "jpeg", "webp", "gif"} {
		params := map[string]any{"output_format": format, "size": "65x33", "prompt": "odd"}
		small := picture(t, origin, params, nil)
		big := picture(t, origin, params, map[string]string{emulator.FaultHeader: "big:1"})
		if len(big) < 1_000_000 || len(big) > 1_000_010 {
			t.Errorf("%s: %d bytes, want 1000000", format, len(big))
		}
		metadata(t, format, big)
		if d := distance(decodeAs(t, format, small), decodeAs(t, format, big)); d != 0 {
			t.Errorf("%s: padding changes the pixels by %f", format, d)
		}
	}
}

func checkGIF(t *testing.T, data []byte, frames, delay int) {
	t.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != frames || g.Delay[0] != delay {
		t.Errorf("%d frames of %d/100 s, want %d of %d", len(g.Image), g.Delay[0], frames, delay)
	}
	if !bytes.Contains(data, []byte("icon")) {
		t.Error("the comment with the prompt is missing")
	}
}

func TestEditShowsItsInputs(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	edit := func(files ...file) image.Image {
		body, contentType := form(t, map[string]string{"prompt": "x", "model": "m", "size": "256x256"}, files...)
		r := must[reply](t)(send(t.Context(), origin+"/v1/images/edits", contentType, body, nil))
		return decodeAs(t, "png", unbase64(t, parse(t, r.body).Data[0].B64))
	}
	plain := edit(file{"image", "a.png", "image/png", pngOf(t, 200, 120, false)})
	masked := edit(file{"image", "a.png", "image/png", pngOf(t, 200, 120, false)},
		file{"mask", "m.png", "image/png", pngOf(t, 200, 120, true)})
	blue := color.RGBA{40, 90, 160, 255}
	if left, right := share(plain, blue, 40, 120), share(plain, blue, 136, 210); left < 0.5 || right < 0.5 {
		t.Errorf("the input covers %.2f and %.2f of the middle, want most of it", left, right)
	}
	if left, right := share(masked, blue, 40, 120), share(masked, blue, 136, 210); left > 0.05 || right < 0.5 {
		t.Errorf("with a mask on the left, %.2f and %.2f show the input, want none and most", left, right)
	}
}

// share returns how much of a box in the upper part has about a colour.
func share(img image.Image, want color.RGBA, x0, x1 int) float64 {
	hits, all := 0, 0
	for y := 50; y < 110; y++ {
		for x := x0; x < x1; x++ {
			c, ok := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			near := func(a, b uint8) bool { return max(a, b)-min(a, b) < 12 }
			if ok && near(c.R, want.R) && near(c.G, want.G) && near(c.B, want.B) {
				hits++
			}
			all++
		}
	}
	return float64(hits) / float64(all)
}

func BenchmarkPicture(b *testing.B) {
	s, err := emulator.Start(b.Context(), emulator.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, format := range []string{"png", "jpeg", "webp"} {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				body := fmt.Sprintf(
					`{"prompt":"picture %d","model":"m","size":"1024x1536","output_format":%q}`, i, format)
				r, err := send(b.Context(), s.URL()+"/v1/images/generations", "application/json", strings.NewReader(body), nil)
				if err != nil || r.status != 200 {
					b.Fatalf("status %d, %v", r.status, err)
				}
			}
		})
	}
}
