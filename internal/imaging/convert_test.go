package imaging

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func TestConvertTurnsUpright(t *testing.T) {
	t.Parallel()
	plain := jpegOf(t, quadrants(400, 300))
	for orientation := 1; orientation <= 8; orientation++ {
		for _, side := range []int{0, 300, 120, 40} { // none, resize only, decoders that shrink by 2 and by 8
			w, h := 400, 300
			if side > 0 {
				w, h = side, side*3/4
			}
			if orientation >= 5 {
				w, h = h, w
			}
			r := converted(t, withOrientation(plain, orientation), Spec{Format: "png", MaxSide: side})
			want := Info{Format: "png", MIME: "image/png", Width: w, Height: h, Frames: 1, Orientation: 1}
			if diff := cmp.Diff(want, r.Info); diff != "" {
				t.Errorf("orientation %d, side %d (-want +got):\n%s", orientation, side, diff)
			}
			checkQuadrants(t, decoded(t, r.Data), turned(orientation), 6)
		}
	}
}

// A phone's picture: Display P3, turned, and shrunk by the decoder.
func TestConvertWideGamutTurnedAndShrunk(t *testing.T) {
	t.Parallel()
	colours := [4]color.NRGBA{{255, 0, 0, 255}, {200, 150, 120, 255}, {128, 128, 128, 255}, {255, 255, 255, 255}}
	golden := [4]color.NRGBA{{255, 0, 0, 255}, {208, 149, 117, 255}, {128, 128, 128, 255}, {255, 255, 255, 255}}
	img := image.NewNRGBA(image.Rect(0, 0, 400, 300))
	for y := range 300 {
		for x := range 400 {
			img.SetNRGBA(x, y, colours[x/200+2*(y/150)])
		}
	}
	src := withOrientation(withProfileJPEG(jpegOf(t, img), p3Profile()), 6)
	for _, side := range []int{0, 300, 100, 32} {
		r := converted(t, src, Spec{Format: "png", MaxSide: side})
		var want [4]color.NRGBA
		for i, q := range orientations[6] {
			want[i] = golden[q]
		}
		checkQuadrants(t, decoded(t, r.Data), want, 3)
	}
	if r := converted(t, src, Spec{MaxSide: 1000}); r.Untouched {
		t.Error("a wide-gamut picture on its side was taken for a plain one")
	}
}

func TestConvertReads(t *testing.T) {
	t.Parallel()
	img := quadrants(64, 48)
	box := image.Rect(0, 0, 64, 48)
	grey, grey16, deep := image.NewGray(box), image.NewGray16(box), image.NewNRGBA64(box)
	pal := image.NewPaletted(box, color.Palette{quarters[0], quarters[1], quarters[2], quarters[3]})
	glass := image.NewNRGBA64(box)
	for y := range 48 {
		for x := range 64 {
			grey.SetGray(x, y, color.Gray{Y: 90})
			grey16.SetGray16(x, y, color.Gray16{Y: 90 * 257})
			deep.Set(x, y, img.At(x, y))
			pal.Set(x, y, img.At(x, y))
			glass.SetNRGBA64(x, y, color.NRGBA64{R: 200 * 257, G: 100 * 257, B: 50 * 257, A: 128 * 257})
		}
	}
	same := func(c color.NRGBA) [4]color.NRGBA { return [4]color.NRGBA{c, c, c, c} }
	inks := [4]color.NRGBA{{218, 47, 46, 255}, {115, 173, 54, 255}, {61, 78, 147, 255}, {237, 222, 59, 255}}
	tests := []struct {
		name      string
		src       []byte
		want      [4]color.NRGBA
		tolerance int
	}{
		{"png", pngOf(t, img), quarters, 1},
		{"palette", pngOf(t, pal), quarters, 1},
		{"16 bits", pngOf(t, deep), quarters, 1},
		{"16 bits with alpha", pngOf(t, glass), same(color.NRGBA{200, 100, 50, 128}), 1},
		{"grey", pngOf(t, grey), same(color.NRGBA{90, 90, 90, 255}), 1},
		{"grey 16 bits", pngOf(t, grey16), same(color.NRGBA{90, 90, 90, 255}), 1},
		{"bmp", bmpOf(t, img), quarters, 1},
		{"tiff", tiffOf(t, img), quarters, 1},
		{"first page", twoPageTIFF(t), quarters, 2},
		{"gif", encoded(t, img, EncodeOptions{Format: "gif"}), quarters, 4},
		{"first frame of webp", animatedWebP(t), quarters, 2},
		{"first frame of apng", apng(t), quarters, 1},
		{"webp", encoded(t, img, EncodeOptions{Format: "webp"}), quarters, 4},
		{"avif", encoded(t, img, EncodeOptions{Format: "avif"}), quarters, 5},
		{"avif of libheif", media(t, "quadrants.avif"), quarters, 6},
		{"heic", media(t, "quadrants.heic"), quarters, 8},
		{"cmyk", media(t, "quadrants-cmyk.jpeg"), inks, 12},
	}
	for _, tt := range tests {
		for _, side := range []int{0, 24} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				w, h := probed(t, tt.src).Upright()
				if max(w, h) > side && side > 0 {
					w, h = side, (h*side+w/2)/w
				}
				r := converted(t, tt.src, Spec{Format: "png", MaxSide: side, FirstFrame: true})
				if diff := cmp.Diff([]int{w, h}, []int{r.Info.Width, r.Info.Height}); diff != "" {
					t.Errorf("size (-want +got):\n%s", diff)
				}
				checkQuadrants(t, shown(t, tt.src, r), tt.want, tt.tolerance)
			})
		}
	}
}

// Red beside nothing: what is mixed at the edge stays red, for transparent black has no colour to give.
func TestConvertKeepsAlphaEdgesClean(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 93, 93))
	for y := range 93 {
		for x := range 46 {
			img.SetNRGBA(x, y, color.NRGBA{255, 0, 0, 255})
		}
	}
	for _, side := range []int{40, 31, 17} {
		r := converted(t, pngOf(t, img), Spec{Format: "png", MaxSide: side})
		out, mixed := decoded(t, r.Data), 0
		for i := 0; i < len(out.Pix); i += 4 {
			p := out.Pix[i : i+4]
			if p[3] > 8 && (p[0] < 250 || p[1] > 5 || p[2] > 5) {
				t.Fatalf("side %d: pixel %v in a picture of nothing but red", side, p)
			}
			if p[3] > 8 && p[3] < 247 {
				mixed++
			}
		}
		if mixed == 0 {
			t.Errorf("side %d: no pixel on the edge, so nothing was tested", side)
		}
	}
}

func TestConvertFlattens(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		copy(img.Pix[4*i:], []byte{255, 0, 0, 128})
	}
	tests := []struct {
		background string
		want       color.NRGBA
		note       string
	}{
		{"", color.NRGBA{255, 127, 127, 255}, "jpeg has no transparency: it was laid on #FFFFFF"},
		{"#00FF00", color.NRGBA{128, 127, 0, 255}, "jpeg has no transparency: it was laid on #00FF00"},
		{"#000000", color.NRGBA{128, 0, 0, 255}, "jpeg has no transparency: it was laid on #000000"},
	}
	for _, tt := range tests {
		for _, side := range []int{0, 20} {
			r := converted(t, pngOf(t, img), Spec{Format: "jpeg", Background: tt.background, MaxSide: side})
			out := decoded(t, r.Data)
			if got := out.NRGBAAt(out.Rect.Dx()/2, out.Rect.Dy()/2); !near(got, tt.want, 4) {
				t.Errorf("%q: %v, want %v within 4", tt.background, got, tt.want)
			}
			if diff := cmp.Diff([]string{tt.note}, r.Notes); diff != "" {
				t.Errorf("%q: notes (-want +got):\n%s", tt.background, diff)
			}
		}
	}
	if r := converted(t, pngOf(t, img), Spec{Format: "webp"}); !r.Info.Alpha || r.Notes != nil {
		t.Errorf("webp: alpha %v, notes %q, want true and none", r.Info.Alpha, r.Notes)
	}
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 0xff
	}
	if r := converted(t, pngOf(t, img), Spec{Format: "jpeg"}); r.Notes != nil {
		t.Errorf("an alpha channel that hides nothing: notes %q, want none", r.Notes)
	}
}

func TestConvertAnimations(t *testing.T) {
	t.Parallel()
	for name, src := range map[string][]byte{
		"gif": gifOf(t, 4, 40, 30), "webp": animatedWebP(t), "png": apng(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, s := range []Spec{{Format: "jpeg"}, {MaxSide: 16}, {}, {Format: Auto, MaxSide: 16}} {
				if _, err := Convert(t.Context(), src, s); fault.CodeOf(err) != fault.UnsupportedOperation {
					t.Errorf("%+v: %v, want unsupported_operation", s, err)
				}
			}
			for _, s := range []Spec{{MaxSide: 40}, {MaxBytes: 1 << 20}, {Box: &Box{Width: 40, Height: 30}}} {
				if r := converted(t, src, s); !r.Untouched || r.Info.Frames < 2 || r.Data != nil {
					t.Errorf("%+v: untouched %v, %d frames, want the animation as it is", s, r.Untouched, r.Info.Frames)
				}
			}
			r := converted(t, src, Spec{Format: "png", MaxSide: 40, FirstFrame: true})
			if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "only the first of ") {
				t.Errorf("notes %q, want one that says what was left out", r.Notes)
			}
			if r.Info.Frames != 1 || r.Info.Width != 40 {
				t.Errorf("got %+v, want one frame of 40 pixels", r.Info)
			}
		})
	}
}

// The first frame of a GIF may cover a part of the screen only: the rest is transparent, and the size is the screen's.
func TestConvertFirstFrameOnItsScreen(t *testing.T) {
	t.Parallel()
	small := image.NewPaletted(image.Rect(10, 6, 30, 26), color.Palette{quarters[0], color.NRGBA{}})
	whole := image.NewPaletted(image.Rect(0, 0, 40, 32), color.Palette{quarters[1], color.NRGBA{}})
	var b bytes.Buffer
	must(t, gif.EncodeAll(&b, &gif.GIF{
		Image: []*image.Paletted{small, whole}, Delay: []int{1, 1}, Config: image.Config{Width: 40, Height: 32},
	}))
	r := converted(t, b.Bytes(), Spec{Format: "png", FirstFrame: true})
	out := decoded(t, r.Data)
	if diff := cmp.Diff(image.Rect(0, 0, 40, 32), out.Rect); diff != "" {
		t.Fatalf("size (-want +got):\n%s", diff)
	}
	got := []color.NRGBA{out.NRGBAAt(20, 16), out.NRGBAAt(10, 6), out.NRGBAAt(29, 25), {A: out.NRGBAAt(2, 2).A}, {A: out.NRGBAAt(35, 30).A}}
	if diff := cmp.Diff([]color.NRGBA{quarters[0], quarters[0], quarters[0], {}, {}}, got); diff != "" {
		t.Errorf("pixels (-want +got):\n%s", diff)
	}
}

// What libvips says of a file may repeat what stands in it: a person sees no control characters.
func TestConvertNotesArePrintable(t *testing.T) {
	t.Parallel()
	src := withChunk(pngOf(t, gradient(16, 16)), "iCCP", []byte("p\x1b[31m\x00\x00no profile"))
	for _, damage := range [][]byte{src, withProfilePNG(t, pngOf(t, gradient(16, 16)), make([]byte, 500))} {
		r := converted(t, damage, Spec{Format: "jpeg"})
		for _, note := range r.Notes {
			t.Logf("%q", note)
			if printable(note) != note {
				t.Errorf("note %q", note)
			}
		}
	}
	if got, want := printable("a\x1b[31m\xffb\n\u202ec"), "a[31mbc"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
