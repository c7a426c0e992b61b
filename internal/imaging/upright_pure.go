//go:build novips || !cgo

package imaging

import "image"

// upright applies an EXIF orientation: it returns img as a viewer shows it.
func upright(img *image.NRGBA, orientation int) *image.NRGBA {
	if orientation <= 1 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	outW, outH := w, h
	if orientation >= 5 {
		outW, outH = h, w
	}
	out := image.NewNRGBA(image.Rect(0, 0, outW, outH))
	for y := range outH {
		for x := range outW {
			fromX, fromY := x, y
			if orientation >= 5 {
				fromX, fromY = y, x
			}
			switch orientation {
			case 2, 3, 7, 8: // stored right to left
				fromX = w - 1 - fromX
			}
			switch orientation {
			case 3, 4, 6, 7: // stored bottom to top
				fromY = h - 1 - fromY
			}
			copy(out.Pix[4*(y*outW+x):][:4], img.Pix[4*(fromY*w+fromX):])
		}
	}
	return out
}
