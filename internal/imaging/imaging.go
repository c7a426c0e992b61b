// Package imaging reads what a picture is from its header and re-encodes pictures: upright, in 8-bit sRGB, without
// metadata, in another format. The default build decodes and encodes with libvips, through bimg and a small binding of
// its own; a build with the tag novips, or without cgo, uses Go code and names what it cannot do right.
//
// It does not open files, fetch, name outputs or edit the bytes of a signed file, and it never changes its input.
package imaging

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"io"
	"runtime"
	"strconv"
	"strings"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// EncodeOptions say how a picture is written. The zero value of a field means its default.
type EncodeOptions struct {
	Format     string // png, jpeg, webp, avif or gif
	Quality    int    // 1..100, 0 = 90; png and gif take no notice
	Background string // #RRGGBB that transparency is flattened on for jpeg, "" = #FFFFFF
	Lossless   bool   // webp; png always is, gif within its 256 colours, jpeg and avif never
}

// plan is a checked EncodeOptions.
type plan struct {
	format     string
	quality    int
	background color.NRGBA
	lossless   bool
	palette    bool // png with at most 256 colours, chosen for the quality
}

// formats that Encode writes, with the longest side each can hold in pixels.
//
//nolint:gochecknoglobals // a table that nothing writes to
var formats = map[string]int{"png": 1<<31 - 1, "jpeg": 65_500, "webp": 16_383, "avif": 65_536, "gif": 65_535}

const defaultQuality = 90

func (o EncodeOptions) plan() (plan, error) {
	p := plan{format: strings.ToLower(o.Format), quality: o.Quality, lossless: o.Lossless}
	if p.format == "jpg" {
		p.format = "jpeg"
	}
	if _, ok := formats[p.format]; !ok {
		return plan{}, fault.New(fault.InvalidArgument,
			"output format must be one of png, jpeg, webp, avif and gif, got %q", o.Format)
	}
	if o.Quality < 0 || o.Quality > 100 {
		return plan{}, fault.New(fault.InvalidArgument, "quality must lie between 1 and 100, got %d", o.Quality)
	}
	if o.Quality == 0 {
		p.quality = defaultQuality
	}
	if o.Lossless && (p.format == "jpeg" || p.format == "avif") { // AVIF's lossless mode rounds RGB to YUV: about 53 dB
		return plan{}, fault.New(fault.UnsupportedOperation,
			"%s cannot be written without loss: use png or webp, or leave lossless out", p.format)
	}
	var err error
	p.background, err = parseColour(o.Background)
	return p, err
}

func parseColour(s string) (color.NRGBA, error) {
	if s == "" {
		return color.NRGBA{0xff, 0xff, 0xff, 0xff}, nil
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil || len(s) != 7 || s[0] != '#' {
		return color.NRGBA{}, fault.New(fault.InvalidArgument, "background must be of the form #RRGGBB, got %q", s)
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}, nil //nolint:gosec // the three bytes of v
}

// Encode re-encodes a picture: turned upright, converted to 8-bit sRGB, stripped of metadata; transparency is kept,
// or flattened for jpeg. The header is checked against sniff.DefaultBounds before anything is decoded. It returns the
// bytes and what their header says.
//
// It returns the errors of Probe; invalid_image for a damaged or truncated picture, never a half-grey result;
// unsupported_operation, naming the feature, for animations, for pictures whose colours this build cannot get right and
// for formats that it lacks; invalid_argument for bad options. Cancelling ctx takes effect between decoding and
// encoding. At most GOMAXPROCS pictures are worked on at once, so that memory is bounded; others wait.
func Encode(ctx context.Context, src []byte, o EncodeOptions) ([]byte, Info, error) {
	p, err := o.plan()
	if err != nil {
		return nil, Info{}, err
	}
	leave, err := enter(ctx)
	if err != nil {
		return nil, Info{}, err
	}
	defer leave()
	px, err := decode(ctx, src, sniff.DefaultBounds())
	if err != nil {
		return nil, Info{}, err
	}
	out, err := encode(ctx, px, p)
	if err != nil {
		return nil, Info{}, err
	}
	info, err := Probe(bytes.NewReader(out), int64(len(out)), sniff.DefaultBounds())
	return out, info, err
}

// EncodeImage encodes a picture that is in memory. It takes the options of Encode and returns its errors.
func EncodeImage(ctx context.Context, img image.Image, o EncodeOptions) ([]byte, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	b := img.Bounds()
	if b.Empty() {
		return nil, fault.New(fault.InvalidArgument, "the picture has no pixels")
	}
	if err := checkBounds(Info{Width: b.Dx(), Height: b.Dy(), Frames: 1}, sniff.DefaultBounds()); err != nil {
		return nil, err
	}
	leave, err := enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return encode(ctx, fromImage(toNRGBA(img)), p)
}

func encode(ctx context.Context, px *pixels, p plan) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, h := px.size()
	if limit := formats[p.format]; w > limit || h > limit {
		return nil, fault.New(fault.UnsupportedOperation, "%s holds at most %d pixels a side, the picture has %dx%d",
			p.format, limit, w, h)
	}
	return px.encode(p)
}

// decode checks the header, then decodes: upright, 8-bit sRGB.
func decode(ctx context.Context, src []byte, b sniff.Bounds) (*pixels, error) {
	h, err := probe(source{bytes.NewReader(src), int64(len(src))}, b)
	if err != nil {
		return nil, err
	}
	if h.Frames > 1 {
		return nil, animated(h)
	}
	return decodeFirst(ctx, src, h, extent{}, b)
}

func animated(h header) error {
	return fault.New(fault.UnsupportedOperation,
		"the %s holds %d frames or pages: only still pictures can be converted", h.Format, h.Frames)
}

// extent is the size of a picture in pixels; the zero extent stands for the one that it has.
type extent struct{ w, h int }

// stored is the extent of the picture as the file stores it, before it is turned upright.
func (e extent) stored(orientation int) extent {
	if orientation >= 5 {
		return extent{e.h, e.w}
	}
	return e
}

// resized is p at another size, p itself if that is the one it has.
func (p *pixels) resized(ctx context.Context, to extent) (*pixels, error) {
	if w, h := p.size(); to == (extent{}) || to == (extent{w, h}) {
		return p, nil
	}
	return p.resize(ctx, to.w, to.h)
}

// decodeFirst decodes the only, or the first, frame at the size that the upright picture is to have.
func decodeFirst(ctx context.Context, src []byte, h header, to extent, b sniff.Bounds) (*pixels, error) {
	s := source{bytes.NewReader(src), int64(len(src))}
	if h.colour != "" {
		return nil, fault.New(fault.UnsupportedOperation, "the %s uses %s, which cannot be converted to sRGB",
			h.Format, h.colour)
	}
	if err := checkWhole(s, h); err != nil {
		return nil, err
	}
	return decodePixels(ctx, src, h, to, b)
}

// Whole returns invalid_image for a picture that provably lacks its end, by its chunks or boxes: png, webp, avif and
// heic. It decodes nothing, so a jpeg, whose end only decoding finds, passes, and so does what follows a png's end. i
// is what Probe said of the file.
func Whole(r io.ReaderAt, size int64, i Info) error {
	return checkWhole(source{r, size}, header{Info: i})
}

// checkWhole finds what some decoders fill with grey or nothing: boxes or chunks that the file announces and lacks.
func checkWhole(s source, h header) error {
	switch h.Format {
	case "png":
		return walkPNG(s, func(kind string, off, n int64) (bool, error) {
			if off+n > s.size {
				return true, damaged(h.Format, nil)
			}
			return kind == "IEND", nil
		})
	case "avif", "heic":
		return walkBoxes(s, func(string, source) (bool, error) { return false, nil })
	case "webp":
		b, err := s.read(4, 4)
		if err != nil {
			return err
		}
		end := int64(binary.LittleEndian.Uint32(b)) + 8
		if end > s.size {
			return damaged(h.Format, nil)
		}
		return walkRIFF(s.part(0, end), func(_ string, off, n int64) (bool, error) {
			if off+n > end {
				return true, damaged(h.Format, nil)
			}
			return false, nil
		})
	}
	return nil
}

// damaged keeps the decoder's own words for debugging only: they may repeat foreign bytes.
func damaged(format string, cause error) error {
	return fault.Caused(fault.InvalidImage, cause, "the %s cannot be decoded: it is damaged or cut short", format)
}

// slots bounds the pictures in work: each can hold hundreds of megabytes, and more than one a processor is no faster.
//
//nolint:gochecknoglobals // a semaphore for the whole process, as the memory is
var slots = make(chan struct{}, runtime.GOMAXPROCS(0))

func enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// toNRGBA returns img as 8-bit pixels with straight alpha, at the origin; img itself when it is that already.
func toNRGBA(img image.Image) *image.NRGBA {
	b := img.Bounds()
	if n, ok := img.(*image.NRGBA); ok && b.Min == (image.Point{}) && n.Stride == 4*b.Dx() {
		return n
	}
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() { // the fast paths of draw lead to RGBA
		rgba := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
		draw.Draw(rgba, rgba.Rect, img, b.Min, draw.Src)
		return &image.NRGBA{Pix: rgba.Pix, Stride: rgba.Stride, Rect: rgba.Rect}
	}
	n := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(n, n.Rect, img, b.Min, draw.Src)
	return n
}

// Engine says what this build can do with pictures.
type Engine struct {
	Name    string   `json:"name"`    // "libvips" or "pure-go"
	Version string   `json:"version"` // of libvips, or of Go
	Read    []string `json:"read"`    // formats that Encode decodes
	Write   []string `json:"write"`   // formats that Encode writes
	Lacks   []string `json:"lacks"`   // what is refused with unsupported_operation
}

// Brief returns the name and the version of the engine of this build and nothing else. It starts nothing.
func Brief() Engine { return brief() }

// CanWrite reports whether this build encodes a format, such as "webp". In a libvips build it starts the library.
func CanWrite(format string) bool { return canWrite(format) }

// Describe returns the engine of this build. In a libvips build it starts the library and tries the codecs that
// libvips may have been built without.
func Describe() Engine { return describe() }
