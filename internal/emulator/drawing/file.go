package drawing

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"io"
	"strings"
	"unicode/utf8"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
)

// File is a complete picture file. At seam, ancillary bytes that every reader skips may be put in.
type File struct {
	Format string // png, jpeg, webp, gif or svg
	data   []byte
	seam   int
	pad    int64 // bytes of padding to put in at seam
}

// software is what the metadata names as the maker.
const software = "mediagen emulator"

// Encode writes pixels as png, jpeg or webp, in a quality of 1 to 100, and adds the prompt as metadata: PNG iTXt, JPEG
// and WebP XMP. Errors are those of imaging.EncodeImage.
func Encode(ctx context.Context, img image.Image, format string, quality int, prompt string) (File, error) {
	var annotate func(data []byte) (File, error)
	switch format {
	case "png":
		annotate = func(data []byte) (File, error) { return pngWithText(data, prompt) }
	case "jpeg":
		annotate = func(data []byte) (File, error) { return jpegWithText(data, prompt) }
	case "webp":
		annotate = func(data []byte) (File, error) { return webpWithText(data, img, prompt) }
	default:
		return File{}, fault.New(fault.UnsupportedOperation, "pictures are drawn as png, jpeg or webp, not as %q", format)
	}
	data, err := imaging.EncodeImage(ctx, img, imaging.EncodeOptions{Format: format, Quality: quality})
	if err != nil {
		return File{}, err
	}
	return annotate(data)
}

var errLayout = errors.New("encoder wrote a file of unexpected layout")

// pngWithText puts the prompt into an iTXt chunk and the maker into a tEXt chunk, after IHDR (PNG, third edition,
// 11.3.3). The seam lies before IEND.
func pngWithText(data []byte, prompt string) (File, error) {
	const afterHeader = 8 + 25
	if len(data) < afterHeader+12 || string(data[12:16]) != "IHDR" {
		return File{}, errLayout
	}
	text := append([]byte("Description\x00\x00\x00\x00\x00"), prompt...)
	out := bytes.NewBuffer(make([]byte, 0, len(data)+len(text)+100))
	out.Write(data[:afterHeader])
	writePNGChunk(out, "iTXt", text)
	writePNGChunk(out, "tEXt", []byte("Software\x00"+software))
	out.Write(data[afterHeader:])
	return File{Format: "png", data: out.Bytes(), seam: out.Len() - 12}, nil
}

func writePNGChunk(out *bytes.Buffer, kind string, body []byte) {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // prompts are bounded
	head = append(head, kind...)
	sum := crc32.ChecksumIEEE(head[4:])
	sum = crc32.Update(sum, crc32.IEEETable, body)
	out.Write(head)
	out.Write(body)
	out.Write(binary.BigEndian.AppendUint32(nil, sum))
}

// jpegWithText puts the prompt into an XMP packet (APP1) behind the leading segment, and, when it is too long for one
// segment, in full into comments. The seam lies behind them.
func jpegWithText(data []byte, prompt string) (File, error) {
	const maxSegment = 65533
	if len(data) < 6 || data[0] != 0xff || data[1] != 0xd8 {
		return File{}, errLayout
	}
	at := 2
	if data[2] == 0xff && data[3] == 0xe0 { // JFIF has to stay first
		at += 2 + int(binary.BigEndian.Uint16(data[4:6]))
	}
	if at > len(data) {
		return File{}, errLayout
	}
	var extra bytes.Buffer
	packet := "http://ns.adobe.com/xap/1.0/\x00" + xmp(prompt)
	if len(packet) <= maxSegment {
		writeJPEGSegment(&extra, 0xe1, packet)
	} else {
		writeJPEGSegment(&extra, 0xe1, "http://ns.adobe.com/xap/1.0/\x00"+xmp(cutBytes(prompt, 8000)))
		for rest := prompt; rest != ""; {
			part := cutBytes(rest, maxSegment)
			writeJPEGSegment(&extra, 0xfe, part)
			rest = rest[len(part):]
		}
	}
	out := make([]byte, 0, len(data)+extra.Len())
	out = append(append(append(out, data[:at]...), extra.Bytes()...), data[at:]...)
	return File{Format: "jpeg", data: out, seam: at + extra.Len()}, nil
}

func writeJPEGSegment(out *bytes.Buffer, marker byte, body string) {
	out.Write([]byte{0xff, marker})
	out.Write(binary.BigEndian.AppendUint16(nil, uint16(len(body)+2))) //nolint:gosec // callers keep it below 65534
	out.WriteString(body)
}

// webpWithText turns the file into the extended layout with an XMP chunk at its end (RFC 9649, 2.7). The seam lies
// behind it.
func webpWithText(data []byte, img image.Image, prompt string) (File, error) {
	if len(data) < 20 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return File{}, errLayout
	}
	const flagXMP, flagAlpha = 0x04, 0x10
	var body bytes.Buffer
	chunks := data[12:]
	if string(data[12:16]) == "VP8X" {
		chunks = bytes.Clone(chunks)
		chunks[8] |= flagXMP
	} else {
		b := img.Bounds()
		head := make([]byte, 10)
		head[0] = flagXMP
		if o, ok := img.(interface{ Opaque() bool }); ok && !o.Opaque() {
			head[0] |= flagAlpha
		}
		put24(head[4:], b.Dx()-1)
		put24(head[7:], b.Dy()-1)
		writeRIFFChunk(&body, "VP8X", head)
	}
	body.Write(chunks)
	writeRIFFChunk(&body, "XMP ", []byte(xmp(prompt)))
	out := append([]byte("RIFF\x00\x00\x00\x00WEBP"), body.Bytes()...)
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8)) //nolint:gosec // far below 4 GiB
	return File{Format: "webp", data: out, seam: len(out)}, nil
}

func writeRIFFChunk(out *bytes.Buffer, kind string, body []byte) {
	out.WriteString(kind)
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) //nolint:gosec // prompts are bounded
	out.Write(body)
	if len(body)%2 == 1 {
		out.WriteByte(0)
	}
}

func put24(b []byte, v int) {
	b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) //nolint:gosec // the low byte of each shift is meant
}

// xmp returns an XMP packet that holds the prompt as dc:description.
func xmp(prompt string) string {
	var b strings.Builder
	b.WriteString("<?xpacket begin=\"\uFEFF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>" +
		`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"` +
		` xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreatorTool="` + software + `">` +
		`<dc:description><rdf:Alt><rdf:li xml:lang="x-default">`)
	_ = xml.EscapeText(&b, []byte(prompt)) // a strings.Builder takes everything
	b.WriteString(`</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="r"?>`)
	return b.String()
}

// cutBytes returns the longest beginning of s that has at most limit bytes and ends between characters.
func cutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// MIME returns the media type.
func (f File) MIME() string {
	if f.Format == "svg" {
		return "image/svg+xml"
	}
	return "image/" + f.Format
}

// Name returns a file name that follows from the bytes.
func (f File) Name() string {
	sum := sha256.Sum256(f.data)
	return fmt.Sprintf("%x-%d.%s", sum[:8], f.pad, f.Format)
}

// PadTo asks for a file of at least size bytes; the padding is made while the file is read.
func (f *File) PadTo(size int64) { f.pad = max(0, size-int64(len(f.data))) }

// Size returns the length of the file in bytes.
func (f File) Size() int64 {
	if f.pad == 0 {
		return int64(len(f.data))
	}
	_, n := f.padding()
	return int64(len(f.data)) + n
}

// Open returns the file from its beginning. Padding is never held in memory.
func (f File) Open() io.Reader {
	if f.pad == 0 {
		return bytes.NewReader(f.data)
	}
	fill, n := f.padding()
	head := f.data[:f.seam]
	if f.Format == "webp" {
		head = bytes.Clone(head)
		binary.LittleEndian.PutUint32(head[4:], uint32(int64(len(f.data))-8+n)) //nolint:gosec // padMB is bounded
	}
	return io.MultiReader(bytes.NewReader(head), fill, bytes.NewReader(f.data[f.seam:]))
}

// padding returns about f.pad bytes, at least, that readers of the format skip, and their exact number.
func (f File) padding() (io.Reader, int64) {
	switch f.Format {
	case "png":
		return pngPadding(f.pad)
	case "jpeg":
		return jpegPadding(f.pad)
	case "webp":
		n := max(8, f.pad+f.pad%2)
		head := append([]byte("PADD"), binary.LittleEndian.AppendUint32(nil, uint32(n-8))...) //nolint:gosec // bounded
		return io.MultiReader(bytes.NewReader(head), zeros(n-8)), n
	}
	return io.LimitReader(repeat(' '), f.pad), f.pad // blanks behind the end of a GIF or SVG
}

// pngPadding is one private chunk that is safe to copy and not critical.
func pngPadding(size int64) (io.Reader, int64) {
	size = max(12, size)
	head := append(binary.BigEndian.AppendUint32(nil, uint32(size-12)), "paDd"...) //nolint:gosec // bounded
	sum := crc32.ChecksumIEEE(head[4:])
	block := make([]byte, 64<<10)
	for left := size - 12; left > 0; {
		n := min(left, int64(len(block)))
		sum = crc32.Update(sum, crc32.IEEETable, block[:n])
		left -= n
	}
	tail := binary.BigEndian.AppendUint32(nil, sum)
	return io.MultiReader(bytes.NewReader(head), zeros(size-12), bytes.NewReader(tail)), size
}

// jpegPadding is a run of comments of at most 65,535 bytes each.
func jpegPadding(size int64) (io.Reader, int64) {
	const full = 65535
	var parts []io.Reader
	var total int64
	for total < size {
		n := min(full, max(2, size-total-2))
		head := []byte{0xff, 0xfe, byte(n >> 8), byte(n)} //nolint:gosec // n fits 16 bits
		parts = append(parts, bytes.NewReader(head), zeros(n-2))
		total += n + 2
	}
	return io.MultiReader(parts...), total
}

// zeros returns n zero bytes.
func zeros(n int64) io.Reader { return io.LimitReader(repeat(0), n) }

// repeat reads as one byte without end.
type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}
