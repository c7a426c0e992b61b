package drawing

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
)

// Sketch is what a picture shows. Equal sketches give equal pixels.
type Sketch struct {
	Width, Height int // pixels, 16 or more
	Prompt        string
	Model         string // written beside the badge
	Index, Count  int    // position in the reply, 0-based, and number of pictures
	Transparent   bool

	Photos []*image.RGBA // small copies of the inputs of an edit
	Mask   *image.RGBA   // its transparent pixels are tinted on the first photo
	Markup *image.RGBA   // laid over the first photo
}

// seed derives a picture's random source from the prompt and its index.
func (s Sketch) seed() *rand.Rand {
	h := sha256.New()
	h.Write([]byte(s.Prompt))
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(s.Index))) //nolint:gosec // 0..9
	return rand.New(rand.NewChaCha8([32]byte(h.Sum(nil))))       //nolint:gosec // a picture needs no secret
}

// Paint draws the scene, the inputs of an edit and the caption.
func (p *Painter) Paint(s Sketch) (*image.RGBA, error) {
	c := newCanvas(s.Width, s.Height)
	pal := c.landscape(s.seed())
	if len(s.Photos) > 0 {
		c.prints(s, pal)
	}
	if s.Transparent {
		m := 0.05 * min(c.w, c.h)
		c.clipTo(rounded(m, m, c.w-2*m, c.h-2*m, 1.4*m))
	}
	if err := p.caption(c, s); err != nil {
		return nil, err
	}
	return c.RGBA, nil
}

// caption writes EMULATED, the position in the reply and the prompt onto a dark card at the bottom.
func (p *Painter) caption(c *canvas, s Sketch) error {
	unit := min(c.w, c.h)
	if unit < 48 {
		return nil // no letter could be read
	}
	margin, pad := unit*0.04, unit*0.035
	if s.Transparent {
		margin *= 2.1 // inside the clipped scene
	}
	width := c.w - 2*margin - 2*pad
	text, lines, err := p.fit(visible(s.Prompt), width, c.h*0.30, unit)
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
func (p *Painter) fit(text string, width, height, unit float64) (*pen, []string, error) {
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
func (c *canvas) headline(p *pen, s Sketch, x, y, width float64) {
	const badge = "EMULATED"
	base, box := y+p.size*0.85, p.width(badge)+p.size*1.2
	c.fill(rounded(x, y-p.size*0.25, box, p.size*1.5, p.size*0.75), rgb(0xffd166))
	p.write(c, badge, x+p.size*0.6, base, rgb(0x14161f))
	index := fmt.Sprintf("%d/%d", s.Index+1, s.Count)
	p.write(c, index, x+width-p.width(index), base, rgb(0xffd166))
	about := fmt.Sprintf("%s  %d×%d", visible(clip(s.Model, 40)), s.Width, s.Height)
	if left := x + box + p.size*0.8; left+p.width(about) < x+width-p.width(index)-p.size {
		p.write(c, about, left, base, color.NRGBA{255, 255, 255, 170})
	}
}
