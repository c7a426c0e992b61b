package drawing

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/vector"
)

// canvas is a picture with antialiased shapes. Coordinates are pixels.
type canvas struct {
	*image.RGBA
	w, h  float64
	z     *vector.Rasterizer
	cover []uint8 // scratch for coverage
}

func newCanvas(w, h int) *canvas {
	return &canvas{
		RGBA: image.NewRGBA(image.Rect(0, 0, w, h)), w: float64(w), h: float64(h), z: vector.NewRasterizer(1, 1),
	}
}

// point is a place on a canvas.
type point struct{ x, y float64 }

// contour is a closed outline of straight lines; curves are made of short ones.
type contour []point

// fill paints the inside of a contour. Only the box around it is touched, so small shapes are cheap.
func (c *canvas) fill(outline contour, ink color.Color) {
	box := c.trace(outline)
	if box.Empty() {
		return
	}
	n := box.Dx() * box.Dy()
	if cap(c.cover) < n {
		c.cover = make([]uint8, n)
	}
	mask := &image.Alpha{Pix: c.cover[:n], Stride: box.Dx(), Rect: image.Rect(0, 0, box.Dx(), box.Dy())}
	c.z.DrawOp = draw.Src
	c.z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	c.blend(box, mask, straight(ink))
}

// straight returns a colour with its channels not multiplied by its opacity.
func straight(ink color.Color) color.NRGBA {
	c, _ := color.NRGBAModel.Convert(ink).(color.NRGBA)
	return c
}

// fillWith paints the inside of a contour with a picture that lies over the canvas.
func (c *canvas) fillWith(outline contour, src image.Image) {
	if box := c.trace(outline); !box.Empty() {
		c.z.DrawOp = draw.Over
		c.z.Draw(c.RGBA, box, src, box.Min)
	}
}

// trace hands a contour to the rasterizer and returns the box of the canvas that it covers.
func (c *canvas) trace(outline contour) image.Rectangle {
	box := outline.bounds().Intersect(c.Rect)
	if box.Empty() {
		return box
	}
	c.z.Reset(box.Dx(), box.Dy())
	dx, dy := float64(box.Min.X), float64(box.Min.Y)
	for i, p := range outline {
		x, y := float32(p.x-dx), float32(p.y-dy)
		if i == 0 {
			c.z.MoveTo(x, y)
			continue
		}
		c.z.LineTo(x, y)
	}
	c.z.ClosePath()
	return box
}

// blend lays one colour over a box of the canvas. The general drawing code of the libraries works in 16 bits a channel
// and took four fifths of a picture's time.
func (c *canvas) blend(box image.Rectangle, mask *image.Alpha, ink color.NRGBA) {
	r, g, b, a := uint32(ink.R), uint32(ink.G), uint32(ink.B), uint32(ink.A)
	for y := range box.Dy() {
		cover := mask.Pix[y*mask.Stride : y*mask.Stride+box.Dx()]
		at := c.PixOffset(box.Min.X, box.Min.Y+y)
		row := c.Pix[at : at+4*len(cover)]
		for x, m := range cover {
			if m == 0 {
				continue
			}
			p := row[4*x : 4*x+4 : 4*x+4]
			alpha := (uint32(m)*a + 127) / 255
			if alpha == 255 {
				p[0], p[1], p[2], p[3] = ink.R, ink.G, ink.B, 255
				continue
			}
			rest := 255 - alpha
			p[0] = uint8((r*alpha + uint32(p[0])*rest + 127) / 255)   //nolint:gosec // a weighted mean of bytes
			p[1] = uint8((g*alpha + uint32(p[1])*rest + 127) / 255)   //nolint:gosec // the same
			p[2] = uint8((b*alpha + uint32(p[2])*rest + 127) / 255)   //nolint:gosec // the same
			p[3] = uint8((255*alpha + uint32(p[3])*rest + 127) / 255) //nolint:gosec // the same
		}
	}
}

func (o contour) bounds() image.Rectangle {
	if len(o) == 0 {
		return image.Rectangle{}
	}
	lo, hi := o[0], o[0]
	for _, p := range o {
		lo = point{min(lo.x, p.x), min(lo.y, p.y)}
		hi = point{max(hi.x, p.x), max(hi.y, p.y)}
	}
	return image.Rect(int(math.Floor(lo.x)), int(math.Floor(lo.y)), int(math.Ceil(hi.x)), int(math.Ceil(hi.y)))
}

// arc returns points on a circle from one angle to another, in radians.
func arc(cx, cy, r, from, to float64) contour {
	steps := max(8, int(math.Abs(to-from)*math.Sqrt(r)*2.5))
	o := make(contour, 0, steps+1)
	for i := range steps + 1 {
		sin, cos := math.Sincos(from + (to-from)*float64(i)/float64(steps))
		o = append(o, point{cx + r*cos, cy + r*sin})
	}
	return o
}

func circle(cx, cy, r float64) contour { return arc(cx, cy, r, 0, 2*math.Pi) }

// ring returns the band between two radii, from one angle to another.
func ring(cx, cy, inner, outer, from, to float64) contour {
	return append(arc(cx, cy, outer, from, to), arc(cx, cy, inner, to, from)...)
}

// rounded returns a rectangle with round corners.
func rounded(x, y, w, h, r float64) contour {
	r = min(r, w/2, h/2)
	o := arc(x+w-r, y+r, r, -math.Pi/2, 0)
	o = append(o, arc(x+w-r, y+h-r, r, 0, math.Pi/2)...)
	o = append(o, arc(x+r, y+h-r, r, math.Pi/2, math.Pi)...)
	return append(o, arc(x+r, y+r, r, math.Pi, 3*math.Pi/2)...)
}

// gradient fills the canvas from top to low along a direction that is tilt radians off the vertical.
func (c *canvas) gradient(top, low color.RGBA, tilt float64) {
	const steps = 1024
	var table [steps + 1]color.RGBA
	for i := range table {
		table[i] = mix(top, low, float64(i)/steps)
	}
	sin, cos := math.Sincos(tilt)
	length := math.Abs(c.w*sin) + math.Abs(c.h*cos)
	offset := max(0, -c.w*sin) + max(0, -c.h*cos)
	for y := range c.Rect.Dy() {
		row := c.Pix[y*c.Stride : y*c.Stride+4*c.Rect.Dx()]
		t := (float64(y)*cos + offset) / length * steps
		step := sin / length * steps
		for x := 0; x < len(row); x += 4 {
			p := table[min(max(int(t), 0), steps)]
			row[x], row[x+1], row[x+2], row[x+3] = p.R, p.G, p.B, 255
			t += step
		}
	}
}

// clipTo makes everything outside a contour transparent.
func (c *canvas) clipTo(outline contour) {
	old := c.RGBA
	c.RGBA = image.NewRGBA(old.Rect)
	c.fillWith(outline, old)
}

// mix returns the colour that lies t (0..1) on the way from a to b.
func mix(a, b color.RGBA, t float64) color.RGBA {
	at := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + (float64(y)-float64(x))*t)) }
	return color.RGBA{at(a.R, b.R), at(a.G, b.G), at(a.B, b.B), at(a.A, b.A)}
}

// fade returns an opaque colour at the given opacity, 0..1.
func fade(c color.RGBA, opacity float64) color.NRGBA {
	return color.NRGBA{c.R, c.G, c.B, uint8(math.Round(255 * opacity))}
}

// rgb returns the opaque colour 0xRRGGBB.
func rgb(v uint32) color.RGBA {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} //nolint:gosec // the low byte of each shift is meant
}
