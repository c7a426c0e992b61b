package drawing

import (
	"image/color"
	"math"
	"math/rand/v2"
)

// palette is a set of colours that go together: sky from top to low, the light in it, land from far to near, and an
// accent.
type palette struct{ top, low, sun, far, near, accent color.RGBA }

//nolint:gochecknoglobals // table
var palettes = []palette{
	{rgb(0x2b2d5b), rgb(0xf0875d), rgb(0xffd98a), rgb(0xb4587a), rgb(0x251c45), rgb(0xff6b6b)},
	{rgb(0xf9d5a7), rgb(0xfdf1dc), rgb(0xff7059), rgb(0x9cc0b0), rgb(0x23443f), rgb(0xe9a03b)},
	{rgb(0x0b132b), rgb(0x3f5f85), rgb(0xf4f1de), rgb(0x35547a), rgb(0x0a1128), rgb(0xffb703)},
	{rgb(0xf6d8ae), rgb(0xe89a62), rgb(0xfff3d6), rgb(0xc9573f), rgb(0x4a1f2b), rgb(0x2a9d8f)},
	{rgb(0xe3f5e6), rgb(0x8fd3ad), rgb(0xfffbe6), rgb(0x57b88a), rgb(0x0b2b20), rgb(0xf4a259)},
	{rgb(0xa9dbe0), rgb(0xf3faf0), rgb(0xe63946), rgb(0x5c93b5), rgb(0x1b3354), rgb(0xf4a261)},
	{rgb(0xffcfe0), rgb(0xc6e3ff), rgb(0xfffdf7), rgb(0xc6a9d8), rgb(0x4a3f70), rgb(0xff8fab)},
	{rgb(0x3a0717), rgb(0xe8610a), rgb(0xffc233), rgb(0xa01109), rgb(0x1c0409), rgb(0xffdd99)},
	{rgb(0xe2e9ed), rgb(0xb4c7d1), rgb(0xf4b982), rgb(0x7f9aa4), rgb(0x1c2a32), rgb(0xd1495b)},
	{rgb(0x0f2430), rgb(0x2f7d78), rgb(0xdcf5cb), rgb(0x3f917f), rgb(0x081b1a), rgb(0x8ef6c0)},
	{rgb(0xfff0c2), rgb(0xffd166), rgb(0xef476f), rgb(0x49b6b0), rgb(0x073b4c), rgb(0x118ab2)},
	{rgb(0x3c1a5b), rgb(0xd16ba5), rgb(0xffe9f3), rgb(0x8a3f9e), rgb(0x1d0b33), rgb(0x5ffbf1)},
}

// landscape paints a scene that follows from the random source alone. Different sources give visibly different
// pictures: another palette, another motif, other shapes.
func (c *canvas) landscape(rng *rand.Rand) palette {
	p := palettes[rng.IntN(len(palettes))]
	motif := []func(*rand.Rand, palette){c.hills, c.peaks, c.orbits, c.tiles, c.skyline, c.scales}[rng.IntN(6)]
	c.gradient(p.top, p.low, between(rng, -0.35, 0.35))
	motif(rng, p)
	return p
}

func between(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }

// sun paints a disc with three rings of glow.
func (c *canvas) sun(rng *rand.Rand, p palette) {
	r := min(c.w, c.h) * between(rng, 0.09, 0.15)
	at := point{c.w * between(rng, 0.2, 0.8), c.h * between(rng, 0.2, 0.36)}
	for i, opacity := range []float64{0.10, 0.14, 0.20} {
		c.fill(circle(at.x, at.y, r*(2.3-0.45*float64(i))), fade(p.sun, opacity))
	}
	c.fill(circle(at.x, at.y, r), p.sun)
}

// stars sprinkles dots over the upper part, where the sky is dark enough to show them.
func (c *canvas) stars(rng *rand.Rand, p palette) {
	if luma(p.top) > 110 {
		return
	}
	unit := min(c.w, c.h)
	for range 70 {
		x, y, r := c.w*rng.Float64(), c.h*0.55*math.Pow(rng.Float64(), 1.4), unit*between(rng, 0.0008, 0.0026)
		c.fill(circle(x, y, r), fade(p.sun, between(rng, 0.35, 0.95)))
	}
}

func luma(c color.RGBA) float64 { return 0.299*float64(c.R) + 0.587*float64(c.G) + 0.114*float64(c.B) }

// hills paints rolling ridges that darken towards the viewer.
func (c *canvas) hills(rng *rand.Rand, p palette) {
	c.stars(rng, p)
	c.sun(rng, p)
	layers := 5 + rng.IntN(2)
	for i := range layers {
		depth := float64(i) / float64(layers-1)
		base := c.h * (0.42 + 0.44*depth)
		swing := c.h * (0.035 + 0.05*rng.Float64()) * (1.2 - 0.5*depth)
		a, b := between(rng, 0, 7), between(rng, 0, 7)
		fa, fb := between(rng, 0.7, 1.5), between(rng, 2.1, 3.9)
		o := contour{{0, c.h}}
		for k := range 97 {
			x := float64(k) / 96
			y := math.Sin(a+x*fa*2*math.Pi) + 0.38*math.Sin(b+x*fb*2*math.Pi)
			o = append(o, point{x * c.w, base + swing*y})
		}
		c.fill(append(o, point{c.w, c.h}), mix(mix(p.low, p.far, 0.55+0.45*depth), p.near, depth*depth))
	}
}

// peaks paints mountains with a lit and a shaded face above a calm lake.
func (c *canvas) peaks(rng *rand.Rand, p palette) {
	c.stars(rng, p)
	c.sun(rng, p)
	shore := c.h * between(rng, 0.66, 0.74)
	for row := range 3 {
		depth := float64(row) / 2
		body := mix(mix(p.low, p.far, 0.6+0.4*depth), p.near, 0.75*depth*depth)
		count := 5 - row
		for i := range count {
			top := point{
				c.w * (float64(i) + between(rng, 0.2, 0.8)) / float64(count),
				shore - c.h*between(rng, 0.10, 0.36-0.09*depth),
			}
			half := (shore - top.y) * between(rng, 0.75, 1.15)
			ridge := point{top.x + half*between(rng, -0.15, 0.25), shore}
			c.fill(contour{top, {top.x + half, shore}, {top.x - half, shore}}, body)
			c.fill(contour{top, ridge, {top.x - half, shore}}, fade(p.sun, 0.16))
			c.fill(contour{top, {top.x + half, shore}, ridge}, fade(p.near, 0.22))
		}
	}
	c.fill(contour{{0, shore}, {c.w, shore}, {c.w, c.h}, {0, c.h}}, mix(p.near, p.far, 0.35))
	for range 26 {
		y := shore + (c.h-shore)*math.Pow(rng.Float64(), 1.6)
		width, x := c.w*between(rng, 0.04, 0.22), c.w*between(rng, -0.05, 1)
		thick := c.h * 0.0022
		c.fill(rounded(x, y, width, thick, thick/2), fade(p.sun, between(rng, 0.08, 0.30)))
	}
}

// orbits paints a planet, its rings and a few moons.
func (c *canvas) orbits(rng *rand.Rand, p palette) {
	c.stars(rng, p)
	unit := min(c.w, c.h)
	cx, cy := c.w*between(rng, 0.35, 0.65), c.h*between(rng, 0.34, 0.46)
	core := unit * between(rng, 0.13, 0.18)
	for i := 6; i >= 1; i-- {
		r := core + unit*0.075*float64(i)
		from := between(rng, 0, 2*math.Pi)
		ink := mix(p.far, p.accent, rng.Float64())
		c.fill(circle(cx, cy, r), fade(p.near, 0.07))
		c.fill(ring(cx, cy, r-unit*0.006, r, from, from+between(rng, 1.6, 5.4)), fade(ink, 0.9))
		sin, cos := math.Sincos(from)
		c.fill(circle(cx+r*cos, cy+r*sin, unit*between(rng, 0.010, 0.026)), ink)
	}
	c.fill(circle(cx, cy, core), p.sun)
	shade := append(arc(cx, cy, core, -math.Pi/2, math.Pi/2), arc(cx+core*0.75, cy, core*1.25, 2.214, 4.069)...)
	c.fill(shade, fade(p.far, 0.45))
	base := c.h * between(rng, 0.80, 0.88)
	c.fill(circle(c.w*between(rng, 0.2, 0.8), base+c.w*1.4, c.w*1.4), p.near)
}

// tiles paints a grid of quarter and half circles, dots and triangles.
func (c *canvas) tiles(rng *rand.Rand, p palette) {
	across := 4 + rng.IntN(3)
	side := c.w / float64(across)
	if c.h < c.w {
		side = c.h / float64(across)
	}
	inks := []color.RGBA{p.sun, p.far, p.near, p.accent, mix(p.far, p.near, 0.5), mix(p.sun, p.far, 0.4)}
	for y := 0.0; y < c.h; y += side {
		for x := 0.0; x < c.w; x += side {
			c.tile(rng, x, y, side, inks)
		}
	}
}

// tile paints one cell of the grid.
func (c *canvas) tile(rng *rand.Rand, x, y, side float64, inks []color.RGBA) {
	ground, ink := rng.IntN(len(inks)), rng.IntN(len(inks)-1)
	if ink >= ground {
		ink++ // never the ground's own colour
	}
	corners := []point{{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}}
	turn := rng.IntN(4)
	at, next := corners[turn], corners[(turn+1)%4]
	angle := float64(turn) * math.Pi / 2
	c.fill(corners, fade(inks[ground], 0.92))
	switch rng.IntN(5) {
	case 0:
		c.fill(append(arc(at.x, at.y, side, angle, angle+math.Pi/2), at), inks[ink])
	case 1:
		mid := point{(at.x + next.x) / 2, (at.y + next.y) / 2}
		c.fill(arc(mid.x, mid.y, side/2, angle, angle+math.Pi), inks[ink])
	case 2:
		c.fill(circle(x+side/2, y+side/2, side*0.32), inks[ink])
		c.fill(circle(x+side/2, y+side/2, side*0.14), inks[ground])
	case 3:
		c.fill(contour{at, next, corners[(turn+2)%4]}, inks[ink])
	default:
		for i := range 3 {
			r := side * (1 - 0.3*float64(i))
			ink := inks[(ink+i)%len(inks)]
			c.fill(append(arc(at.x, at.y, r, angle, angle+math.Pi/2), at), ink)
		}
	}
}

// skyline paints three rows of buildings, the nearest with lit windows.
func (c *canvas) skyline(rng *rand.Rand, p palette) {
	c.stars(rng, p)
	c.sun(rng, p)
	for row := range 3 {
		depth := float64(row) / 2
		body := mix(mix(p.low, p.far, 0.5+0.5*depth), p.near, depth*depth)
		unit := min(c.w, c.h) * (0.055 + 0.025*depth)
		for x := -unit * rng.Float64(); x < c.w; {
			width := unit * between(rng, 0.9, 1.9)
			top := c.h * (between(rng, 0.36, 0.62) + 0.12*depth)
			c.fill(contour{{x, top}, {x + width, top}, {x + width, c.h}, {x, c.h}}, body)
			if rng.IntN(4) == 0 {
				mid, thin := x+width/2, max(1, unit*0.03)
				c.fill(rounded(mid-thin, top-unit*0.7, 2*thin, unit*0.7, 0), body)
			}
			if row == 2 {
				c.windows(rng, point{x, top}, width, unit, p)
			}
			x += width * between(rng, 1, 1.12)
		}
	}
}

// windows lights some of the windows of one building.
func (c *canvas) windows(rng *rand.Rand, at point, width, unit float64, p palette) {
	cell := unit * 0.27
	across := int((width - cell*0.5) / cell)
	left := at.x + (width-cell*float64(across))/2
	for y := at.y + cell*0.6; y < c.h*0.93; y += cell * 1.15 {
		for i := range across {
			if rng.IntN(3) > 0 {
				continue
			}
			x := left + cell*(float64(i)+0.2)
			c.fill(rounded(x, y, cell*0.6, cell*0.6, cell*0.08), fade(p.sun, between(rng, 0.45, 0.95)))
		}
	}
}

// scales paints rows of overlapping round waves under a sun.
func (c *canvas) scales(rng *rand.Rand, p palette) {
	c.stars(rng, p)
	c.sun(rng, p)
	r := min(c.w, c.h) * between(rng, 0.075, 0.11)
	top := c.h * between(rng, 0.40, 0.52)
	for row := 0; top+float64(row)*r*0.5 < c.h+r; row++ {
		y := top + float64(row)*r*0.5 + r
		depth := min(1, (y-top)/(c.h-top))
		body := mix(mix(p.low, p.far, 0.5+0.5*depth), p.near, depth*0.85)
		for x := -r * float64(row%2); x < c.w+r; x += 2 * r {
			bright := mix(body, p.sun, between(rng, 0.10, 0.30))
			c.fill(circle(x, y, r), bright)
			c.fill(circle(x, y, r*0.86), body)
			c.fill(circle(x, y, r*0.60), bright)
			c.fill(circle(x, y, r*0.46), body)
			c.fill(circle(x, y, r*0.22), bright)
		}
	}
}
