package imaging

import "encoding/binary"

// readPNG reads IHDR and the chunks before the pixels (PNG specification, third edition, §11).
func readPNG(s source, h *header) error {
	b, err := s.read(16, 10)
	if err != nil {
		return err
	}
	w, height := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if w > 1<<31-1 || height > 1<<31-1 {
		return broken("png", "its width or height is above 2147483647")
	}
	h.Width, h.Height = int(w), int(height)
	colour := b[9]
	h.Alpha = colour == 4 || colour == 6
	return walkPNG(s, func(kind string, off, n int64) (bool, error) {
		switch kind {
		case "tRNS":
			h.Alpha = true
		case "eXIf":
			h.Orientation = exifOrientation(s.part(off, n))
		case "acTL":
			frames, err := s.read(off, 4)
			if err != nil {
				return true, err
			}
			h.Frames = max(1, int(min(binary.BigEndian.Uint32(frames), 1<<30)))
		}
		return kind == "IDAT", nil
	})
}

// walkPNG visits the chunks until visit says stop, with the offset and length of each one's data.
func walkPNG(s source, visit func(kind string, off, n int64) (stop bool, err error)) error {
	off := int64(8)
	for range maxSteps {
		b, err := s.read(off, 8)
		if err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint32(b))
		stop, err := visit(string(b[4:]), off+8, n)
		if stop || err != nil {
			return err
		}
		off += 12 + n
	}
	return broken("png", "it has too many chunks before the pixels")
}
