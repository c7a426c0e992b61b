package imaging

import "encoding/binary"

// TIFF tags (TIFF 6.0 §8; Exif 2.3 §4.6.4 for the orientation; ICC.1 annex B for the profile).
const (
	tagSubfileType  = 254
	tagWidth        = 256
	tagHeight       = 257
	tagPhotometric  = 262
	tagOrientation  = 274
	tagExtraSamples = 338
	tagICCProfile   = 34675

	photometricCMYK = 5
	reducedSize     = 1 // bit of tagSubfileType: a thumbnail, not a page
)

// ifdEntry is one field of a TIFF directory. value is its first value when it is one of the integer types.
type ifdEntry struct {
	tag, kind uint16
	count     uint32
	value     uint32
	offset    uint32 // where the values stand when they do not fit into four bytes
}

// readTIFF reads the first directory and counts the pages.
func readTIFF(s source, h *header, maxFrames int) error {
	order, off, err := tiffStart(s)
	if err != nil {
		return err
	}
	entries, next, err := readIFD(s, order, off)
	if err != nil {
		return err
	}
	readPage(entries, h)
	for steps := 0; next != 0 && h.Frames <= maxFrames && steps < maxSteps; steps++ {
		entries, next, err = readIFD(s, order, next)
		if err != nil {
			return err
		}
		if !isThumbnail(entries) {
			h.Frames++
		}
	}
	if next != 0 && h.Frames <= maxFrames {
		return broken("tiff", "its directories run in a circle")
	}
	return nil
}

func readPage(entries []ifdEntry, h *header) {
	for _, e := range entries {
		switch e.tag {
		case tagWidth:
			h.Width = int(min(e.value, 1<<31-1))
		case tagHeight:
			h.Height = int(min(e.value, 1<<31-1))
		case tagPhotometric:
			h.cmyk = e.value == photometricCMYK
		case tagOrientation:
			h.Orientation = validOrientation(e.value)
		case tagExtraSamples:
			h.Alpha = e.value == 1 || e.value == 2
		}
	}
}

func isThumbnail(entries []ifdEntry) bool {
	for _, e := range entries {
		if e.tag == tagSubfileType {
			return e.value&reducedSize != 0
		}
	}
	return false
}

// tiffStart reads the byte order and where the first directory stands.
func tiffStart(s source) (binary.ByteOrder, int64, error) {
	b, err := s.read(0, 8)
	if err != nil {
		return nil, 0, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(b[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return nil, 0, broken("tiff", "it has no byte order mark")
	}
	return order, int64(order.Uint32(b[4:])), nil
}

// readIFD reads a directory and the offset of the next one, 0 after the last.
func readIFD(s source, order binary.ByteOrder, off int64) ([]ifdEntry, int64, error) {
	b, err := s.read(off, 2)
	if err != nil {
		return nil, 0, err
	}
	n := int(order.Uint16(b))
	if n == 0 || n > 1000 {
		return nil, 0, broken("tiff", "a directory has no entries, or more than 1000")
	}
	b, err = s.read(off+2, 12*n+4)
	if err != nil {
		return nil, 0, err
	}
	entries := make([]ifdEntry, n)
	for i := range entries {
		f := b[12*i:]
		e := ifdEntry{tag: order.Uint16(f), kind: order.Uint16(f[2:]), count: order.Uint32(f[4:])}
		e.offset = order.Uint32(f[8:])
		switch e.kind {
		case 1: // BYTE
			e.value = uint32(f[8])
		case 3: // SHORT
			e.value = uint32(order.Uint16(f[8:]))
		case 4: // LONG
			e.value = e.offset
		}
		entries[i] = e
	}
	return entries, int64(order.Uint32(b[12*n:])), nil
}

// exifOrientation reads the orientation of an EXIF block, which is a TIFF file without pixels. A broken block is no
// reason to refuse a picture: it counts as upright, as viewers take it.
func exifOrientation(s source) int {
	if b, err := s.read(0, 6); err == nil && string(b) == "Exif\x00\x00" {
		s = s.part(6, s.size)
	}
	order, off, err := tiffStart(s)
	if err != nil {
		return 1
	}
	entries, _, err := readIFD(s, order, off)
	if err != nil {
		return 1
	}
	for _, e := range entries {
		if e.tag == tagOrientation && e.count == 1 {
			return validOrientation(e.value)
		}
	}
	return 1
}

func validOrientation(v uint32) int {
	if v < 1 || v > 8 {
		return 1
	}
	return int(v)
}
