package drawing

import (
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

const photoEdge = 640 // pixels on the longer side of what is kept of an input

// Photo returns a small upright copy of an input, as orientation 1..8 of its EXIF data asks; 0 counts as 1.
func Photo(img image.Image, orientation int) *image.RGBA {
	b := img.Bounds()
	out := image.NewRGBA(photoRect(b.Dx(), b.Dy()))
	draw.ApproxBiLinear.Scale(out, out.Rect, img, b, draw.Src, nil)
	return upright(out, orientation)
}

// Tile returns what stands for an input of the given upright size that is not decoded.
func Tile(w, h int) *image.RGBA {
	tile := image.NewRGBA(photoRect(w, h))
	draw.Draw(tile, tile.Rect, image.NewUniform(color.RGBA{150, 155, 165, 255}), image.Point{}, draw.Src)
	return tile
}

// photoRect keeps the shape and bounds the longer side.
func photoRect(w, h int) image.Rectangle {
	if long := max(w, h); long > photoEdge {
		w, h = max(1, w*photoEdge/long), max(1, h*photoEdge/long)
	}
	return image.Rect(0, 0, w, h)
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
