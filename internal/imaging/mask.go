package imaging

import (
	"context"
	"image"
	"image/png"
	"io"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// MaskInfo is a mask's header and how much of it is marked for editing.
type MaskInfo struct {
	Info
	Transparent int64 // fully transparent pixels: the area that a provider edits
}

// InspectMask reads a mask in the form that providers take: a PNG whose fully transparent pixels are to be edited. A
// PNG without transparency comes back with Alpha false and nothing counted; the caller decides. Anything but a PNG is
// invalid_image. The pixels are decoded after the header is checked against b, so a damaged PNG is invalid_image too.
func InspectMask(r io.ReaderAt, size int64, b sniff.Bounds) (MaskInfo, error) {
	info, err := Probe(r, size, b)
	if err != nil {
		return MaskInfo{}, err
	}
	if info.Format != "png" {
		return MaskInfo{}, fault.New(fault.InvalidImage,
			"the mask is a %s: it must be a png with an alpha channel", info.Format)
	}
	m := MaskInfo{Info: info}
	if !info.Alpha {
		return m, nil
	}
	img, err := png.Decode(io.NewSectionReader(r, 0, size))
	if err != nil {
		return MaskInfo{}, damaged("png", err)
	}
	m.Transparent = countTransparent(img)
	return m, nil
}

func countTransparent(img image.Image) int64 {
	var count int64
	b := img.Bounds()
	if n, ok := img.(*image.NRGBA); ok {
		for y := range b.Dy() {
			row := n.Pix[y*n.Stride:][:4*b.Dx()]
			for x := 3; x < len(row); x += 4 {
				if row[x] == 0 {
					count++
				}
			}
		}
		return count
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if _, _, _, a := img.At(x, y).RGBA(); a == 0 {
				count++
			}
		}
	}
	return count
}

// MaskFromWhite turns a picture that marks in white what is to be edited into a mask that providers take: a PNG that is
// fully transparent where src, upright and laid on black, is at least half bright, and opaque black elsewhere. It
// returns the errors of Encode, and invalid_image when nothing in src is white.
func MaskFromWhite(src []byte, b sniff.Bounds) ([]byte, error) {
	ctx := context.Background() // one decode and one fast encode: there is no point at which to stop
	leave, err := enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	px, err := decode(ctx, src, b)
	if err != nil {
		return nil, err
	}
	mask := px.image()
	if !clearWhite(mask) {
		return nil, fault.New(fault.InvalidImage,
			"the mask has no white area: paint white what is to be edited and black what is to stay")
	}
	return encode(ctx, fromImage(mask), plan{format: "png", quality: defaultQuality})
}

// clearWhite makes a mask of img in place and reports whether anything was white.
func clearWhite(img *image.NRGBA) bool {
	found := false
	for i := 0; i < len(img.Pix); i += 4 {
		p := img.Pix[i : i+4 : i+4]
		bright := (299*int(p[0]) + 587*int(p[1]) + 114*int(p[2])) * int(p[3]) // luma over black, times 255000
		white := bright >= 128*1000*255
		p[0], p[1], p[2], p[3] = 0, 0, 0, 0xff
		if white {
			p[3] = 0
			found = true
		}
	}
	return found
}
