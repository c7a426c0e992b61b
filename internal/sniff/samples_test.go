package sniff_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// picture returns a small picture as each encoder writes it.
func picture(tb testing.TB, encode func(*bytes.Buffer, image.Image) error) []byte {
	tb.Helper()
	img := image.NewPaletted(image.Rect(0, 0, 4, 3), color.Palette{color.White, color.Black})
	img.SetColorIndex(1, 1, 1)
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func pngBytes(tb testing.TB) []byte {
	tb.Helper()
	return picture(tb, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
}

func jpegBytes(tb testing.TB) []byte {
	tb.Helper()
	return picture(tb, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) })
}

func gifBytes(tb testing.TB) []byte {
	tb.Helper()
	return picture(tb, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) })
}

func bmpBytes(tb testing.TB) []byte {
	tb.Helper()
	return picture(tb, func(b *bytes.Buffer, m image.Image) error { return bmp.Encode(b, m) })
}

func tiffBytes(tb testing.TB) []byte {
	tb.Helper()
	return picture(tb, func(b *bytes.Buffer, m image.Image) error { return tiff.Encode(b, m, nil) })
}

// ftyp returns an ftyp box with the brands, and a free box behind it.
func ftyp(major string, compatible ...string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(16+4*len(compatible)))
	b = append(b, "ftyp"+major+"\x00\x00\x02\x00"+strings.Join(compatible, "")...)
	return append(b, "\x00\x00\x00\x08free"...)
}

func ebml(docType string) []byte {
	body := append([]byte{0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x80 | byte(len(docType))}, docType...)
	return append([]byte{0x1a, 0x45, 0xdf, 0xa3, 0x80 | byte(len(body))}, append(body, 0x18, 0x53, 0x80, 0x67)...)
}

func oggPage(packet string) []byte {
	head := append([]byte("OggS\x00\x02"), make([]byte, 20)...)
	return append(append(head, 1, byte(len(packet))), packet...)
}

func riff(form, chunk string) []byte {
	return append([]byte("RIFF\x24\x00\x00\x00"+form+chunk+"\x10\x00\x00\x00"), make([]byte, 32)...)
}

// mp3Frames returns n frames of MPEG 1 layer III, 128 kbit/s, 44.1 kHz: 417 bytes each.
func mp3Frames(n int) []byte {
	frame := append([]byte{0xff, 0xfb, 0x90, 0x00}, make([]byte, 413)...)
	return bytes.Repeat(frame, n)
}

// adtsFrames returns n AAC frames of 100 bytes.
func adtsFrames(n int) []byte {
	frame := append([]byte{0xff, 0xf1, 0x50, 0x80, 100 >> 3, 100 & 7 << 5, 0xfc}, make([]byte, 93)...)
	return bytes.Repeat(frame, n)
}

func zipWith(tb testing.TB, names ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.Create(name)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := f.Write([]byte("<x/>")); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func gzipBytes(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte("hello")); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func utf16Text(s string) []byte {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}
