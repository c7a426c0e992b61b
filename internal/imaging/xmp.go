package imaging

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// EmbedSourceType returns a copy of a png, jpeg or webp with an XMP packet that names its IPTC digital source type,
// such as trainedAlgorithmicMedia (property Iptc4xmpExt:DigitalSourceType of the IPTC Photo Metadata Standard). The
// pixels are not encoded again: every other byte stays, but for the headers that count them. Data that carries the
// type already comes back as a copy.
//
// It returns invalid_argument for a term that is not 1 to 64 letters and for data with C2PA provenance, whose signature
// any change of its bytes breaks; unsupported_operation, naming the format, for other formats and for data that has
// another XMP packet; invalid_image for a damaged file; and the errors of Probe.
func EmbedSourceType(data []byte, term string) ([]byte, error) {
	if err := checkTerm(term); err != nil {
		return nil, err
	}
	s := source{bytes.NewReader(data), int64(len(data))}
	h, err := probe(s, sniff.DefaultBounds())
	if err != nil {
		return nil, err
	}
	f, err := findProvenance(s)
	if err != nil {
		return nil, err
	}
	switch {
	case f.C2PA:
		return nil, fault.New(fault.InvalidArgument,
			"the %s is signed by C2PA, and any change of its bytes breaks the signature: keep it as it is", h.Format)
	case xmpOverhead(h.Format, term) == 0:
		return nil, fault.New(fault.UnsupportedOperation,
			"the source type cannot be written into %s: use png, jpeg or webp", h.Format)
	case f.SourceType == term:
		return bytes.Clone(data), nil
	case f.hasXMP:
		return nil, fault.New(fault.UnsupportedOperation,
			"the %s has XMP metadata already: the source type can only be written into a picture without", h.Format)
	}
	switch h.Format {
	case "png":
		return embedPNG(data, term), nil
	case "jpeg":
		return embedJPEG(s, data, term)
	}
	return embedWebP(s, data, h.Info, term)
}

func checkTerm(term string) error {
	foreign := slices.ContainsFunc([]byte(term), func(c byte) bool { return !isLetter(c) })
	if len(term) < 1 || len(term) > maxTerm || foreign {
		return fault.New(fault.InvalidArgument,
			"a digital source type is 1 to %d letters, such as trainedAlgorithmicMedia", maxTerm)
	}
	return nil
}

// xmpOverhead returns how many bytes EmbedSourceType adds to a picture in format, for webp at most: one that is
// extended already grows by 18 less. It is 0 for formats that cannot carry the packet.
func xmpOverhead(format, term string) int {
	n := len(xmpPacket(term))
	switch format {
	case "png":
		return 12 + len(xmpKeyword) + 4 + n
	case "jpeg":
		return 4 + len(xmpSignature) + n
	case "webp":
		return 18 + 8 + n + n&1
	}
	return 0
}

// xmpPacket is the smallest packet with the property, closed for editing in place (XMP specification part 1, §7.3).
func xmpPacket(term string) string {
	return "<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>" +
		`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"` +
		` Iptc4xmpExt:DigitalSourceType="http` + termPrefix + term + `"/></rdf:RDF></x:xmpmeta><?xpacket end="r"?>`
}

// embedPNG puts an iTXt chunk without compression, language and translated keyword behind IHDR.
func embedPNG(data []byte, term string) []byte {
	const ihdr = 8 + 25
	chunk := []byte("iTXt" + xmpKeyword + "\x00\x00\x00\x00" + xmpPacket(term))
	out := make([]byte, 0, len(data)+xmpOverhead("png", term))
	out = append(out, data[:ihdr]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-4)) //nolint:gosec // a few hundred
	out = append(out, chunk...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	return append(out, data[ihdr:]...)
}

// embedJPEG puts an APP1 segment behind the APP0 segments and an EXIF segment, which want to be first (JFIF 1.02,
// Exif 2.32 §4.5.4).
func embedJPEG(s source, data []byte, term string) ([]byte, error) {
	const markerAPP0 = 0xe0
	at := int64(2)
	err := walkJPEG(s, func(marker byte, off, n int64) (bool, error) {
		exif := marker == markerAPP1 && bytes.HasPrefix(data[min(off, s.size):], []byte("Exif\x00"))
		if marker != markerAPP0 && !exif {
			return true, nil
		}
		at = off + n
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	body := xmpSignature + xmpPacket(term)
	out := make([]byte, 0, len(data)+xmpOverhead("jpeg", term))
	out = append(append(out, data[:at]...), 0xff, markerAPP1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2)) //nolint:gosec // a few hundred
	return append(append(out, body...), data[at:]...), nil
}

// embedWebP sets the flag in the VP8X chunk, which a simple file gets first, and appends the XMP chunk (RFC 9649 §2.7).
func embedWebP(s source, data []byte, i Info, term string) ([]byte, error) {
	const vp8x, flagXMP, flagAlpha = 12, 0x04, 0x10
	size := int64(binary.LittleEndian.Uint32(data[4:]))
	end := int64(vp8x)
	err := walkRIFF(s, func(_ string, off, n int64) (bool, error) {
		end = off + n + n&1
		return end > s.size, nil
	})
	if err != nil {
		return nil, err
	}
	if end != s.size || size+8 != s.size || size > math.MaxUint32-int64(xmpOverhead("webp", term)) {
		return nil, fault.New(fault.InvalidImage,
			"the chunks of the webp do not end where the file does: it is damaged, cut short or has bytes behind it")
	}
	out := make([]byte, 0, len(data)+xmpOverhead("webp", term))
	out = append(out, data[:vp8x]...)
	if string(data[vp8x:vp8x+4]) != "VP8X" {
		flags := byte(0)
		if i.Alpha {
			flags = flagAlpha
		}
		out = append(out, "VP8X\x0a\x00\x00\x00"...)
		out = append(out, flags, 0, 0, 0)
		out = append(append(out, uint24(i.Width-1)...), uint24(i.Height-1)...)
	}
	out = append(out, data[vp8x:]...)
	out[vp8x+8] |= flagXMP
	packet := xmpPacket(term)
	out = binary.LittleEndian.AppendUint32(append(out, "XMP "...), uint32(len(packet))) //nolint:gosec // a few hundred
	out = append(out, packet...)
	out = append(out, make([]byte, len(packet)%2)...)
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8)) //nolint:gosec // checked above
	return out, nil
}

// uint24 is the low three bytes, the lowest first.
func uint24(v int) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16)} } //nolint:gosec // cut on purpose
