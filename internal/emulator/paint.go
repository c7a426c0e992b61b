package emulator

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"golang.org/x/image/draw"
)

// sketch is what a picture shows. Equal sketches give equal pixels.
type sketch struct {
	w, h         int
	prompt       string
	model        string
	index, count int // index is 0-based
	transparent  bool
	upload       *upload // the inputs of an edit
}

// seed derives a picture's random source from the prompt and its index.
func (s sketch) seed() *rand.Rand {
	h := sha256.New()
	h.Write([]byte(s.prompt))
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(s.index))) //nolint:gosec // 0..9
	return rand.New(rand.NewChaCha8([32]byte(h.Sum(nil))))       //nolint:gosec // a picture needs no secret
}

// paint draws the scene, the inputs of an edit and the caption.
func (p *painter) paint(s sketch) (*image.RGBA, error) {
	c := newCanvas(s.w, s.h)
	pal := c.landscape(s.seed())
	if s.upload != nil {
		c.prints(s.upload, pal)
	}
	if s.transparent {
		m := 0.05 * min(c.w, c.h)
		c.clipTo(rounded(m, m, c.w-2*m, c.h-2*m, 1.4*m))
	}
	if err := p.caption(c, s); err != nil {
		return nil, err
	}
	return c.RGBA, nil
}

// caption writes EMULATED, the position in the reply and the prompt onto a dark card at the bottom.
func (p *painter) caption(c *canvas, s sketch) error {
	unit := min(c.w, c.h)
	if unit < 48 {
		return nil // no letter could be read
	}
	margin, pad := unit*0.04, unit*0.035
	if s.transparent {
		margin *= 2.1 // inside the clipped scene
	}
	width := c.w - 2*margin - 2*pad
	text, lines, err := p.fit(visible(s.prompt), width, c.h*0.30, unit)
	if err != nil {
		return err
	}
	small, err := newPen(p.bold, p.bold, max(8, unit*0.022))
	if err != nil {
		return err
	}
	leading := text.size * 1.32
	head := small.size * 1.9
	height := head + leading*float64(len(lines)) + 2*pad - text.size*0.2
	y := c.h - margin - height
	c.fill(rounded(margin, y, c.w-2*margin, height, unit*0.03), color.NRGBA{12, 14, 22, 190})
	c.headline(small, s, margin+pad, y+pad, width)
	for i, line := range lines {
		text.write(c, line, margin+pad, y+pad+head+text.size*0.78+leading*float64(i), color.White)
	}
	return nil
}

// fit chooses the largest letters with which the text fits into a height; the smallest cut it short.
func (p *painter) fit(text string, width, height, unit float64) (*pen, []string, error) {
	for _, share := range []float64{0.058, 0.046, 0.037, 0.030} {
		pen, err := newPen(p.regular, p.bold, max(8, unit*share))
		if err != nil {
			return nil, nil, err
		}
		limit := max(1, int(height/(pen.size*1.32)))
		lines, fits := pen.wrap(text, width, limit)
		if fits && len(lines) <= limit || share == 0.030 {
			return pen, lines, nil
		}
	}
	return nil, nil, fmt.Errorf("no letter size for %.0f px", unit)
}

// headline writes the badge, the model and size, and the index.
func (c *canvas) headline(p *pen, s sketch, x, y, width float64) {
	const badge = "EMULATED"
	base, box := y+p.size*0.85, p.width(badge)+p.size*1.2
	c.fill(rounded(x, y-p.size*0.25, box, p.size*1.5, p.size*0.75), rgb(0xffd166))
	p.write(c, badge, x+p.size*0.6, base, rgb(0x14161f))
	index := fmt.Sprintf("%d/%d", s.index+1, s.count)
	p.write(c, index, x+width-p.width(index), base, rgb(0xffd166))
	about := fmt.Sprintf("%s  %d×%d", visible(clip(s.model, 40)), s.w, s.h)
	if left := x + box + p.size*0.8; left+p.width(about) < x+width-p.width(index)-p.size {
		p.write(c, about, left, base, color.NRGBA{255, 255, 255, 170})
	}
}

// prints lays the inputs of an edit out as photographs on the scene: the first one large, with its mask tinted, the
// others in a row beside or below.
func (c *canvas) prints(u *upload, pal palette) {
	unit := min(c.w, c.h)
	area := image.Rect(int(c.w*0.08), int(c.h*0.07), int(c.w*0.92), int(c.h*0.60))
	first, rest := area, image.Rectangle{}
	if len(u.images) > 1 {
		if c.w >= c.h {
			first.Max.X = area.Min.X + area.Dx()*62/100
			rest = image.Rect(first.Max.X+int(unit*0.03), area.Min.Y, area.Max.X, area.Max.Y)
		} else {
			first.Max.Y = area.Min.Y + area.Dy()*68/100
			rest = image.Rect(area.Min.X, first.Max.Y+int(unit*0.03), area.Max.X, area.Max.Y)
		}
	}
	c.print(u.images[0], first, -0.03, u, pal)
	cols, rows := grid(len(u.images)-1, rest)
	for i, in := range u.images[1:] {
		w, h := rest.Dx()/cols, rest.Dy()/rows
		x, y := rest.Min.X+w*(i%cols), rest.Min.Y+h*(i/cols)
		c.print(in, image.Rect(x, y, x+w, y+h).Inset(int(unit*0.008)), 0.05*float64(1-2*(i%2)), nil, pal)
	}
}

// grid chooses columns and rows for n prints so that the cells come out close to square.
func grid(n int, area image.Rectangle) (cols, rows int) {
	if n < 1 || area.Empty() {
		return 1, 1
	}
	cols = max(1, int(math.Round(math.Sqrt(float64(n)*float64(area.Dx())/float64(area.Dy())))))
	cols = min(cols, n)
	return cols, (n + cols - 1) / cols
}

// print draws one input in a white frame with a shadow, turned by an angle. A mask's or markup's area is shown on top
// when u is given.
func (c *canvas) print(in input, box image.Rectangle, angle float64, u *upload, pal palette) {
	photo := in.shown()
	if u != nil {
		photo = withOverlays(photo, u, pal)
	}
	photo = matted(photo)
	b := photo.Bounds()
	border := 0.025 * float64(min(box.Dx(), box.Dy()))
	scale := min((float64(box.Dx())-2*border)/float64(b.Dx()), (float64(box.Dy())-2*border)/float64(b.Dy()))
	scale *= 0.95 // room for the turn
	w, h := float64(b.Dx())*scale, float64(b.Dy())*scale
	if w < 1 || h < 1 {
		return
	}
	cx, cy := float64(box.Min.X+box.Max.X)/2, float64(box.Min.Y+box.Max.Y)/2
	for i := range 4 {
		grow := border * (0.4 + 0.5*float64(i))
		c.fill(turned(cx+border*0.4, cy+border*0.7, w+2*grow, h+2*grow, angle), color.NRGBA{0, 0, 0, 26})
	}
	c.fill(turned(cx, cy, w+2*border, h+2*border, angle), paper)
	sin, cos := math.Sincos(angle)
	draw.BiLinear.Transform(c.RGBA, [6]float64{
		cos * scale, -sin * scale, cx - cos*w/2 + sin*h/2,
		sin * scale, cos * scale, cy - sin*w/2 - cos*h/2,
	}, photo, b, draw.Over, nil)
}

// matted returns a photo with a thin edge of the frame's white, so that the turned photo has no ragged border.
func matted(photo *image.RGBA) *image.RGBA {
	const edge = 3
	out := image.NewRGBA(image.Rect(0, 0, photo.Rect.Dx()+2*edge, photo.Rect.Dy()+2*edge))
	draw.Draw(out, out.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	draw.Draw(out, out.Rect.Inset(edge), photo, photo.Rect.Min, draw.Over)
	return out
}

// paper is the white of a print's frame.
//
//nolint:gochecknoglobals // constant
var paper = rgb(0xfbfaf7)

// turned returns a rectangle around a centre, turned by an angle.
func turned(cx, cy, w, h, angle float64) contour {
	sin, cos := math.Sincos(angle)
	o := contour{{-w / 2, -h / 2}, {w / 2, -h / 2}, {w / 2, h / 2}, {-w / 2, h / 2}}
	for i, p := range o {
		o[i] = point{cx + p.x*cos - p.y*sin, cy + p.x*sin + p.y*cos}
	}
	return o
}

// withOverlays returns the photo with the editable area of the mask tinted and hatched, or with the markup on top.
func withOverlays(photo *image.RGBA, u *upload, pal palette) *image.RGBA {
	switch {
	case u.mask != nil && u.mask.thumb != nil:
		return tinted(photo, fitTo(u.mask.thumb, photo.Rect), pal.accent)
	case u.markup != nil && u.markup.thumb != nil:
		out := *photo
		out.Pix = append([]uint8(nil), photo.Pix...)
		draw.Draw(&out, out.Rect, fitTo(u.markup.thumb, photo.Rect), image.Point{}, draw.Over)
		return &out
	}
	return photo
}

// tinted returns photo with a hatched tint where mask is transparent: that is what the edit would change.
func tinted(photo, mask *image.RGBA, ink color.RGBA) *image.RGBA {
	out := image.NewRGBA(photo.Rect)
	copy(out.Pix, photo.Pix)
	for y := range photo.Rect.Dy() {
		for x := range photo.Rect.Dx() {
			i := y*photo.Stride + 4*x
			if mask.Pix[y*mask.Stride+4*x+3] > 127 {
				continue
			}
			strength := 0.45
			if (x+y)/8%2 == 0 {
				strength = 0.75
			}
			p := mix(color.RGBA{out.Pix[i], out.Pix[i+1], out.Pix[i+2], 255}, ink, strength)
			out.Pix[i], out.Pix[i+1], out.Pix[i+2], out.Pix[i+3] = p.R, p.G, p.B, 255
		}
	}
	return out
}

// fitTo scales a picture to exactly r.
func fitTo(src *image.RGBA, r image.Rectangle) *image.RGBA {
	if src.Rect == r {
		return src
	}
	out := image.NewRGBA(r)
	draw.ApproxBiLinear.Scale(out, r, src, src.Rect, draw.Src, nil)
	return out
}

// coarse returns an early version of a picture, as partial images show it: detail 1 is the coarsest.
func coarse(img *image.RGBA, detail int) *image.RGBA {
	f := 96 >> (2 * (detail - 1)) // 96, 24, 6
	small := fitTo(img, image.Rect(0, 0, max(2, img.Rect.Dx()/f), max(2, img.Rect.Dy()/f)))
	return fitTo(small, img.Rect)
}
