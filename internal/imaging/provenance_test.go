package imaging

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

const (
	trained = "trainedAlgorithmicMedia"
	capture = "digitalCapture"
	termURI = "http" + termPrefix
)

func provenanceOf(tb testing.TB, b []byte) Provenance {
	tb.Helper()
	p, err := FindProvenance(bytes.NewReader(b), int64(len(b)))
	must(tb, err)
	return p
}

// cborText is a text item, with the head that RFC 8949 gives it.
func cborText(s string) []byte {
	switch n := len(s); {
	case n < 24:
		return append([]byte{0x60 | byte(n)}, s...)
	case n < 256:
		return append([]byte{0x78, byte(n)}, s...)
	default:
		return append(binary.BigEndian.AppendUint16([]byte{0x79}, uint16(n)), s...)
	}
}

// action is the CBOR of one action, whose next key begins with a letter for a length.
func action(term string) []byte {
	return join([]byte{0xa3}, cborText("action"), cborText("c2pa.created"), cborText("digitalSourceType"),
		cborText(termURI+term), cborText("softwareAgent"), cborText("a camera"))
}

// manifestStore is a JUMBF superbox of type c2pa with filler in front of its content.
func manifestStore(filler int, content ...[]byte) []byte {
	kind := []byte("c2pa\x00\x11\x00\x10\x80\x00\x00\xaa\x00\x38\x9b\x71\x03c2pa\x00")
	return box("jumb", box("jumd", kind), box("free", make([]byte, filler)), box("cbor", content...))
}

// jumbfSegments cuts a box into APP11 segments of at most room bytes, which repeat the head of the box.
func jumbfSegments(store []byte, room int) []byte {
	var out []byte
	body := store[8:]
	for piece := uint32(1); len(body) > 0; piece++ {
		n := min(room, len(body))
		data := join([]byte("JP\x00\x01"), words(piece), store[:8], body[:n])
		out = append(binary.BigEndian.AppendUint16(append(out, 0xff, markerAPP11), uint16(len(data)+2)), data...)
		body = body[n:]
	}
	return out
}

// behindSOI puts segments behind a jpeg's first marker.
func behindSOI(jpg, segments []byte) []byte { return join(jpg[:2], segments, jpg[2:]) }

func xmpText(packed bool, text string) []byte {
	if !packed {
		return []byte(xmpKeyword + "\x00\x00en\x00XMP\x00" + text)
	}
	var z bytes.Buffer
	zw := zlib.NewWriter(&z)
	_, _ = zw.Write([]byte(text))
	_ = zw.Close()
	return append([]byte(xmpKeyword+"\x01\x00\x00\x00"), z.Bytes()...)
}

// atEnd puts a chunk in front of a png's IEND.
func atEnd(p []byte, kind string, data []byte) []byte {
	return join(p[:len(p)-12], pngChunk(kind, data), p[len(p)-12:])
}

func uuidBox(store []byte) []byte {
	id := []byte("\xd8\xfe\xc3\xd6\x1b\x0e\x48\x3c\x92\x97\x58\x28\x87\x7e\xc4\x81")
	return box("uuid", id, words(0), []byte("manifest\x00"), u64(0), store)
}

func TestFindProvenance(t *testing.T) {
	t.Parallel()
	img := gradient(24, 16)
	pic, jpg, avif := pngOf(t, img), jpegOf(t, img), media(t, "quadrants.avif")
	webp := encoded(t, img, EncodeOptions{Format: "webp"})
	store := manifestStore(0, action(trained))
	element := "<Iptc4xmpExt:DigitalSourceType>https" + termPrefix + capture + "</Iptc4xmpExt:DigitalSourceType>"
	secondBox := jumbfSegments(box("jumb", box("jumd", make([]byte, 20)), action(capture)), 60_000)
	secondBox[7] = 2 // its number
	none, both := Provenance{}, Provenance{true, trained}
	tests := []struct {
		name string
		src  []byte
		want Provenance
	}{
		{"png", pic, none},
		{"png caBX", withChunk(pic, "caBX", store), both},
		{"png caBX behind the pixels", atEnd(pic, "caBX", store), both},
		{"png caBX behind the end", append(bytes.Clone(pic), pngChunk("caBX", store)...), none},
		{"png without a type", withChunk(pic, "caBX", manifestStore(0)), Provenance{C2PA: true}},
		{"png caBX cut short", withChunk(pic, "caBX", store)[:60], Provenance{C2PA: true}},
		{"png XMP", withChunk(pic, "iTXt", xmpText(false, xmpPacket(trained))), Provenance{SourceType: trained}},
		{"png XMP, packed, at the end", atEnd(pic, "iTXt", xmpText(true, element)), Provenance{SourceType: capture}},
		{"png XMP, packed badly", withChunk(pic, "iTXt", []byte(xmpKeyword+"\x01\x00\x00\x00zzzz")), none},
		{"png XMP of no bytes", withChunk(pic, "iTXt", []byte(xmpKeyword)), none},
		{"png XMP without its zeros", withChunk(pic, "iTXt", []byte(xmpKeyword+"\x00\x00ennn")), none},
		{"png other text", withChunk(pic, "iTXt", []byte("Comment\x00\x00\x00\x00\x00"+element)), none},
		{"png XMP before the store", withChunk(atEnd(pic, "caBX", store), "iTXt", xmpText(false, element)), Provenance{true, capture}},
		{"jpeg", jpg, none},
		{"jpeg APP11", behindSOI(jpg, jumbfSegments(store, 60_000)), both},
		{"jpeg APP11 in pieces", behindSOI(jpg, jumbfSegments(store, 40)), both},
		{"jpeg APP11 and another box", behindSOI(jpg, join(jumbfSegments(store, 50), secondBox)), both},
		{"jpeg APP11 of another kind", behindSOI(jpg, jumbfSegments(box("jumb", box("jumd", make([]byte, 20)), action(trained)), 900)), none},
		{"jpeg APP11 without JUMBF", withSegment(jpg, markerAPP11, []byte("JPxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")), none},
		{"jpeg APP11 of 64-bit size", withSegment(jpg, markerAPP11, join([]byte("JP\x00\x01"), words(1, 1), []byte("jumb"), u64(900), store[8:])), both},
		{"jpeg XMP", withSegment(jpg, markerAPP1, []byte(xmpSignature+element)), Provenance{SourceType: capture}},
		{"jpeg EXIF that speaks of it", withSegment(jpg, markerAPP1, []byte("Exif\x00\x00"+element)), none},
		{"webp", webp, none},
		{"webp C2PA", webpFile(0, 24, 16, bitstream(t, webp), riffChunk("C2PA", store)), both},
		{"webp XMP", webpFile(4, 24, 16, bitstream(t, webp), riffChunk("XMP ", []byte(element))), Provenance{SourceType: capture}},
		{"avif", avif, none},
		{"avif uuid", append(bytes.Clone(avif), uuidBox(store)...), both},
		{"avif other uuid", append(bytes.Clone(avif), box("uuid", make([]byte, 16), store)...), none},
		{"heic jumb", append(media(t, "quadrants.heic"), store...), both},
		{"mp4 uuid", join(ftyp("isom"), uuidBox(store), mp4File(mp4Options{})), both},
		{"mov uuid", join(ftyp("qt  "), uuidBox(store), mp4File(mp4Options{})), both},
		{"mp4 cut behind it", join(ftyp("isom"), uuidBox(store), words(9000, 0x6d646174)), both},
		{"mp4 with damage before it", join(ftyp("isom"), words(5, 0x66726565), uuidBox(store)), none},
		{"jumb of another kind", join(ftyp("isom"), box("jumb", box("jumd", make([]byte, 20)))), none},
		{"gif", append(gifOf(t, 1, 9, 9), store...), none},
		{"tiff", append(tiffOf(t, img), uuidBox(store)...), none},
		{"bmp", append(bmpOf(t, img), element...), none},
		{"text", []byte(element), none},
		{"nothing", nil, none},
		{"later action counts", withChunk(pic, "caBX", manifestStore(0, action(capture), action(trained))), both},
		{"far behind", withChunk(pic, "caBX", manifestStore(3<<20, action(trained))), both},
		{"too far behind", withChunk(pic, "caBX", manifestStore(maxMetadata, action(trained))), Provenance{C2PA: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, provenanceOf(t, tt.src)); diff != "" {
				t.Errorf("FindProvenance (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever way the bytes come in pieces, the term is found whole, and a letter behind it is no part of it.
func TestTermScannerPieces(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for front := range 300 {
		text := join(make([]byte, 8<<10-200+front), action(trained), make([]byte, 9000))
		s := termScanner{cbor: true}
		must(t, s.feed(source{bytes.NewReader(text), int64(len(text))}))
		if got := s.end(); got != trained {
			t.Fatalf("%d bytes in front: %q", front, got)
		}
		s = termScanner{cbor: true}
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(3000))
			_, _ = s.Write(rest[:n])
			rest = rest[n:]
		}
		if got := s.end(); got != trained {
			t.Fatalf("%d bytes in front, in pieces: %q", front, got)
		}
	}
}

func TestTermScanner(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", maxTerm)
	tests := []struct {
		name string
		cbor bool
		text string
		want string
	}{
		{"quoted", false, `"` + termURI + capture + `"`, capture},
		{"at the end", false, termURI + capture, capture},
		{"https", false, "https" + termPrefix + capture + "<", capture},
		{"another scheme", false, "ftp" + termPrefix + capture, ""},
		{"no term", false, termURI + `"`, ""},
		{"longest", false, termURI + long + `"`, long},
		{"too long", false, termURI + long + `a"`, ""},
		{"digits end it", false, termURI + "abc9def", "abc"},
		{"the first of XMP", false, termURI + "first " + termURI + "second", "first"},
		{"the last of CBOR", true, termURI + "first " + termURI + "second", "second"},
		{"one byte of length", true, string(cborText(termURI+trained)) + "more", trained},
		{"two bytes of length", true, "\x79\x00\x46" + termURI + trained + "more", trained},
		{"a length that is none", true, "x\x00" + termURI + capture + `"`, capture},
		{"an x is no length in XMP", false, "x>" + termURI + "trainedAlgorithmicMedia", trained},
	}
	for _, tt := range tests {
		s := termScanner{cbor: tt.cbor}
		_, _ = s.Write([]byte(tt.text))
		if got := s.end(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTermScannerStops(t *testing.T) {
	t.Parallel()
	text := join(make([]byte, maxMetadata), []byte(termURI+capture))
	for _, front := range []int{0, len(termURI + capture)} { // the term lies behind the limit; right before it
		s := termScanner{}
		n, err := s.Write(text[front:])
		want := map[int]string{0: "", len(termURI + capture): capture}[front]
		if got := s.end(); got != want || n != len(text)-front || err != nil || s.seen > maxMetadata {
			t.Errorf("%d bytes: %q, want %q; %d taken of %d, %v", len(text)-front, got, want, s.seen, n, err)
		}
	}
}

func TestFindProvenanceReportsReadErrors(t *testing.T) {
	t.Parallel()
	pic := pngOf(t, gradient(4, 4))
	store := manifestStore(0, action(trained))
	for name, b := range map[string][]byte{
		"png": withChunk(pic, "caBX", store), "packed": withChunk(pic, "iTXt", xmpText(true, xmpPacket(trained))),
		"jpeg": behindSOI(jpegOf(t, gradient(4, 4)), jumbfSegments(store, 90)), "mp4": join(ftyp("isom"), uuidBox(store)),
	} {
		failed := 0
		for at := range len(b) {
			_, err := FindProvenance(goneReader{b, int64(at)}, int64(len(b)))
			if err != nil && fault.CodeOf(err) != fault.IOFailed {
				t.Fatalf("%s failing at %d: %v, want io_failed", name, at, err)
			}
			if err != nil {
				failed++
			}
		}
		if failed < 100 {
			t.Errorf("%s: %d reads failed, want more", name, failed)
		}
	}
}

// goneReader lets the look at the type pass and fails for what lies wholly or partly behind an offset.
type goneReader struct {
	b  []byte
	at int64
}

func (r goneReader) ReadAt(p []byte, off int64) (int, error) {
	if (off > 0 || len(p) < 12) && off+int64(len(p)) > r.at {
		return 0, errors.New("device gone")
	}
	return bytes.NewReader(r.b).ReadAt(p, off)
}

// A text that unpacks to a gigabyte is read to its limit. Not parallel, as the heap is everyone's.
func TestFindProvenanceAllocatesLittle(t *testing.T) {
	pic := pngOf(t, gradient(4, 4))
	for name, src := range map[string][]byte{
		"packed text": withChunk(pic, "iTXt", xmpText(true, strings.Repeat(" ", 64<<20))),
		"many texts":  join(pic[:33], bytes.Repeat(pngChunk("iTXt", xmpText(true, "<x/>")), 1000), pic[33:]),
		"store":       withChunk(pic, "caBX", manifestStore(16<<20)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		provenanceOf(t, src)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 256<<10 {
			t.Errorf("%s: takes %d bytes, want at most 256 KiB", name, got)
		}
	}
}

func FuzzFindProvenance(f *testing.F) {
	pic, jpg := pngOf(f, gradient(4, 4)), jpegOf(f, gradient(4, 4))
	store := manifestStore(0, action(trained))
	for _, b := range [][]byte{
		pic, withChunk(pic, "caBX", store), withChunk(pic, "iTXt", xmpText(true, xmpPacket(trained))),
		atEnd(pic, "iTXt", xmpText(false, xmpPacket(trained))), behindSOI(jpg, jumbfSegments(store, 50)),
		withSegment(jpg, markerAPP1, []byte(xmpSignature+xmpPacket(trained))),
		webpFile(4, 4, 4, riffChunk("C2PA", store), riffChunk("XMP ", []byte(xmpPacket(capture)))),
		join(ftyp("isom"), uuidBox(store)), join(ftyp("avif"), store),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := provenanceOf(t, b)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 512<<10+uint64(64*len(b)) {
			t.Fatalf("%d bytes allocate %d", len(b), grown)
		}
		if got.SourceType != "" && checkTerm(got.SourceType) != nil {
			t.Fatalf("term %q", got.SourceType)
		}
		if again, err := FindProvenance(iotestReaderAt{b}, int64(len(b))); err != nil || again != got {
			t.Fatalf("a second look gives %+v, %v, the first %+v", again, err, got)
		}
	})
}
