//go:build cgo && !novips

package imaging

import (
	"context"
	"image"

	"github.com/h2non/bimg"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// pixels is a decoded picture, upright and in 8-bit sRGB, as an uncompressed TIFF that bimg encodes from. bimg never
// sees an upload: rotating one in its own single step reads freed memory, loses the colour profile and takes a
// truncated file for a grey one.
type pixels struct {
	w, h, bands int
	tiff        []byte
	pix         []byte // the pixels inside tiff
	notes       string // libvips' warnings while they were made
}

// blank returns a picture whose pixels are to be filled in; bands is 3 for RGB and 4 for RGBA with straight alpha.
func blank(w, h, bands int) *pixels {
	p := &pixels{w: w, h: h, bands: bands}
	p.tiff, p.pix = tiffFile(w, h, bands)
	return p
}

// warnings are libvips' words about the file.
func (p *pixels) warnings() string { return p.notes }

// raw returns the pixels, row by row, and how many bytes each has.
func (p *pixels) raw() (pix []byte, bands int) { return p.pix, p.bands }

func (p *pixels) size() (w, h int) { return p.w, p.h }

// image returns the pixels for reading and changing in Go.
func (p *pixels) image() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, p.w, p.h))
	if p.bands == 4 {
		copy(img.Pix, p.pix)
		return img
	}
	for from, to := 0, 0; from < len(p.pix); from, to = from+3, to+4 {
		copy(img.Pix[to:to+3], p.pix[from:])
		img.Pix[to+3] = 0xff
	}
	return img
}

// fromImage drops an alpha channel that hides nothing.
func fromImage(img *image.NRGBA) *pixels {
	bands := 4
	if img.Opaque() {
		bands = 3
	}
	p := blank(img.Rect.Dx(), img.Rect.Dy(), bands)
	if p.bands == 4 {
		copy(p.pix, img.Pix)
		return p
	}
	for from, to := 0, 0; to < len(p.pix); from, to = from+4, to+3 {
		copy(p.pix[to:to+3], img.Pix[from:])
	}
	return p
}

// decodePixels decodes with libvips, except BMP, to the size that the upright picture is to have, the zero extent for
// its own.
func decodePixels(ctx context.Context, src []byte, h header, to extent, b sniff.Bounds) (*pixels, error) {
	if h.Format == "bmp" {
		img, err := decodeBMP(src)
		if err != nil {
			return nil, err
		}
		return fromImage(toNRGBA(img)).resized(ctx, to)
	}
	if h.Format == "avif" || h.Format == "heic" {
		if !hasOperation("heifload_buffer") {
			return nil, fault.New(fault.UnsupportedOperation, "this libvips was built without %s", h.Format)
		}
		// libheif applies the file's own rotation, so its size is known only afterwards.
		px, err := decodeVips(ctx, src, h, extent{}, b)
		if err != nil {
			return nil, err
		}
		return px.resized(ctx, to)
	}
	px, err := decodeVips(ctx, src, h, to.stored(h.Orientation), b)
	if err != nil {
		return nil, err
	}
	return px.turned(ctx, h.Orientation)
}

// avifSpeed is libvips' effort 1: a tenth of the CPU that bimg's default costs, for some bytes more.
const avifSpeed = 8

func (p *pixels) encode(o plan) ([]byte, error) {
	start()
	kind := map[string]bimg.ImageType{
		"png": bimg.PNG, "jpeg": bimg.JPEG, "webp": bimg.WEBP, "avif": bimg.AVIF, "gif": bimg.GIF,
	}[o.format]
	if !bimg.IsTypeSupportedSave(kind) {
		return nil, fault.New(fault.UnsupportedOperation, "this libvips was built without an encoder for %s", o.format)
	}
	opts := bimg.Options{
		Type: kind, Quality: o.quality, Lossless: o.lossless, NoAutoRotate: true, StripMetadata: true,
	}
	switch o.format {
	case "jpeg":
		opts.Interlace = true // progressive: 2 to 10 % smaller
		if p.bands == 4 {     // bimg takes black for "unset", and libvips then flattens on black: the same thing
			opts.Background = bimg.Color{R: o.background.R, G: o.background.G, B: o.background.B}
		}
	case "png":
		opts.Palette = o.palette
	case "avif":
		opts.Speed = avifSpeed
	}
	out, err := bimg.Resize(p.tiff, opts)
	if err != nil {
		return nil, fault.Caused(fault.UnsupportedOperation, err, "this libvips cannot encode the picture as %s", o.format)
	}
	return out, nil
}

func brief() Engine { return Engine{Name: "libvips", Version: vipsVersion()} }

// canWrite tries AVIF in earnest: libheif loads without its codecs, too.
func canWrite(format string) bool {
	start()
	if format != "avif" {
		return hasOperation(format + "save_buffer")
	}
	_, err := sampleAVIF()
	return err == nil
}

func sampleAVIF() ([]byte, error) {
	return EncodeImage(context.Background(), image.NewGray(image.Rect(0, 0, 16, 16)), EncodeOptions{Format: "avif"})
}

func describe() Engine {
	start()
	e := brief()
	e.Read = append(e.Read, "bmp")
	for _, f := range []string{"png", "jpeg", "webp", "gif", "tiff"} {
		if hasOperation(f + "load_buffer") {
			e.Read = append(e.Read, f)
		}
		if f != "tiff" && hasOperation(f+"save_buffer") {
			e.Write = append(e.Write, f)
		}
	}
	if sample, err := sampleAVIF(); err == nil {
		e.Write = append(e.Write, "avif")
		if _, err := decode(context.Background(), sample, sniff.DefaultBounds()); err == nil {
			e.Read = append(e.Read, "avif")
		}
	} else {
		e.Lacks = append(e.Lacks, "writing avif")
	}
	if hasOperation("heifload_buffer") {
		e.Read = append(e.Read, "heic")
	} else {
		e.Lacks = append(e.Lacks, "reading avif and heic")
	}
	e.Lacks = append(e.Lacks, "animations", "svg", "jpeg xl")
	return e
}

// palettes reports whether encode can reduce a png to a palette.
const palettes = true

func lackingPalette() error { return nil }
