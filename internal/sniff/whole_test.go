package sniff_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"testing"

	"mediagen/internal/sniff"
)

func pictureOf(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWhole: every picture is whole, and no beginning of it is.
func TestWhole(t *testing.T) {
	t.Parallel()
	img := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.Black, color.White})
	box := func(kind string, body []byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
		return append(append(b, kind...), body...)
	}
	riff := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 4+8+20)...)
	riff = append(append(riff, "WEBPVP8L"...), binary.LittleEndian.AppendUint32(nil, 20)...)
	for _, tc := range []struct {
		ext  string
		data []byte
	}{
		{"png", pictureOf(t, func(w io.Writer) error { return png.Encode(w, img) })},
		{"jpeg", pictureOf(t, func(w io.Writer) error { return jpeg.Encode(w, img, nil) })},
		{"gif", pictureOf(t, func(w io.Writer) error { return gif.Encode(w, img, nil) })},
		{"webp", append(riff, make([]byte, 20)...)},
		{"avif", append(box("ftyp", []byte("avif\x00\x00\x00\x00avifmif1")), box("mdat", make([]byte, 50))...)},
	} {
		t.Run(tc.ext, func(t *testing.T) {
			t.Parallel()
			got, whole := sniff.Whole(bytes.NewReader(tc.data), int64(len(tc.data)))
			if got.Ext != tc.ext || !whole {
				t.Fatalf("%q, whole %v", got.Ext, whole)
			}
			for n := range len(tc.data) {
				if tc.ext == "avif" && n == 24 {
					continue // a box alone has an end too
				}
				if tc.ext == "gif" && tc.data[n-min(n, 1)] == ';' {
					continue // the trailer's byte can stand anywhere
				}
				if _, whole := sniff.Whole(bytes.NewReader(tc.data[:n]), int64(n)); whole {
					t.Errorf("the first %d of %d bytes pass for whole", n, len(tc.data))
				}
			}
		})
	}
	for _, text := range []string{"", "<html></html>", "BM" + string(make([]byte, 60))} {
		if _, whole := sniff.Whole(bytes.NewReader([]byte(text)), int64(len(text))); whole {
			t.Errorf("%.10q passes for a whole picture", text)
		}
	}
}
