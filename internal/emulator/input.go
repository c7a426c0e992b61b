package emulator

import (
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"slices"

	"golang.org/x/image/webp"

	"mediagen/internal/emulator/drawing"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
)

// maxDecode is the number of pixels above which an input is shown as a tile instead.
const maxDecode = 40_000_000

// input is one uploaded picture: what its header says and a small copy.
type input struct {
	format             string
	width, height      int // as stored
	uprightW, uprightH int
	alpha              bool
	clear              bool        // has pixels that are not opaque
	photo              *image.RGBA // nil when the picture is too large to decode here
}

// decodeInput reads the header within the default bounds and keeps a small upright copy.
func decodeInput(f *os.File, size int64, param string) (input, *apiError) {
	info, err := imaging.Probe(f, size, sniff.DefaultBounds())
	if err != nil || !slices.Contains([]string{"png", "jpeg", "webp"}, info.Format) {
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
	in.photo = drawing.Photo(img, info.Orientation)
	if o, ok := img.(interface{ Opaque() bool }); ok {
		in.clear = !o.Opaque()
	}
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
