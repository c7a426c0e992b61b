package imaging

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// specOf makes a Spec of ten bytes; what is missing is zero.
func specOf(b []byte) Spec {
	at := func(i int) int {
		if i < len(b) {
			return int(b[i])
		}
		return 0
	}
	one := func(values ...string) string {
		v := values[at(0)%len(values)]
		b = b[min(1, len(b)):]
		return v
	}
	s := Spec{
		Format:     one("", "jpeg", "png", "webp", Auto, "jpg", "WEBP", "gif", "avif"),
		Background: one("", "", "#102030", "red", "#FFF"),
	}
	flags := at(0)
	s.BestEffort, s.FirstFrame, s.Measure = flags&1 != 0, flags&2 != 0, flags&4 != 0
	if flags&8 != 0 {
		s.Quality = at(1) - 20
	}
	if flags&16 != 0 {
		s.MaxBytes = int64(at(2)<<8|at(3)) - 100
	}
	if flags&32 != 0 {
		s.MaxSide = at(4)
	}
	if flags&64 != 0 {
		s.MinSSIM = float64(at(5)) / 240
	}
	if flags&128 != 0 {
		modes := []Mode{"", Match, Cover, Contain, Stretch, "fill"}
		bars := []string{"", "blur", "white", "#10203040", "#", "#11223"}
		s.Box = &Box{Width: at(6), Height: at(7), Mode: modes[at(8)%len(modes)], Bars: bars[at(8)/8%len(bars)]}
	}
	if at(9) == 255 {
		s.MinSSIM = math.NaN()
	}
	s.Bounds = sniff.DefaultBounds()
	s.Bounds.FramePixels, s.Bounds.TotalPixels = 1<<18, 1<<20
	return s
}

// Whatever the bytes and the wishes: no panic, an error with a code, and no limit broken without a word.
func FuzzConvert(f *testing.F) {
	img := gradient(24, 18)
	budget, box := []byte{3, 0, 1 | 2 | 16, 0, 8, 0}, []byte{2, 2, 2 | 128, 0, 0, 0, 0, 0, 40, 20, 11}
	side, floor := []byte{1, 0, 32 | 64 | 4, 0, 0, 0, 16, 200}, []byte{0, 0, 1 | 16 | 64, 0, 5, 0, 0, 230}
	for _, b := range [][]byte{
		pngOf(f, img), jpegOf(f, img), gifOf(f, 3, 9, 9), bmpOf(f, img), tiffOf(f, img), apng(f), animatedWebP(f),
		encoded(f, img, EncodeOptions{Format: "webp"}), withOrientation(withProfileJPEG(jpegOf(f, img), p3Profile()), 6),
		pngOf(f, quadrants(1, 1)), media(f, "quadrants-cmyk.jpeg"),
	} {
		for _, s := range [][]byte{nil, {4, 2, 7}, budget, box, side, floor} {
			f.Add(b, s)
		}
	}
	f.Fuzz(func(t *testing.T, b, wishes []byte) {
		s := specOf(wishes)
		r, err := Convert(t.Context(), b, s)
		if err != nil {
			if fault.CodeOf(err) == "" && t.Context().Err() == nil {
				t.Fatalf("%+v: error without a code: %v", s, err)
			}
			if r.Data != nil || r.Untouched {
				t.Fatalf("%+v: a result beside the error %v", s, err)
			}
			return
		}
		checkResult(t, b, s, r)
	})
}

func checkResult(t *testing.T, src []byte, s Spec, r Result) {
	t.Helper()
	for _, note := range r.Notes {
		if !utf8.ValidString(note) || strings.ContainsAny(note, "\x00\x1b\r\n") {
			t.Fatalf("note %q", note)
		}
	}
	size := int64(len(r.Data))
	if r.Untouched {
		size = int64(len(src))
	}
	if r.Untouched != (r.Data == nil) || r.Missed && !s.BestEffort {
		t.Fatalf("%+v: untouched %v, missed %v, %d bytes", s, r.Untouched, r.Missed, len(r.Data))
	}
	if s.MaxBytes > 0 && size > s.MaxBytes && !r.Missed {
		t.Fatalf("%+v: %d bytes", s, size)
	}
	if s.MinSSIM > 0 && r.SSIM < s.MinSSIM && !r.Missed {
		t.Fatalf("%+v: SSIM %v", s, r.SSIM)
	}
	w, h := r.Info.Upright()
	switch {
	case s.Box == nil && s.MaxSide > 0 && max(w, h) > s.MaxSide:
		t.Fatalf("%+v: %dx%d", s, w, h)
	case s.Box != nil && s.MaxBytes == 0 && (w != s.Box.Width || h != s.Box.Height):
		t.Fatalf("%+v: %dx%d", s, w, h)
	case !r.Untouched && (r.Info.Frames != 1 || r.Info.Orientation != 1):
		t.Fatalf("%+v: %+v", s, r.Info)
	}
	if r.Encodes > 2*maxEncodes {
		t.Fatalf("%+v: %d encodes", s, r.Encodes)
	}
}
