//go:build cgo && !novips

package imaging

import "encoding/binary"

// tiffFile lays out an uncompressed TIFF for w x h pixels of 3 or 4 bytes (4: straight alpha) and returns it with the
// slice that takes the pixels. This is the form in which a decoded picture waits for its encoders: bimg takes only
// files, and reading this one is close to a copy. Strips of about 64 KiB keep libtiff from holding the picture twice.
func tiffFile(w, h, bands int) (file, pix []byte) {
	rows := max(1, min(h, 64<<10/(w*bands)))
	strips := (h + rows - 1) / rows
	const entries = 11
	bits := 8 + 2 + 12*entries + 4 // behind the directory: bits per sample, strip offsets, strip sizes, pixels
	offsets := bits + 8
	sizes := offsets + 4*strips
	start := sizes + 4*strips
	file = make([]byte, start+w*h*bands)
	pix = file[start:]

	order := binary.LittleEndian
	for i := range strips {
		at := i * rows * w * bands
		order.PutUint32(file[offsets+4*i:], field(start+at))
		order.PutUint32(file[sizes+4*i:], field(min(rows*w*bands, len(pix)-at)))
	}
	offsetValue, sizeValue := offsets, sizes
	if strips == 1 { // a single value stands in the directory itself
		offsetValue, sizeValue = start, len(pix)
	}
	for i := range bands {
		order.PutUint16(file[bits+2*i:], 8)
	}

	const short, long = 3, 4
	dir := append(file[:0], "II*\x00\x08\x00\x00\x00"...)
	dir = order.AppendUint16(dir, entries)
	for _, e := range [entries][4]int{
		{tagWidth, long, 1, w},
		{tagHeight, long, 1, h},
		{258, short, bands, bits}, // bits per sample
		{259, short, 1, 1},        // no compression
		{tagPhotometric, short, 1, 2},
		{273, long, strips, offsetValue},
		{277, short, 1, bands},
		{278, long, 1, rows},
		{279, long, strips, sizeValue},
		{284, short, 1, 1}, // bands interleaved
		{tagExtraSamples, short, bands - 3, 2},
	} {
		dir = order.AppendUint16(dir, uint16(e[0])) //nolint:gosec // a tag
		dir = order.AppendUint16(dir, uint16(e[1])) //nolint:gosec // a kind
		dir = order.AppendUint32(dir, field(e[2]))
		dir = order.AppendUint32(dir, field(e[3]))
	}
	if bands == 3 { // no extra samples: the last entry goes
		order.PutUint16(file[8:], entries-1)
		order.PutUint32(file[len(dir)-12:], 0)
	}
	return file, pix
}

// field narrows a number of the directory. All are below 4 GiB, since sniff's bounds stop at 400 MB of pixels.
func field(n int) uint32 { return uint32(n) } //nolint:gosec // see above
