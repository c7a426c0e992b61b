package sniff_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

const svgText = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`

func TestDetect(t *testing.T) {
	t.Parallel()
	docx := zipWith(t, "[Content_Types].xml", "_rels/.rels", "word/document.xml")
	longJSON := []byte(`{"items":[` + strings.Repeat(`"some words here",`, 400))
	tests := []struct {
		name string
		head []byte
		want string // MIME, "" = unknown
	}{
		{"png", pngBytes(t), "image/png"},
		{"jpeg", jpegBytes(t), "image/jpeg"},
		{"gif", gifBytes(t), "image/gif"},
		{"bmp", bmpBytes(t), "image/bmp"},
		{"tiff", tiffBytes(t), "image/tiff"},
		{"tiff big-endian", []byte("MM\x00*\x00\x00\x00\x08\x00\x00"), "image/tiff"},
		{"webp lossy", riff("WEBP", "VP8 "), "image/webp"},
		{"webp lossless", riff("WEBP", "VP8L"), "image/webp"},
		{"webp extended", riff("WEBP", "VP8X"), "image/webp"},
		{"webp of an unknown kind", riff("WEBP", "VP9 "), ""},
		{"avif", ftyp("avif", "mif1", "miaf"), "image/avif"},
		{"avif under a generic brand", ftyp("mif1", "miaf", "avif"), "image/avif"},
		{"heic", ftyp("heic", "mif1"), "image/heic"},
		{"heic under a generic brand", ftyp("mif1", "heic"), "image/heic"},
		{"generic brand alone", ftyp("mif1", "miaf"), ""},
		{
			"ico", append([]byte("\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00"), 0x68, 4, 0, 0, 22, 0, 0, 0),
			"image/x-icon",
		},
		{"svg", []byte(svgText), "image/svg+xml"},
		{"svg with a declaration", []byte(`<?xml version="1.0"?>` + "\n" + svgText), "image/svg+xml"},
		{"svg in UTF-16", utf16Text(svgText), "text/plain"},

		{"mp4", ftyp("isom", "iso2", "avc1", "mp41"), "video/mp4"},
		{"mp4 av01", ftyp("av01", "mp42"), "video/mp4"},
		{"m4v", ftyp("M4V ", "isom"), "video/mp4"},
		{"quicktime", ftyp("qt  "), "video/quicktime"},
		{"3gp", ftyp("3gp5", "isom"), "video/3gpp"},
		{"m4a", ftyp("M4A ", "isom"), "audio/mp4"},
		{"unknown brand", ftyp("zzzz", "isom"), ""},
		{"ftyp of size 0", append([]byte("\x00\x00\x00\x00"), ftyp("isom")[4:]...), ""},
		{"ftyp of 64-bit size", append([]byte("\x00\x00\x00\x01"), ftyp("isom")[4:]...), ""},
		{"webm", ebml("webm"), "video/webm"},
		{"matroska", ebml("matroska"), "video/x-matroska"},
		{"other EBML", ebml("other"), ""},
		{"avi", riff("AVI ", "LIST"), "video/x-msvideo"},
		{"theora", oggPage("\x80theora\x03\x02\x01"), "video/ogg"},
		{"theora behind a skeleton", append(oggPage("fishead\x00\x03"), oggPage("\x80theora")...), "video/ogg"},

		{"vorbis", oggPage("\x01vorbis\x00\x00"), "audio/ogg"},
		{"opus", oggPage("OpusHead\x01\x02"), "audio/ogg"},
		{"ogg of an unknown codec", oggPage("something"), ""},
		{"wav", riff("WAVE", "fmt "), "audio/wav"},
		{"flac", append([]byte("fLaC\x00\x00\x00\x22"), make([]byte, 34)...), "audio/flac"},
		{"aiff", append([]byte("FORM\x00\x00\x00\x20AIFFCOMM"), make([]byte, 20)...), "audio/aiff"},
		{"mp3 with ID3", append([]byte("ID3\x04\x00\x00\x00\x00\x00\x0a"), make([]byte, 10)...), "audio/mpeg"},
		{"mp3 without ID3", mp3Frames(2), "audio/mpeg"},
		{"one mp3 frame", mp3Frames(1), ""},
		{"aac", adtsFrames(2), "audio/aac"},
		{"one aac frame", adtsFrames(1), ""},

		{"pdf", []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), "application/pdf"},
		{"pdf after four bytes", []byte("junk%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), ""},
		{"zip", zipWith(t, "a.txt"), "application/zip"},
		{"docx", docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{"gzip", gzipBytes(t), "application/x-gzip"},
		{"7z", []byte("7z\xbc\xaf\x27\x1c\x00\x04"), "application/x-7z-compressed"},

		{"html", []byte("<!DOCTYPE html><html><body>no</body></html>"), "text/html"},
		{"html tag only", []byte("<html>no"), "text/html"},
		{"xml", []byte(`<?xml version="1.0"?><a/>`), "application/xml"},
		{"json", []byte(`{"a": [1, 2]}`), "application/json"},
		{"json longer than the window", longJSON, "application/json"},
		{"braces that are no json", []byte("{" + strings.Repeat("word ", 1000)), "text/plain"},
		{"csv", []byte("a,b,c\n1,2,3\n4,5,6\n"), "text/csv"},
		{"csv longer than the window", bytes.Repeat([]byte("name,1234,5678\n"), 400), "text/csv"},
		{"plain text", []byte("a red bicycle"), "text/plain"},
		{"text that begins with BM", []byte("BM is an abbreviation of many things, none of them here"), "text/plain"},
		{"script", []byte("#!/bin/sh\nrm -rf x\n"), "text/plain"},
		{"playlist", []byte("#EXTM3U\n#EXT-X-VERSION:3\n"), "application/vnd.apple.mpegurl"},
		{"playlist behind a blank line", []byte("\n#extm3u\n"), "application/vnd.apple.mpegurl"},
		{"program", append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 60)...), "application/x-elf"},

		{"nothing", nil, ""},
		{"zeros", make([]byte, 600), ""},
		{"four bytes of a png", []byte("\x89PNG"), "text/plain"},
		{"png without IHDR", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dXXXX\x00\x00\x00\x01"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := sniff.Detect(tt.head)
			want, _ := sniff.ByMIME(tt.want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Detect (-want +got):\n%s", diff)
			}
			if long := append(bytes.Clone(tt.head), make([]byte, sniff.HeadBytes)...); len(tt.head) >= sniff.HeadBytes {
				if diff := cmp.Diff(want, sniff.Detect(long)); diff != "" {
					t.Errorf("bytes behind HeadBytes count (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestDetectTruncatedMediaNeverPanics(t *testing.T) {
	t.Parallel()
	whole := [][]byte{
		pngBytes(t), bmpBytes(t), tiffBytes(t), ftyp("mif1", "avif"), ebml("webm"), oggPage("OpusHead"), riff("WAVE", "fmt "),
		mp3Frames(2), adtsFrames(2),
	}
	for _, b := range whole {
		final := sniff.Detect(b)
		for n := range b {
			if got := sniff.Detect(b[:n]); got.Kind == sniff.KindImage && got != final {
				t.Errorf("%d bytes of %s are taken for %s", n, final.MIME, got.MIME)
			}
		}
	}
}

type brokenReader struct{}

func (brokenReader) ReadAt([]byte, int64) (int, error) { return 0, errors.New("device gone") }

func TestDetectReader(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a.bin"
	if err := os.WriteFile(path, pngBytes(t), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	got, err := sniff.DetectReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sniff.Type{MIME: "image/png", Ext: "png", Kind: sniff.KindImage}, got); diff != "" {
		t.Errorf("DetectReader (-want +got):\n%s", diff)
	}
	_, err = sniff.DetectReader(brokenReader{})
	if diff := cmp.Diff(fault.IOFailed, fault.CodeOf(err)); diff != "" {
		t.Errorf("broken reader (-want +got):\n%s", diff)
	}
}

func FuzzDetect(f *testing.F) {
	for _, b := range [][]byte{
		pngBytes(f), jpegBytes(f), gifBytes(f), bmpBytes(f), tiffBytes(f), ftyp("mif1", "avif"), ebml("webm"),
		oggPage("OpusHead"), riff("WEBP", "VP8X"), mp3Frames(2), adtsFrames(2), []byte(svgText), zipWith(f, "a"),
		[]byte("<html>"), []byte("#EXTM3U"), utf16Text(svgText),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		got := sniff.Detect(head)
		if got.MIME != "" {
			if listed, ok := sniff.ByMIME(got.MIME); !ok || listed != got {
				t.Errorf("Detect names %v, which the table does not hold", got)
			}
		}
		if got.Kind == sniff.KindImage || got.Kind == sniff.KindVideo || got.Kind == sniff.KindAudio {
			if lead := bytes.TrimLeft(head, " \t\r\n\ufeff"); len(lead) > 0 && (lead[0] == '<' || lead[0] == '#') {
				t.Errorf("markup or a script is taken for %s", got.MIME)
			}
		}
		if again := sniff.Detect(head[:min(len(head), sniff.HeadBytes)]); again != got {
			t.Errorf("bytes behind HeadBytes change the answer from %v to %v", again, got)
		}
		if mime, err := sniff.Agree("", got); err == nil && got.Kind != sniff.KindUnknown && mime != got.MIME {
			t.Errorf("no claim gives %s for %s", mime, got.MIME)
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	heads := map[string][]byte{
		"png":  append(pngBytes(b), make([]byte, sniff.HeadBytes)...),
		"mp4":  append(ftyp("isom"), make([]byte, sniff.HeadBytes)...),
		"text": bytes.Repeat([]byte("a red bicycle\n"), 300),
	}
	for name, head := range heads {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sniff.Detect(head)
			}
		})
	}
}
