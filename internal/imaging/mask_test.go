package imaging

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// maskImage is opaque but for a transparent square of 10x10, and a half transparent one.
func maskImage() *image.NRGBA {
	img := gradient(40, 30)
	for y := range 10 {
		for x := range 10 {
			img.SetNRGBA(x, y, color.NRGBA{})
			img.SetNRGBA(x+20, y+10, color.NRGBA{A: 128})
		}
	}
	return img
}

func inspect(b []byte) (MaskInfo, error) {
	return InspectMask(bytes.NewReader(b), int64(len(b)), sniff.DefaultBounds())
}

func TestInspectMask(t *testing.T) {
	t.Parallel()
	deep := image.NewNRGBA64(image.Rect(0, 0, 40, 30))
	pal := image.NewPaletted(deep.Rect, color.Palette{color.NRGBA{}, color.Black})
	for y := range 30 {
		for x := range 40 {
			deep.Set(x, y, maskImage().At(x, y))
			pal.SetColorIndex(x, y, 1)
		}
	}
	for x := range 40 {
		pal.SetColorIndex(x, 7, 0)
	}
	tests := []struct {
		name        string
		src         []byte
		alpha       bool
		transparent int64
		code        fault.Code
	}{
		{"mask", pngOf(t, maskImage()), true, 100, ""},
		{"16 bits", pngOf(t, deep), true, 100, ""},
		{"palette", pngOf(t, pal), true, 40, ""},
		{"no alpha", pngOf(t, gradient(40, 30)), false, 0, ""},
		{"jpeg", jpegOf(t, gradient(40, 30)), false, 0, fault.InvalidImage},
		{"cut short", pngOf(t, maskImage())[:150], false, 0, fault.InvalidImage},
		{"bomb", bombPNG(30_000, 30_000), false, 0, fault.PixelsExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := inspect(tt.src)
			if diff := cmp.Diff(tt.code, fault.CodeOf(err)); diff != "" {
				t.Fatalf("code (-want +got):\n%s\n%v", diff, err)
			}
			if got.Alpha != tt.alpha || got.Transparent != tt.transparent || err == nil && got.Width != 40 {
				t.Errorf("got %+v, want alpha %v, %d transparent", got, tt.alpha, tt.transparent)
			}
		})
	}
}

func TestMaskFromWhite(t *testing.T) {
	t.Parallel()
	drawn := image.NewGray(image.Rect(0, 0, 64, 48))
	stroke := image.NewNRGBA(drawn.Rect) // white on nothing, as drawing tools export it
	for y := range 24 {
		for x := range 32 {
			drawn.SetGray(x, y, color.Gray{Y: 255})
			stroke.SetNRGBA(x, y, color.NRGBA{255, 255, 255, 255})
		}
	}
	// A provider's mask: white, but transparent. On black it has no white.
	finished := image.NewNRGBA(drawn.Rect)
	for i := range 64 * 48 {
		copy(finished.Pix[4*i:], []byte{255, 255, 255, 0})
	}
	open, kept := color.NRGBA{}, color.NRGBA{A: 255}
	tests := []struct {
		name string
		src  []byte
		want [4]color.NRGBA
		code fault.Code
	}{
		{"png", pngOf(t, drawn), [4]color.NRGBA{open, kept, kept, kept}, ""},
		{"jpeg", jpegOf(t, drawn), [4]color.NRGBA{open, kept, kept, kept}, ""},
		{"turned", withOrientation(jpegOf(t, drawn), 3), [4]color.NRGBA{kept, kept, kept, open}, ""},
		{"stroke", pngOf(t, stroke), [4]color.NRGBA{open, kept, kept, kept}, ""},
		{"black", pngOf(t, image.NewGray(drawn.Rect)), [4]color.NRGBA{}, fault.InvalidImage},
		{"a mask already", pngOf(t, finished), [4]color.NRGBA{}, fault.InvalidImage},
		{"bomb", bombPNG(30_000, 30_000), [4]color.NRGBA{}, fault.PixelsExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := MaskFromWhite(tt.src, sniff.DefaultBounds())
			if diff := cmp.Diff(tt.code, fault.CodeOf(err)); diff != "" {
				t.Fatalf("code (-want +got):\n%s\n%v", diff, err)
			}
			if err != nil {
				return
			}
			checkQuadrants(t, decoded(t, out), tt.want, 0)
			m, err := inspect(out)
			must(t, err)
			if !m.Alpha || m.Transparent < 32*24-64 || m.Transparent > 32*24+64 {
				t.Errorf("%d transparent pixels, want about %d", m.Transparent, 32*24)
			}
		})
	}
}
