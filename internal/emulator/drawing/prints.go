package drawing

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"
)

// prints lays the photos out on the scene: the first one large, with its mask tinted, the others in a grid beside or
// below.
func (c *canvas) prints(s Sketch, pal palette) {
	unit := min(c.w, c.h)
	area := image.Rect(int(c.w*0.08), int(c.h*0.07), int(c.w*0.92), int(c.h*0.60))
	first, rest := area, image.Rectangle{}
	if len(s.Photos) > 1 {
		if c.w >= c.h {
			first.Max.X = area.Min.X + area.Dx()*62/100
			rest = image.Rect(first.Max.X+int(unit*0.03), area.Min.Y, area.Max.X, area.Max.Y)
		} else {
			first.Max.Y = area.Min.Y + area.Dy()*68/100
			rest = image.Rect(area.Min.X, first.Max.Y+int(unit*0.03), area.Max.X, area.Max.Y)
		}
	}
	c.print(s.overlaid(pal), first, -0.03)
	cols, rows := grid(len(s.Photos)-1, rest)
	for i, photo := range s.Photos[1:] {
		w, h := rest.Dx()/cols, rest.Dy()/rows
		x, y := rest.Min.X+w*(i%cols), rest.Min.Y+h*(i/cols)
		c.print(photo, image.Rect(x, y, x+w, y+h).Inset(int(unit*0.008)), 0.05*float64(1-2*(i%2)))
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

// print draws one photo in a white frame with a shadow, turned by an angle.
func (c *canvas) print(photo *image.RGBA, box image.Rectangle, angle float64) {
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

// overlaid returns the first photo with the editable area of the mask tinted, or with the markup on top.
func (s Sketch) overlaid(pal palette) *image.RGBA {
	photo := s.Photos[0]
	switch {
	case s.Mask != nil:
		return tinted(photo, fitTo(s.Mask, photo.Rect), pal.accent)
	case s.Markup != nil:
		out := image.NewRGBA(photo.Rect)
		copy(out.Pix, photo.Pix)
		draw.Draw(out, out.Rect, fitTo(s.Markup, photo.Rect), image.Point{}, draw.Over)
		return out
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

// Coarse returns an early version of a picture, as partial images show it. Detail goes from 1, the coarsest, to 3.
func Coarse(img *image.RGBA, detail int) *image.RGBA {
	f := 96 >> (2 * (detail - 1)) // 96, 24, 6
	small := fitTo(img, image.Rect(0, 0, max(2, img.Rect.Dx()/f), max(2, img.Rect.Dy()/f)))
	return fitTo(small, img.Rect)
}
