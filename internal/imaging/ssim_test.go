package imaging

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

func randomPlane(seed uint64, w, h int) plane {
	r := rand.New(rand.NewPCG(seed, 4))
	p := plane{w, h, make([]byte, w*h)}
	for i := range p.pix {
		p.pix[i] = byte(r.Uint32())
	}
	return p
}

func TestSSIM(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{1, 1}, {3, 9}, {9, 3}, {7, 7}, {8, 8}, {9, 12}, {64, 1}, {1, 64}, {101, 67}} {
		a, b := randomPlane(1, size[0], size[1]), randomPlane(2, size[0], size[1])
		if got := ssim(a, a); math.Abs(got-1) > 1e-12 {
			t.Errorf("%v: equal planes have %v, want 1", size, got)
		}
		ab, ba := ssim(a, b), ssim(b, a)
		if ab != ba {
			t.Errorf("%v: %v one way, %v the other", size, ab, ba)
		}
		if math.IsNaN(ab) || ab >= 1 || ab < -1 {
			t.Errorf("%v: %v for different planes, want less than 1", size, ab)
		}
	}
}

// Values computed by hand from the formula.
func TestSSIMKnownValues(t *testing.T) {
	t.Parallel()
	flat := func(v byte) plane { return plane{8, 8, bytes.Repeat([]byte{v}, 64)} }
	stripes := func(a, b byte) plane { return plane{8, 8, bytes.Repeat([]byte{a, b}, 32)} }
	tests := []struct {
		name string
		a, b plane
		want float64
	}{
		// Without variance the second factor is 1: (2*100*110 + C1) / (100² + 110² + C1).
		{"flat", flat(100), flat(110), 22006.5025 / 22106.5025},
		{"black and white", flat(0), flat(255), 6.5025 / 65031.5025},
		// Means 100 and 100, variances 100 and 400, covariance 200: (400 + C2) / (500 + C2).
		{"contrast", stripes(90, 110), stripes(80, 120), 458.5225 / 558.5225},
		// The same with the opposite sign: covariance -100, variances 100: (-200 + C2) / (200 + C2).
		{"turned over", stripes(90, 110), stripes(110, 90), -141.4775 / 258.5225},
		// One window of the whole plane where it is smaller than 8x8: means 2 and 3, variances 1 and 1, covariance 1.
		{"tiny", plane{2, 1, []byte{1, 3}}, plane{2, 1, []byte{2, 4}}, 18.5025 / 19.5025},
	}
	for _, tt := range tests {
		if got := ssim(tt.a, tt.b); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %.9f, want %.9f", tt.name, got, tt.want)
		}
	}
}

// What is wrong at the last columns and rows counts as well.
func TestSSIMSeesEdges(t *testing.T) {
	t.Parallel()
	for _, side := range []int{8, 9, 10, 11, 12, 23} {
		a := randomPlane(3, side, side)
		b := plane{side, side, bytes.Clone(a.pix)}
		for i := range side {
			b.pix[i*side+side-1] ^= 0x80
		}
		c := plane{side, side, bytes.Clone(a.pix)}
		for i := range side {
			c.pix[(side-1)*side+i] ^= 0x80
		}
		if column, row := ssim(a, b), ssim(a, c); column == 1 || row == 1 {
			t.Errorf("side %d: a wrong last column has %v, a wrong last row %v", side, column, row)
		}
	}
}

func TestSSIMFallsWithQuality(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"jpeg", "webp"} {
		px := fromImage(photo(5, 200, 150, 6))
		c := &raster{px: px, full: px, plan: plan{format: format}}
		last := 1.0
		for _, q := range []int{95, 75, 50, 20, 3} {
			data, err := c.encode(t.Context(), q)
			must(t, err)
			got, err := c.look(t.Context(), data)
			must(t, err)
			if got >= last || got < 0.2 {
				t.Errorf("%s: %.4f at quality %d, %.4f at the better one before", format, got, q, last)
			}
			last = got
		}
	}
}

func TestSSIMAllocatesNothing(t *testing.T) {
	a, b := randomPlane(1, 200, 100), randomPlane(2, 200, 100)
	if n := testing.AllocsPerRun(10, func() { ssim(a, b) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
	px := fromImage(gradient(200, 100))
	if n := testing.AllocsPerRun(10, func() { lumaOf(px) }); n > 1 {
		t.Errorf("lumaOf: %v allocations, want the plane and nothing else", n)
	}
}

// Luma is that of BT.601, over white where the picture is transparent.
func TestLuma(t *testing.T) {
	t.Parallel()
	img := gradient(4, 1)
	copy(img.Pix, []byte{255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 0, 0, 0, 0, 51})
	if got, want := lumaOf(fromImage(img)).pix, []byte{76, 150, 255, 204}; !bytes.Equal(got, want) {
		t.Errorf("luma %v, want %v", got, want)
	}
}
