package emulator

import (
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
)

const (
	thumbEdge = 640        // pixels on the longer side of what is kept of an input
	maxDecode = 40_000_000 // inputs with more pixels are shown as a tile instead
)

// input is one uploaded picture: what its header says and a small copy.
type input struct {
	format             string
	width, height      int // as stored
	uprightW, uprightH int
	alpha              bool
	clear              bool        // has pixels that are not opaque
	thumb              *image.RGBA // nil when the picture is too large to decode here
}

// decodeInput reads the header within the default bounds and keeps a small upright copy.
func decodeInput(f *os.File, size int64, param string) (input, *apiError) {
	info, err := imaging.Probe(f, size, sniff.DefaultBounds())
	if err != nil {
		return input{}, badRequest(param, "invalid_image_file", "invalid image file for '%s'", param)
	}
	in := input{format: info.Format, width: info.Width, height: info.Height, alpha: info.Alpha}
	in.uprightW, in.uprightH = info.Upright()
	if info.Width*info.Height > maxDecode {
		in.clear = info.Alpha // not looked at; the benefit of the doubt
		return in, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return input{}, serverFault("temporary file of an upload cannot be read")
	}
	img, err := decode(f, info.Format)
	if err != nil {
		return input{}, badRequest(param, "invalid_image_file", "invalid image file for '%s'", param)
	}
	in.thumb = upright(shrink(img), info.Orientation)
	in.clear = !in.thumb.Opaque()
	return in, nil
}

func decode(r io.Reader, format string) (image.Image, error) {
	switch format {
	case "jpeg":
		return jpeg.Decode(r)
	case "webp":
		return webp.Decode(r)
	default:
		return png.Decode(r)
	}
}

// shrink returns a copy whose longer side is at most thumbEdge.
func shrink(img image.Image) *image.RGBA {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	if long := max(w, h); long > thumbEdge {
		w, h = max(1, w*thumbEdge/long), max(1, h*thumbEdge/long)
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(out, out.Rect, img, b, draw.Src, nil)
	return out
}

// upright turns and mirrors a picture as EXIF orientation 1..8 asks (TIFF 6.0, tag 274).
func upright(img *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 || orientation > 8 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	dw, dh := w, h
	if orientation >= 5 {
		dw, dh = h, w
	}
	out := image.NewRGBA(image.Rect(0, 0, dw, dh))
	for y := range h {
		for x := range w {
			dx, dy := x, y
			switch orientation {
			case 2:
				dx = w - 1 - x
			case 3:
				dx, dy = w-1-x, h-1-y
			case 4:
				dy = h - 1 - y
			case 5:
				dx, dy = y, x
			case 6:
				dx, dy = h-1-y, x
			case 7:
				dx, dy = h-1-y, w-1-x
			case 8:
				dx, dy = y, w-1-x
			}
			out.SetRGBA(dx, dy, img.RGBAAt(x, y))
		}
	}
	return out
}

// shown returns what a print shows: the small copy, or a plain tile of the picture's shape.
func (in input) shown() *image.RGBA {
	if in.thumb != nil {
		return in.thumb
	}
	long := max(in.uprightW, in.uprightH)
	r := image.Rect(0, 0, max(1, in.uprightW*thumbEdge/long), max(1, in.uprightH*thumbEdge/long))
	tile := image.NewRGBA(r)
	draw.Draw(tile, r, image.NewUniform(color.RGBA{150, 155, 165, 255}), image.Point{}, draw.Src)
	return tile
}
