package drawing

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

// motifs are all that a scene can be.
func motifs(c *canvas) map[string]func(*rand.Rand, palette) {
	return map[string]func(*rand.Rand, palette){
		"hills": c.hills, "peaks": c.peaks, "orbits": c.orbits, "tiles": c.tiles, "skyline": c.skyline, "scales": c.scales,
	}
}

// TestMotifs holds for every motif and palette, at awkward sizes, that it paints, that equal sources give equal
// pixels, and that other sources give others.
func TestMotifs(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{64, 64}, {16, 48}, {100, 33}} {
		for name := range motifs(newCanvas(1, 1)) {
			for i, p := range palettes {
				paint := func(seed uint64) []uint8 {
					c := newCanvas(size[0], size[1])
					c.gradient(p.top, p.low, 0.2)
					before := bytes.Clone(c.Pix)
					motifs(c)[name](source(seed), p)
					if bytes.Equal(before, c.Pix) {
						t.Errorf("%s paints nothing at %v", name, size)
					}
					if !c.Opaque() {
						t.Errorf("%s leaves holes at %v", name, size)
					}
					return c.Pix
				}
				a := paint(uint64(i))
				if !bytes.Equal(a, paint(uint64(i))) {
					t.Errorf("%s is not deterministic", name)
				}
				if bytes.Equal(a, paint(uint64(i+100))) {
					t.Errorf("%s does not follow its source", name)
				}
			}
		}
	}
}

// TestPalettesHaveContrast holds that light and land can be told from the sky.
func TestPalettesHaveContrast(t *testing.T) {
	t.Parallel()
	apart := func(a, b color.RGBA) float64 {
		return math.Abs(float64(a.R)-float64(b.R)) + math.Abs(float64(a.G)-float64(b.G)) + math.Abs(float64(a.B)-float64(b.B))
	}
	for i, p := range palettes {
		if apart(p.sun, p.near) < 150 || apart(p.low, p.near) < 150 || apart(p.far, p.near) < 90 || apart(p.sun, p.top) < 25 {
			t.Errorf("palette %d has colours that run together: %v", i, p)
		}
		for j, q := range palettes[:i] {
			if p == q {
				t.Errorf("palettes %d and %d are the same", i, j)
			}
		}
	}
}

// TestScenesVary holds that prompts spread over motifs and palettes.
func TestScenesVary(t *testing.T) {
	t.Parallel()
	used := map[palette]int{}
	for i := range 600 {
		c := newCanvas(16, 16)
		used[c.landscape(Sketch{Prompt: strings.Repeat("x", i)}.seed())]++
	}
	for p, n := range used {
		if n < 600/len(palettes)/3 {
			t.Errorf("palette %v is used %d times of 600", p, n)
		}
	}
	if len(used) != len(palettes) {
		t.Errorf("%d palettes are used, want %d", len(used), len(palettes))
	}
}

func TestGradient(t *testing.T) {
	t.Parallel()
	top, low := rgb(0x000000), rgb(0xffffff)
	for _, tilt := range []float64{-0.35, 0, 0.35} {
		c := newCanvas(50, 80)
		c.gradient(top, low, tilt)
		last := -1
		for y := range 80 {
			v := int(c.RGBAAt(25, y).R)
			if v < last {
				t.Errorf("tilt %.2f: level falls from %d to %d at row %d", tilt, last, v, y)
			}
			last = v
		}
		corners := [4]uint8{c.RGBAAt(0, 0).R, c.RGBAAt(49, 0).R, c.RGBAAt(0, 79).R, c.RGBAAt(49, 79).R}
		if lowest, highest := min(corners[0], corners[1]), max(corners[2], corners[3]); lowest > 8 || highest < 247 {
			t.Errorf("tilt %.2f: corners %v, want nearly the whole range", tilt, corners)
		}
	}
}

func TestMixAndFade(t *testing.T) {
	t.Parallel()
	a, b := rgb(0x102030), rgb(0xf0e0d0)
	if mix(a, b, 0) != a || mix(a, b, 1) != b || mix(a, b, 0.5) != rgb(0x808080) {
		t.Errorf("mix gives %v, %v, %v", mix(a, b, 0), mix(a, b, 1), mix(a, b, 0.5))
	}
	if got := fade(a, 0.5); got != (color.NRGBA{16, 32, 48, 128}) {
		t.Errorf("fade gives %v", got)
	}
}

func TestContourBounds(t *testing.T) {
	t.Parallel()
	if got := (contour{}).bounds(); !got.Empty() {
		t.Errorf("no points: %v", got)
	}
	if got := circle(50, 40, 10).bounds(); got != image.Rect(40, 30, 60, 50) {
		t.Errorf("circle: %v", got)
	}
	if got := rounded(1.5, 2.5, 10, 20, 99).bounds(); !got.In(image.Rect(1, 2, 12, 23)) || got.Dx() < 10 {
		t.Errorf("rounded: %v", got)
	}
}

// TestClipTo holds that the outside is clear, the inside is as before, and the edge is smooth.
func TestClipTo(t *testing.T) {
	t.Parallel()
	c := newCanvas(60, 60)
	c.fill(contour{{0, 0}, {60, 0}, {60, 60}, {0, 60}}, rgb(0x336699))
	c.clipTo(circle(30, 30, 20.5))
	if c.RGBAAt(0, 0).A != 0 || c.RGBAAt(30, 30) != (color.RGBA{0x33, 0x66, 0x99, 255}) {
		t.Errorf("corner %v, middle %v", c.RGBAAt(0, 0), c.RGBAAt(30, 30))
	}
	soft := 0
	for i := 3; i < len(c.Pix); i += 4 {
		if c.Pix[i] > 0 && c.Pix[i] < 255 {
			soft++
		}
	}
	if soft < 40 {
		t.Errorf("%d soft pixels, want a smooth edge", soft)
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	for _, area := range []image.Rectangle{image.Rect(0, 0, 300, 300), image.Rect(5, 5, 900, 50), image.Rect(0, 0, 20, 700)} {
		for n := 1; n <= 15; n++ {
			cols, rows := grid(n, area)
			if cols*rows < n || cols > n || (cols-1)*rows >= n && cols > 1 && (rows-1)*cols >= n {
				t.Errorf("%d prints in %v: %d columns and %d rows", n, area, cols, rows)
			}
		}
	}
	if cols, rows := grid(0, image.Rectangle{}); cols != 1 || rows != 1 {
		t.Errorf("nothing: %d columns and %d rows", cols, rows)
	}
}

// TestOverlays holds that a mask tints exactly its clear pixels, that markup covers exactly its solid ones, and that
// neither changes the photo itself.
func TestOverlays(t *testing.T) {
	t.Parallel()
	flat := func(ink color.RGBA) *image.RGBA {
		m := image.NewRGBA(image.Rect(0, 0, 40, 20))
		for i := 0; i < len(m.Pix); i += 4 {
			m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = ink.R, ink.G, ink.B, ink.A
		}
		return m
	}
	half := image.NewRGBA(image.Rect(0, 0, 80, 40)) // another size: overlays are scaled
	for y := range 40 {
		for x := 40; x < 80; x++ {
			half.SetRGBA(x, y, color.RGBA{255, 255, 255, 255})
		}
	}
	photo := flat(color.RGBA{10, 20, 30, 255})
	pal := palettes[0]
	masked := Sketch{Photos: []*image.RGBA{photo}, Mask: half}.overlaid(pal)
	if a, b := masked.RGBAAt(5, 10), masked.RGBAAt(35, 10); a == photo.RGBAAt(5, 10) || b != photo.RGBAAt(35, 10) {
		t.Errorf("mask: left %v, right %v, want a tint on the left", a, b)
	}
	marked := Sketch{Photos: []*image.RGBA{photo}, Markup: half}.overlaid(pal)
	if a, b := marked.RGBAAt(5, 10), marked.RGBAAt(35, 10); a != photo.RGBAAt(5, 10) || b != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("markup: left %v, right %v, want white on the right", a, b)
	}
	if plain := (Sketch{Photos: []*image.RGBA{photo}}).overlaid(pal); plain != photo {
		t.Error("no overlay: another picture")
	}
	if photo.RGBAAt(5, 10) != (color.RGBA{10, 20, 30, 255}) || photo.RGBAAt(35, 10) != (color.RGBA{10, 20, 30, 255}) {
		t.Error("an overlay changed the photo")
	}
}

func TestPhotoAndTile(t *testing.T) {
	t.Parallel()
	for size, want := range map[[2]int]image.Point{
		{100, 50}: {100, 50}, {1280, 640}: {640, 320}, {50, 5000}: {6, 640}, {100_000, 10}: {640, 1}, {1, 1}: {1, 1},
	} {
		if got := Tile(size[0], size[1]).Rect.Size(); got != want {
			t.Errorf("tile of %v is %v, want %v", size, got, want)
		}
	}
	src := image.NewNRGBA(image.Rect(10, 20, 1290, 340))
	if got := Photo(src, 6).Rect.Size(); got != (image.Point{160, 640}) {
		t.Errorf("turned photo is %v, want 160x640", got)
	}
	if got := Photo(src, 0).Rect.Size(); got != (image.Point{640, 160}) {
		t.Errorf("photo is %v, want 640x160", got)
	}
}

// TestCaptionIsReadable holds that the card darkens the lower part and carries light letters, at every usual size.
func TestCaptionIsReadable(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{512, 512}, {768, 512}, {512, 768}, {256, 256}} {
		for _, prompt := range []string{"owl", strings.Repeat("many words ", 100)} {
			img, err := p.Paint(Sketch{Width: size[0], Height: size[1], Prompt: prompt, Model: "m", Count: 1})
			if err != nil {
				t.Fatal(err)
			}
			dark, white := 0, 0
			for y := size[1] * 85 / 100; y < size[1]*94/100; y++ {
				for x := size[0] / 10; x < size[0]*9/10; x++ {
					switch l := luma(img.RGBAAt(x, y)); {
					case l < 110:
						dark++
					case l > 180:
						white++
					}
				}
			}
			if dark < 5*white || white < 20 {
				t.Errorf("%v, %d letters: %d dark and %d white pixels, want white letters on a dark card", size, len(prompt), dark, white)
			}
		}
	}
}

func TestIndexChangesThePicture(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i := range 10 {
		img, err := p.Paint(Sketch{Width: 64, Height: 64, Prompt: "a fox", Model: "m", Index: i, Count: 10})
		if err != nil {
			t.Fatal(err)
		}
		seen[string(img.Pix)]++
	}
	if len(seen) != 10 {
		t.Errorf("%d different pictures of 10", len(seen))
	}
}

func BenchmarkPaint(b *testing.B) {
	p, err := New()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := Sketch{Width: 1024, Height: 1536, Prompt: strings.Repeat("a fox ", 1+i%40), Model: "m", Count: 1}
		if _, err := p.Paint(s); err != nil {
			b.Fatal(err)
		}
	}
}
