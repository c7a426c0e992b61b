//go:build novips || !cgo

package imaging

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"runtime"
	"slices"

	"github.com/gen2brain/avif"
	"golang.org/x/image/draw"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// pixels is a decoded picture, upright and in 8-bit sRGB.
type pixels struct{ img *image.NRGBA }

func (p *pixels) size() (w, h int) { return p.img.Rect.Dx(), p.img.Rect.Dy() }

// image returns the pixels for reading and changing.
func (p *pixels) image() *image.NRGBA { return p.img }

// warnings is empty: Go's decoders accept a file or refuse it.
func (p *pixels) warnings() string { return "" }

// raw returns the pixels, row by row, and how many bytes each has.
func (p *pixels) raw() (pix []byte, bands int) { return p.img.Pix, 4 }

func fromImage(img *image.NRGBA) *pixels { return &pixels{img} }

// blank returns a picture whose pixels are to be filled in. It always has four bands.
func blank(w, h, _ int) *pixels { return &pixels{image.NewNRGBA(image.Rect(0, 0, w, h))} }

// decodePixels refuses what Go code here would get wrong: HEIC, CMYK, cropped AVIF, animated WebP and table-based ICC
// profiles. to is the size that the upright picture is to have, the zero extent for its own.
func decodePixels(ctx context.Context, src []byte, h header, to extent, _ sniff.Bounds) (*pixels, error) {
	switch {
	case h.Format == "heic":
		return nil, lacking("reading heic")
	case h.cmyk:
		return nil, lacking("converting CMYK pictures to sRGB")
	case h.cropped:
		return nil, lacking("reading avif with a clean aperture (clap)")
	case h.Format == "webp" && string(src[12:16]) == "VP8X" && src[20]&0x02 != 0: // also one of a single frame
		return nil, lacking("reading a frame of an animated webp")
	}
	convert, err := profileConverter(src, h)
	if err != nil {
		return nil, err
	}
	img, err := decodeGo(src, h.Format)
	if err != nil {
		return nil, err
	}
	convert(img)
	px, err := fromImage(img).resized(ctx, to.stored(h.Orientation))
	if err != nil {
		return nil, err
	}
	return fromImage(upright(px.img, h.Orientation)), nil
}

// resize returns the picture at another size. The scaler keeps a column of floats for each row that it reads, so a
// picture that is many times too large is first averaged down to two to three times the size.
func (p *pixels) resize(ctx context.Context, w, h int) (*pixels, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	from := p.img
	if byX, byY := max(1, from.Rect.Dx()/(2*w)), max(1, from.Rect.Dy()/(2*h)); byX > 1 || byY > 1 {
		from = averaged(from, byX, byY)
	}
	to := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(to, to.Rect, from, from.Rect, draw.Src, nil)
	return &pixels{to}, nil
}

// averaged divides the sides of a picture by whole numbers. Colours are weighted by their alpha; what is left over at
// the right and lower edge joins the last column and row.
func averaged(img *image.NRGBA, byX, byY int) *image.NRGBA {
	w, h := img.Rect.Dx()/byX, img.Rect.Dy()/byY
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y1 := (y + 1) * byY
		if y == h-1 {
			y1 = img.Rect.Dy()
		}
		for x := range w {
			x1 := (x + 1) * byX
			if x == w-1 {
				x1 = img.Rect.Dx()
			}
			average(out.Pix[4*(y*w+x):][:4], img, x*byX, y*byY, x1, y1)
		}
	}
	return out
}

func average(to []byte, img *image.NRGBA, x0, y0, x1, y1 int) {
	var r, g, b, a uint64
	for y := y0; y < y1; y++ {
		row := img.Pix[y*img.Stride+4*x0 : y*img.Stride+4*x1]
		for i := 0; i+3 < len(row); i += 4 {
			alpha := uint64(row[i+3])
			r += uint64(row[i]) * alpha
			g += uint64(row[i+1]) * alpha
			b += uint64(row[i+2]) * alpha
			a += alpha
		}
	}
	if a == 0 {
		return
	}
	n := uint64((x1 - x0) * (y1 - y0)) //nolint:gosec // a positive area
	to[0], to[1], to[2] = byte((r+a/2)/a), byte((g+a/2)/a), byte((b+a/2)/a)
	to[3] = byte((a + n/2) / n) //nolint:gosec // an average of bytes
}

func lacking(feature string) error {
	return fault.New(fault.UnsupportedOperation, "%s needs the build with libvips", feature)
}

func decodeGo(src []byte, format string) (*image.NRGBA, error) {
	var img image.Image
	var err error
	r := bytes.NewReader(src)
	switch format {
	case "png":
		img, err = png.Decode(r)
	case "jpeg":
		img, err = jpeg.Decode(r)
	case "gif":
		img, err = decodeGIF(r)
	case "tiff":
		img, err = tiff.Decode(r)
	case "bmp":
		img, err = decodeBMP(src)
	case "webp":
		if img, err = webp.Decode(r); err == nil {
			img = webpToNRGBA(img)
		}
	case "avif":
		img, err = decodeAVIF(r)
	}
	if err != nil {
		return nil, goError(format, err)
	}
	return toNRGBA(img), nil
}

// goError tells a feature that a decoder lacks from a file that is broken.
func goError(format string, err error) error {
	if fault.CodeOf(err) != "" {
		return err
	}
	_, ofPNG := errors.AsType[png.UnsupportedError](err)
	_, ofJPEG := errors.AsType[jpeg.UnsupportedError](err)
	_, ofTIFF := errors.AsType[tiff.UnsupportedError](err)
	if ofPNG || ofJPEG || ofTIFF {
		return fault.Caused(fault.UnsupportedOperation, err, "this kind of %s needs the build with libvips", format)
	}
	return damaged(format, err)
}

// decodeGIF lays the first frame where it belongs on the screen.
func decodeGIF(r *bytes.Reader) (image.Image, error) {
	all, err := gif.DecodeAll(r)
	if err != nil {
		return nil, err
	}
	frame := all.Image[0]
	screen := image.Rect(0, 0, all.Config.Width, all.Config.Height)
	if frame.Rect == screen {
		return frame, nil
	}
	img := image.NewNRGBA(screen)
	for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
		for x := frame.Rect.Min.X; x < frame.Rect.Max.X; x++ {
			img.Set(x, y, frame.At(x, y))
		}
	}
	return img, nil
}

// decodeAVIF takes the decoder's untouched memory for the failure that it does not report: an opaque picture has alpha,
// and one that is transparent everywhere holds nothing.
func decodeAVIF(r *bytes.Reader) (image.Image, error) {
	img, err := avif.Decode(r)
	if err != nil {
		return nil, err
	}
	var pix []byte
	switch m := img.(type) {
	case *image.RGBA:
		pix = m.Pix
	case *image.RGBA64:
		pix = m.Pix
	}
	if !slices.ContainsFunc(pix, func(b byte) bool { return b != 0 }) {
		return nil, errors.New("the decoder returned no pixels")
	}
	return img, nil
}

// webpToNRGBA converts lossy WebP's planes, which are ITU-R BT.601 of limited range (RFC 6386 §9.2, RFC 9649); the
// image package takes every YCbCr for the full range of JPEG. Lossless WebP is RGB already.
func webpToNRGBA(img image.Image) image.Image {
	var planes *image.YCbCr
	var alpha []byte
	alphaStride := 0
	switch m := img.(type) {
	case *image.YCbCr:
		planes = m
	case *image.NYCbCrA:
		planes, alpha, alphaStride = &m.YCbCr, m.A, m.AStride
	default:
		return img
	}
	b := planes.Rect
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		row := out.Pix[y*out.Stride:]
		for x := range b.Dx() {
			c := planes.COffset(b.Min.X+x, b.Min.Y+y)
			luma := 76309 * (int(planes.Y[planes.YOffset(b.Min.X+x, b.Min.Y+y)]) - 16) // 255/219 in 16 bits
			cb, cr := int(planes.Cb[c])-128, int(planes.Cr[c])-128
			p := row[4*x : 4*x+4 : 4*x+4]
			p[0] = fixed8(luma + 104597*cr)
			p[1] = fixed8(luma - 25675*cb - 53279*cr)
			p[2] = fixed8(luma + 132201*cb)
			p[3] = 0xff
			if alpha != nil {
				p[3] = alpha[y*alphaStride+x]
			}
		}
	}
	return out
}

func fixed8(v int) byte { return byte(min(max((v+1<<15)>>16, 0), 255)) }

func brief() Engine { return Engine{Name: "pure-go", Version: runtime.Version()} }

func canWrite(format string) bool { return slices.Contains(describe().Write, format) }

func describe() Engine {
	e := brief()
	e.Read = []string{"bmp", "png", "jpeg", "webp", "gif", "tiff", "avif"}
	e.Write = []string{"png", "jpeg", "webp", "gif", "avif"}
	e.Lacks = []string{
		"reading heic", "CMYK pictures", "ICC profiles with lookup tables", "animations", "svg", "jpeg xl",
	}
	return e
}

// palettes reports whether encode can reduce a png to a palette.
const palettes = false

func lackingPalette() error { return lacking("png with a palette (--quality)") }
