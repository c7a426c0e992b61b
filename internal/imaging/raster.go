package imaging

import (
	"cmp"
	"context"
	"image/color"
	"math"
	"slices"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// raster is a decoded picture that is encoded in one format.
type raster struct {
	px, full *pixels // full is the picture at its largest wanted size
	plan     plan
	luma     plane // of px, made when it is first needed
}

var _ canvas = (*raster)(nil)

// canvas prepares a picture for a format: transparency that the format cannot keep goes, and so does one that hides
// nothing.
func (c *conversion) canvas(px *pixels, format string) (*raster, error) {
	background, err := parseColour(c.Background)
	if err != nil {
		return nil, err
	}
	if pix, bands := px.raw(); format == "jpeg" && bands == 4 {
		if !opaque(pix) {
			c.note("jpeg has no transparency: it was laid on %s", cmp.Or(c.Background, "#FFFFFF"))
		}
		px = flattened(px, background)
	}
	return &raster{px: px, full: px, plan: plan{format: format, background: background}}, nil
}

func (r *raster) dims() (w, h int) { return r.px.size() }

// encode takes a png's quality below 100 for a palette.
func (r *raster) encode(ctx context.Context, quality int) ([]byte, error) {
	p := r.plan
	p.quality, p.palette = quality, p.format == "png" && quality < 100
	return encode(ctx, r.px, p)
}

func (r *raster) look(ctx context.Context, data []byte) (float64, error) {
	px, err := decode(ctx, data, ownBounds())
	if err != nil {
		return 0, err
	}
	if r.luma.pix == nil {
		r.luma = lumaOf(r.px)
	}
	return ssim(r.luma, lumaOf(px)), nil
}

// ownBounds are those of a picture that was made here: how large it may be was decided before.
func ownBounds() sniff.Bounds {
	return sniff.Bounds{Side: math.MaxInt32, FramePixels: math.MaxInt64, TotalPixels: math.MaxInt64, Frames: 1}
}

func (r *raster) scaled(ctx context.Context, scale float64) (canvas, error) {
	w, h := r.full.size()
	px, err := r.full.resize(ctx, max(1, int(float64(w)*scale+0.5)), max(1, int(float64(h)*scale+0.5)))
	return &raster{px: px, full: r.full, plan: r.plan}, err
}

func opaque(pix []byte) bool {
	for i := 3; i < len(pix); i += 4 {
		if pix[i] != 0xff {
			return false
		}
	}
	return true
}

// flattened lays a picture with transparency on a background.
func flattened(px *pixels, background color.NRGBA) *pixels {
	w, h := px.size()
	from, _ := px.raw()
	out := blank(w, h, 3)
	to, bands := out.raw()
	under := [3]int{int(background.R), int(background.G), int(background.B)}
	for i := range w * h {
		p, q := from[4*i:4*i+4:4*i+4], to[bands*i:bands*i+bands:bands*i+bands]
		a := int(p[3])
		for c, v := range under {
			q[c] = byte((int(p[c])*a + v*(255-a) + 127) / 255) //nolint:gosec // at most 255
		}
		if bands == 4 {
			q[3] = 0xff
		}
	}
	return out
}

// auto encodes the picture once in each format that can keep its transparency, and goes on with the one that is the
// smallest of those that look good enough.
func (c *conversion) auto(ctx context.Context, px *pixels) (Result, error) {
	floor := c.MinSSIM
	if floor == 0 {
		floor = autoSSIM
	}
	var chosen *search
	var best trial
	tried := 0
	for _, format := range c.candidates(px) {
		s, t, err := c.sample(ctx, px, format)
		if fault.CodeOf(err) == fault.UnsupportedOperation {
			continue // this build has no encoder for it
		}
		if err != nil {
			return Result{}, err
		}
		tried++
		if chosen == nil || preferred(t, best, floor) {
			chosen, best = s, t
		}
	}
	if chosen == nil {
		return Result{}, fault.New(fault.UnsupportedOperation, "this build writes none of %v", c.candidates(px))
	}
	chosen.first, chosen.encodes = best, tried
	full, ok := best.on.(*raster)
	if !ok {
		return Result{}, fault.New(fault.IOFailed, "the picture was lost between two formats")
	}
	return c.finish(ctx, chosen, full)
}

func (c *conversion) sample(ctx context.Context, px *pixels, format string) (*search, trial, error) {
	s, err := c.search(format)
	if err != nil {
		return nil, trial{}, err
	}
	full, err := c.canvas(px, format)
	if err != nil {
		return nil, trial{}, err
	}
	t, err := s.judged(ctx, full, s.start)
	return s, t, err
}

// preferred reports whether a beats b: what looks good enough beats what does not, then the smaller file wins, and of
// two that do not look good enough the better looking one.
func preferred(a, b trial, floor float64) bool {
	if (a.ssim >= floor) != (b.ssim >= floor) {
		return a.ssim >= floor
	}
	if a.ssim < floor {
		return a.ssim > b.ssim
	}
	return a.size() < b.size()
}

// candidates are the formats for Auto: no jpeg where there is transparency, and png for the few colours of drawings.
func (c *conversion) candidates(px *pixels) []string {
	pix, bands := px.raw()
	clear := bands == 4 && !opaque(pix)
	return slices.DeleteFunc(writable(), func(format string) bool {
		return format == "jpeg" && clear || format == "png" && !clear && !fewColours(pix, bands)
	})
}

// fewColours reports whether a palette can hold the picture.
func fewColours(pix []byte, bands int) bool {
	seen := make(map[[4]byte]struct{}, 257)
	for i := 0; i+bands <= len(pix); i += bands {
		var c [4]byte
		copy(c[:], pix[i:i+bands])
		if seen[c] = struct{}{}; len(seen) > 256 {
			return false
		}
	}
	return true
}
