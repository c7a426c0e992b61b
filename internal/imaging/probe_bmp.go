package imaging

import "encoding/binary"

// readBMP reads the information header; a negative height means that the rows run from the top.
func readBMP(s source, h *header) error {
	b, err := s.read(14, 16)
	if err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(b)
	if size == 12 {
		h.Width, h.Height = int(binary.LittleEndian.Uint16(b[4:])), int(binary.LittleEndian.Uint16(b[6:]))
		return nil
	}
	h.Width = int(int32(binary.LittleEndian.Uint32(b[4:])))   //nolint:gosec // the field is signed
	height := int64(int32(binary.LittleEndian.Uint32(b[8:]))) //nolint:gosec // the field is signed
	h.Height = int(max(height, -height))
	const lastWithoutAlpha = 40 // BITMAPINFOHEADER; later headers have an alpha mask
	h.Alpha = size > lastWithoutAlpha && binary.LittleEndian.Uint16(b[14:]) == 32
	return nil
}
