package imaging

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"strconv"
	"strings"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// Mode says how a picture gets an exact size.
type Mode string

// The modes.
const (
	Match   Mode = "match"   // the shape must be the same to 1 %; anything else is refused
	Cover   Mode = "cover"   // fills the box, what does not fit is cut off evenly
	Contain Mode = "contain" // shows all of the picture, bars fill the rest
	Stretch Mode = "stretch" // changes the shape
)

// Modes lists the modes in the order in which help shows them.
func Modes() []string {
	return []string{string(Match), string(Cover), string(Contain), string(Stretch)}
}

// Box is an exact size.
type Box struct {
	Width, Height int    // pixels
	Mode          Mode   // "" = Contain
	Bars          string // of Contain: blur, black, white, #RRGGBB or #RRGGBBAA; "" = black
}

// matchWithin is how far the shapes of Match may differ, as a share.
const matchWithin = 0.01

func (b *Box) check() error {
	limit := sniff.DefaultBounds()
	if b.Width < 1 || b.Height < 1 || b.Width > limit.Side || b.Height > limit.Side ||
		int64(b.Width)*int64(b.Height) > limit.FramePixels {
		return fault.New(fault.InvalidArgument, "a picture cannot be made %dx%d pixels: a side has 1 to %d, all together %d",
			b.Width, b.Height, limit.Side, limit.FramePixels)
	}
	switch b.Mode {
	case "", Match, Cover, Contain, Stretch:
	default:
		return fault.New(fault.InvalidArgument, "fit must be one of %s, got %q", strings.Join(Modes(), ", "), b.Mode)
	}
	_, _, err := parseBars(b.Bars)
	return err
}

// parseBars reads the fill of Contain.
func parseBars(s string) (fill color.NRGBA, blur bool, err error) {
	switch s {
	case "blur":
		return color.NRGBA{}, true, nil
	case "", "black":
		return color.NRGBA{A: 0xff}, false, nil
	case "white":
		return color.NRGBA{0xff, 0xff, 0xff, 0xff}, false, nil
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil || s[0] != '#' || len(s) != 7 && len(s) != 9 {
		return color.NRGBA{}, false, fault.New(fault.InvalidArgument,
			"bars must be blur, black, white, #RRGGBB or #RRGGBBAA, got %q", s)
	}
	if len(s) == 7 {
		v = v<<8 | 0xff
	}
	return color.NRGBA{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}, false, nil //nolint:gosec // the bytes of v
}

// fit brings a picture to the size of the box.
func (b *Box) fit(ctx context.Context, px *pixels) (*pixels, error) {
	w, h := px.size()
	if w == b.Width && h == b.Height {
		return px, nil
	}
	switch b.Mode {
	case Stretch:
		return px.resize(ctx, b.Width, b.Height)
	case Match:
		if ratio := float64(w*b.Height) / float64(h*b.Width); ratio > 1+matchWithin || ratio < 1/(1+matchWithin) {
			return nil, fault.New(fault.ConstraintUnmet, "the picture has %dx%d pixels, which is not the shape of %dx%d", w, h,
				b.Width, b.Height).WithHint("cover, contain or stretch change the shape")
		}
		return px.resize(ctx, b.Width, b.Height)
	case Cover:
		return b.cover(ctx, px, b.Width, b.Height)
	}
	return b.contain(ctx, px)
}

// cover fills width x height and cuts off what is over, from its middle.
func (b *Box) cover(ctx context.Context, px *pixels, width, height int) (*pixels, error) {
	px, few := lessLong(px, width, height)
	if few {
		return px.resized(ctx, extent{width, height})
	}
	w, h := px.size()
	toW, toH := width, height
	if w*height > h*width { // too wide
		toW = max(width, (w*height+h/2)/h)
	} else {
		toH = max(height, (h*width+w/2)/w)
	}
	big, err := px.resized(ctx, extent{toW, toH})
	if err != nil {
		return nil, err
	}
	return crop(big, (toW-width)/2, (toH-height)/2, width, height), nil
}

// lessLong cuts off most of what cover cuts off of a picture that is much longer than the box: resized as a whole, a
// row of 16384 pixels would take gigabytes. few says that so few pixels are left that no one sees their shape.
func lessLong(px *pixels, width, height int) (part *pixels, few bool) {
	const shapes, margin = 8, 4 // from that many times the box's shape on; pixels that the rest of cover cuts off
	w, h := px.size()
	toW, toH := w, h
	switch {
	case w*height > shapes*h*width:
		toW = h * width / height
	case h*width > shapes*w*height:
		toH = w * height / width
	default:
		return px, false
	}
	few = min(toW, toH) < margin
	if !few {
		toW, toH = min(w, toW+margin), min(h, toH+margin)
	}
	toW, toH = max(1, toW), max(1, toH)
	return crop(px, (w-toW)/2, (h-toH)/2, toW, toH), few
}

// contain lays the whole picture on its bars.
func (b *Box) contain(ctx context.Context, px *pixels) (*pixels, error) {
	w, h := px.size()
	toW, toH := b.Width, b.Height
	if w*b.Height > h*b.Width { // too wide
		toH = min(b.Height, max(1, (h*b.Width+w/2)/w))
	} else {
		toW = min(b.Width, max(1, (w*b.Height+h/2)/h))
	}
	small, err := px.resized(ctx, extent{toW, toH})
	if err != nil {
		return nil, err
	}
	fill, blur, err := parseBars(b.Bars)
	if err != nil {
		return nil, err
	}
	under := image.NewNRGBA(image.Rect(0, 0, b.Width, b.Height))
	if blur {
		if under, err = b.blurred(ctx, px); err != nil {
			return nil, err
		}
	} else {
		draw.Draw(under, under.Rect, image.NewUniform(fill), image.Point{}, draw.Src)
	}
	at := image.Rect(0, 0, toW, toH).Add(image.Pt((b.Width-toW)/2, (b.Height-toH)/2))
	how := draw.Over
	if fill.A != 0xff && !blur {
		how = draw.Src // what is transparent in the picture stays so
	}
	draw.Draw(under, at, small.image(), image.Point{}, how)
	return fromImage(under), nil
}

// The blur is made of a picture an eighth of the size, which looks the same and costs a sixth (imaging.md §7).
const (
	blurShrink = 8
	blurRadius = 5 // pixels of the small picture; three passes of a box come close to a Gaussian of sigma 5.5
)

// blurred is the picture covering the box, out of focus and opaque.
func (b *Box) blurred(ctx context.Context, px *pixels) (*image.NRGBA, error) {
	small, err := b.cover(ctx, px, max(1, b.Width/blurShrink), max(1, b.Height/blurShrink))
	if err != nil {
		return nil, err
	}
	if pix, bands := small.raw(); bands == 4 && !opaque(pix) {
		small = flattened(small, color.NRGBA{A: 0xff})
	}
	img := small.image()
	for range 3 {
		img = boxBlur(boxBlur(img, 4), img.Stride)
	}
	big, err := fromImage(img).resized(ctx, extent{b.Width, b.Height})
	if err != nil {
		return nil, err
	}
	return big.image(), nil
}

// boxBlur averages along rows (step 4) or along columns (step Stride) of an opaque picture, and repeats its edge.
func boxBlur(img *image.NRGBA, step int) *image.NRGBA {
	out := image.NewNRGBA(img.Rect)
	lines, length, jump := img.Rect.Dy(), img.Rect.Dx(), img.Stride
	if step == img.Stride {
		lines, length, jump = length, lines, 4
	}
	for line := range lines {
		for c := range 4 {
			blurLine(out.Pix[line*jump+c:], img.Pix[line*jump+c:], length, step)
		}
	}
	return out
}

func blurLine(to, from []byte, length, step int) {
	const radius = blurRadius
	at := func(i int) int { return int(from[min(max(i, 0), length-1)*step]) }
	sum := 0
	for i := -radius; i <= radius; i++ {
		sum += at(i)
	}
	for i := range length {
		to[i*step] = byte((sum + radius) / (2*radius + 1))
		sum += at(i+radius+1) - at(i-radius)
	}
}

// crop is a part of a picture.
func crop(px *pixels, x, y, w, h int) *pixels {
	if fullW, fullH := px.size(); fullW == w && fullH == h {
		return px
	}
	img := px.image()
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for row := range h {
		copy(out.Pix[row*out.Stride:][:4*w], img.Pix[(y+row)*img.Stride+4*x:])
	}
	return fromImage(out)
}
