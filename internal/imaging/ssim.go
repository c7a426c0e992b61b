package imaging

// ssimWindow is the side of the square windows, in pixels, ssimStride the distance between their corners.
const (
	ssimWindow = 8
	ssimStride = 4
)

// The constants that keep the quotient of SSIM steady: (0.01*255)² and (0.03*255)² (Wang et al. 2004, §III-B).
const (
	ssimC1 = 6.5025
	ssimC2 = 58.5225
)

// plane is one channel of a picture, a byte a pixel.
type plane struct {
	w, h int
	pix  []byte
}

// lumaOf returns the luma of a picture (ITU-R BT.601), over white where it is transparent.
func lumaOf(px *pixels) plane {
	w, h := px.size()
	pix, bands := px.raw()
	p := plane{w, h, make([]byte, w*h)}
	for i := range p.pix {
		c := pix[i*bands : i*bands+bands : i*bands+bands]
		y := 299*int(c[0]) + 587*int(c[1]) + 114*int(c[2])
		if bands == 4 {
			a := int(c[3])
			y = (y*a + 255_000*(255-a)) / 255
		}
		p.pix[i] = byte((y + 500) / 1000) //nolint:gosec // at most 255
	}
	return p
}

// ssim is the mean structural similarity of two planes of the same size, 1 for equal ones (Wang et al. 2004), over
// square windows with equal weights.
func ssim(a, b plane) float64 {
	ww, wh := min(ssimWindow, a.w), min(ssimWindow, a.h)
	sum, windows := 0.0, 0
	for y, more := 0, true; more; y += ssimStride { // the last window of a row and of a column ends at the edge
		more = y+wh < a.h
		for x, more := 0, true; more; x += ssimStride {
			more = x+ww < a.w
			sum += ssimAt(a, b, min(x, a.w-ww), min(y, a.h-wh), ww, wh)
			windows++
		}
	}
	return sum / float64(windows)
}

func ssimAt(a, b plane, x, y, ww, wh int) float64 {
	var sa, sb, saa, sbb, sab int
	for row := y; row < y+wh; row++ {
		ra := a.pix[row*a.w+x : row*a.w+x+ww]
		rb := b.pix[row*b.w+x : row*b.w+x+ww]
		for i, va := range ra {
			p, q := int(va), int(rb[i])
			sa += p
			sb += q
			saa += p * p
			sbb += q * q
			sab += p * q
		}
	}
	n := float64(ww * wh)
	ma, mb := float64(sa)/n, float64(sb)/n
	va, vb, cov := float64(saa)/n-ma*ma, float64(sbb)/n-mb*mb, float64(sab)/n-ma*mb
	return (2*ma*mb + ssimC1) * (2*cov + ssimC2) / ((ma*ma + mb*mb + ssimC1) * (va + vb + ssimC2))
}
