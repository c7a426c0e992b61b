package imaging

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// pictureTime bounds the work on one picture, after which it is given up.
const pictureTime = time.Minute

// Auto is the format that stands for the smallest one that keeps what has to be kept.
const Auto = "auto"

// autoSSIM is the floor of Auto when the caller names none: what most people do not tell from the original.
const autoSSIM = 0.95

// Spec says what a picture is converted to. The zero value of a field asks for nothing.
type Spec struct {
	Format     string       // jpeg, png, webp, avif or Auto; "" = the source's own, png for those that cannot be written
	Quality    int          // 1..100; 0 = at most 85 (avif 60), with MinSSIM 95; a png below 100 has 256 colours
	MaxBytes   int64        // of the file
	MaxSide    int          // pixels of the longer side; nothing is enlarged for it
	Box        *Box         // an exact size, in the place of MaxSide
	Background string       // #RRGGBB that shows through where the format has no transparency, "" = #FFFFFF
	MinSSIM    float64      // 0..1: what the result must keep of its likeness to the pixels it is made from
	Measure    bool         // report the SSIM of the result also without MinSSIM
	BestEffort bool         // return what comes nearest to MaxBytes and MinSSIM instead of an error
	FirstFrame bool         // take the first frame of an animation instead of refusing it
	Bounds     sniff.Bounds // of the source; the zero value stands for sniff.DefaultBounds
}

// Result is a converted picture.
type Result struct {
	Data      []byte // nil when Untouched
	Info      Info   // of Data, or of the source
	Quality   int    // that Data was encoded with; 100 for a png without loss
	Encodes   int    // pictures that were encoded on the way
	SSIM      float64
	Untouched bool     // the source does what was asked for as it is
	Missed    bool     // BestEffort was needed
	Notes     []string // what a person should know: transparency that went, frames that were left out, warnings of libvips
}

// Convert makes a picture that meets s: upright, 8-bit sRGB, without metadata. The header decides before anything is
// decoded; a source that meets s already comes back Untouched. Within MaxBytes it is the best picture at the largest
// size, never one byte above. SSIM is measured on luma at the result's size (0 when it was not).
//
// It returns the errors of Probe; invalid_image for a damaged or truncated picture; unsupported_operation, naming the
// feature, for animations without FirstFrame and for what this build cannot read or write; constraint_unmet, naming
// what was reached, for a budget, a floor or an exact size that cannot be met; invalid_argument for a bad Spec;
// ctx.Err() when ctx ends, or after a minute. At most GOMAXPROCS pictures are worked on at once; others wait.
func Convert(ctx context.Context, src []byte, s Spec) (Result, error) {
	if err := s.check(); err != nil {
		return Result{}, err
	}
	leave, err := enter(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	h, err := probe(source{bytes.NewReader(src), int64(len(src))}, s.Bounds)
	if err != nil {
		return Result{}, err
	}
	c := conversion{Spec: s, src: src, h: h}
	if c.fits() {
		if err := c.whole(); err != nil {
			return Result{}, err
		}
		r := Result{Info: h.Info, Untouched: true}
		if s.MinSSIM > 0 {
			r.SSIM = 1 // it is its own copy
		}
		return r, nil
	}
	return c.run(ctx)
}

// writable are the formats that Convert makes, in the order in which Auto prefers them at equal size.
func writable() []string { return []string{"webp", "jpeg", "avif", "png"} }

func (s *Spec) check() error {
	s.Format = strings.ToLower(s.Format)
	if s.Format == "jpg" {
		s.Format = "jpeg"
	}
	if s.Bounds == (sniff.Bounds{}) {
		s.Bounds = sniff.DefaultBounds()
	}
	switch {
	case s.Format != "" && s.Format != Auto && !slices.Contains(writable(), s.Format):
		return fault.New(fault.InvalidArgument, "format must be one of jpeg, png, webp, avif and auto, got %q", s.Format)
	case s.Quality < 0 || s.Quality > 100:
		return fault.New(fault.InvalidArgument, "quality must lie between 1 and 100, got %d", s.Quality)
	case !(s.MinSSIM >= 0 && s.MinSSIM <= 1): // NaN too
		return fault.New(fault.InvalidArgument, "the floor of SSIM must lie between 0 and 1, got %v", s.MinSSIM)
	}
	return s.checkSizes()
}

func (s *Spec) checkSizes() error {
	switch {
	case s.MaxBytes != 0 && s.MaxBytes < MinBudget:
		return fault.New(fault.InvalidArgument, "a budget must be at least %d bytes, got %d", MinBudget, s.MaxBytes)
	case s.MaxSide != 0 && s.MaxSide < smallestSide:
		return fault.New(fault.InvalidArgument, "the longer side must have at least %d pixels, got %d", smallestSide,
			s.MaxSide)
	}
	if s.Box != nil {
		if err := s.Box.check(); err != nil {
			return err
		}
	}
	_, err := parseColour(s.Background)
	return err
}

// MinBudget is the smallest byte budget: below it headers alone fill the file.
const MinBudget = 1024

// conversion is one run of Convert.
type conversion struct {
	Spec

	src   []byte
	h     header
	from  *Provenance // of the source, once it was looked for
	notes []string
}

// fits reports whether the source is what was asked for, so that it is left alone byte for byte. A quality is a wish
// for new bytes, and so is a floor of SSIM without a limit, which asks for the smallest file that keeps it.
func (c *conversion) fits() bool {
	w, h := c.h.Upright()
	switch {
	case c.MaxBytes == 0 && c.MaxSide == 0 && c.Box == nil, c.Quality > 0, c.MinSSIM > 0 && c.MaxBytes == 0:
		return false
	case c.MaxBytes > 0 && int64(len(c.src)) > c.MaxBytes,
		c.MaxSide > 0 && max(w, h) > c.MaxSide,
		c.Box != nil && (c.Box.Width != w || c.Box.Height != h):
		return false
	}
	return c.plain()
}

// whole makes sure that a picture which is left alone was not cut short: nothing else decodes it.
func (c *conversion) whole() error {
	s := source{bytes.NewReader(c.src), int64(len(c.src))}
	if c.h.Format != "jpeg" {
		return checkWhole(s, c.h)
	}
	frame := int64(0) // where the frame header is: a preview's own end stands before it
	err := walkJPEG(s, func(marker byte, off, _ int64) (bool, error) {
		frame = off
		return isFrameHeader(marker), nil
	})
	if err != nil || bytes.LastIndex(c.src, []byte{0xff, markerEOI}) > int(frame) {
		return err
	}
	return damaged("jpeg", nil)
}

// plain reports whether the source has the wanted format and needs nothing but its own bytes to be shown right.
func (c *conversion) plain() bool {
	if !slices.Contains(writable(), c.h.Format) && !(c.h.Frames > 1 && c.Format == "") {
		return false
	}
	if c.Format != "" && c.Format != Auto && c.Format != c.h.Format || c.FirstFrame && c.h.Frames > 1 {
		return false
	}
	_, srgb := profileName(c.src, c.h)
	return c.h.Orientation == 1 && srgb
}

func (c *conversion) run(ctx context.Context) (Result, error) {
	if c.h.Frames > 1 {
		if !c.FirstFrame {
			return Result{}, fault.New(fault.UnsupportedOperation,
				"the %s holds %d frames, and a converted picture holds one", c.h.Format, c.h.Frames).
				WithHint("take the first frame, or keep the file as it is")
		}
		c.note("only the first of %d frames was kept", c.h.Frames)
	}
	px, err := c.decode(ctx)
	if err != nil {
		return Result{}, err
	}
	format := c.Format
	switch {
	case format == Auto:
		return c.auto(ctx, px)
	case format == "" && slices.Contains(writable(), c.h.Format):
		format = c.h.Format
	case format == "":
		format = "png"
	}
	return c.encode(ctx, px, format)
}

// decode brings the picture to its largest wanted size.
func (c *conversion) decode(ctx context.Context) (*pixels, error) {
	w, h := c.h.Upright()
	var to extent
	if c.Box == nil && c.MaxSide > 0 && max(w, h) > c.MaxSide {
		to = within(w, h, c.MaxSide)
	}
	px, err := decodeFirst(ctx, c.src, c.h, to, c.Bounds)
	if err != nil {
		return nil, err
	}
	if words := printable(px.warnings()); words != "" { // they may repeat what stands in the file
		c.note("libvips: %s", words)
	}
	if c.Box == nil {
		return px, nil
	}
	return c.Box.fit(ctx, px)
}

// within is the largest size of the same shape whose longer side has side pixels.
func within(w, h, side int) extent {
	scale := float64(side) / float64(max(w, h))
	return extent{max(1, int(float64(w)*scale+0.5)), max(1, int(float64(h)*scale+0.5))}
}

// encode writes the picture in one format.
func (c *conversion) encode(ctx context.Context, px *pixels, format string) (Result, error) {
	s, err := c.search(format)
	if err != nil {
		return Result{}, err
	}
	full, err := c.canvas(px, format)
	if err != nil {
		return Result{}, err
	}
	return c.finish(ctx, s, full)
}

// finish runs the search and reports what came of it.
func (c *conversion) finish(ctx context.Context, s *search, full *raster) (Result, error) {
	best, err := c.seek(ctx, s, full)
	missed := fault.CodeOf(err) == fault.ConstraintUnmet
	if err != nil && (!missed || !c.BestEffort || s.nearest.data == nil) {
		return Result{}, err
	}
	if missed {
		best = s.nearest
		c.note("%s", err.Error())
	}
	return c.result(ctx, best, s, missed)
}

// seek runs the search that the limits ask for.
func (c *conversion) seek(ctx context.Context, s *search, full *raster) (trial, error) {
	switch {
	case c.MaxBytes > 0:
		return s.run(ctx, full)
	case c.MinSSIM > 0 && c.Quality == 0:
		return s.leastQuality(ctx, full)
	}
	t, err := s.try(ctx, full, s.start)
	if err != nil || c.MinSSIM == 0 {
		return t, err
	}
	if t.ssim, err = full.look(ctx, t.data); err == nil && t.ssim < c.MinSSIM {
		s.nearest = t
		err = fault.New(fault.ConstraintUnmet, "at quality %d the picture has an SSIM of %.3f, the floor is %.3f",
			s.start, t.ssim, c.MinSSIM)
	}
	return t, err
}

func (c *conversion) result(ctx context.Context, t trial, s *search, missed bool) (Result, error) {
	if c.MaxBytes == 0 && c.MinSSIM == 0 && c.Quality == 0 && c.Box == nil && len(t.data) >= len(c.src) && c.small() {
		return Result{Info: c.h.Info, Untouched: true, Encodes: s.encodes, Notes: c.notes}, nil
	}
	data, err := c.carryOn(t.data)
	if err != nil {
		return Result{}, err
	}
	r := Result{Data: data, Quality: t.quality, Encodes: s.encodes, SSIM: t.ssim, Missed: missed, Notes: c.notes}
	r.Info, err = Probe(bytes.NewReader(data), int64(len(data)), ownBounds())
	if err != nil || r.SSIM > 0 || !c.Measure {
		return r, err
	}
	r.SSIM, err = t.on.look(ctx, t.data)
	return r, err
}

// small reports whether the source itself would do, were it not for its bytes.
func (c *conversion) small() bool {
	w, h := c.h.Upright()
	return (c.MaxSide == 0 || max(w, h) <= c.MaxSide) && c.h.Frames == 1 && c.plain()
}

// search prepares the search for a format.
func (c *conversion) search(format string) (*search, error) {
	l := ladder{top: topQuality, start: startQuality, floor: lossyFloor, slope: slopeJPEG, power: powerLossy}
	switch format {
	case "avif":
		l = ladder{top: topQuality, start: startAVIF, floor: avifFloor, slope: slopeAVIF, power: powerLossy}
	case "png":
		l = ladder{steps: []int{100}, start: 100, top: 100, floor: 100, power: powerPNG}
		if palettes {
			l.steps = []int{100, 90, 75, 60}
		}
	}
	if c.MaxBytes > 0 && c.MinSSIM == 0 {
		l.top = l.start // what fits at once is good enough
	}
	if c.Quality > 0 {
		l.top, l.start, l.floor = c.Quality, c.Quality, min(l.floor, c.Quality)
		if format == "png" && c.Quality < 100 && !palettes {
			return nil, lackingPalette()
		}
		l.steps = slices.DeleteFunc(l.steps, func(q int) bool { return q > c.Quality })
		if format == "png" && !slices.Contains(l.steps, c.Quality) {
			l.steps = append([]int{c.Quality}, l.steps...)
		}
	}
	s := &search{ladder: l, limit: c.MaxBytes, minSSIM: c.MinSSIM}
	if s.limit > 0 && c.sourceType() != "" {
		s.reserved = int64(xmpOverhead(format, c.sourceType()))
		s.limit -= s.reserved
	}
	return s, nil
}

// sourceType is the IPTC digital source type that the source declares, "" for none. It says that a picture was made by
// a machine, so a copy carries it on.
func (c *conversion) sourceType() string {
	if c.from == nil {
		from, _ := FindProvenance(bytes.NewReader(c.src), int64(len(c.src))) // damage is no error, and memory reads
		c.from = &from
	}
	return c.from.SourceType
}

// carryOn writes the source type into the result.
func (c *conversion) carryOn(data []byte) ([]byte, error) {
	term := c.sourceType()
	if term == "" {
		return data, nil
	}
	out, err := EmbedSourceType(data, term)
	if fault.CodeOf(err) == fault.UnsupportedOperation {
		c.note("the copy does not carry the digital source type %s: %s", term, err.Error())
		return data, nil
	}
	return out, err
}

func (c *conversion) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}
