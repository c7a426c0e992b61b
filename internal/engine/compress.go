package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/param"
	"mediagen/internal/sniff"
)

// Compression says how pictures are made smaller. The zero value of a field asks for nothing. JSON names are the wire
// names of both doors.
type Compression struct {
	MaxBytes       int64   `json:"max_bytes"`
	MaxSize        int     `json:"max_size"`
	Quality        int     `json:"quality"`
	Format         string  `json:"format"`
	MinSSIM        float64 `json:"min_ssim"`
	Background     string  `json:"background"`
	BestEffort     bool    `json:"best_effort"`
	FirstFrame     bool    `json:"first_frame"`
	MaxInputPixels int64   `json:"max_input_pixels"`
	MaxInputSide   int     `json:"max_input_side"`
}

// The hard ends of the limits: what a picture may be raised to costs memory, four bytes a pixel and more.
const (
	maxBudget      = 1 << 30     // bytes
	maxSizeSide    = 16_384      // pixels
	maxInputPixels = 400_000_000 // pixels
	maxInputSide   = 65_535      // pixels
)

// Params describes the parameters in the order in which help shows them.
func (c *Compression) Params() param.Set {
	return param.Set{
		param.Size(&c.MaxBytes, "max_bytes", "make each file at most this large, in bytes: 200k, 1.5M, 512Ki").
			Between(imaging.MinBudget, maxBudget),
		param.Int(&c.MaxSize, "max_size", "make the longer side at most so many pixels; nothing is enlarged").
			Between(16, maxSizeSide),
		param.Int(&c.Quality, "quality", "quality of the encoder, within max_bytes at most so much, by default 85 "+
			"(avif 60); a png below 100 gets 256 colours").
			Between(1, 100),
		param.OpenEnum(&c.Format, "format", "file format, by default that of -o, else the picture's own; "+
			"auto takes the smallest that keeps what has to be kept", compressFormats()...),
		param.Float(&c.MinSSIM, "min_ssim", "how much of its likeness a picture must keep, as SSIM").Between(0, 1),
		param.String(&c.Background, "background",
			"#RRGGBB that shows through where the format has no transparency, by default white").AtMost(7),
		param.Bool(&c.BestEffort, "best_effort", "save what comes nearest when a limit cannot be met"),
		param.Bool(&c.FirstFrame, "first_frame", "take the first frame of an animation"),
		param.Size(&c.MaxInputPixels, "max_input_pixels", "take pictures of up to so many pixels, by default 100M").
			Between(1, maxInputPixels),
		param.Int(&c.MaxInputSide, "max_input_side", "take pictures of up to so many pixels a side, by default 16384").
			Between(1, maxInputSide),
	}
}

func compressFormats() []string { return []string{"jpeg", "png", "webp", "avif", imaging.Auto} }

// check finds what can never work, whatever the pictures are.
func (c *Compression) check() error {
	if err := c.Params().Check(); err != nil {
		return err
	}
	if c.Format = strings.ToLower(c.Format); c.Format == "jpg" {
		c.Format = "jpeg"
	}
	if err := c.spec(sniff.Bounds{}).Check(); err != nil {
		return err
	}
	return canWrite(c.Format)
}

// canWrite refuses a format that this build has no encoder for.
func canWrite(format string) error {
	if format == "" || format == imaging.Auto || imaging.CanWrite(format) {
		return nil
	}
	return fault.New(fault.UnsupportedOperation, "this build has no %s encoder; it writes %s", format,
		strings.Join(imaging.Describe().Write, ", "))
}

// spec is the compression as package imaging takes it, within the bounds that it may raise.
func (c *Compression) spec(b sniff.Bounds) imaging.Spec {
	if c.MaxInputPixels > 0 {
		b.FramePixels, b.TotalPixels = c.MaxInputPixels, max(b.TotalPixels, c.MaxInputPixels)
	}
	if c.MaxInputSide > 0 {
		b.Side = c.MaxInputSide
	}
	return imaging.Spec{
		Format: c.Format, Quality: c.Quality, MaxBytes: c.MaxBytes, MaxSide: c.MaxSize, Background: c.Background,
		MinSSIM: c.MinSSIM, BestEffort: c.BestEffort, FirstFrame: c.FirstFrame, Bounds: b,
	}
}

// CompressImages asks for smaller copies of pictures.
type CompressImages struct {
	Compression

	Images []string `json:"image"` // paths, directories (the pictures directly in them) and "-" for stdin
}

// CompressOutput says where the copies go: without Dest, InPlace and Stdout to NAME.compressed.EXT beside the source.
// It is the door's business, so it stays out of the request.
type CompressOutput struct {
	Dest      string    // a file, or a directory when it exists or ends in a slash; there copies keep their names
	InPlace   bool      // a copy takes the place of its source
	Overwrite bool      // existing files are replaced
	Stdout    io.Writer // takes the bytes of the one picture
	Measure   bool      // report the SSIM of each copy, which costs a decoding
	Jobs      int       // pictures at a time; 0 = as many as there are processors
}

// CompressResult is what CompressImages came to.
type CompressResult struct {
	Assets   []Asset      // files that were saved
	Items    []Compressed // one a source, in the order of the sources
	Warnings []string
}

// The ends that compressing a source can come to.
const (
	Smaller   = "compressed" // a copy was saved
	Untouched = "untouched"  // the source does already, and stays or was copied byte for byte
	Failed    = "failed"
)

// Compressed is what became of one source. Paths are absolute; "-" is stdin as a source and stdout as a path.
type Compressed struct {
	Source    string        `json:"source"`
	Status    string        `json:"status"`
	Path      string        `json:"path,omitempty"` // the copy, or the source itself when nothing had to be written
	Before    *PictureFacts `json:"before"`
	After     *PictureFacts `json:"after"`
	Quality   *int          `json:"quality"` // nil when nothing was encoded
	Encodes   int           `json:"encodes"`
	SSIM      *float64      `json:"ssim"` // to four decimals; nil when it was not measured
	Untouched bool          `json:"untouched"`
	Missed    bool          `json:"missed"` // best effort: a limit was not met
	Notes     []string      `json:"notes"`
	Error     *ItemError    `json:"error"`
}

// PictureFacts are what a picture is.
type PictureFacts struct {
	Bytes     int64  `json:"bytes"`
	Width     int    `json:"width"`  // pixels, upright
	Height    int    `json:"height"` // pixels, upright
	MediaType string `json:"media_type"`
}

func factsOf(i imaging.Info, size int64) *PictureFacts {
	w, h := i.Upright()
	return &PictureFacts{Bytes: size, Width: w, Height: h, MediaType: i.MIME}
}

// ItemError is why one of several items failed.
type ItemError struct {
	Kind    Kind       `json:"kind"`
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}

func itemError(err error) *ItemError {
	e := AsError(err)
	return &ItemError{Kind: e.Kind, Code: e.Code, Message: e.Error(), Hint: e.Hint}
}

var opCompress = operation{"compress", "images compress", ""} //nolint:gochecknoglobals // constant

// CompressImages makes pictures smaller. What cannot work is found before anything is written: bad options, targets
// that exist, two copies of one name. After that each source succeeds or fails by itself, and the Result, which is
// never nil then, tells how: the error is partial when some made it, the source's own when there is one, else that of
// the worst kind. Pictures are worked on side by side; events come one at a time.
func (e *Engine) CompressImages(
	ctx context.Context, r *CompressImages, out CompressOutput, p Progress,
) (*CompressResult, error) {
	c := &compressor{e: e, Compression: r.Compression, out: out, progress: p}
	if err := c.prepare(r.Images); err != nil { //nolint:contextcheck // looks at the disk, waits for nothing
		return nil, told(opCompress, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, told(opCompress, cutShort(ctx, err))
	}
	c.work(ctx)
	return c.result()
}

// cutShort says why work ended when ctx did; another error stays as it is.
func cutShort(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Errorf(KindUnavailable, "timeout", "the time limit ended before the picture was done").WithCause(err)
	case ctx.Err() != nil:
		return Errorf(KindInterrupted, "interrupted", "stopped before the picture was done").WithCause(err)
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(KindFailure, "timeout", "the picture takes too long; it was given up").WithCause(err)
	}
	return err
}

// result sums the run up.
func (c *compressor) result() (*CompressResult, error) {
	res := &CompressResult{Assets: []Asset{}, Warnings: []string{}}
	var errs []error
	for _, t := range c.tasks {
		if t.err != nil {
			t.row = Compressed{
				Source: t.row.Source, Status: Failed, Before: t.row.Before, Encodes: t.row.Encodes, Notes: []string{},
				Error: itemError(t.err),
			}
			errs = append(errs, t.err)
		}
		for _, note := range t.row.Notes {
			res.Warnings = append(res.Warnings, t.ref+": "+note)
		}
		if t.asset != nil {
			res.Assets = append(res.Assets, *t.asset)
		}
		res.Items = append(res.Items, t.row)
	}
	if err := severalFailed(errs, len(c.tasks), "compressed"); err != nil {
		return res, told(opCompress, err)
	}
	return res, nil
}

// severalFailed is the error of a run over items of which some failed, or nil.
func severalFailed(errs []error, all int, done string) error {
	switch {
	case len(errs) == 0:
		return nil
	case all == 1:
		return errs[0]
	case len(errs) < all:
		return Errorf(KindPartial, "partial", "%d of %d files could not be %s", len(errs), all, done)
	}
	worst := AsError(slices.MaxFunc(errs, func(a, b error) int { return badness(a) - badness(b) }))
	return Errorf(worst.Kind, worst.Code, "none of %d files could be %s", all, done)
}

// badness orders kinds: what stops everything, then what is wrong with the machine, the policy, the request, and last
// what another limit would let pass.
func badness(err error) int {
	order := []Kind{
		KindConstraint, KindUnsupported, KindExists, KindNotFound, KindInvalidRequest, KindPolicyDenied, KindFailure,
		KindUnavailable, KindTerminated, KindInterrupted,
	}
	return slices.Index(order, AsError(err).Kind)
}
