package imaging

import (
	"bytes"
	"errors"
	"image"

	"golang.org/x/image/bmp"

	"mediagen/internal/fault"
)

// decodeBMP serves both builds: libvips reads BMP through ImageMagick, which stays blocked.
func decodeBMP(src []byte) (image.Image, error) {
	img, err := bmp.Decode(bytes.NewReader(src))
	if errors.Is(err, bmp.ErrUnsupported) {
		return nil, fault.New(fault.UnsupportedOperation,
			"this kind of bmp cannot be decoded: only uncompressed ones of 1, 2, 4, 8, 24 and 32 bits can")
	}
	if err != nil {
		return nil, damaged("bmp", err)
	}
	return img, nil
}
