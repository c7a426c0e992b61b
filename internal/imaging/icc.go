package imaging

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
)

// maxProfile bounds an ICC profile; display profiles are a few kilobytes, printer profiles a few megabytes.
const maxProfile = 4 << 20

// maxProfileName bounds the name of a profile, in characters.
const maxProfileName = 80

// profileName tells which colour profile a file embeds, "" for none, and whether its pixels can be taken for sRGB: they
// have no profile, or one that changes nothing. A profile without a name is called by its colour space.
func profileName(src []byte, h header) (name string, srgb bool) {
	p := iccProfile(src, h)
	if len(p) < 132 {
		return "", h.colour == "" && !h.cmyk
	}
	tags := iccTags(p)
	if name = iccText(tags["desc"]); name == "" {
		name = strings.TrimSpace(strings.ToValidUTF8(string(p[16:20]), "")) + " profile"
	}
	if string(p[16:20]) != "RGB " {
		return name, false
	}
	m, ok := newMatrix(tags)
	return name, ok && m.isSRGB()
}

// iccText reads a description: textDescriptionType of version 2, or the first text of multiLocalizedUnicodeType (ICC.1
// §10.15). Control characters go, for the name is shown to people.
func iccText(tag []byte) string {
	var text string
	switch {
	case len(tag) > 12 && string(tag[:4]) == "desc":
		n := int64(binary.BigEndian.Uint32(tag[8:]))
		text = string(tag[12:min(12+n, int64(len(tag)))])
	case len(tag) >= 28 && string(tag[:4]) == "mluc":
		size, off := uint64(binary.BigEndian.Uint32(tag[20:])), uint64(binary.BigEndian.Uint32(tag[24:]))
		if off+size > uint64(len(tag)) {
			return ""
		}
		units := make([]uint16, size/2)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(tag[off+2*uint64(i):])
		}
		text = string(utf16.Decode(units))
	}
	text = printable(text)
	if runes := []rune(text); len(runes) > maxProfileName {
		text = string(runes[:maxProfileName])
	}
	return strings.TrimSpace(text)
}

// printable drops what could move a cursor or hide words: foreign text is shown to people.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// iccProfile returns the embedded profile, or nil.
func iccProfile(src []byte, h header) []byte {
	s := source{bytes.NewReader(src), int64(len(src))}
	var profile []byte
	switch h.Format {
	case "jpeg":
		_ = walkJPEG(s, func(marker byte, off, n int64) (bool, error) { // an error ends the search: the decoder reports it
			const head = "ICC_PROFILE\x00" // then the number of the chunk and their count, in order
			if data := src[off:min(off+n, s.size)]; marker == markerAPP2 && bytes.HasPrefix(data, []byte(head)) &&
				len(data) > len(head)+2 && len(profile) < maxProfile {
				profile = append(profile, data[len(head)+2:]...)
			}
			return isFrameHeader(marker), nil
		})
	case "png":
		_ = walkPNG(s, func(kind string, off, n int64) (bool, error) {
			if kind == "iCCP" {
				profile = inflateProfile(src[off:min(off+n, s.size)])
			}
			return kind == "IDAT", nil
		})
	case "webp":
		_ = walkRIFF(s, func(kind string, off, n int64) (bool, error) {
			if kind == "ICCP" {
				profile = src[off:min(off+n, s.size)]
			}
			return kind == "ICCP", nil
		})
	case "tiff":
		profile = tiffProfile(s)
	case "avif":
		if h.profile.r != nil && h.profile.size <= maxProfile {
			profile, _ = h.profile.read(0, int(h.profile.size))
		}
	}
	return profile
}

// inflateProfile reads an iCCP chunk: a name, a zero, the compression method and the compressed profile.
func inflateProfile(chunk []byte) []byte {
	_, rest, ok := bytes.Cut(chunk, []byte{0})
	if !ok || len(rest) < 2 {
		return nil
	}
	r, err := zlib.NewReader(bytes.NewReader(rest[1:]))
	if err != nil {
		return nil
	}
	profile, err := io.ReadAll(io.LimitReader(r, maxProfile))
	if err != nil {
		return nil
	}
	return profile
}

func tiffProfile(s source) []byte {
	order, off, err := tiffStart(s)
	if err != nil {
		return nil
	}
	entries, _, err := readIFD(s, order, off)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.tag == tagICCProfile && e.count <= maxProfile {
			profile, err := s.read(int64(e.offset), int(e.count))
			if err != nil {
				return nil
			}
			return profile
		}
	}
	return nil
}

// iccTags maps tag signatures to their data (ICC.1:2022 §7.3).
func iccTags(p []byte) map[string][]byte {
	tags := map[string][]byte{}
	n := int(min(binary.BigEndian.Uint32(p[128:]), 100))
	for i := range n {
		at := 132 + 12*i
		if at+12 > len(p) {
			break
		}
		off, size := uint64(binary.BigEndian.Uint32(p[at+4:])), uint64(binary.BigEndian.Uint32(p[at+8:]))
		if off+size <= uint64(len(p)) {
			tags[string(p[at:at+4])] = p[off : off+size]
		}
	}
	return tags
}

// iccCurve samples a tone curve at the 256 values of a channel (ICC.1:2022 §10.6, §10.18).
func iccCurve(tag []byte) (lut [256]float64, ok bool) {
	if len(tag) < 12 {
		return lut, false
	}
	var curve func(float64) float64
	switch string(tag[:4]) {
	case "curv":
		n := int(binary.BigEndian.Uint32(tag[8:]))
		if n < 0 || n > 65536 || len(tag) < 12+2*n {
			return lut, false
		}
		curve = sampledCurve(tag[12:], n)
	case "para":
		if curve, ok = parametricCurve(tag[8:]); !ok {
			return lut, false
		}
	default:
		return lut, false
	}
	for i := range lut {
		v := curve(float64(i) / 255)
		if math.IsNaN(v) {
			return lut, false
		}
		lut[i] = min(max(v, 0), 1)
	}
	return lut, true
}

func sampledCurve(values []byte, n int) func(float64) float64 {
	at := func(i int) float64 { return float64(binary.BigEndian.Uint16(values[2*i:])) }
	switch n {
	case 0:
		return func(x float64) float64 { return x }
	case 1: // a gamma in units of 1/256
		gamma := at(0) / 256
		return func(x float64) float64 { return math.Pow(x, gamma) }
	}
	return func(x float64) float64 {
		pos := x * float64(n-1)
		i := min(int(pos), n-2)
		f := pos - float64(i)
		return (at(i)*(1-f) + at(i+1)*f) / 65535
	}
}

// parametricCurve reads one of the five function types; missing parameters are such that type 4 covers all.
func parametricCurve(b []byte) (func(float64) float64, bool) {
	if len(b) < 8 {
		return nil, false
	}
	kind := binary.BigEndian.Uint16(b)
	counts := []int{1, 3, 4, 5, 7}
	if int(kind) >= len(counts) || len(b) < 4+4*counts[kind] {
		return nil, false
	}
	var v [7]float64
	for i := range counts[kind] {
		v[i] = fixed16(b[4+4*i:])
	}
	g, a, bb, c, d, e, f := v[0], v[1], v[2], v[3], v[4], v[5], v[6]
	switch kind {
	case 0:
		a, d = 1, 0
	case 1:
		c, d = 0, -bb/a
	case 2:
		c, d, e, f = 0, -bb/a, c, c
	}
	return func(x float64) float64 {
		if x < d {
			return c*x + f
		}
		return math.Pow(max(a*x+bb, 0), g) + e
	}, true
}

func fixed16(b []byte) float64 {
	return float64(int32(binary.BigEndian.Uint32(b))) / 65536 //nolint:gosec // s15Fixed16Number is signed
}

// toLinearSRGB turns D50 XYZ, the connection space of ICC profiles, into linear sRGB (Bradford-adapted IEC 61966-2-1).
//
//nolint:gochecknoglobals // a constant matrix
var toLinearSRGB = [3][3]float64{
	{3.1338561, -1.6168667, -0.4906146},
	{-0.9787684, 1.9161415, 0.0334540},
	{0.0719453, -0.2289914, 1.4052427},
}

// srgbByte encodes a linear value.
func srgbByte(v float64) byte {
	v = min(max(v, 0), 1)
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return byte(v*255 + 0.5)
}

// matrix is a matrix/TRC profile (ICC.1:2022 §F.3): tone curves, then one matrix to linear sRGB.
type matrix struct {
	curves [3][256]float64
	rows   [3][3]float64
	encode [4096]byte
}

func newMatrix(tags map[string][]byte) (*matrix, bool) {
	m := &matrix{}
	var columns [3][3]float64
	for i, c := range []string{"r", "g", "b"} {
		xyz := tags[c+"XYZ"]
		if len(xyz) < 20 {
			return nil, false
		}
		for j := range 3 {
			columns[i][j] = fixed16(xyz[8+4*j:])
		}
		var ok bool
		if m.curves[i], ok = iccCurve(tags[c+"TRC"]); !ok {
			return nil, false
		}
	}
	for row := range 3 {
		for col := range 3 {
			for k := range 3 {
				m.rows[row][col] += toLinearSRGB[row][k] * columns[col][k]
			}
		}
	}
	for i := range m.encode {
		m.encode[i] = srgbByte(float64(i) / float64(len(m.encode)-1))
	}
	return m, true
}

func (m *matrix) convert(img *image.NRGBA) {
	last := float64(len(m.encode) - 1)
	for i := 0; i < len(img.Pix); i += 4 {
		p := img.Pix[i : i+3 : i+3]
		r, g, b := m.curves[0][p[0]], m.curves[1][p[1]], m.curves[2][p[2]]
		for c := range 3 {
			v := m.rows[c][0]*r + m.rows[c][1]*g + m.rows[c][2]*b
			p[c] = m.encode[int(min(max(v, 0), 1)*last+0.5)]
		}
	}
}

// isSRGB reports whether the profile changes no colour by more than rounding, as the many spellings of sRGB do.
func (m *matrix) isSRGB() bool {
	var sample image.NRGBA
	for _, r := range []byte{0, 64, 128, 255} {
		for _, g := range []byte{0, 64, 128, 255} {
			for _, b := range []byte{0, 64, 128, 255} {
				sample.Pix = append(sample.Pix, r, g, b, 255)
			}
		}
	}
	before := bytes.Clone(sample.Pix)
	m.convert(&sample)
	for i, v := range sample.Pix {
		if d := int(v) - int(before[i]); d < -2 || d > 2 {
			return false
		}
	}
	return true
}
