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
}

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
	p := &pixels{w: img.Rect.Dx(), h: img.Rect.Dy(), bands: 4}
	if img.Opaque() {
		p.bands = 3
	}
	p.tiff, p.pix = tiffFile(p.w, p.h, p.bands)
	if p.bands == 4 {
		copy(p.pix, img.Pix)
		return p
	}
	for from, to := 0, 0; to < len(p.pix); from, to = from+4, to+3 {
		copy(p.pix[to:to+3], img.Pix[from:])
	}
	return p
}

// decodePixels decodes with libvips, except BMP.
func decodePixels(src []byte, h header, b sniff.Bounds) (*pixels, error) {
	if h.Format == "bmp" {
		img, err := decodeBMP(src)
		if err != nil {
			return nil, err
		}
		return fromImage(toNRGBA(img)), nil
	}
	orientation := h.Orientation
	if h.Format == "avif" || h.Format == "heic" {
		if !hasOperation("heifload_buffer") {
			return nil, fault.New(fault.UnsupportedOperation, "this libvips was built without %s", h.Format)
		}
		orientation = 1 // libheif applies the file's own rotation
	}
	return decodeVips(src, h.Format, orientation, b)
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

// describe tries AVIF in earnest: libheif loads without its codecs, too.
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
	grey := image.NewGray(image.Rect(0, 0, 16, 16))
	sample, err := EncodeImage(context.Background(), grey, EncodeOptions{Format: "avif"})
	if err == nil {
		e.Write = append(e.Write, "avif")
		if _, err := decode(sample, sniff.DefaultBounds()); err == nil {
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
