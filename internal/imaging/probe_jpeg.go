package imaging

import "encoding/binary"

// JPEG markers (ITU-T T.81, table B.1).
const (
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerAPP1 = 0xe1
	markerAPP2 = 0xe2
)

// readJPEG reads the frame header and the EXIF segment before it.
func readJPEG(s source, h *header) error {
	return walkJPEG(s, func(marker byte, off, n int64) (bool, error) {
		if marker == markerAPP1 && n > 6 {
			b, err := s.read(off, 6)
			if err != nil {
				return true, err
			}
			if string(b) == "Exif\x00\x00" {
				h.Orientation = exifOrientation(s.part(off+6, n-6))
			}
		}
		if !isFrameHeader(marker) {
			return false, nil
		}
		b, err := s.read(off, 6)
		if err != nil {
			return true, err
		}
		h.Height, h.Width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
		h.cmyk = b[5] == 4
		return true, nil
	})
}

// isFrameHeader: SOF0..SOF15 without DHT, JPG and DAC, which share the range.
func isFrameHeader(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

// walkJPEG visits the segments before the pixels until visit says stop.
func walkJPEG(s source, visit func(marker byte, off, n int64) (stop bool, err error)) error {
	off := int64(2)
	for range maxSteps {
		b, err := s.read(off, 4)
		if err != nil {
			return err
		}
		marker := b[1]
		switch {
		case b[0] != 0xff || marker == 0:
			return broken("jpeg", "a segment does not begin with a marker")
		case marker == 0xff: // fill byte
			off++
			continue
		case marker == 0x01 || marker >= 0xd0 && marker <= markerSOI: // stands alone
			off += 2
			continue
		case marker == markerEOI || marker == markerSOS:
			return broken("jpeg", "the frame header is missing")
		}
		n := int64(binary.BigEndian.Uint16(b[2:]))
		if n < 2 {
			return broken("jpeg", "a segment is shorter than its own length field")
		}
		stop, err := visit(marker, off+4, n-2)
		if stop || err != nil {
			return err
		}
		off += 2 + n
	}
	return broken("jpeg", "it has too many segments before the pixels")
}
