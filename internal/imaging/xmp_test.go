package imaging

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/webp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// veil is a picture of 33x21 pixels that shows through in places.
func veil() *image.NRGBA {
	const w, h = 33, 21
	img := gradient(w, h)
	for y := range h {
		img.SetNRGBA(y%w, y, color.NRGBA{10, 20, 30, uint8(y * 7)})
	}
	return img
}

// independent decodes with the libraries' own decoders, not with the engine under test.
func independent(tb testing.TB, b []byte) image.Image {
	tb.Helper()
	read := map[string]func(io.Reader) (image.Image, error){"png": png.Decode, "jpeg": jpeg.Decode, "webp": webp.Decode}
	img, err := read[probed(tb, b).Format](bytes.NewReader(b))
	must(tb, err)
	return img
}

// embeddable are pictures that take a source type, with what xmpOverhead says too much.
func embeddable(tb testing.TB) map[string]struct {
	src   []byte
	slack int
} {
	tb.Helper()
	type picture = struct {
		src   []byte
		slack int
	}
	lossy := bitstream(tb, encoded(tb, gradient(33, 21), EncodeOptions{Format: "webp"}))
	lossless := bitstream(tb, encoded(tb, gradient(33, 21), EncodeOptions{Format: "webp", Lossless: true}))
	clear := bitstream(tb, encoded(tb, veil(), EncodeOptions{Format: "webp", Lossless: true}))
	jpg := jpegOf(tb, gradient(33, 21))
	jfif := withSegment(jpg, 0xe0, []byte("JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00"))
	return map[string]picture{
		"png":                {pngOf(tb, gradient(33, 21)), 0},
		"png alpha":          {pngOf(tb, veil()), 0},
		"png with a comment": {withChunk(pngOf(tb, veil()), "tEXt", []byte("Comment\x00hello")), 0},
		"jpeg":               {jpg, 0},
		"jpeg jfif":          {jfif, 0},
		"jpeg exif":          {withOrientation(jpg, 6), 0},
		"webp lossy":         {webpPlain(lossy), 0},
		"webp lossless":      {webpPlain(lossless), 0},
		"webp lossless clear": {
			webpPlain(clear), 0,
		},
		"webp extended": {webpFile(0, 33, 21, lossy), 18},
		"webp with exif": {
			webpFile(0x08, 33, 21, lossy, riffChunk("EXIF", exifBlock(binary.LittleEndian, 3))), 18,
		},
		"webp alpha": {encoded(tb, veil(), EncodeOptions{Format: "webp"}), 18},
	}
}

func TestEmbedSourceType(t *testing.T) {
	t.Parallel()
	for name, tt := range embeddable(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, term := range []string{trained, capture, "a", strings.Repeat("z", maxTerm)} {
				before := bytes.Clone(tt.src)
				got, err := EmbedSourceType(tt.src, term)
				must(t, err)
				if diff := cmp.Diff(Provenance{SourceType: term}, provenanceOf(t, got)); diff != "" {
					t.Errorf("FindProvenance (-want +got):\n%s", diff)
				}
				if !bytes.Equal(before, tt.src) {
					t.Error("the input was changed")
				}
				if diff := cmp.Diff(probed(t, tt.src), probed(t, got)); diff != "" {
					t.Errorf("Probe (-want +got):\n%s", diff)
				}
				want := xmpOverhead(probed(t, tt.src).Format, term) - tt.slack
				if added := len(got) - len(tt.src); added != want {
					t.Errorf("%d bytes were added, want %d", added, want)
				}
				if diff := cmp.Diff(independent(t, tt.src), independent(t, got)); diff != "" {
					t.Errorf("the pixels differ")
				}
				checkPlace(t, got)
			}
		})
	}
}

// checkPlace looks at the bytes around the packet: it stands where its format wants it, and every size is right.
func checkPlace(tb testing.TB, b []byte) {
	tb.Helper()
	s := source{bytes.NewReader(b), int64(len(b))}
	var kinds []string
	switch probed(tb, b).Format {
	case "png":
		must(tb, walkPNG(s, func(kind string, off, n int64) (bool, error) {
			kinds = append(kinds, kind)
			if sum := binary.BigEndian.Uint32(b[off+n:]); !bytes.Equal(pngChunk(kind, b[off:off+n]), b[off-8:off+n+4]) {
				tb.Errorf("chunk %s has the checksum %x", kind, sum)
			}
			return kind == "IEND", nil
		}))
		if kinds[0] != "IHDR" || kinds[1] != "iTXt" {
			tb.Errorf("chunks %v", kinds)
		}
	case "jpeg":
		must(tb, walkJPEG(s, func(marker byte, off, _ int64) (bool, error) {
			name, _, _ := bytes.Cut(b[off:off+30], []byte{0})
			if marker >= 0xe0 && marker <= 0xef {
				kinds = append(kinds, string(name))
			}
			return isFrameHeader(marker), nil
		}))
		if last := kinds[len(kinds)-1]; last+"\x00" != xmpSignature { // JFIF and Exif come first
			tb.Errorf("segments %q", kinds)
		}
	case "webp":
		end := int64(0)
		must(tb, walkRIFF(s, func(kind string, off, n int64) (bool, error) {
			kinds, end = append(kinds, kind), off+n+n&1
			return false, nil
		}))
		if end != s.size || int64(binary.LittleEndian.Uint32(b[4:])) != s.size-8 || b[20]&4 == 0 ||
			kinds[0] != "VP8X" || kinds[len(kinds)-1] != "XMP " {
			tb.Errorf("chunks %v end at %d of %d, flags %x", kinds, end, s.size, b[20])
		}
	}
}

// A second time with the same type changes nothing; another type would need the packet to be merged.
func TestEmbedSourceTypeTwice(t *testing.T) {
	t.Parallel()
	for name, tt := range embeddable(t) {
		once, err := EmbedSourceType(tt.src, trained)
		must(t, err)
		twice, err := EmbedSourceType(once, trained)
		must(t, err)
		if !bytes.Equal(once, twice) || &once[0] == &twice[0] {
			t.Errorf("%s: the second time changes something or gives the input itself", name)
		}
		if _, err := EmbedSourceType(once, capture); fault.CodeOf(err) != fault.UnsupportedOperation {
			t.Errorf("%s: another type: %v, want unsupported_operation", name, err)
		}
	}
}

func TestXMPPacketIsXML(t *testing.T) {
	t.Parallel()
	var got struct {
		RDF struct {
			Description struct {
				Type string `xml:"http://iptc.org/std/Iptc4xmpExt/2008-02-29/ DigitalSourceType,attr"`
			}
		} `xml:"http://www.w3.org/1999/02/22-rdf-syntax-ns# RDF"`
	}
	must(t, xml.Unmarshal([]byte(xmpPacket(trained)), &got))
	const want = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
	if got.RDF.Description.Type != want {
		t.Errorf("the property is %q, want %q", got.RDF.Description.Type, want)
	}
}

func TestEmbedSourceTypeRefuses(t *testing.T) {
	t.Parallel()
	img := gradient(16, 12)
	pic, jpg := pngOf(t, img), jpegOf(t, img)
	webpFrame := bitstream(t, encoded(t, img, EncodeOptions{Format: "webp"}))
	store := manifestStore(0, action(trained))
	odd := webpPlain(webpFrame)
	binary.LittleEndian.PutUint32(odd[4:], uint32(len(odd)-9))
	tests := []struct {
		name string
		src  []byte
		term string
		want fault.Code
		says string
	}{
		{"png signed", withChunk(pic, "caBX", store), trained, fault.InvalidArgument, "the png is signed"},
		{"png signed at its end", atEnd(pic, "caBX", store), trained, fault.InvalidArgument, "signature"},
		{"jpeg signed", behindSOI(jpg, jumbfSegments(store, 50)), trained, fault.InvalidArgument, "the jpeg is signed"},
		{"webp signed", webpFile(0, 16, 12, webpFrame, riffChunk("C2PA", store)), trained, fault.InvalidArgument, "the webp"},
		{"avif signed", append(media(t, "quadrants.avif"), uuidBox(store)...), trained, fault.InvalidArgument, "the avif"},
		{"avif", media(t, "quadrants.avif"), trained, fault.UnsupportedOperation, "into avif"},
		{"heic", media(t, "quadrants.heic"), trained, fault.UnsupportedOperation, "into heic"},
		{"gif", gifOf(t, 1, 9, 9), trained, fault.UnsupportedOperation, "into gif"},
		{"tiff", tiffOf(t, img), trained, fault.UnsupportedOperation, "into tiff"},
		{"bmp", bmpOf(t, img), trained, fault.UnsupportedOperation, "into bmp"},
		{"png with XMP", withChunk(pic, "iTXt", xmpText(true, "<x/>")), trained, fault.UnsupportedOperation, "XMP metadata already"},
		{"jpeg with XMP", withSegment(jpg, markerAPP1, []byte(xmpSignature+"<x/>")), trained, fault.UnsupportedOperation, "already"},
		{"no term", pic, "", fault.InvalidArgument, "1 to 64 letters"},
		{"term of 65 letters", pic, strings.Repeat("a", 65), fault.InvalidArgument, "1 to 64 letters"},
		{"term that is markup", pic, `a"/>`, fault.InvalidArgument, "1 to 64 letters"},
		{"term that is no ASCII", pic, "größe", fault.InvalidArgument, "1 to 64 letters"},
		{"webp cut short", webpPlain(webpFrame)[:len(webpFrame)-4], trained, fault.InvalidImage, "chunks"},
		{"webp with bytes behind it", append(webpPlain(webpFrame), "tail"...), trained, fault.InvalidImage, "chunks"},
		{"webp with bytes in it", webpPlain(append(bytes.Clone(webpFrame), 1, 2)), trained, fault.InvalidImage, "chunks"},
		{"webp of odd size", odd, trained, fault.InvalidImage, "chunks"},
		{"text", []byte("hello"), trained, fault.InvalidImage, "not a picture"},
		{"nothing", nil, trained, fault.InvalidImage, "empty"},
		{"too many pixels", bombPNG(30_000, 30_000), trained, fault.PixelsExceeded, "30000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := EmbedSourceType(tt.src, tt.term)
			if got != nil || fault.CodeOf(err) != tt.want || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%d bytes, %v; want %s that says %q", len(got), err, tt.want, tt.says)
			}
		})
	}
}

func TestXMPOverheadOfOthers(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"avif", "gif", "heic", "bmp", "tiff", ""} {
		if got := xmpOverhead(format, trained); got != 0 {
			t.Errorf("%q: %d bytes, want 0", format, got)
		}
	}
}

func FuzzEmbedSourceType(f *testing.F) {
	for _, tt := range embeddable(f) {
		f.Add(tt.src, trained)
	}
	f.Add(media(f, "quadrants.avif"), capture)
	f.Fuzz(func(t *testing.T, b []byte, term string) {
		got, err := EmbedSourceType(b, term)
		if err != nil {
			if fault.CodeOf(err) == "" {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		want, err := Probe(bytes.NewReader(b), int64(len(b)), sniff.DefaultBounds())
		must(t, err)
		if diff := cmp.Diff(want, probed(t, got)); diff != "" {
			t.Fatalf("Probe (-want +got):\n%s", diff)
		}
		if added := len(got) - len(b); added > xmpOverhead(want.Format, term) {
			t.Fatalf("%d bytes were added, announced are %d", added, xmpOverhead(want.Format, term))
		}
		if p := provenanceOf(t, got); p.SourceType != term || p.C2PA {
			t.Fatalf("the result says %+v, want %q", p, term)
		}
	})
}
