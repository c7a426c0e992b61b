package sniff

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// detectMedia returns the media type of a picture, video or sound, or "". Each rule reads only head and needs more than
// a magic number where the magic number is short.
func detectMedia(head []byte) string {
	switch {
	case isPNG(head):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")) && len(head) > 3 && head[3] >= 0xc0:
		return "image/jpeg"
	case len(head) >= 10 && (bytes.HasPrefix(head, []byte("GIF87a")) || bytes.HasPrefix(head, []byte("GIF89a"))):
		return "image/gif"
	case isBMP(head):
		return "image/bmp"
	case isTIFF(head):
		return "image/tiff"
	case isICO(head):
		return "image/x-icon"
	case at(head, 4, "ftyp"):
		return isoBrand(head)
	case bytes.HasPrefix(head, []byte("RIFF")), bytes.HasPrefix(head, []byte("FORM")):
		return detectChunked(head)
	case bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")):
		return detectEBML(head)
	case bytes.HasPrefix(head, []byte("OggS\x00\x02")):
		return detectOgg(head)
	}
	return detectAudio(head)
}

func at(head []byte, offset int, text string) bool {
	return len(head) >= offset+len(text) && string(head[offset:offset+len(text)]) == text
}

// isPNG wants the signature and an IHDR of 13 bytes (PNG specification §5.2, §11.2.2).
func isPNG(head []byte) bool { return at(head, 0, "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR") }

// isBMP wants a known header size, one plane and a possible depth, because "BM" also begins text.
func isBMP(head []byte) bool {
	if len(head) < 30 || !at(head, 0, "BM") {
		return false
	}
	size := binary.LittleEndian.Uint32(head[14:])
	planes, depth := binary.LittleEndian.Uint16(head[26:]), binary.LittleEndian.Uint16(head[28:])
	if size == 12 { // BITMAPCOREHEADER has 16-bit sides
		planes, depth = binary.LittleEndian.Uint16(head[22:]), binary.LittleEndian.Uint16(head[24:])
	}
	return slices.Contains([]uint32{12, 40, 52, 56, 64, 108, 124}, size) && planes == 1 &&
		slices.Contains([]uint16{0, 1, 2, 4, 8, 16, 24, 32}, depth)
}

// isTIFF wants the byte order, the number 42 and a first directory behind the header (TIFF 6.0 §2).
func isTIFF(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	switch string(head[:4]) {
	case "II*\x00":
		return binary.LittleEndian.Uint32(head[4:]) >= 8
	case "MM\x00*":
		return binary.BigEndian.Uint32(head[4:]) >= 8
	}
	return false
}

// isICO wants the first directory entry to point behind the directory.
func isICO(head []byte) bool {
	if len(head) < 22 || !at(head, 0, "\x00\x00\x01\x00") || head[9] != 0 {
		return false
	}
	count := uint32(binary.LittleEndian.Uint16(head[4:]))
	size, offset := binary.LittleEndian.Uint32(head[14:]), binary.LittleEndian.Uint32(head[18:])
	return count > 0 && size >= 40 && offset >= 6+16*count && offset < 1<<24
}

// isoBrand names a file of the ISO base media format by the brands of its ftyp box (ISO/IEC 14496-12 §4.3). A box that
// runs to the end of the file or has a 64-bit size is no ftyp that any encoder writes.
func isoBrand(head []byte) string {
	size := int(min(binary.BigEndian.Uint32(head), 1<<20))
	if size < 16 || size%4 != 0 || size > 1024 || len(head) < 12 {
		return ""
	}
	major := string(head[8:12])
	if mime := brandMIME(major); mime != "" {
		return mime
	}
	if major != "mif1" && major != "msf1" && major != "miaf" {
		return ""
	}
	for i := 16; i+4 <= min(size, len(head)); i += 4 { // a generic picture brand: the compatible brands tell which codec
		if mime := brandMIME(string(head[i : i+4])); mime == "image/avif" || mime == "image/heic" {
			return mime
		}
	}
	return ""
}

func brandMIME(brand string) string {
	switch brand {
	case "avif", "avis":
		return "image/avif"
	case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs":
		return "image/heic"
	case "qt  ":
		return "video/quicktime"
	case "M4A ", "M4B ":
		return "audio/mp4"
	case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "avc1", "av01", "hvc1",
		"dash", "cmfc", "mmp4", "MSNV", "M4V ", "M4VH", "M4VP", "f4v ":
		return "video/mp4"
	case "3g2a", "3g2b", "3g2c":
		return "video/3gpp2"
	case "3gp1", "3gp2", "3gp3", "3gp4", "3gp5", "3gp6", "3gp7", "3gr6", "3gs6", "3gs7", "3ge6", "3ge7", "3gg6":
		return "video/3gpp"
	}
	return ""
}

// detectChunked names RIFF and IFF files by their form type and first chunk.
func detectChunked(head []byte) string {
	if len(head) < 16 {
		return ""
	}
	form, first := string(head[8:12]), string(head[12:16])
	if string(head[:4]) == "FORM" {
		if form == "AIFF" || form == "AIFC" {
			return "audio/aiff"
		}
		return ""
	}
	switch {
	case form == "WEBP" && (first == "VP8 " || first == "VP8L" || first == "VP8X"):
		return "image/webp"
	case form == "WAVE":
		return "audio/wav"
	case form == "AVI " && first == "LIST":
		return "video/x-msvideo"
	}
	return ""
}

// detectEBML reads the DocType (element 0x4282) of an EBML header (RFC 8794 §8.1, §11.2).
func detectEBML(head []byte) string {
	size, n, ok := ebmlSize(head[4:])
	if !ok {
		return ""
	}
	body := head[4+n:]
	body = body[:min(len(body), size)]
	for len(body) > 2 {
		idLen := 1
		if body[0] < 0x80 {
			idLen = 2
		}
		size, n, ok := ebmlSize(body[idLen:])
		if !ok || size > len(body)-idLen-n {
			return ""
		}
		value := body[idLen+n:][:size]
		if idLen == 2 && body[0] == 0x42 && body[1] == 0x82 {
			switch string(bytes.TrimRight(value, "\x00")) {
			case "webm":
				return mimeWebM
			case "matroska":
				return "video/x-matroska"
			}
			return ""
		}
		body = body[idLen+n+len(value):]
	}
	return ""
}

// ebmlSize reads a variable-length size, cut at 1 GiB, and returns how many bytes it took.
func ebmlSize(b []byte) (size, n int, ok bool) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0, false
	}
	n = 1
	for mask := byte(0x80); b[0]&mask == 0; mask >>= 1 {
		n++
	}
	if len(b) < n {
		return 0, 0, false
	}
	long := uint64(b[0]) & (1<<(8-n) - 1)
	for _, c := range b[1:n] {
		long = long<<8 | uint64(c)
	}
	return int(min(long, 1<<30)), n, true
}

// detectOgg looks at the codec of the first page's packet; a Theora stream anywhere in the head makes it a video.
func detectOgg(head []byte) string {
	if len(head) < 28 {
		return ""
	}
	start := 27 + int(head[26])
	if start >= len(head) {
		return ""
	}
	packet := head[start:]
	if bytes.HasPrefix(packet, []byte("\x80theora")) || bytes.Contains(packet, []byte("\x80theora")) {
		return "video/ogg"
	}
	for _, codec := range []string{"\x01vorbis", "OpusHead", "\x7fFLAC", "Speex   ", "fishead\x00"} {
		if bytes.HasPrefix(packet, []byte(codec)) {
			return "audio/ogg"
		}
	}
	return ""
}
