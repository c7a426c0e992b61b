package drawing

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func testPen(t testing.TB, size float64) *pen {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	pen, err := newPen(p.regular, p.bold, size)
	if err != nil {
		t.Fatal(err)
	}
	return pen
}

func TestWrap(t *testing.T) {
	t.Parallel()
	p := testPen(t, 20)
	tests := []struct {
		name, text string
		width      float64
		limit      int
		want       []string
		fits       bool
	}{
		{"empty", "", 100, 3, nil, true},
		{"blanks", " \n\t ", 100, 3, nil, true},
		{"one line", "a  fox", 100, 3, []string{"a fox"}, true},
		{"two lines", "a fox in the snow", 100, 3, []string{"a fox in the", "snow"}, true},
		{"cut", "a fox in the snow at night", 100, 2, []string{"a fox in the", "snow at…"}, false},
		{"long word", "Donaudampfschifffahrt", 100, 3, []string{"Donaudam", "pfschifffahr", "t"}, true},
	}
	for _, tt := range tests {
		lines, fits := p.wrap(tt.text, tt.width, tt.limit)
		if diff := cmp.Diff(tt.want, lines); diff != "" || fits != tt.fits {
			t.Errorf("%s: fits = %v, want %v\n%s", tt.name, fits, tt.fits, diff)
		}
	}
}

// FuzzWrap holds that no line is wider than asked, unless it is a single character, and that nothing but blanks is
// lost.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{
		"a fox in the snow", "日本語の看板 in the rain 🦊", strings.Repeat("x", 300), "\x00\xff a\u200db", "  ",
	} {
		f.Add(s, uint16(100))
	}
	f.Fuzz(func(t *testing.T, text string, width uint16) {
		p := testPen(t, 20)
		w := float64(width%800) + 1
		lines, fits := p.wrap(visible(text), w, 1000)
		for _, l := range lines {
			if p.width(l) > w+0.01 && utf8.RuneCountInString(l) > 1 && fits {
				t.Errorf("line %q is %.1f wide, want at most %.1f", l, p.width(l), w)
			}
		}
		blank := strings.NewReplacer(" ", "", "\u00a0", "")
		squeeze := func(s string) string { return blank.Replace(strings.ToValidUTF8(s, "\uFFFD")) }
		if got, want := squeeze(strings.Join(lines, "")), squeeze(visible(text)); fits && got != want {
			t.Errorf("wrapped to %q, want %q", got, want)
		}
	})
}

func TestMissingCharactersAreBoxes(t *testing.T) {
	t.Parallel()
	p := testPen(t, 40)
	ink := func(s string) int {
		c := newCanvas(120, 60)
		p.write(c, s, 5, 45, color.White)
		n := 0
		for i := 3; i < len(c.Pix); i += 4 {
			if c.Pix[i] > 128 {
				n++
			}
		}
		return n
	}
	for s, known := range map[string]bool{"A": true, "é": true, "Ж": true, "日": false, "🦊": false, "\U0010ffff": false} {
		r, _ := utf8.DecodeRuneInString(s)
		if p.has(r) != known {
			t.Errorf("%q: known = %v, want %v", s, p.has(r), known)
		}
		if n := ink(s); n < 60 {
			t.Errorf("%q leaves %d pixels of ink, want a shape", s, n)
		}
	}
	if ink("日") == ink("語") && ink("日") == ink("本") {
		t.Error("boxes do not tell characters apart")
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	got := visible("a\tb\nc\x00d\u200de\ufe0ff\u202eg🦊")
	if want := "a b cdefg🦊"; got != want {
		t.Errorf("visible = %q, want %q", got, want)
	}
}

// TestUpright turns a picture with four distinct corners; the upper left one has to land where TIFF 6.0 says.
func TestUpright(t *testing.T) {
	t.Parallel()
	src := image.NewRGBA(image.Rect(0, 0, 3, 2))
	corner := func(x, y int, v uint8) { src.SetRGBA(x, y, color.RGBA{v, 0, 0, 255}) }
	corner(0, 0, 1)
	corner(2, 0, 2)
	corner(2, 1, 3)
	corner(0, 1, 4)
	want := map[int][4]uint8{ // clockwise from the upper left
		0: {1, 2, 3, 4},
		1: {1, 2, 3, 4}, 2: {2, 1, 4, 3}, 3: {3, 4, 1, 2}, 4: {4, 3, 2, 1},
		5: {1, 4, 3, 2}, 6: {4, 1, 2, 3}, 7: {3, 2, 1, 4}, 8: {2, 3, 4, 1},
	}
	for o, corners := range want {
		out := upright(src, o)
		x, y := out.Rect.Dx()-1, out.Rect.Dy()-1
		got := [4]uint8{out.RGBAAt(0, 0).R, out.RGBAAt(x, 0).R, out.RGBAAt(x, y).R, out.RGBAAt(0, y).R}
		if got != corners {
			t.Errorf("orientation %d: corners %v, want %v", o, got, corners)
		}
	}
}

func TestEverySizeCanBePainted(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	one, huge := newCanvas(40, 30).RGBA, Tile(30000, 10)
	photos := [][]*image.RGBA{nil, {one}, slices.Repeat([]*image.RGBA{one, huge}, 8)}
	for _, size := range [][2]int{{16, 16}, {17, 640}, {640, 17}, {48, 48}, {320, 200}} {
		for i, list := range photos {
			for _, prompt := range []string{"", "x", strings.Repeat("word 日 ", 500)} {
				s := Sketch{
					Width: size[0], Height: size[1], Prompt: prompt, Model: "m", Count: 1, Photos: list, Transparent: i == 1,
				}
				img, err := p.Paint(s)
				if err != nil || img.Rect.Dx() != size[0] || img.Rect.Dy() != size[1] {
					t.Errorf("%v, photos %d: %v, %v", size, i, img.Rect, err)
				}
			}
		}
	}
}

func TestFillCoversTheShape(t *testing.T) {
	t.Parallel()
	c := newCanvas(40, 40)
	c.fill(contour{{0, 0}, {40, 0}, {40, 40}, {0, 40}}, rgb(0x102030))
	c.fill(circle(20, 20, 10), fade(rgb(0xffffff), 0.5))
	for at, want := range map[image.Point]color.RGBA{
		{1, 1}: {16, 32, 48, 255}, {20, 20}: {136, 144, 152, 255}, {20, 8}: {16, 32, 48, 255},
	} {
		got := c.RGBAAt(at.X, at.Y)
		for i, d := range []int{int(got.R) - int(want.R), int(got.G) - int(want.G), int(got.B) - int(want.B)} {
			if math.Abs(float64(d)) > 1 {
				t.Errorf("channel %d at %v: %v, want %v", i, at, got, want)
			}
		}
	}
	c.fill(circle(-100, -100, 10), color.White) // outside: nothing happens
	c.fill(nil, color.White)
	c.fill(circle(20, 900, 880), color.White) // mostly outside
	if c.RGBAAt(20, 39) != (color.RGBA{255, 255, 255, 255}) {
		t.Error("a shape that leaves the canvas is not drawn")
	}
}

func TestPartialsGetFiner(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	img, err := p.Paint(Sketch{Width: 256, Height: 256, Prompt: "a fox", Model: "m", Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(1)
	for detail := 1; detail <= 3; detail++ {
		d := 0.0
		early := Coarse(img, detail)
		for i := range img.Pix {
			d += math.Abs(float64(img.Pix[i]) - float64(early.Pix[i]))
		}
		if d >= last || d == 0 {
			t.Errorf("detail %d differs by %.0f, want less than %.0f and more than 0", detail, d, last)
		}
		last = d
	}
}
