package imaging

import (
	"errors"
	"io"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// Info is what a picture's header says.
type Info struct {
	Format      string // png jpeg webp gif avif heic bmp tiff
	MIME        string
	Width       int  // pixels, as stored
	Height      int  // pixels, as stored
	Frames      int  // frames of an animation, pages of a TIFF; 1 for a still picture
	Orientation int  // EXIF orientation 1..8; 1 where the file says nothing
	Alpha       bool // the format's header declares transparency
}

// Upright returns the size after the orientation is applied: what a viewer shows.
func (i Info) Upright() (w, h int) {
	if i.Orientation >= 5 {
		return i.Height, i.Width
	}
	return i.Width, i.Height
}

// header is an Info with what the decoders need to know besides.
type header struct {
	Info
	cmyk    bool
	cropped bool   // a clean aperture (clap) cuts the decoded picture
	profile source // an ICC profile among the properties of an AVIF or HEIC file
	colour  string // why no build can give the right colours, "" when it can
}

// Probe reads what a picture of size bytes is, from its header and never from its pixels; a GIF's blocks are walked to
// count its frames. Both builds give the same answer, with a few kilobytes of memory whatever the header claims.
//
// It returns invalid_image when the bytes are no picture of a known format or the header is broken, pixels_exceeded and
// frames_exceeded when the header is over b, and io_failed when r fails.
func Probe(r io.ReaderAt, size int64, b sniff.Bounds) (Info, error) {
	h, err := probe(source{r, size}, b)
	return h.Info, err
}

func probe(s source, b sniff.Bounds) (header, error) {
	h, err := readHeader(s, b.Frames)
	if err != nil {
		return header{}, err
	}
	if err := checkBounds(h.Info, b); err != nil {
		return header{}, err
	}
	return h, nil
}

// readHeader counts no more than maxFrames+1 frames.
func readHeader(s source, maxFrames int) (header, error) {
	if s.size <= 0 {
		return header{}, fault.New(fault.InvalidImage, "the picture is empty")
	}
	t, err := sniff.DetectReader(io.NewSectionReader(s.r, 0, s.size))
	if err != nil {
		return header{}, err
	}
	h := header{Info: Info{Format: t.Ext, MIME: t.MIME, Frames: 1, Orientation: 1}}
	switch t.Ext {
	case "png":
		err = readPNG(s, &h)
	case "jpeg":
		err = readJPEG(s, &h)
	case "webp":
		err = readWebP(s, &h, maxFrames)
	case "gif":
		err = readGIF(s, &h, maxFrames)
	case "bmp":
		err = readBMP(s, &h)
	case "tiff":
		err = readTIFF(s, &h, maxFrames)
	case "avif", "heic":
		err = readHEIF(s, &h)
	default:
		return header{}, notAPicture(t)
	}
	if err != nil {
		return header{}, err
	}
	if h.Width <= 0 || h.Height <= 0 {
		return header{}, broken(t.Ext, "its width or height is 0")
	}
	return h, nil
}

func notAPicture(t sniff.Type) error {
	const readable = "png, jpeg, webp, gif, avif, heic, bmp and tiff can be read"
	if t.MIME == "" {
		return fault.New(fault.InvalidImage, "the bytes are of no known picture format: %s", readable)
	}
	return fault.New(fault.InvalidImage, "the bytes are %s, not a picture that can be decoded: %s", t.MIME, readable)
}

func broken(format, why string) error {
	return fault.New(fault.InvalidImage, "the %s header is broken: %s", format, why)
}

// checkBounds runs before anything is decoded or allocated.
func checkBounds(i Info, b sniff.Bounds) error {
	pixels := int64(i.Width) * int64(i.Height)
	switch {
	case i.Width > b.Side || i.Height > b.Side:
		return fault.New(fault.PixelsExceeded, "picture of %dx%d pixels, at most %d a side are allowed",
			i.Width, i.Height, b.Side)
	case pixels > b.FramePixels:
		return fault.New(fault.PixelsExceeded, "picture of %dx%d = %d pixels, at most %d are allowed",
			i.Width, i.Height, pixels, b.FramePixels)
	case i.Frames > b.Frames:
		return fault.New(fault.FramesExceeded, "picture of more than %d frames, which is the limit", b.Frames)
	case pixels*int64(i.Frames) > b.TotalPixels:
		return fault.New(fault.PixelsExceeded, "%d frames of %dx%d pixels, at most %d pixels together are allowed",
			i.Frames, i.Width, i.Height, b.TotalPixels)
	}
	return nil
}

// maxSteps bounds the chunks, segments and boxes that a header walk visits.
const maxSteps = 10_000

// source is the file, or a part of it, that a header is read from.
type source struct {
	r    io.ReaderAt
	size int64
}

// read returns n bytes at off. Callers ask for a bounded n, never for one that the file names.
func (s source) read(off int64, n int) ([]byte, error) {
	if off < 0 || off > s.size-int64(n) {
		return nil, fault.New(fault.InvalidImage, "the picture is cut short inside its header")
	}
	b := make([]byte, n)
	got, err := s.r.ReadAt(b, off)
	if got == n {
		return b, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil, fault.New(fault.InvalidImage, "the picture is cut short inside its header")
	}
	return nil, fault.Caused(fault.IOFailed, err, "the picture cannot be read")
}

// part is the n bytes at off as a source of their own, cut at the end of s.
func (s source) part(off, n int64) source {
	off = min(max(off, 0), s.size)
	n = min(max(n, 0), s.size-off)
	return source{io.NewSectionReader(s.r, off, n), n}
}
