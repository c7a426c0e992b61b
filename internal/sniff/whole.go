package sniff

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Whole reports whether r holds a picture of a known type from its first to its last byte, by what the format says of
// its own end: the last chunk, marker or trailer, or the length in the header. It reads the head and the tail, of AVIF
// and HEIC the boxes, and decodes nothing. What has no such end (bmp, tiff, svg) is never whole.
func Whole(r io.ReaderAt, size int64) (Type, bool) {
	t, err := DetectReader(io.NewSectionReader(r, 0, size))
	if err != nil || size < 16 {
		return t, false
	}
	switch t.Ext {
	case "png":
		return t, endsWith(r, size, "IEND\xaeB`\x82")
	case "jpeg":
		return t, endsWith(r, size, "\xff\xd9")
	case "gif":
		return t, endsWith(r, size, ";")
	case "webp":
		b, ok := readAt(r, 4, 4)
		return t, ok && int64(binary.LittleEndian.Uint32(b))+8 == size
	case "avif", "heic":
		return t, boxesEnd(r, size)
	}
	return t, false
}

func readAt(r io.ReaderAt, off int64, n int) ([]byte, bool) {
	b := make([]byte, n)
	got, _ := r.ReadAt(b, off) // what is missing tells enough
	return b, got == n
}

func endsWith(r io.ReaderAt, size int64, end string) bool {
	b, ok := readAt(r, size-int64(len(end)), len(end))
	return ok && bytes.Equal(b, []byte(end))
}

// boxesEnd reports whether the boxes at the top (ISO/IEC 14496-12 §4.2) end where the file does.
func boxesEnd(r io.ReaderAt, size int64) bool {
	const maxBoxes = 1000
	off := int64(0)
	for range maxBoxes {
		if off == size {
			return true
		}
		b, ok := readAt(r, off, 8)
		if !ok {
			return false
		}
		n := int64(binary.BigEndian.Uint32(b))
		if n == 1 {
			long, ok := readAt(r, off+8, 8)
			if !ok {
				return false
			}
			n = int64(binary.BigEndian.Uint64(long)) //nolint:gosec // a negative one fails below
		}
		if n < 8 || off > size-n { // 0, to the end of the file, cannot tell a cut one
			return false
		}
		off += n
	}
	return false
}
