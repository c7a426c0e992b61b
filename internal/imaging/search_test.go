package imaging

import (
	"context"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mediagen/internal/fault"
)

// fake is a picture whose size follows a model: exponential in the quality, a power of the area, and noise that is the
// same for the same quality.
type fake struct {
	w, h  int
	scale float64
	bytes float64 // at quality 0 and scale 1
	slope float64 // of ln(size) over quality
	power float64 // of the area
	noise float64 // share
	seed  uint64
	likes func(quality int) float64
	made  *[]int
	paper []byte // what encoded pictures are cut from
}

func (f *fake) dims() (w, h int) {
	return max(1, int(float64(f.w)*f.scale+0.5)), max(1, int(float64(f.h)*f.scale+0.5))
}

func (f *fake) size(quality int) int {
	r := rand.New(rand.NewPCG(f.seed, uint64(quality)<<32|uint64(f.scale*1e6)))
	v := f.bytes * math.Pow(f.scale*f.scale, f.power) * math.Exp(f.slope*float64(quality))
	return 100 + int(v*(1+f.noise*(2*r.Float64()-1)))
}

func (f *fake) encode(_ context.Context, quality int) ([]byte, error) {
	*f.made = append(*f.made, quality)
	return f.paper[:f.size(quality)], nil
}

func (f *fake) look(context.Context, []byte) (float64, error) {
	return f.likes((*f.made)[len(*f.made)-1]), nil
}

func (f *fake) scaled(_ context.Context, scale float64) (canvas, error) {
	g := *f
	g.scale = scale
	return &g, nil
}

func lossy(limit int64) *search {
	l := ladder{top: topQuality, start: startQuality, floor: lossyFloor, slope: slopeJPEG, power: powerLossy}
	return &search{ladder: l, limit: limit}
}

// full reports whether no better picture was within reach: it fills the budget, has the best quality, or the next
// quality is over the budget.
func full(s *search, t trial) bool {
	if float64(t.size()) >= 0.9*float64(s.limit) || t.quality == s.top {
		return true
	}
	next, err := t.on.encode(context.Background(), t.quality+1)
	return err == nil && int64(len(next)) > s.limit
}

// The search against a model: whatever the picture is like, the result is within the budget and fills it.
func TestSearchOfModels(t *testing.T) {
	t.Parallel()
	paper := make([]byte, 64<<20)
	for _, noise := range []float64{0, 0.01, 0.05} { // from 0.03 on, a better quality is often the smaller file
		var encodes []int
		missed, loose := 0, 0
		for seed := range uint64(4000) {
			r := rand.New(rand.NewPCG(seed, 1))
			f := &fake{
				w: 256 + r.IntN(4000), h: 256 + r.IntN(4000), scale: 1, noise: noise, seed: seed, made: &[]int{}, paper: paper,
				slope: 0.015 + 0.04*r.Float64(), power: 0.55 + 0.45*r.Float64(),
			}
			atTop := float64(f.w*f.h) * (0.05 + 2*r.Float64()) // bytes at the best quality
			f.bytes = atTop / math.Exp(f.slope*topQuality)
			s := lossy(int64(10_000 * math.Exp(r.Float64()*math.Log(max(2, 1.2*atTop/10_000)))))
			got, err := s.run(t.Context(), f)
			encodes = append(encodes, s.encodes)
			if s.encodes > maxEncodes || s.encodes != len(*f.made) {
				t.Fatalf("seed %d: %d encodes counted, %d made", seed, s.encodes, len(*f.made))
			}
			if err != nil {
				if fault.CodeOf(err) != fault.ConstraintUnmet || s.nearest.size() <= s.limit {
					t.Fatalf("seed %d: %v", seed, err)
				}
				missed++
				continue
			}
			if got.size() > s.limit {
				t.Fatalf("seed %d: %d bytes in a budget of %d", seed, got.size(), s.limit)
			}
			if !full(s, got) {
				loose++
				if noise == 0 {
					t.Errorf("seed %d: quality %d fills %.3f of the budget, qualities tried %v", seed, got.quality,
						float64(got.size())/float64(s.limit), *f.made)
				}
			}
		}
		slices.Sort(encodes)
		t.Logf("noise %v: encodes median %d, 90 %% %d, most %d; %d not met, %d not full", noise,
			encodes[len(encodes)/2], encodes[len(encodes)*9/10], encodes[len(encodes)-1], missed, loose)
		if missed > 0 || loose > 4000/100 {
			t.Errorf("noise %v: %d budgets not met, %d not filled", noise, missed, loose)
		}
	}
}

// photo draws what photographs have: soft light, edges of things, a texture, and the noise of a sensor.
func photo(seed uint64, w, h int, grain float64) *image.NRGBA {
	r := rand.New(rand.NewPCG(seed, 2))
	type blob struct{ x, y, radius, soft, red, green, blue float64 }
	blobs := make([]blob, 24)
	side := float64(max(w, h))
	for i := range blobs {
		blobs[i] = blob{
			r.Float64() * float64(w), r.Float64() * float64(h), side * (0.02 + 0.2*r.Float64()), 0.5 + 40*r.Float64(),
			160*r.Float64() - 80, 160*r.Float64() - 80, 160*r.Float64() - 80,
		}
	}
	fx, fy, wave := 0.02+0.3*r.Float64(), 0.02+0.3*r.Float64(), 14*r.Float64()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		noise := rand.New(rand.NewPCG(seed, uint64(y)+10))
		near := blobs[:0:0]
		for _, b := range blobs {
			if math.Abs(b.y-float64(y)) < b.radius+3*b.soft {
				near = append(near, b)
			}
		}
		for x := range w {
			light := 60 + 120*float64(x)/float64(w)*float64(y)/float64(h) +
				wave*math.Sin(fx*float64(x)+3*math.Sin(fy*float64(y)))
			red, green, blue := light, light*0.95, light*0.9
			for _, b := range near {
				edge := (b.radius - math.Hypot(b.x-float64(x), b.y-float64(y))) / b.soft
				if edge < -3 {
					continue
				}
				cover := min(1, max(0, (edge+3)/6))
				red, green, blue = red+cover*b.red, green+cover*b.green, blue+cover*b.blue
			}
			n := grain * (noise.Float64() + noise.Float64() - 1)
			p := img.Pix[4*(y*w+x):][:4]
			p[0], p[1], p[2], p[3] = clamp8(red+n), clamp8(green+n), clamp8(blue+n), 255
		}
	}
	return img
}

// The same against real encoders and pictures like photographs.
func TestSearchOfPictures(t *testing.T) {
	t.Parallel()
	rounds := 24
	if testing.Short() || brief().Name == "pure-go" {
		rounds = 8
	}
	var encodes []int
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 3))
		px := fromImage(photo(seed, 256+r.IntN(700), 256+r.IntN(700), 40*r.Float64()*r.Float64()))
		format := []string{"jpeg", "webp"}[seed%2]
		c := &raster{px: px, full: px, plan: plan{format: format}}
		best, err := c.encode(t.Context(), topQuality)
		must(t, err)
		s := lossy(int64(10_000 * math.Exp(r.Float64()*math.Log(max(2, 1.1*float64(len(best))/10_000)))))
		got, err := s.run(t.Context(), c)
		w, h := px.size()
		what := fmt.Sprintf("seed %d: %s of %dx%d, %d bytes at best, budget %d", seed, format, w, h, len(best), s.limit)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		encodes = append(encodes, s.encodes)
		t.Logf("%s: %d encodes, quality %d, %dx%d, fill %.3f", what, s.encodes, got.quality, got.w, got.h,
			float64(got.size())/float64(s.limit))
		if got.size() > s.limit || s.encodes > maxEncodes || !full(s, got) {
			t.Errorf("%s: quality %d, %d bytes after %d encodes", what, got.quality, got.size(), s.encodes)
		}
	}
	slices.Sort(encodes)
	t.Logf("encodes %v, median %d", encodes, encodes[len(encodes)/2])
	if median := encodes[len(encodes)/2]; median > 4 {
		t.Errorf("a median of %d encodes, want at most 4", median)
	}
}
