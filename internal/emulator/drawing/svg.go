package drawing

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"
)

// Vector writes a sketch as an SVG with the same palettes as the pixel scenes: a sky, a sun, three hills, and a
// card with the word EMULATED and the beginning of the prompt. The whole prompt is its description.
func Vector(s Sketch) File {
	rng := s.seed()
	p := palettes[rng.IntN(len(palettes))]
	w, h := float64(s.Width), float64(s.Height)
	unit := min(w, h)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`,
		s.Width, s.Height)
	fmt.Fprintf(&b, "\n<title>EMULATED</title>\n<desc>%s</desc>\n", escaped(s.Prompt))
	fmt.Fprintf(&b, `<defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="%s"/>`+
		`<stop offset="1" stop-color="%s"/></linearGradient></defs>`+"\n", hexColor(p.top), hexColor(p.low))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="url(#sky)"/>`+"\n", s.Width, s.Height)
	fmt.Fprintf(&b, `<circle cx="%.0f" cy="%.0f" r="%.0f" fill="%s"/>`+"\n",
		w*between(rng, 0.2, 0.8), h*between(rng, 0.2, 0.36), unit*between(rng, 0.09, 0.15), hexColor(p.sun))
	for i := range 3 {
		depth := float64(i) / 2
		y := h * (0.50 + 0.18*float64(i))
		fmt.Fprintf(&b, `<path d="M0 %.0fC%.0f %.0f %.0f %.0f %.0f %.0fV%.0fH0z" fill="%s"/>`+"\n",
			y, w*0.3, y-h*between(rng, 0.05, 0.25), w*0.6, y+h*between(rng, 0.02, 0.18), w, y-h*between(rng, 0, 0.12),
			h, hexColor(mix(p.far, p.near, depth)))
	}
	size := unit * 0.045
	top := h - unit*0.04 - size*3.6
	fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="%.0f" fill="#0c0e16" opacity=".75"/>`+"\n",
		unit*0.04, top, w-unit*0.08, size*3.6, unit*0.03)
	fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-family="sans-serif" font-weight="bold" font-size="%.0f" fill="#ffd166">`+
		"EMULATED</text>\n", unit*0.08, top+size*1.2, size*0.6)
	letters := int((w - unit*0.16) / (size * 0.56))
	fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-family="sans-serif" font-size="%.0f" fill="#fff">%s</text>`+"\n</svg>\n",
		unit*0.08, top+size*2.6, size, escaped(clip(visible(s.Prompt), letters)))
	data := []byte(b.String())
	return File{Format: "svg", data: data, seam: len(data)}
}

func hexColor(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}
