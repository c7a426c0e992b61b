package imaging

import (
	"cmp"
	"context"
	"math"
	"slices"

	"mediagen/internal/fault"
)

// The search for a byte budget (measured in spec imaging.md §3): the size of a lossy picture falls close to
// exponentially with its quality, so that a secant through ln(size) lands near the budget at once.
const (
	startQuality  = 85 // where a search begins when no quality was asked for
	startAVIF     = 60
	topQuality    = 95 // and where it ends: above it bytes buy nothing that can be seen
	goodFill      = 0.95
	aim           = 0.975 // of the budget: the middle of what counts as full
	probesAScale  = 7
	scaleSteps    = 4
	maxEncodes    = 10
	scaleSafety   = 0.92
	restartAbove  = 5   // a smaller picture starts this much above the floor
	ssimStep      = 0.8 // the next scale when what fits looks too bad
	smallestSide  = 16  // pixels; below it there is no picture left
	lossyFloor    = 50  // quality of jpeg and webp below which a smaller picture looks better
	avifFloor     = 35
	slopeJPEG     = 0.030 // of ln(size) over quality
	slopeAVIF     = 0.045
	steepFrom     = 80 // the quality from which on ln(size) rises by slopeSteep, in every format
	slopeSteep    = 0.09
	powerLossy    = 0.65 // of the area that the bytes at the floor follow; learnt from the second scale on
	powerPNG      = 0.9
	ssimOverspend = 3 // qualities by which the search for a floor of SSIM may miss the lowest one
)

// ladder says which qualities a format has, from the best to the worst that is tried before the picture gets smaller.
type ladder struct {
	top, start, floor int
	slope, power      float64
	steps             []int // when the qualities are few and their sizes do not follow a curve: all of them, best first
}

// trial is one encoded picture.
type trial struct {
	data    []byte
	quality int
	w, h    int
	ssim    float64 // 0 = not measured
	on      canvas  // what was encoded
}

func (t trial) size() int64 { return int64(len(t.data)) }

// canvas is a picture that can be encoded at several qualities, and made smaller from its original pixels.
type canvas interface {
	dims() (w, h int)
	encode(ctx context.Context, quality int) ([]byte, error)
	// look compares an encoded picture with the pixels that it was made from.
	look(ctx context.Context, data []byte) (float64, error)
	// scaled is the original picture with its sides multiplied by scale.
	scaled(ctx context.Context, scale float64) (canvas, error)
}

// search looks for the best picture of at most limit bytes.
type search struct {
	ladder
	limit    int64   // for the encoder
	reserved int64   // for what is added afterwards
	minSSIM  float64 // what the picture must keep of its likeness to the pixels it was made from; 0 = no floor
	encodes  int
	first    trial // one that was made before the search, which need not be made again
	nearest  trial // what comes nearest so far, for the error and for --best-effort
	scale    float64
	above    trial   // the smallest picture of the scale before, which was too big
	aboveAt  float64 // that scale
}

// run returns the best picture within the limit, or constraint_unmet with what was reached.
func (s *search) run(ctx context.Context, full canvas) (trial, error) {
	c := full
	s.scale = 1
	for step := 0; ; step++ {
		best, reached, err := s.atScale(ctx, c, step)
		if err != nil {
			return trial{}, err
		}
		next := s.shrink(reached)
		if best.data != nil {
			if best.ssim, err = s.likeness(ctx, c, best); err != nil || best.ssim >= s.minSSIM {
				return best, err
			}
			next, reached = s.scale*ssimStep, best
		}
		s.note(reached)
		if step == scaleSteps || s.encodes >= maxEncodes || s.tooSmall(full, next) {
			return trial{}, s.impossible()
		}
		s.scale = min(next, s.scale*scaleSafety)
		if c, err = full.scaled(ctx, s.scale); err != nil {
			return trial{}, err
		}
	}
}

// shrink is the scale at which a picture as poor as t should fit with some room, by the power that the last two scales
// tell.
func (s *search) shrink(t trial) float64 {
	if s.above.data != nil && s.above.quality == t.quality {
		power := math.Log(float64(t.size())/float64(s.above.size())) / (2 * math.Log(s.scale/s.aboveAt))
		s.power = min(max(power, 0.3), 1)
	}
	s.above, s.aboveAt = t, s.scale
	return s.scale * math.Pow(float64(s.limit)/float64(t.size()), 1/(2*s.power)) * scaleSafety
}

// note keeps what comes nearest: of pictures that fit, but look too bad, the best looking one, else the smallest.
func (s *search) note(t trial) {
	fits, had := t.size() <= s.limit, s.nearest.data != nil && s.nearest.size() <= s.limit
	if s.nearest.data == nil || fits && (!had || t.ssim > s.nearest.ssim) || !fits && !had && t.size() < s.nearest.size() {
		s.nearest = t
	}
}

// likeness measures what fits, where a floor asks for it.
func (s *search) likeness(ctx context.Context, c canvas, t trial) (float64, error) {
	if s.minSSIM <= 0 {
		return 0, nil
	}
	return c.look(ctx, t.data)
}

func (s *search) tooSmall(full canvas, scale float64) bool {
	w, h := full.dims()
	return scale*float64(max(w, h)) < smallestSide
}

// closer keeps the smaller of two pictures.
func closer(a, b trial) trial {
	if a.data == nil || b.size() < a.size() {
		return b
	}
	return a
}

func (s *search) impossible() error {
	if s.nearest.size() <= s.limit {
		return fault.New(fault.ConstraintUnmet,
			"within %d bytes the picture keeps an SSIM of %.3f at best, the floor is %.3f", s.limit+s.reserved, s.nearest.ssim,
			s.minSSIM)
	}
	return fault.New(fault.ConstraintUnmet,
		"the picture does not fit into %d bytes: %d bytes were reached, at %dx%d pixels", s.limit+s.reserved,
		s.nearest.size()+s.reserved, s.nearest.w, s.nearest.h)
}

// atScale returns the best picture within the limit at one scale, without data if there is none, and the smallest.
func (s *search) atScale(ctx context.Context, c canvas, step int) (best, smallest trial, err error) {
	if s.steps != nil {
		return s.descend(ctx, c, step)
	}
	b := bracket{low: s.floor - 1, high: s.top + 1, slope: s.slope, aim: math.Log(aim * float64(s.limit))}
	q := s.start
	if step > 0 {
		q = min(s.floor+restartAbove, s.top)
	}
	for probe := 0; probe < probesAScale && s.encodes < maxEncodes; probe++ {
		t, err := s.try(ctx, c, q)
		if err != nil {
			return trial{}, trial{}, err
		}
		smallest = closer(smallest, t)
		if b.note(t, s.limit) {
			best = t
		}
		if b.closed() || best.data != nil && float64(best.size()) >= goodFill*float64(s.limit) {
			break
		}
		q = b.next(q)
	}
	return best, smallest, nil
}

// descend tries the few qualities in their order, and at a smaller scale only the last, which that scale was made for.
func (s *search) descend(ctx context.Context, c canvas, step int) (best, smallest trial, err error) {
	steps := s.steps
	if step > 0 {
		steps = steps[len(steps)-1:]
	}
	for _, q := range steps {
		t, err := s.try(ctx, c, q)
		if err != nil {
			return trial{}, trial{}, err
		}
		smallest = closer(smallest, t)
		if t.size() <= s.limit {
			return t, smallest, nil
		}
		if s.encodes >= maxEncodes {
			break
		}
	}
	return trial{}, smallest, nil
}

func (s *search) try(ctx context.Context, c canvas, q int) (trial, error) {
	if err := ctx.Err(); err != nil {
		return trial{}, err
	}
	if s.first.on == c && s.first.quality == q {
		return s.first, nil
	}
	s.encodes++
	data, err := c.encode(ctx, q)
	w, h := c.dims()
	return trial{data: data, quality: q, w: w, h: h, on: c}, err
}

// bracket holds the budget between the best quality that fits and the worst that does not.
type bracket struct {
	low, high         int     // low fits, or nothing below is tried; high does not, or nothing above is tried
	lowSize, highSize float64 // ln of their bytes; 0 = not encoded
	slope             float64 // of ln(size) over quality, as usual
	rise, fall        float64 // and as the last two results on the low and on the high side have it; 0 = not known
	aim               float64 // ln of the wanted bytes
}

// note takes a result and reports whether it is the best so far.
func (b *bracket) note(t trial, limit int64) bool {
	size := math.Log(float64(t.size()))
	if t.size() > limit {
		b.fall = learnt(b.high, b.highSize, t.quality, size)
		b.high, b.highSize = t.quality, size
		return false
	}
	b.rise = 0
	if (b.low >= steepFrom) == (t.quality >= steepFrom) {
		b.rise = learnt(b.low, b.lowSize, t.quality, size)
	}
	b.low, b.lowSize = t.quality, size
	return true
}

// learnt is the slope between two results, or 0 if it is of no use for a guess.
func learnt(q int, size float64, nextQ int, nextSize float64) float64 {
	const flattest = 0.005
	slope := (nextSize - size) / float64(nextQ-q)
	if size == 0 || slope < flattest {
		return 0
	}
	return slope
}

func (b *bracket) closed() bool { return b.high-b.low <= 1 }

// next is the quality where the secant through both ends, or the usual slope through the last one, meets the aim. It
// always lies inside the bracket, so that each probe narrows it.
func (b *bracket) next(q int) int {
	guess := float64(q)
	switch {
	case b.lowSize > 0 && b.highSize > b.lowSize:
		guess = float64(b.low) + float64(b.high-b.low)*(b.aim-b.lowSize)/(b.highSize-b.lowSize)
	case b.lowSize > 0 && b.rise == 0 && q >= steepFrom:
		guess += (b.aim - b.lowSize) / slopeSteep
	case b.lowSize > 0:
		guess += (b.aim - b.lowSize) / cmp.Or(b.rise, b.slope)
	default:
		guess += (b.aim - b.highSize) / cmp.Or(b.fall, b.slope)
	}
	return min(max(int(math.Round(guess)), b.low+1), b.high-1)
}

// leastQuality finds the lowest quality whose likeness keeps the floor, without a byte budget: the smallest file that
// looks good enough.
func (s *search) leastQuality(ctx context.Context, c canvas) (trial, error) {
	if s.steps != nil {
		return s.leastStep(ctx, c)
	}
	best, err := s.judged(ctx, c, s.top)
	if err != nil {
		return trial{}, err
	}
	if best.ssim < s.minSSIM {
		s.nearest = best
		return trial{}, fault.New(fault.ConstraintUnmet, "at quality %d the picture has an SSIM of %.3f, the floor is %.3f",
			s.top, best.ssim, s.minSSIM)
	}
	low, high := 0, s.top
	for high-low > ssimOverspend {
		t, err := s.judged(ctx, c, (low+high)/2)
		if err != nil {
			return trial{}, err
		}
		if t.ssim < s.minSSIM {
			low = t.quality
			continue
		}
		best, high = t, t.quality
	}
	return best, nil
}

// leastStep is leastQuality for few qualities, worst first.
func (s *search) leastStep(ctx context.Context, c canvas) (trial, error) {
	var last trial
	for _, q := range slices.Backward(s.steps) {
		t, err := s.judged(ctx, c, q)
		if err != nil || t.ssim >= s.minSSIM {
			return t, err
		}
		last = t
	}
	s.nearest = last
	return trial{}, fault.New(fault.ConstraintUnmet, "the picture has an SSIM of %.3f at best, the floor is %.3f",
		last.ssim, s.minSSIM)
}

func (s *search) judged(ctx context.Context, c canvas, q int) (trial, error) {
	t, err := s.try(ctx, c, q)
	if err != nil || t.ssim > 0 {
		return t, err
	}
	t.ssim, err = c.look(ctx, t.data)
	return t, err
}
