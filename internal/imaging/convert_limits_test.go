package imaging

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// A truncated file is an error at every size, also where the decoder shrinks and need not read all of it.
func TestConvertRefusesTruncated(t *testing.T) {
	t.Parallel()
	img := gradient(240, 180)
	for name, src := range map[string][]byte{
		"png":         pngOf(t, img),
		"jpeg":        jpegOf(t, img),
		"turned":      withOrientation(jpegOf(t, img), 6),
		"progressive": encoded(t, img, EncodeOptions{Format: "jpeg"}),
		"webp":        encoded(t, img, EncodeOptions{Format: "webp"}),
		"gif":         gifOf(t, 1, 200, 200),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, part := range []float64{0.3, 0.5, 0.9, 0.97} {
				for _, s := range []Spec{{Format: "png"}, {MaxSide: 100, Format: "jpeg"}, {MaxSide: 20, FirstFrame: true, Format: "jpeg"}} {
					r, err := Convert(t.Context(), src[:int(float64(len(src))*part)], s)
					if fault.CodeOf(err) != fault.InvalidImage {
						t.Errorf("cut at %v, %+v: %d bytes out, %v, want invalid_image", part, s, len(r.Data), err)
					}
				}
			}
		})
	}
}

// TestConvertLeavesNothingThatIsCut: a file that would fit is refused too when it lacks its end.
func TestConvertLeavesNothingThatIsCut(t *testing.T) {
	t.Parallel()
	img := gradient(240, 180)
	for name, src := range map[string][]byte{
		"png": pngOf(t, img), "jpeg": jpegOf(t, img), "webp": encoded(t, img, EncodeOptions{Format: "webp"}),
		"progressive": encoded(t, img, EncodeOptions{Format: "jpeg"}),
	} {
		s := Spec{MaxBytes: 1 << 20}
		if r, err := Convert(t.Context(), src, s); err != nil || !r.Untouched {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if r, err := Convert(t.Context(), src[:len(src)-20], s); fault.CodeOf(err) != fault.InvalidImage {
			t.Errorf("%s without its end: untouched %v, %v", name, r.Untouched, err)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		src  []byte
		want fault.Code
	}{
		{"empty", []byte{}, fault.InvalidImage},
		{"nil", nil, fault.InvalidImage},
		{"random", []byte("\x01\x02\x03\x04\x05\x06\x07\x08"), fault.InvalidImage},
		{"html", []byte("<!doctype html><html>503</html>"), fault.InvalidImage},
		{"svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="200000" height="200000"/>`), fault.InvalidImage},
		{"svg with a prologue", []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), fault.InvalidImage},
		{"pdf", []byte("%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\n"), fault.InvalidImage},
		{"jpeg xl", []byte("\xff\x0a\xfa\x7f\x01\x90\x08\x06\x01"), fault.InvalidImage},
		{"ppm", []byte("P6 1 1 255 \x00\x00\x00"), fault.InvalidImage},
		{"jpeg without pixels", jpegOf(t, gradient(64, 64))[:20], fault.InvalidImage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range []Spec{{Format: "png"}, {MaxSide: 100}, {MaxBytes: 1 << 20}} {
				r, err := Convert(t.Context(), tt.src, s)
				if diff := cmp.Diff(tt.want, fault.CodeOf(err)); diff != "" || r.Data != nil || r.Untouched {
					t.Errorf("%+v: code (-want +got):\n%s\n%v", s, diff, err)
				}
			}
		})
	}
}

// bombJPEG announces w x h pixels in its frame header.
func bombJPEG(tb testing.TB, w, h int) []byte {
	tb.Helper()
	b := jpegOf(tb, gradient(16, 16))
	at := bytes.Index(b, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(b[at+5:], uint16(h))
	binary.BigEndian.PutUint16(b[at+7:], uint16(w))
	return b
}

// What the header says is enough: no pixel is decoded, nothing is put on the disk.
func TestConvertRefusesBombs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for name, src := range map[string][]byte{
		"png": bombPNG(30_000, 30_000), "jpeg": bombJPEG(t, 30_000, 30_000), "pixels": bombPNG(16_000, 16_000),
	} {
		began := time.Now()
		for _, s := range []Spec{{Format: "png"}, {MaxSide: 64}, {Format: Auto}, {Format: "jpeg", FirstFrame: true}} {
			_, err := Convert(t.Context(), src, s)
			if diff := cmp.Diff(fault.PixelsExceeded, fault.CodeOf(err)); diff != "" {
				t.Errorf("%s, %+v: code (-want +got):\n%s\n%v", name, s, diff, err)
			}
		}
		took := time.Since(began) / 4
		t.Logf("%s: %v", name, took)
		if took > 500*time.Millisecond {
			t.Errorf("%s: refused after %v, want less than 100 ms and never 500", name, took)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files %q, %v, want none", left, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Errorf("the directory for temporary files is not empty: %v", err)
	}
}

// Above 100 MB of pixels libvips would work in a temporary file, and fail where none can be made.
func TestConvertMakesNoTemporaryFile(t *testing.T) {
	if testing.Short() {
		t.Skip("a large picture")
	}
	src := jpegOf(t, image.NewGray(image.Rect(0, 0, 9000, 4000)))
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	r := converted(t, src, Spec{Format: "jpeg", Quality: 40})
	if diff := cmp.Diff(9000, r.Info.Width); diff != "" {
		t.Errorf("width (-want +got):\n%s", diff)
	}
}

func TestConvertOnePixel(t *testing.T) {
	t.Parallel()
	dot := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	dot.SetNRGBA(0, 0, color.NRGBA{10, 200, 30, 255})
	for _, s := range []Spec{
		{Format: "png"},
		{Format: "jpeg"},
		{Format: "webp"},
		{Format: "avif"},
		{Format: Auto, Measure: true},
		{Format: "jpeg", MaxBytes: MinBudget},
		{Format: "webp", MinSSIM: 0.9},
	} {
		r := converted(t, pngOf(t, dot), s)
		if got := shown(t, pngOf(t, dot), r).NRGBAAt(0, 0); !near(got, color.NRGBA{10, 200, 30, 255}, 12) {
			t.Errorf("%+v: %v, want the dot", s, got)
		}
	}
	r := converted(t, pngOf(t, dot), Spec{Format: "png", Box: &Box{Width: 40, Height: 30, Mode: Stretch}})
	checkQuadrants(t, decoded(t, r.Data), [4]color.NRGBA{
		{10, 200, 30, 255}, {10, 200, 30, 255}, {10, 200, 30, 255}, {10, 200, 30, 255},
	}, 0)
}

// fits, plain and result: what is left alone byte for byte.
func TestConvertLeavesAlone(t *testing.T) {
	t.Parallel()
	jpg, png := jpegOf(t, gradient(200, 150)), pngOf(t, gradient(200, 150))
	poor := encoded(t, gradient(200, 150), EncodeOptions{Format: "jpeg", Quality: 30})
	srgb := rgbProfile([3][3]float64{
		{0.436066, 0.222488, 0.013916}, {0.385147, 0.716873, 0.097076}, {0.143066, 0.060608, 0.714096},
	})
	exact := &Box{Width: 200, Height: 150, Mode: Cover}
	tests := []struct {
		name string
		src  []byte
		s    Spec
		want bool
	}{
		{"within a side", jpg, Spec{MaxSide: 200}, true},
		{"above a side", jpg, Spec{MaxSide: 199}, false},
		{"within a budget", jpg, Spec{MaxBytes: int64(len(jpg))}, true},
		{"above a budget", jpg, Spec{MaxBytes: int64(len(jpg)) - 1}, false},
		{"the box's size", jpg, Spec{Box: exact}, true},
		{"another size than the box's", jpg, Spec{Box: &Box{Width: 200, Height: 151}}, false},
		{"all limits", jpg, Spec{MaxSide: 300, MaxBytes: 1 << 20, Format: "JPG"}, true},
		{"the same format", jpg, Spec{Format: "jpeg", MaxSide: 500}, true},
		{"another format", jpg, Spec{Format: "webp", MaxSide: 500}, false},
		{"auto", jpg, Spec{Format: Auto, MaxSide: 500}, true},
		{"auto without a limit", jpg, Spec{Format: Auto}, false},
		{"a quality", jpg, Spec{MaxSide: 500, Quality: 80}, false},
		{"a floor", jpg, Spec{MaxSide: 500, MinSSIM: 0.5}, false},
		{"a floor and a budget", jpg, Spec{MaxBytes: 1 << 20, MinSSIM: 0.5}, true},
		{"on its side", withOrientation(jpg, 6), Spec{MaxSide: 500}, false},
		{"wide gamut", withProfileJPEG(jpg, p3Profile()), Spec{MaxSide: 500}, false},
		{"sRGB by name", withProfileJPEG(jpg, srgb), Spec{MaxSide: 500}, true},
		{"png", png, Spec{MaxSide: 500}, true},
		{"bmp cannot be written", bmpOf(t, gradient(20, 20)), Spec{MaxSide: 500}, false},
		{"tiff cannot be written", tiffOf(t, gradient(20, 20)), Spec{MaxSide: 500}, false},
		{"still gif cannot be written", gifOf(t, 1, 20, 20), Spec{MaxSide: 500}, false},
		{"animation of one frame's size", gifOf(t, 3, 20, 20), Spec{MaxSide: 500}, true},
		{"no limit, and smaller", jpg, Spec{}, false},
		{"no limit, and not smaller", poor, Spec{}, true},
		{"no limit, not smaller, but on its side", withOrientation(poor, 3), Spec{}, false},
		{"no limit, not smaller, another format", poor, Spec{Format: "png"}, false},
		{"no limit, not smaller, a quality", poor, Spec{Quality: 95}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := bytes.Clone(tt.src)
			r := converted(t, tt.src, tt.s)
			if diff := cmp.Diff(tt.want, r.Untouched); diff != "" {
				t.Errorf("untouched (-want +got):\n%s\n%+v", diff, r.Info)
			}
			if r.Untouched != (r.Data == nil) {
				t.Errorf("untouched %v with %d bytes", r.Untouched, len(r.Data))
			}
			if r.Untouched && r.Info != probed(t, tt.src) {
				t.Errorf("info %+v is not the source's", r.Info)
			}
			if !bytes.Equal(before, tt.src) {
				t.Error("the source was changed")
			}
		})
	}
}

func TestConvertChecksItsSpec(t *testing.T) {
	t.Parallel()
	bad := map[string]Spec{
		"quality -1": {Quality: -1}, "quality 101": {Quality: 101},
		"ssim NaN": {MinSSIM: math.NaN()}, "ssim inf": {MinSSIM: math.Inf(1)}, "ssim -inf": {MinSSIM: math.Inf(-1)},
		"ssim -0.1": {MinSSIM: -0.1}, "ssim 1.1": {MinSSIM: 1.1},
		"budget 1": {MaxBytes: 1}, "budget 1023": {MaxBytes: 1023}, "budget -1": {MaxBytes: -1},
		"side 1": {MaxSide: 1}, "side 15": {MaxSide: 15}, "side -1": {MaxSide: -1},
		"format": {Format: "tiff"}, "gif": {Format: "gif"}, "jxl": {Format: "jxl"},
		"colour": {Background: "white"}, "short colour": {Background: "#FFF"}, "colour with alpha": {Background: "#11223344"},
		"sign": {Background: "#+12345"}, "no hash": {Background: "1234567"},
		"empty box": {Box: &Box{}}, "flat box": {Box: &Box{Width: 10}}, "negative box": {Box: &Box{Width: -1, Height: 9}},
		"wide box": {Box: &Box{Width: 16_385, Height: 9}}, "big box": {Box: &Box{Width: 16_384, Height: 16_384}},
		"mode": {Box: &Box{Width: 9, Height: 9, Mode: "fill"}}, "bars": {Box: &Box{Width: 9, Height: 9, Bars: "red"}},
		"short bars": {Box: &Box{Width: 9, Height: 9, Bars: "#FFF"}}, "bars' hash": {Box: &Box{Width: 9, Height: 9, Bars: "1122334"}},
		"bars' sign": {Box: &Box{Width: 9, Height: 9, Bars: "#+112233"}}, "hash": {Box: &Box{Width: 9, Height: 9, Bars: "#"}},
		"long bars": {Box: &Box{Width: 9, Height: 9, Bars: "#1122334455"}},
	}
	src := jpegOf(t, gradient(32, 32))
	for name, s := range bad {
		if _, err := Convert(t.Context(), src, s); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v, want invalid_argument", name, err)
		}
	}
	good := []Spec{
		{Quality: 1},
		{Quality: 100},
		{MinSSIM: math.SmallestNonzeroFloat64},
		{MaxBytes: MinBudget},
		{MaxSide: 16},
		{Format: "JPEG"},
		{Format: "WebP"},
		{Background: "#a1B2c3"},
		{Box: &Box{Width: 1, Height: 1}},
		{Box: &Box{Width: 9, Height: 9, Bars: "#11223344"}},
	}
	for _, s := range good {
		if _, err := Convert(t.Context(), src, s); fault.CodeOf(err) == fault.InvalidArgument {
			t.Errorf("%+v: %v, want no complaint", s, err)
		}
	}
}

// Bounds above and below the usual ones hold for the source; the result is ours and is not measured by them.
func TestConvertBounds(t *testing.T) {
	t.Parallel()
	src := pngOf(t, image.NewGray(image.Rect(0, 0, 16_500, 20)))
	wide := sniff.DefaultBounds()
	wide.Side = 20_000
	if _, err := Convert(t.Context(), src, Spec{Format: "jpeg"}); fault.CodeOf(err) != fault.PixelsExceeded {
		t.Errorf("usual bounds: %v, want pixels_exceeded", err)
	}
	for _, s := range []Spec{{Format: "jpeg", Measure: true}, {Format: "jpeg", MinSSIM: 0.5}, {Format: "png"}} {
		s.Bounds = wide
		r := converted(t, src, s)
		if diff := cmp.Diff(16_500, r.Info.Width); diff != "" {
			t.Errorf("%+v: width (-want +got):\n%s", s, diff)
		}
	}
	narrow := sniff.DefaultBounds()
	narrow.Side = 100
	r := converted(t, pngOf(t, gradient(50, 50)), Spec{
		Format: "jpeg", Measure: true, Bounds: narrow, Box: &Box{Width: 200, Height: 200, Mode: Stretch},
	})
	if diff := cmp.Diff(200, r.Info.Width); diff != "" {
		t.Errorf("enlarged: width (-want +got):\n%s", diff)
	}
}

func TestConvertCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Convert(ctx, jpegOf(t, gradient(64, 64)), Spec{Format: "png"}); !errors.Is(err, context.Canceled) {
		t.Errorf("before: %v, want context.Canceled", err)
	}
	if brief().Name == "pure-go" {
		return // Go's decoders run to their end
	}
	src := jpegOf(t, quadrants(4000, 3000))
	for _, orientation := range []int{1, 6} {
		for _, side := range []int{0, 1500} {
			s := Spec{Format: "jpeg", Quality: 50, MaxSide: side}
			turned := withOrientation(src, orientation)
			began := time.Now()
			_, err := Convert(t.Context(), turned, s)
			must(t, err)
			whole := time.Since(began)
			ctx, cancel := context.WithTimeout(t.Context(), whole/20)
			began = time.Now()
			_, err = Convert(ctx, turned, s)
			took := time.Since(began)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("orientation %d, side %d: %v, want context.DeadlineExceeded", orientation, side, err)
			}
			t.Logf("orientation %d, side %d: stopped after %v of %v", orientation, side, took, whole)
			if took > whole/2+time.Second/2 {
				t.Error("this is not soon")
			}
		}
	}
}
