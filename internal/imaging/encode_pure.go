//go:build novips || !cgo

package imaging

import (
	"bytes"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"

	"github.com/gen2brain/avif"
	"github.com/gen2brain/webp"

	"mediagen/internal/fault"
)

// Efforts of the encoders compiled to WebAssembly: libwebp's default, and the fastest of libaom, since the slower ones
// give the same bytes within two per cent here.
const (
	webpMethod = 4
	avifSpeed  = 10
)

func (p *pixels) encode(o plan) ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch o.format {
	case "png":
		err = png.Encode(&b, p.img)
	case "jpeg":
		err = jpeg.Encode(&b, flatten(p.img, o.background), &jpeg.Options{Quality: o.quality})
	case "webp":
		err = webp.Encode(&b, p.img, webp.Options{Quality: o.quality, Lossless: o.lossless, Method: webpMethod})
	case "avif":
		err = avif.Encode(&b, premultiplied(p.img), avif.Options{
			Quality: o.quality, QualityAlpha: o.quality, Speed: avifSpeed, ChromaSubsampling: avifChroma(o.quality),
		})
	case "gif":
		err = gif.Encode(&b, paletted(p.img), nil)
	}
	if err != nil {
		return nil, fault.Caused(fault.UnsupportedOperation, err, "the picture cannot be encoded as %s", o.format)
	}
	return b.Bytes(), nil
}

// avifChroma drops colour resolution below quality 90, as libvips does. With it, both builds give the same bytes within
// a few per cent at the same quality.
func avifChroma(quality int) image.YCbCrSubsampleRatio {
	if quality >= defaultQuality {
		return image.YCbCrSubsampleRatio444
	}
	return image.YCbCrSubsampleRatio420
}

// premultiplied converts what shows through, so that the encoder gets the form that it wants.
func premultiplied(img *image.NRGBA) *image.RGBA {
	if img.Opaque() {
		return &image.RGBA{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect}
	}
	out := image.NewRGBA(img.Rect)
	draw.Draw(out, out.Rect, img, img.Rect.Min, draw.Src)
	return out
}

// flatten lays img on a background.
func flatten(img *image.NRGBA, background color.NRGBA) image.Image {
	if img.Opaque() {
		return premultiplied(img)
	}
	out := image.NewRGBA(img.Rect)
	draw.Draw(out, out.Rect, image.NewUniform(background), image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, img.Rect.Min, draw.Over)
	return out
}

// paletted keeps the colours of a picture that has at most 256 of them; others are dithered onto a fixed palette.
// Transparency is all or nothing in a GIF: pixels that are less than half opaque become transparent.
func paletted(img *image.NRGBA) *image.Paletted {
	solid := image.NewNRGBA(img.Rect)
	holes := false
	index := map[color.NRGBA]uint8{}
	colours := color.Palette{}
	for i := 0; i < len(img.Pix); i += 4 {
		p := img.Pix[i : i+4 : i+4]
		c := color.NRGBA{p[0], p[1], p[2], 0xff}
		if p[3] < 0x80 {
			c = color.NRGBA{}
			holes = true
		}
		copy(solid.Pix[i:], []byte{c.R, c.G, c.B, c.A})
		if _, ok := index[c]; !ok && len(colours) <= 256 {
			index[c] = uint8(len(colours)) //nolint:gosec // used only when there are at most 256
			colours = append(colours, c)
		}
	}
	if len(colours) > 256 {
		return dithered(solid, holes)
	}
	out := image.NewPaletted(img.Rect, colours)
	for i := range out.Pix {
		p := solid.Pix[4*i : 4*i+4 : 4*i+4]
		out.Pix[i] = index[color.NRGBA{p[0], p[1], p[2], p[3]}]
	}
	return out
}

func dithered(img *image.NRGBA, holes bool) *image.Paletted {
	colours := color.Palette(palette.Plan9)
	if holes {
		colours = append(color.Palette{color.NRGBA{}}, palette.Plan9[1:]...) // the first of its two near-blacks goes
		colours[1] = color.NRGBA{A: 0xff}
	}
	out := image.NewPaletted(img.Rect, colours)
	draw.FloydSteinberg.Draw(out, out.Rect, img, image.Point{})
	if !holes {
		return out
	}
	for i := range out.Pix { // dithering spreads colour into the transparent part
		if img.Pix[4*i+3] == 0 {
			out.Pix[i] = 0
		}
	}
	return out
}
