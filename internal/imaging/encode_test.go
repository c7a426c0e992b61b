package imaging

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

func TestEncodeFormats(t *testing.T) {
	t.Parallel()
	img := gradient(96, 64)
	src := pngOf(t, img)
	tests := []struct {
		o    EncodeOptions
		mime string
		psnr float64 // at least, in dB
	}{
		{EncodeOptions{Format: "png"}, "image/png", 99},
		{EncodeOptions{Format: "jpeg"}, "image/jpeg", 34},
		{EncodeOptions{Format: "JPG", Quality: 40}, "image/jpeg", 27},
		{EncodeOptions{Format: "webp"}, "image/webp", 34},
		{EncodeOptions{Format: "webp", Lossless: true}, "image/webp", 99},
		{EncodeOptions{Format: "avif"}, "image/avif", 34},
		{EncodeOptions{Format: "gif"}, "image/gif", 20},
	}
	sizes := map[string]int{}
	for _, tt := range tests {
		out, info, err := Encode(t.Context(), src, tt.o)
		if err != nil {
			t.Errorf("%+v: %v", tt.o, err)
			continue
		}
		want := Info{MIME: tt.mime, Width: 96, Height: 64, Frames: 1, Orientation: 1}
		want.Format = info.Format
		if diff := cmp.Diff(want, info); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.o, diff)
		}
		if got := psnr(img, decoded(t, out)); got < tt.psnr {
			t.Errorf("%+v: %.1f dB, want at least %.1f", tt.o, got, tt.psnr)
		}
		sizes[info.Format] = max(sizes[info.Format], len(out))
	}
	small, _, err := Encode(t.Context(), src, EncodeOptions{Format: "jpeg", Quality: 20})
	must(t, err)
	if len(small) >= sizes["jpeg"] {
		t.Errorf("quality 20 takes %d bytes, quality 90 %d", len(small), sizes["jpeg"])
	}
}

// Every format that is read, from the same picture.
func TestEncodeReads(t *testing.T) {
	t.Parallel()
	img := quadrants(64, 48)
	grey := image.NewGray(image.Rect(0, 0, 64, 48))
	grey16 := image.NewGray16(grey.Rect)
	deep := image.NewNRGBA64(grey.Rect)
	pal := image.NewPaletted(grey.Rect, color.Palette{quarters[0], quarters[1], quarters[2], quarters[3]})
	for y := range 48 {
		for x := range 64 {
			grey.SetGray(x, y, color.Gray{Y: 90})
			grey16.SetGray16(x, y, color.Gray16{Y: 90 * 257})
			deep.Set(x, y, img.At(x, y))
			pal.Set(x, y, img.At(x, y))
		}
	}
	flat := [4]color.NRGBA{{90, 90, 90, 255}, {90, 90, 90, 255}, {90, 90, 90, 255}, {90, 90, 90, 255}}
	tests := []struct {
		name      string
		src       []byte
		want      [4]color.NRGBA
		tolerance int
	}{
		{"png", pngOf(t, img), quarters, 0},
		{"png palette", pngOf(t, pal), quarters, 0},
		{"png 16 bits", pngOf(t, deep), quarters, 0},
		{"png grey", pngOf(t, grey), flat, 0},
		{"png grey 16 bits", pngOf(t, grey16), flat, 0},
		{"jpeg", jpegOf(t, img), quarters, 4},
		{"jpeg grey", jpegOf(t, grey), flat, 2},
		{"gif", encoded(t, img, EncodeOptions{Format: "gif"}), quarters, 4},
		{"bmp", bmpOf(t, img), quarters, 0},
		{"tiff", tiffOf(t, img), quarters, 0},
		{"tiff grey", tiffOf(t, grey), flat, 0},
		{"webp", encoded(t, img, EncodeOptions{Format: "webp"}), quarters, 4},
		{"webp lossless", encoded(t, img, EncodeOptions{Format: "webp", Lossless: true}), quarters, 0},
		{"avif", encoded(t, img, EncodeOptions{Format: "avif"}), quarters, 5},
		{"avif of libheif", media(t, "quadrants.avif"), quarters, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, info, err := Encode(t.Context(), tt.src, EncodeOptions{Format: "png"})
			must(t, err)
			if diff := cmp.Diff([]int{64, 48}, []int{info.Width, info.Height}); diff != "" {
				t.Errorf("size (-want +got):\n%s", diff)
			}
			checkQuadrants(t, decoded(t, out), tt.want, tt.tolerance)
		})
	}
}

// The quarters as a viewer shows them for each EXIF orientation, by index into quarters.
var orientations = [9][4]int{
	1: {0, 1, 2, 3}, 2: {1, 0, 3, 2}, 3: {3, 2, 1, 0}, 4: {2, 3, 0, 1},
	5: {0, 2, 1, 3}, 6: {2, 0, 3, 1}, 7: {3, 1, 2, 0}, 8: {1, 3, 0, 2},
}

func TestEncodeTurnsUpright(t *testing.T) {
	t.Parallel()
	plain := jpegOf(t, quadrants(64, 48))
	for orientation := 1; orientation <= 8; orientation++ {
		src := withOrientation(plain, orientation)
		stored := probed(t, src)
		if diff := cmp.Diff(Info{
			Format: "jpeg", MIME: "image/jpeg", Width: 64, Height: 48, Frames: 1, Orientation: orientation,
		}, stored); diff != "" {
			t.Errorf("orientation %d, Probe (-want +got):\n%s", orientation, diff)
		}
		for _, format := range []string{"png", "jpeg", "webp"} {
			out, info, err := Encode(t.Context(), src, EncodeOptions{Format: format})
			must(t, err)
			w, h := stored.Upright()
			if diff := cmp.Diff([]int{w, h, 1}, []int{info.Width, info.Height, info.Orientation}); diff != "" {
				t.Errorf("orientation %d to %s (-want +got):\n%s", orientation, format, diff)
			}
			checkQuadrants(t, decoded(t, out), turned(orientation), 6)
		}
	}
}

func turned(orientation int) [4]color.NRGBA {
	var want [4]color.NRGBA
	for i, q := range orientations[orientation] {
		want[i] = quarters[q]
	}
	return want
}

func TestEncodeTurnsOtherFormats(t *testing.T) {
	t.Parallel()
	exif := func(o int) []byte { return exifBlock(orderOf(o), o) }
	lossless := bitstream(t, encoded(t, quadrants(64, 48), EncodeOptions{Format: "webp", Lossless: true}))
	webp := webpFile(0x08, 64, 48, lossless, riffChunk("EXIF", exif(6)))
	webpPrefixed := webpFile(0x08, 64, 48, lossless, riffChunk("EXIF", append([]byte("Exif\x00\x00"), exif(3)...)))
	tests := []struct {
		name        string
		src         []byte
		orientation int
		tolerance   int
	}{
		{"png", withChunk(pngOf(t, quadrants(64, 48)), "eXIf", exif(8)), 8, 0},
		{"webp", webp, 6, 0},
		{"webp with the JPEG prefix", webpPrefixed, 3, 0},
		{"tiff", withTIFFOrientation(t, tiffOf(t, quadrants(64, 48)), 5), 5, 0},
		{"avif", media(t, "quadrants-irot90.avif"), 8, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.orientation, probed(t, tt.src).Orientation); diff != "" {
				t.Errorf("Probe (-want +got):\n%s", diff)
			}
			out, _, err := Encode(t.Context(), tt.src, EncodeOptions{Format: "png"})
			must(t, err)
			checkQuadrants(t, decoded(t, out), turned(tt.orientation), tt.tolerance)
		})
	}
}

func TestEncodeAlpha(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 32, 32))
	for i := range 32 * 32 {
		copy(img.Pix[4*i:], []byte{255, 0, 0, 128})
	}
	src := pngOf(t, img)
	tests := []struct {
		o         EncodeOptions
		want      color.NRGBA
		tolerance int
	}{
		{EncodeOptions{Format: "png"}, color.NRGBA{255, 0, 0, 128}, 0},
		{EncodeOptions{Format: "webp", Lossless: true}, color.NRGBA{255, 0, 0, 128}, 0},
		{EncodeOptions{Format: "webp"}, color.NRGBA{255, 0, 0, 128}, 4},
		{EncodeOptions{Format: "avif"}, color.NRGBA{255, 0, 0, 128}, 6},
		{EncodeOptions{Format: "jpeg"}, color.NRGBA{255, 127, 127, 255}, 4},
		{EncodeOptions{Format: "jpeg", Background: "#00FF00"}, color.NRGBA{128, 127, 0, 255}, 4},
		{EncodeOptions{Format: "jpeg", Background: "#000000"}, color.NRGBA{128, 0, 0, 255}, 4},
	}
	for _, tt := range tests {
		out, info, err := Encode(t.Context(), src, tt.o)
		must(t, err)
		if got := decoded(t, out).NRGBAAt(16, 16); !near(got, tt.want, tt.tolerance) {
			t.Errorf("%+v: %v, want %v within %d", tt.o, got, tt.want, tt.tolerance)
		}
		if want := tt.o.Format != "jpeg"; info.Alpha != want {
			t.Errorf("%+v: alpha %v, want %v", tt.o, info.Alpha, want)
		}
	}
	copy(img.Pix, make([]byte, 4*32*16)) // the upper half is transparent
	out, _, err := Encode(t.Context(), pngOf(t, img), EncodeOptions{Format: "gif"})
	must(t, err)
	if m := decoded(t, out); m.NRGBAAt(5, 5).A != 0 || m.NRGBAAt(5, 25).A != 255 {
		t.Errorf("gif: alpha %d above and %d below, want 0 and 255", m.NRGBAAt(5, 5).A, m.NRGBAAt(5, 25).A)
	}
}

// Pure red of Display P3 lies outside sRGB and must come out as sRGB's pure red, not as 234,51,35.
func TestEncodeConvertsWideGamut(t *testing.T) {
	t.Parallel()
	red := image.NewNRGBA(image.Rect(0, 0, 32, 32))
	skin := image.NewNRGBA(red.Rect)
	for i := range 32 * 32 {
		copy(red.Pix[4*i:], []byte{255, 0, 0, 255})
		copy(skin.Pix[4*i:], []byte{200, 150, 120, 255})
	}
	lossless := bitstream(t, encoded(t, red, EncodeOptions{Format: "webp", Lossless: true}))
	tests := []struct {
		name string
		src  []byte
		want color.NRGBA
	}{
		{"jpeg", withProfileJPEG(jpegOf(t, red), p3Profile()), color.NRGBA{255, 0, 0, 255}},
		{"jpeg turned", withOrientation(withProfileJPEG(jpegOf(t, red), p3Profile()), 6), color.NRGBA{255, 0, 0, 255}},
		{"png", withProfilePNG(t, pngOf(t, red), p3Profile()), color.NRGBA{255, 0, 0, 255}},
		{"png inside sRGB", withProfilePNG(t, pngOf(t, skin), p3Profile()), color.NRGBA{208, 149, 117, 255}},
		{"webp", webpFile(0x20, 32, 32, riffChunk("ICCP", p3Profile()), lossless), color.NRGBA{255, 0, 0, 255}},
		{"corrupt profile", withProfilePNG(t, pngOf(t, skin), make([]byte, 500)), color.NRGBA{200, 150, 120, 255}},
		{"sRGB profile", withProfilePNG(t, pngOf(t, skin), rgbProfile([3][3]float64{
			{0.436066, 0.222488, 0.013916}, {0.385147, 0.716873, 0.097076}, {0.143066, 0.060608, 0.714096},
		})), color.NRGBA{200, 150, 120, 255}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _, err := Encode(t.Context(), tt.src, EncodeOptions{Format: "png"})
			must(t, err)
			if got := decoded(t, out).NRGBAAt(16, 16); !near(got, tt.want, 3) {
				t.Errorf("got %v, want %v within 3", got, tt.want)
			}
		})
	}
}

// What one build cannot do right is refused by name; the other does it.
func TestEncodeRightOrRefused(t *testing.T) {
	t.Parallel()
	// What libvips makes of inks without a profile: they are duller than the screen's colours.
	inks := [4]color.NRGBA{{218, 47, 46, 255}, {115, 173, 54, 255}, {61, 78, 147, 255}, {237, 222, 59, 255}}
	tests := []struct {
		name      string
		src       []byte
		o         EncodeOptions
		want      [4]color.NRGBA
		tolerance int
	}{
		{"heic", media(t, "quadrants.heic"), EncodeOptions{Format: "png"}, quarters, 8},
		{"cmyk jpeg", media(t, "quadrants-cmyk.jpeg"), EncodeOptions{Format: "png"}, inks, 12},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _, err := Encode(t.Context(), tt.src, tt.o)
			if describe().Name == "pure-go" {
				if diff := cmp.Diff(fault.UnsupportedOperation, fault.CodeOf(err)); diff != "" {
					t.Errorf("code (-want +got):\n%s\n%v", diff, err)
				}
				return
			}
			must(t, err)
			checkQuadrants(t, decoded(t, out), tt.want, tt.tolerance)
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	img := gradient(64, 48)
	wide := image.NewGray(image.Rect(0, 0, 16_384, 4))
	tests := []struct {
		name string
		src  []byte
		o    EncodeOptions
		want fault.Code
	}{
		{"no format", pngOf(t, img), EncodeOptions{}, fault.InvalidArgument},
		{"unknown format", pngOf(t, img), EncodeOptions{Format: "tiff"}, fault.InvalidArgument},
		{"quality", pngOf(t, img), EncodeOptions{Format: "jpeg", Quality: 101}, fault.InvalidArgument},
		{"background", pngOf(t, img), EncodeOptions{Format: "jpeg", Background: "white"}, fault.InvalidArgument},
		{"background sign", pngOf(t, img), EncodeOptions{Format: "jpeg", Background: "+12345F"}, fault.InvalidArgument},
		{"lossless jpeg", pngOf(t, img), EncodeOptions{Format: "jpeg", Lossless: true}, fault.UnsupportedOperation},
		{"lossless avif", pngOf(t, img), EncodeOptions{Format: "avif", Lossless: true}, fault.UnsupportedOperation},
		{"too wide for webp", pngOf(t, wide), EncodeOptions{Format: "webp"}, fault.UnsupportedOperation},
		{"animated gif", gifOf(t, 3, 20, 20), EncodeOptions{Format: "png"}, fault.UnsupportedOperation},
		{"pages", twoPageTIFF(t), EncodeOptions{Format: "png"}, fault.UnsupportedOperation},
		{"empty", nil, EncodeOptions{Format: "png"}, fault.InvalidImage},
		{"html", []byte("<html>no</html>"), EncodeOptions{Format: "png"}, fault.InvalidImage},
		{"svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), EncodeOptions{Format: "png"}, fault.InvalidImage},
		{"bomb", bombPNG(30_000, 30_000), EncodeOptions{Format: "png"}, fault.PixelsExceeded},
		{"bmp of 16 bits", deepBMP(t), EncodeOptions{Format: "png"}, fault.UnsupportedOperation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Encode(t.Context(), tt.src, tt.o)
			if diff := cmp.Diff(tt.want, fault.CodeOf(err)); diff != "" {
				t.Errorf("code (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

// A truncated file is an error in every format, wherever it is cut; never a picture that is partly grey.
func TestEncodeRefusesTruncated(t *testing.T) {
	t.Parallel()
	img := gradient(120, 90)
	sources := map[string][]byte{
		"png":           pngOf(t, img),
		"jpeg":          jpegOf(t, img),
		"progressive":   encoded(t, img, EncodeOptions{Format: "jpeg"}),
		"webp":          encoded(t, img, EncodeOptions{Format: "webp"}),
		"webp lossless": encoded(t, img, EncodeOptions{Format: "webp", Lossless: true}),
		"gif":           encoded(t, img, EncodeOptions{Format: "gif"}),
		"bmp":           bmpOf(t, img),
		"tiff":          tiffOf(t, img),
		"avif":          encoded(t, img, EncodeOptions{Format: "avif"}),
	}
	for name, src := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, part := range []float64{0.05, 0.3, 0.5, 0.7, 0.9, 0.98} {
				cut := src[:int(float64(len(src))*part)]
				out, _, err := Encode(t.Context(), cut, EncodeOptions{Format: "png"})
				if fault.CodeOf(err) != fault.InvalidImage {
					t.Errorf("cut at %v: %d bytes out, error %v, want invalid_image", part, len(out), err)
				}
			}
		})
	}
}

func TestEncodeStripsMetadata(t *testing.T) {
	t.Parallel()
	secret := []byte("GPS of the photographer")
	xmp := append([]byte("http://ns.adobe.com/xap/1.0/\x00"), secret...)
	src := withSegment(jpegOf(t, gradient(32, 32)), markerAPP1, xmp)
	for _, format := range []string{"jpeg", "png", "webp"} {
		out, _, err := Encode(t.Context(), src, EncodeOptions{Format: format})
		must(t, err)
		if bytes.Contains(out, secret) {
			t.Errorf("%s: the metadata is still there", format)
		}
	}
}

func TestEncodeCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := Encode(ctx, pngOf(t, gradient(8, 8)), EncodeOptions{Format: "png"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Encode: %v, want context.Canceled", err)
	}
	if _, err := EncodeImage(ctx, gradient(8, 8), EncodeOptions{Format: "png"}); !errors.Is(err, context.Canceled) {
		t.Errorf("EncodeImage: %v, want context.Canceled", err)
	}
}

func TestEncodeImageTakesAnyImage(t *testing.T) {
	t.Parallel()
	big := quadrants(64, 48)
	tests := []struct {
		name string
		img  image.Image
		w, h int
	}{
		{"part", big.SubImage(image.Rect(16, 12, 48, 36)), 32, 24},
		{"one row", big.SubImage(image.Rect(0, 0, 64, 2)), 64, 2},
		{"ycbcr", image.NewYCbCr(image.Rect(0, 0, 10, 8), image.YCbCrSubsampleRatio420), 10, 8},
		{"uniform", image.NewUniform(color.Black), 0, 0},
		{"empty", image.NewNRGBA(image.Rectangle{}), 0, 0},
	}
	for _, tt := range tests {
		out, err := EncodeImage(t.Context(), tt.img, EncodeOptions{Format: "png"})
		if tt.w == 0 {
			if fault.CodeOf(err) == "" {
				t.Errorf("%s: %v, want a refusal", tt.name, err)
			}
			continue
		}
		must(t, err)
		got := decoded(t, out)
		if got.Rect != image.Rect(0, 0, tt.w, tt.h) {
			t.Errorf("%s: %v, want %dx%d", tt.name, got.Rect, tt.w, tt.h)
		}
	}
	part, err := EncodeImage(t.Context(), tests[0].img, EncodeOptions{Format: "png"})
	must(t, err)
	checkQuadrants(t, decoded(t, part), quarters, 0)
}

// bimg's one-step rotation reads freed memory; the two-pass form must give the same bytes whatever the collector does.
func TestEncodeUnderGarbageCollection(t *testing.T) {
	t.Parallel()
	src := withOrientation(jpegOf(t, quadrants(320, 240)), 6)
	want, _, err := Encode(t.Context(), src, EncodeOptions{Format: "webp", Quality: 80})
	must(t, err)
	deadline := time.Now().Add(3 * time.Second)
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
			for ok := true; ok; ok = time.Now().Before(deadline) {
				got, _, err := Encode(context.Background(), src, EncodeOptions{Format: "webp", Quality: 80})
				if err != nil || !bytes.Equal(want, got) {
					t.Errorf("the result changed under the collector: %d bytes, %v, want %d bytes", len(got), err, len(want))
					return
				}
			}
		})
	}
	workers.Wait()
	close(stop)
	collector.Wait()
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	e := Describe()
	if (e.Name != "libvips" && e.Name != "pure-go") || e.Version == "" || len(e.Lacks) == 0 {
		t.Errorf("Describe() = %+v", e)
	}
	for format := range formats {
		_, err := EncodeImage(t.Context(), gradient(16, 16), EncodeOptions{Format: format})
		if can := slices.Contains(e.Write, format); can != (err == nil) {
			t.Errorf("%s: Describe says %v, EncodeImage says %v", format, can, err)
		}
	}
	_, err := decode(t.Context(), media(t, "quadrants.heic"), sniff.DefaultBounds())
	if can := slices.Contains(e.Read, "heic"); can != (err == nil) {
		t.Errorf("heic: Describe says %v, decoding says %v", can, err)
	}
}

func FuzzEncode(f *testing.F) {
	img := gradient(12, 9)
	for _, b := range [][]byte{
		pngOf(f, img), jpegOf(f, img), gifOf(f, 1, 9, 9), bmpOf(f, img), tiffOf(f, img),
		encoded(f, img, EncodeOptions{Format: "webp"}), withOrientation(withProfileJPEG(jpegOf(f, img), p3Profile()), 6),
	} {
		f.Add(b)
	}
	bounds := sniff.DefaultBounds()
	bounds.FramePixels = 1 << 20
	f.Fuzz(func(t *testing.T, b []byte) {
		px, err := decode(t.Context(), b, bounds)
		if err != nil {
			if fault.CodeOf(err) == "" {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		w, h := px.size()
		if int64(w)*int64(h) > bounds.FramePixels || px.image().Rect != image.Rect(0, 0, w, h) {
			t.Fatalf("decoded %dx%d", w, h)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	src := jpegOf(b, gradient(2000, 1500))
	for _, o := range []EncodeOptions{
		{Format: "jpeg", Quality: 82}, {Format: "webp", Quality: 80}, {Format: "png"}, {Format: "avif", Quality: 60},
	} {
		b.Run(o.Format, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Encode(context.Background(), src, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBrief: the short description is the beginning of the long one.
func TestBrief(t *testing.T) {
	t.Parallel()
	brief, full := Brief(), Describe()
	full.Read, full.Write, full.Lacks = nil, nil, nil
	if diff := cmp.Diff(full, brief); diff != "" || brief.Name == "" || brief.Version == "" {
		t.Errorf("Brief (-want +got):\n%s", diff)
	}
}

// TestCanWrite agrees with the long description.
func TestCanWrite(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"png", "jpeg", "webp", "gif", "avif", "heic", "tga", ""} {
		if got, want := CanWrite(format), slices.Contains(Describe().Write, format); got != want {
			t.Errorf("CanWrite(%q) = %v, want %v", format, got, want)
		}
	}
}

// TestWhole: a picture that lacks its end is found without decoding, whatever the cut, and one with something behind
// its end passes.
func TestWhole(t *testing.T) {
	t.Parallel()
	img := gradient(90, 60)
	whole := func(b []byte) error {
		info, err := Probe(bytes.NewReader(b), int64(len(b)), sniff.DefaultBounds())
		if err != nil {
			return err
		}
		return Whole(bytes.NewReader(b), int64(len(b)), info)
	}
	for format, b := range map[string][]byte{
		"png": pngOf(t, img), "webp": encoded(t, img, EncodeOptions{Format: "webp"}), "jpeg": jpegOf(t, img),
	} {
		if err := whole(b); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if err := whole(append(bytes.Clone(b), "behind the end"...)); err != nil {
			t.Errorf("%s with something behind: %v", format, err)
		}
		for n := len(b) / 2; format != "jpeg" && n < len(b)-4; n++ { // the checksum at the end is nobody's chunk
			if err := whole(b[:n]); fault.CodeOf(err) != fault.InvalidImage {
				t.Fatalf("%s cut to %d of %d bytes: %v", format, n, len(b), err)
			}
		}
	}
}
