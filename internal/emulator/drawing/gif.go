package drawing

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"math"
)

// Animate paints a sketch as a GIF in which a dot crosses the sky. There are 2 frames or more; those
// behind the first hold only what changes. A frame is shown for frameMS milliseconds, rounded to ten.
func (p *Painter) Animate(s Sketch, frames, frameMS int) (File, error) {
	base, err := p.Paint(s)
	if err != nil {
		return File{}, err
	}
	delay := max(1, (frameMS+5)/10)
	anim := gif.GIF{Config: image.Config{ColorModel: cube(), Width: s.Width, Height: s.Height}}
	var dirty image.Rectangle
	for i := range frames {
		c := newCanvas(s.Width, s.Height)
		copy(c.Pix, base.Pix)
		dot := c.dot(float64(i) / float64(frames-1))
		box := base.Rect
		if i > 0 {
			box = dirty.Union(dot)
		}
		dirty = dot
		anim.Image = append(anim.Image, dithered(c.RGBA, box))
		anim.Delay = append(anim.Delay, delay)
		anim.Disposal = append(anim.Disposal, gif.DisposalNone)
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, &anim); err != nil {
		return File{}, err
	}
	data := gifWithText(out.Bytes(), s.Prompt)
	return File{Format: "gif", data: data, seam: len(data)}, nil
}

// dot paints the moving dot at t (0..1) of its way and returns the box that it touched.
func (c *canvas) dot(t float64) image.Rectangle {
	r := min(c.w, c.h) * 0.03
	x, y := c.w*(0.12+0.76*t), c.h*(0.34-0.2*math.Sin(math.Pi*t))
	c.fill(circle(x, y, r*1.7), color.NRGBA{255, 255, 255, 90})
	c.fill(circle(x, y, r), color.White)
	return circle(x, y, r*1.7).bounds().Intersect(c.Rect)
}

// cube returns an even palette of 6 x 7 x 6 colours: choosing from it needs no search.
func cube() color.Palette {
	var p color.Palette
	for r := range 6 {
		for g := range 7 {
			for b := range 6 {
				p = append(p, color.RGBA{level(r, 5), level(g, 6), level(b, 5), 255})
			}
		}
	}
	return p
}

func level(i, of int) uint8 { return uint8(i * 255 / of) } //nolint:gosec // 0..255

// dithered reduces a box of a picture to the cube with an ordered pattern of 4 x 4.
func dithered(src *image.RGBA, box image.Rectangle) *image.Paletted {
	pattern := [16]int{0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5}
	out := image.NewPaletted(box, cube())
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			i := src.PixOffset(x, y)
			d := pattern[y%4*4+x%4]*16 + 8 // 8..248 of 255
			r, g, b := int(src.Pix[i]), int(src.Pix[i+1]), int(src.Pix[i+2])
			out.Pix[out.PixOffset(x, y)] = uint8(((r*5+d)/255*7+(g*6+d)/255)*6 + (b*5+d)/255) //nolint:gosec // < 252
		}
	}
	return out
}

// gifWithText puts the prompt into a comment extension behind the global colour table (GIF89a, 24).
func gifWithText(data []byte, prompt string) []byte {
	at := 13
	if data[10]&0x80 != 0 {
		at += 3 << (data[10]&7 + 1)
	}
	ext := []byte{0x21, 0xfe}
	for rest := prompt; rest != ""; {
		part := cutBytes(rest, 255)
		ext = append(append(ext, byte(len(part))), part...) //nolint:gosec // <= 255
		rest = rest[len(part):]
	}
	ext = append(ext, 0)
	out := bytes.NewBuffer(make([]byte, 0, len(data)+len(ext)))
	out.Write(data[:at])
	out.Write(ext)
	out.Write(data[at:])
	return out.Bytes()
}
