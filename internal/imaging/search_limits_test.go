package imaging

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// Budgets, sides and floors together through Convert: none is ever broken.
func TestConvertWithinLimits(t *testing.T) {
	t.Parallel()
	src := pngOf(t, photo(7, 700, 500, 12))
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := Spec{
			Format: []string{"jpeg", "webp", "jpeg", Auto}[seed%4], MaxBytes: 4000 + r.Int64N(60_000), MaxSide: 64 + r.IntN(700),
		}
		if seed%3 == 0 {
			s.MinSSIM = 0.6 + 0.2*r.Float64()
		}
		got, err := Convert(t.Context(), src, s)
		if fault.CodeOf(err) == fault.ConstraintUnmet && s.MinSSIM > 0 {
			continue
		}
		must(t, err)
		if int64(len(got.Data)) > s.MaxBytes || max(got.Info.Width, got.Info.Height) > s.MaxSide || got.Encodes > maxEncodes {
			t.Errorf("%+v: %d bytes, %dx%d, %d encodes", s, len(got.Data), got.Info.Width, got.Info.Height, got.Encodes)
		}
		if got.SSIM < s.MinSSIM {
			t.Errorf("%+v: SSIM %.3f is below the floor", s, got.SSIM)
		}
		if got.Untouched || got.Missed {
			t.Errorf("%+v: untouched %v, missed %v", s, got.Untouched, got.Missed)
		}
	}
}

// noise is a picture that no format makes small.
func noise(w, h int) []byte {
	r := rand.New(rand.NewPCG(9, 9))
	pix := make([]byte, 4*w*h)
	for i := range pix {
		pix[i] = byte(r.Uint32()) | byte(255*(i%4/3))
	}
	return pix
}

func TestConvertSaysWhatWasReached(t *testing.T) {
	t.Parallel()
	img := photo(3, 400, 300, 0)
	copy(img.Pix, noise(400, 300))
	src := pngOf(t, img)
	tests := []struct {
		name string
		s    Spec
		want []string // words of the error
	}{
		{"floor within a budget", Spec{Format: "jpeg", MaxBytes: 2000, MinSSIM: 0.99}, []string{
			"within 2000 bytes the picture keeps an SSIM of 0.", "at best, the floor is 0.990",
		}},
		{"floor", Spec{Format: "jpeg", MinSSIM: 1}, []string{"at quality 95 the picture has an SSIM of 0.", "the floor is 1.000"}},
		{"floor at a quality", Spec{Format: "webp", MinSSIM: 0.999, Quality: 3}, []string{
			"at quality 3 the picture has an SSIM of 0.", "the floor is 0.999",
		}},
		{"shape", Spec{Format: "png", Box: &Box{Width: 300, Height: 300, Mode: Match}}, []string{"400x300", "300x300"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := Convert(t.Context(), src, tt.s)
			if diff := cmp.Diff(fault.ConstraintUnmet, fault.CodeOf(err)); diff != "" {
				t.Fatalf("code (-want +got):\n%s\n%v, %d bytes", diff, err, len(r.Data))
			}
			for _, words := range tt.want {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("error %q lacks %q", err, words)
				}
			}
			tt.s.BestEffort = true
			r, bestErr := Convert(t.Context(), src, tt.s)
			if tt.s.Box != nil { // there is no second best shape
				if fault.CodeOf(bestErr) != fault.ConstraintUnmet {
					t.Errorf("best effort: %v, want constraint_unmet", bestErr)
				}
				return
			}
			must(t, bestErr)
			if !r.Missed || len(r.Data) == 0 || len(r.Notes) != 1 || r.Notes[0] != err.Error() {
				t.Errorf("best effort: missed %v, %d bytes, notes %q, want the error as the note", r.Missed, len(r.Data), r.Notes)
			}
			if tt.s.MaxBytes > 0 && tt.s.MinSSIM > 0 && int64(len(r.Data)) > tt.s.MaxBytes {
				t.Errorf("best effort has %d bytes, although %d were possible", len(r.Data), tt.s.MaxBytes)
			}
		})
	}
}

// A picture that no quality and no scale makes small enough: the error names the smallest one, which is kept.
func TestSearchSaysWhatWasReached(t *testing.T) {
	t.Parallel()
	f := &fake{w: 640, h: 480, scale: 1, bytes: 5000, slope: 0.001, made: &[]int{}, paper: make([]byte, 1<<16)}
	s := lossy(2000)
	_, err := s.run(t.Context(), f)
	want := fmt.Sprintf("the picture does not fit into 2000 bytes: %d bytes were reached, at %dx%d pixels", s.nearest.size(),
		s.nearest.w, s.nearest.h)
	if fault.CodeOf(err) != fault.ConstraintUnmet || err.Error() != want || s.nearest.size() < 2000 {
		t.Errorf("%v, want %s", err, want)
	}
	if s.encodes > maxEncodes || s.nearest.data == nil {
		t.Errorf("%d encodes, nearest has %d bytes", s.encodes, s.nearest.size())
	}
}

// leastQuality against trying every quality.
func TestLeastQuality(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 6))
		format := []string{"jpeg", "webp"}[seed%2]
		px := fromImage(photo(seed, 128+r.IntN(128), 128+r.IntN(128), 20*r.Float64()))
		c := &raster{px: px, full: px, plan: plan{format: format}}
		floor := 0.85 + 0.1*r.Float64()
		lowest, found := 0, math.NaN()
		for q := 1; q <= topQuality && lowest == 0; q++ {
			data, err := c.encode(t.Context(), q)
			must(t, err)
			likeness, err := c.look(t.Context(), data)
			must(t, err)
			if likeness >= floor {
				lowest, found = q, likeness
			}
		}
		s := lossy(0)
		s.minSSIM = floor
		got, err := s.leastQuality(t.Context(), c)
		if lowest == 0 {
			if fault.CodeOf(err) != fault.ConstraintUnmet {
				t.Errorf("seed %d: %v, want constraint_unmet", seed, err)
			}
			continue
		}
		must(t, err)
		t.Logf("seed %d: %s, floor %.3f: lowest %d (%.3f), found %d (%.3f) after %d encodes", seed, format, floor, lowest,
			found, got.quality, got.ssim, s.encodes)
		if got.ssim < floor || got.quality > lowest+ssimOverspend || s.encodes > 7 {
			t.Errorf("seed %d: quality %d with %.3f after %d encodes, the lowest is %d", seed, got.quality, got.ssim, s.encodes,
				lowest)
		}
	}
}

// A png has few qualities: the best that fits is taken, and a smaller picture only below the last.
func TestConvertPNGBudget(t *testing.T) {
	t.Parallel()
	src := pngOf(t, photo(11, 400, 300, 6))
	for _, part := range []float64{0.9, 0.35, 0.1, 0.02} {
		s := Spec{Format: "png", MaxBytes: int64(part * float64(len(src)))}
		r := converted(t, src, s)
		t.Logf("%v: quality %d, %dx%d, %d of %d bytes, %d encodes", part, r.Quality, r.Info.Width, r.Info.Height, len(r.Data),
			s.MaxBytes, r.Encodes)
		if int64(len(r.Data)) > s.MaxBytes || r.Info.Format != "png" || r.Encodes > maxEncodes {
			t.Errorf("%v: %d bytes of %s in a budget of %d", part, len(r.Data), r.Info.Format, s.MaxBytes)
		}
	}
}

func TestConvertAuto(t *testing.T) {
	t.Parallel()
	glass := photo(2, 200, 150, 4)
	for i := 3; i < len(glass.Pix); i += 4 {
		glass.Pix[i] = 100
	}
	tests := []struct {
		name string
		src  []byte
		s    Spec
		not  string // the format that must not be chosen
	}{
		{"photo", jpegOf(t, photo(1, 300, 200, 8)), Spec{Format: Auto}, "png"},
		{"transparent", pngOf(t, glass), Spec{Format: Auto}, "jpeg"},
		{"transparent within a budget", pngOf(t, glass), Spec{Format: Auto, MaxBytes: 3000, Measure: true}, "jpeg"},
		{"drawing", bmpOf(t, quadrants(200, 100)), Spec{Format: Auto, MinSSIM: 0.99}, "bmp"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := converted(t, tt.src, tt.s)
			if r.Info.Format == tt.not || r.SSIM < max(tt.s.MinSSIM, 0.8) || r.Missed {
				t.Errorf("%s of %d bytes with an SSIM of %.3f", r.Info.Format, len(r.Data), r.SSIM)
			}
			if tt.s.MaxBytes > 0 && int64(len(r.Data)) > tt.s.MaxBytes {
				t.Errorf("%d bytes in a budget of %d", len(r.Data), tt.s.MaxBytes)
			}
			t.Logf("%s, %d bytes, quality %d, SSIM %.3f, %d encodes", r.Info.Format, len(r.Data), r.Quality, r.SSIM, r.Encodes)
		})
	}
}
