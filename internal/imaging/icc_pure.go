//go:build novips || !cgo

package imaging

import "image"

// profileConverter returns what turns the decoded pixels into sRGB. A missing or corrupt profile, or one that is sRGB,
// changes nothing. A profile of lookup tables is unsupported_operation: without it the colours would be wrong.
func profileConverter(src []byte, h header) (func(*image.NRGBA), error) {
	keep := func(*image.NRGBA) {}
	p := iccProfile(src, h)
	if len(p) < 132 {
		return keep, nil
	}
	tags := iccTags(p)
	switch space := string(p[16:20]); {
	case space == "GRAY" && tags["kTRC"] != nil:
		curve, ok := iccCurve(tags["kTRC"])
		if !ok {
			return keep, nil
		}
		return grey(curve), nil
	case space == "RGB " && tags["rXYZ"] != nil && tags["rTRC"] != nil:
		m, ok := newMatrix(tags)
		if !ok || m.isSRGB() {
			return keep, nil
		}
		return m.convert, nil
	case space == "RGB " || space == "GRAY":
		return nil, lacking("converting an ICC profile with lookup tables to sRGB")
	}
	return keep, nil // a profile of another colour space than the pixels' is corrupt
}

func grey(curve [256]float64) func(*image.NRGBA) {
	var table [256]byte
	for i, v := range curve {
		table[i] = srgbByte(v)
	}
	return func(img *image.NRGBA) {
		for i := 0; i < len(img.Pix); i += 4 {
			p := img.Pix[i : i+3 : i+3]
			p[0], p[1], p[2] = table[p[0]], table[p[1]], table[p[2]]
		}
	}
}
