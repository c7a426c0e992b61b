package imaging

import "encoding/binary"

// readWebP reads the first chunk (RFC 9649 §2) and, for an extended file, counts the frames of an animation and finds
// the EXIF block at its end.
func readWebP(s source, h *header, maxFrames int) error {
	b, err := s.read(12, 8)
	if err != nil {
		return err
	}
	data, err := s.read(20, int(min(10, max(5, s.size-20)))) // a lossless picture of one pixel is shorter than 30 bytes
	if err != nil {
		return err
	}
	kind := string(b[:4])
	if kind != "VP8L" && len(data) < 10 {
		return broken("webp", "it is cut short")
	}
	switch kind {
	case "VP8 ":
		if data[0]&1 != 0 || data[3] != 0x9d || data[4] != 0x01 || data[5] != 0x2a {
			return broken("webp", "the picture does not begin with a key frame")
		}
		h.Width = int(binary.LittleEndian.Uint16(data[6:]) & 0x3fff)
		h.Height = int(binary.LittleEndian.Uint16(data[8:]) & 0x3fff)
	case "VP8L":
		if data[0] != 0x2f {
			return broken("webp", "the lossless signature is missing")
		}
		bits := binary.LittleEndian.Uint32(data[1:])
		h.Width, h.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
		h.Alpha = bits>>28&1 != 0
	case "VP8X":
		const animation, exif, alpha = 0x02, 0x08, 0x10
		h.Alpha = data[0]&alpha != 0
		h.Width = 1 + int(uint32(data[4])|uint32(data[5])<<8|uint32(data[6])<<16)
		h.Height = 1 + int(uint32(data[7])|uint32(data[8])<<8|uint32(data[9])<<16)
		if data[0]&(animation|exif) != 0 {
			return readWebPChunks(s, h, data[0]&animation != 0, maxFrames)
		}
	}
	return nil
}

func readWebPChunks(s source, h *header, animated bool, maxFrames int) error {
	frames := 0
	err := walkRIFF(s, func(kind string, off, n int64) (bool, error) {
		switch kind {
		case "ANMF":
			frames++
		case "EXIF":
			h.Orientation = exifOrientation(s.part(off, n))
		}
		return frames > maxFrames, nil
	})
	if animated {
		h.Frames = max(1, frames)
	}
	return err
}

// walkRIFF visits the chunks until visit says stop or the file ends.
func walkRIFF(s source, visit func(kind string, off, n int64) (stop bool, err error)) error {
	off := int64(12)
	for range maxSteps {
		if off+8 > s.size {
			return nil
		}
		b, err := s.read(off, 8)
		if err != nil {
			return err
		}
		n := int64(binary.LittleEndian.Uint32(b[4:]))
		stop, err := visit(string(b[:4]), off+8, n)
		if stop || err != nil {
			return err
		}
		off += 8 + n + n&1
	}
	return broken("webp", "it has too many chunks")
}
