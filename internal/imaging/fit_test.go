package imaging

import (
	"context"
	"image"
	"image/color"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// fitSources are the four quarters in the kinds of pixels that decoders give, and in odd shapes.
func fitSources(tb testing.TB) map[string][]byte {
	tb.Helper()
	img := quadrants(160, 120)
	deep, grey := image.NewNRGBA64(img.Rect), image.NewGray(img.Rect)
	glass := image.NewNRGBA(img.Rect)
	for y := range 120 {
		for x := range 160 {
			deep.Set(x, y, img.At(x, y))
			grey.Set(x, y, img.At(x, y))
			c := img.NRGBAAt(x, y)
			if x == 80 { // a slit down the middle, where no point is tested
				c.A = 0
			}
			glass.SetNRGBA(x, y, c)
		}
	}
	return map[string][]byte{
		"rgb": pngOf(tb, img), "rgba": pngOf(tb, glass), "16 bits": pngOf(tb, deep), "grey": pngOf(tb, grey),
		"jpeg": jpegOf(tb, img), "wide": pngOf(tb, quadrants(400, 30)), "tall": pngOf(tb, quadrants(30, 400)),
		"small": pngOf(tb, quadrants(12, 8)),
	}
}

// greys are the quarters without colour.
func greys() (want [4]color.NRGBA) {
	for i, q := range quarters {
		y := color.GrayModel.Convert(q).(color.Gray).Y
		want[i] = color.NRGBA{y, y, y, 255}
	}
	return want
}

// Six points of each result: the middles of the quarters of the picture, and the middles of both bars.
func TestFit(t *testing.T) {
	t.Parallel()
	bars := map[string]color.NRGBA{
		"": {A: 255}, "black": {A: 255}, "white": {255, 255, 255, 255}, "#204060": {0x20, 0x40, 0x60, 255},
		"#20406080": {0x20, 0x40, 0x60, 0x80}, "#11223300": {}, // what is transparent has no colour
	}
	for name, src := range fitSources(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := quarters
			if name == "grey" {
				want = greys()
			}
			info := probed(t, src)
			for _, size := range []image.Point{{128, 72}, {72, 128}, {201, 199}} {
				for _, mode := range []Mode{Cover, Stretch} {
					r := converted(t, src, Spec{Format: "png", Box: &Box{Width: size.X, Height: size.Y, Mode: mode}})
					out := decoded(t, r.Data)
					if diff := cmp.Diff(size, out.Rect.Size()); diff != "" {
						t.Fatalf("%s: size (-want +got):\n%s", mode, diff)
					}
					checkQuadrants(t, out, want, 12)
				}
				for fill, bar := range bars {
					r := converted(t, src, Spec{Format: "png", Box: &Box{Width: size.X, Height: size.Y, Mode: Contain, Bars: fill}})
					checkContained(t, decoded(t, r.Data), size, info, want, bar)
				}
			}
		})
	}
}

func checkContained(t *testing.T, out *image.NRGBA, size image.Point, info Info, want [4]color.NRGBA, bar color.NRGBA) {
	t.Helper()
	if diff := cmp.Diff(size, out.Rect.Size()); diff != "" {
		t.Fatalf("contain: size (-want +got):\n%s", diff)
	}
	scale := min(float64(size.X)/float64(info.Width), float64(size.Y)/float64(info.Height))
	w, h := int(math.Round(scale*float64(info.Width))), int(math.Round(scale*float64(info.Height)))
	at := image.Rect(0, 0, w, h).Add(image.Pt((size.X-w)/2, (size.Y-h)/2))
	inner := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		copy(inner.Pix[4*w*y:], out.Pix[out.PixOffset(at.Min.X, at.Min.Y+y):][:4*w])
	}
	tolerance := 8
	if min(w, h, info.Width) < 16 { // every pixel is beside an edge
		tolerance = 24
	}
	checkQuadrants(t, inner, want, tolerance)
	points := []image.Point{{at.Min.X / 2, size.Y / 2}, {(at.Max.X + size.X) / 2, size.Y / 2}}
	if at.Min.X == 0 {
		points = []image.Point{{size.X / 2, at.Min.Y / 2}, {size.X / 2, (at.Max.Y + size.Y) / 2}}
	}
	for _, p := range points {
		if p.In(at) {
			continue // it fits without bars
		}
		if got := out.NRGBAAt(p.X, p.Y); !near(got, bar, 0) {
			t.Errorf("bar at %v is %v, want %v", p, got, bar)
		}
	}
}

// Blurred bars are opaque, carry the colours of the picture behind them and have no edge.
func TestFitBlur(t *testing.T) {
	t.Parallel()
	for name, src := range fitSources(t) {
		if name == "grey" {
			continue
		}
		r := converted(t, src, Spec{Format: "png", Box: &Box{Width: 400, Height: 100, Mode: Contain, Bars: "blur"}})
		out := decoded(t, r.Data)
		if r.Info.Alpha && !out.Opaque() {
			t.Errorf("%s: the result is not opaque", name)
		}
		if name == "wide" {
			continue // it has its bars above and below
		}
		for i, p := range []image.Point{{20, 10}, {379, 10}, {20, 89}, {379, 89}} {
			if got := out.NRGBAAt(p.X, p.Y); !near(got, quarters[i], 75) {
				t.Errorf("%s: bar at %v is %v, want something like %v", name, p, got, quarters[i])
			}
		}
		for y := 1; y < 100; y++ {
			if a, b := out.NRGBAAt(10, y-1), out.NRGBAAt(10, y); !near(a, b, 16) {
				t.Fatalf("%s: the bar has an edge at %d: %v and %v", name, y, a, b)
			}
		}
	}
}

// A blur keeps the light of what it blurs.
func TestBoxBlurKeepsTheMean(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 64, 48))
	copy(img.Pix, noise(64, 48))
	mean := func(img *image.NRGBA) float64 {
		sum := 0
		for i, v := range img.Pix {
			if i%4 != 3 {
				sum += int(v)
			}
		}
		return float64(sum) / float64(len(img.Pix)/4*3)
	}
	before, out := mean(img), img
	for range 3 {
		out = boxBlur(boxBlur(out, 4), img.Stride)
	}
	if after := mean(out); math.Abs(after-before) > 1.5 {
		t.Errorf("the mean went from %.2f to %.2f", before, after)
	}
	if !out.Opaque() {
		t.Error("the blur is not opaque")
	}
	for _, size := range []image.Point{{1, 1}, {1, 30}, {30, 1}, {3, 3}} { // smaller than the blur is wide
		dot := image.NewNRGBA(image.Rectangle{Max: size})
		for i := range dot.Pix {
			dot.Pix[i] = 200
		}
		out := boxBlur(boxBlur(dot, 4), dot.Stride)
		if diff := cmp.Diff(dot.Pix, out.Pix); diff != "" {
			t.Errorf("%v: a flat picture changed (-want +got):\n%s", size, diff)
		}
	}
}

func TestFitMatch(t *testing.T) {
	t.Parallel()
	src := pngOf(t, quadrants(160, 90))
	tests := []struct {
		name string
		w, h int
		ok   bool
	}{
		{"larger", 1280, 720, true},
		{"smaller", 32, 18, true},
		{"within 1 %", 161, 90, true},
		{"2 % off", 163, 90, false},
		{"turned", 90, 160, false},
		{"square", 100, 100, false},
	}
	for _, tt := range tests {
		r, err := Convert(t.Context(), src, Spec{Format: "png", Box: &Box{Width: tt.w, Height: tt.h, Mode: Match}})
		if !tt.ok {
			if fault.CodeOf(err) != fault.ConstraintUnmet {
				t.Errorf("%s: %v, want constraint_unmet", tt.name, err)
			}
			continue
		}
		must(t, err)
		if r.Info.Width != tt.w || r.Info.Height != tt.h {
			t.Errorf("%s: %dx%d, want %dx%d", tt.name, r.Info.Width, r.Info.Height, tt.w, tt.h)
		}
		checkQuadrants(t, decoded(t, r.Data), quarters, 8)
	}
}

// Boxes of one pixel, and lines of pixels into boxes: every mode gives the exact size and needs little memory, however
// far the shapes are apart.
func TestFitExtremes(t *testing.T) {
	sources := map[string][]byte{
		"dot": pngOf(t, quadrants(1, 1)), "row": pngOf(t, image.NewGray(image.Rect(0, 0, 16_384, 1))),
		"column": pngOf(t, image.NewGray(image.Rect(0, 0, 1, 16_384))), "picture": pngOf(t, quadrants(40, 30)),
	}
	for name, src := range sources {
		for _, size := range []image.Point{{1, 1}, {1, 16_000}, {50, 1}, {640, 360}} {
			for _, s := range []Box{{Mode: Cover}, {Mode: Stretch}, {Mode: Contain}, {Mode: Contain, Bars: "blur"}} {
				s.Width, s.Height = size.X, size.Y
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				r, err := Convert(context.Background(), src, Spec{Format: "png", Box: &s})
				if err != nil {
					t.Errorf("%s to %+v: %v", name, s, err)
					continue
				}
				runtime.ReadMemStats(&after)
				if info := r.Info; !r.Untouched && (info.Width != size.X || info.Height != size.Y) {
					t.Errorf("%s to %+v: %dx%d", name, s, info.Width, info.Height)
				}
				if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 200 {
					t.Errorf("%s to %+v: %d MiB allocated", name, s, took)
				}
			}
		}
	}
}
