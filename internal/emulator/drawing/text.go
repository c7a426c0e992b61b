package drawing

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Painter holds the embedded fonts. It is safe for concurrent use.
type Painter struct{ regular, bold *opentype.Font }

// New reads the embedded fonts.
func New() (*Painter, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("parse embedded font: %w", err)
	}
	bold, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, fmt.Errorf("parse embedded font: %w", err)
	}
	return &Painter{regular, bold}, nil
}

// pen writes in one font and size. Characters that the font lacks become a box that holds their code point.
type pen struct {
	font *opentype.Font
	face font.Face
	tiny font.Face // for the digits in a box
	size float64   // pixels per em
	buf  sfnt.Buffer
}

// newPen returns a pen for a size in pixels per em.
func newPen(f, digits *opentype.Font, size float64) (*pen, error) {
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		return nil, fmt.Errorf("embedded font at %.0f px: %w", size, err)
	}
	tiny, err := opentype.NewFace(digits, &opentype.FaceOptions{Size: size * 0.38, DPI: 72})
	if err != nil {
		return nil, fmt.Errorf("embedded font at %.0f px: %w", size, err)
	}
	return &pen{font: f, face: face, tiny: tiny, size: size}, nil
}

// has reports whether the font can show r.
func (p *pen) has(r rune) bool {
	i, err := p.font.GlyphIndex(&p.buf, r)
	return err == nil && i != 0
}

// advance returns how far r moves the pen, in pixels.
func (p *pen) advance(r rune) float64 {
	if !p.has(r) {
		return p.boxWidth(r) + p.size*0.1
	}
	a, _ := p.face.GlyphAdvance(r)
	return float64(a) / 64
}

// boxWidth returns the width of the box for a character: two or three columns of hexadecimal digits.
func (p *pen) boxWidth(r rune) float64 {
	if r > 0xffff {
		return p.size * 0.84
	}
	return p.size * 0.62
}

func (p *pen) width(s string) float64 {
	var w float64
	for _, r := range s {
		w += p.advance(r)
	}
	return w
}

// write draws s with its baseline at y.
func (p *pen) write(c *canvas, s string, x, y float64, ink color.Color) {
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(ink), Face: p.face}
	for _, r := range s {
		if p.has(r) {
			d.Dot = fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}
			d.DrawString(string(r))
		} else {
			p.box(c, r, x, y, ink)
		}
		x += p.advance(r)
	}
}

// box draws the code point of r as two rows of digits in a frame.
func (p *pen) box(c *canvas, r rune, x, y float64, ink color.Color) {
	hex := fmt.Sprintf("%04X", r)
	if len(hex) == 5 {
		hex = "0" + hex
	}
	w, top, height := p.boxWidth(r), y-p.size*0.74, p.size*0.88
	line := max(1, p.size*0.045)
	frame := append(rounded(x, top, w, height, p.size*0.1), point{x + p.size*0.1, top})
	inner := rounded(x+line, top+line, w-2*line, height-2*line, p.size*0.07)
	for _, corner := range slices.Backward(inner) { // the other way round, so that it is a hole
		frame = append(frame, corner)
	}
	frame = append(frame, inner[len(inner)-1], point{x + p.size*0.1, top})
	c.fill(frame, ink)
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(ink), Face: p.tiny}
	half := len(hex) / 2
	for row, digits := range []string{hex[:half], hex[half:]} {
		dx := (w - float64(d.MeasureString(digits))/64) / 2
		dy := p.size*0.36 + p.size*0.36*float64(row)
		d.Dot = fixed.Point26_6{X: fixed.Int26_6((x + dx) * 64), Y: fixed.Int26_6((top + dy) * 64)}
		d.DrawString(digits)
	}
}

// wrap breaks text into at most limit lines of the given width. It reports whether all of the text fits; if not, the
// last line ends with an ellipsis.
func (p *pen) wrap(text string, width float64, limit int) (lines []string, fits bool) {
	var line strings.Builder
	var used float64
	flush := func() {
		lines = append(lines, strings.TrimSpace(line.String()))
		line.Reset()
		used = 0
	}
	for _, word := range strings.FieldsFunc(text, unicode.IsSpace) {
		need := p.width(word)
		if used > 0 && used+p.advance(' ')+need > width {
			flush()
		}
		if used > 0 {
			line.WriteByte(' ')
			used += p.advance(' ')
		}
		for _, r := range word {
			a := p.advance(r)
			if used > 0 && used+a > width {
				flush()
			}
			if len(lines) >= limit {
				lines[limit-1] = p.shorten(lines[limit-1], width)
				return lines[:limit], false
			}
			line.WriteRune(r)
			used += a
		}
	}
	if line.Len() > 0 {
		flush()
	}
	if len(lines) > limit {
		lines[limit-1] = p.shorten(lines[limit-1], width)
		return lines[:limit], false
	}
	return lines, true
}

// shorten makes room for an ellipsis at the end of a line.
func (p *pen) shorten(line string, width float64) string {
	used, end := p.advance('…'), 0
	for i, r := range line {
		if used += p.advance(r); used > width {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return strings.TrimRight(line[:end], " ") + "…"
}

// visible drops what has no shape of its own: control and format characters and variation selectors. Line ends become
// spaces.
func visible(prompt string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, prompt)
}

// clip shortens text to a number of characters.
func clip(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit]) + "…"
}
