package imaging

import (
	"bytes"
	"flag"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

var update = flag.Bool("update", false, "rewrite the lines of this build in testdata/unsupported.golden")

const unsupportedGolden = "testdata/unsupported.golden"

// converted runs Convert. Where the golden list says that this build lacks what the case needs, the case is skipped.
func converted(t *testing.T, src []byte, s Spec) Result {
	t.Helper()
	r, err := Convert(t.Context(), src, s)
	if fault.CodeOf(err) == fault.UnsupportedOperation {
		golden, readErr := os.ReadFile(unsupportedGolden)
		must(t, readErr)
		for line := range strings.Lines(string(golden)) {
			engine, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if engine == brief().Name && strings.HasSuffix(rest, " -> "+err.Error()) {
				t.Skip(err)
			}
		}
	}
	must(t, err)
	return r
}

// shown is the picture that came of a conversion.
func shown(tb testing.TB, src []byte, r Result) *image.NRGBA {
	tb.Helper()
	if r.Untouched {
		return decoded(tb, src)
	}
	return decoded(tb, r.Data)
}

// tableProfile lacks the colorants of a matrix profile, as those with lookup tables do.
func tableProfile() []byte {
	p := bytes.ReplaceAll(p3Profile(), []byte("rXYZ"), []byte("xxxx"))
	return bytes.ReplaceAll(p, []byte("rTRC"), []byte("A2B0"))
}

// TestUnsupported holds what each build refuses, word for word.
func TestUnsupported(t *testing.T) {
	img := gradient(32, 24)
	features := []struct {
		name string
		src  []byte
		s    Spec
	}{
		{"animated gif", gifOf(t, 3, 20, 20), Spec{Format: "png"}},
		{"animated png", apng(t), Spec{Format: "webp"}},
		{"animated webp", animatedWebP(t), Spec{Format: "jpeg"}},
		{"first frame of a gif", gifOf(t, 3, 20, 20), Spec{Format: "png", FirstFrame: true}},
		{"first frame of a png", apng(t), Spec{Format: "png", FirstFrame: true}},
		{"first frame of a webp", animatedWebP(t), Spec{Format: "png", FirstFrame: true}},
		{"pages of a tiff", twoPageTIFF(t), Spec{Format: "png"}},
		{"first page of a tiff", twoPageTIFF(t), Spec{Format: "png", FirstFrame: true}},
		{"heic", media(t, "quadrants.heic"), Spec{Format: "png"}},
		{"avif", media(t, "quadrants.avif"), Spec{Format: "png"}},
		{"cmyk jpeg", media(t, "quadrants-cmyk.jpeg"), Spec{Format: "png"}},
		{"icc lookup tables", withProfilePNG(t, pngOf(t, img), tableProfile()), Spec{Format: "png"}},
		{"bmp of 16 bits", deepBMP(t), Spec{Format: "png"}},
		{"png with a palette", pngOf(t, img), Spec{Format: "png", Quality: 60}},
		{"webp out", pngOf(t, img), Spec{Format: "webp"}},
		{"avif out", pngOf(t, img), Spec{Format: "avif"}},
		{"webp of 16384 pixels", pngOf(t, image.NewGray(image.Rect(0, 0, 16_384, 1))), Spec{Format: "webp"}},
	}
	var got []string
	for _, f := range features {
		_, err := Convert(t.Context(), f.src, f.s)
		if err == nil {
			continue
		}
		if diff := cmp.Diff(fault.UnsupportedOperation, fault.CodeOf(err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%v", f.name, diff, err)
		}
		got = append(got, brief().Name+": "+f.name+" -> "+err.Error()+"\n")
	}
	golden, err := os.ReadFile(unsupportedGolden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var want, others []string
	for line := range strings.Lines(string(golden)) {
		if strings.HasPrefix(line, brief().Name+": ") {
			want = append(want, line)
			continue
		}
		others = append(others, line)
	}
	if *update {
		must(t, os.MkdirAll(filepath.Dir(unsupportedGolden), 0o755))
		all := append(others, got...)
		slices.Sort(all)
		must(t, os.WriteFile(unsupportedGolden, []byte(strings.Join(all, "")), 0o600))
		return
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", unsupportedGolden, diff)
	}
}

// apng announces two frames, the first of which is the picture that every PNG has.
func apng(tb testing.TB) []byte {
	tb.Helper()
	p := withChunk(pngOf(tb, quadrants(40, 30)), "acTL", []byte{0, 0, 0, 2, 0, 0, 0, 0})
	return p
}

// animatedWebP holds two frames of 40x30, the first of which shows the quarters.
func animatedWebP(tb testing.TB) []byte {
	tb.Helper()
	frame := func(img image.Image) []byte {
		head := make([]byte, 16)
		head[6], head[9], head[12] = 39, 29, 100 // width and height less one, milliseconds
		return riffChunk("ANMF", append(head, bitstream(tb, encoded(tb, img, EncodeOptions{Format: "webp", Lossless: true}))...))
	}
	return webpFile(0x02, 40, 30, riffChunk("ANIM", make([]byte, 6)), frame(quadrants(40, 30)), frame(gradient(40, 30)))
}
