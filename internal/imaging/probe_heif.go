package imaging

import (
	"encoding/binary"
	"strings"
)

// maxProperties bounds the association table that is read; phone pictures need a few hundred bytes.
const maxProperties = 64 << 10

// property is an item property that matters here (ISO/IEC 23008-12 §6.5).
type property struct {
	kind string
	body source
}

// readHEIF reads the primary item's properties of an AVIF or HEIC file, and the sample count of an image sequence.
func readHEIF(s source, h *header) error {
	var meta, movie source
	err := walkBoxes(s, func(kind string, body source) (bool, error) {
		switch kind {
		case "meta":
			meta = body.part(4, body.size) // version and flags
		case "moov":
			movie = body
		}
		return meta.r != nil && (movie.r != nil || !isSequence(s)), nil
	})
	if meta.r == nil {
		if err != nil {
			return err
		}
		return broken(h.Format, "it has no meta box")
	}
	if err := readMeta(meta, h); err != nil {
		return err
	}
	if movie.r != nil {
		return readSamples(movie, h)
	}
	return nil
}

func isSequence(s source) bool {
	b, err := s.read(8, 4)
	return err == nil && (string(b) == "avis" || string(b) == "hevc" || string(b) == "msf1")
}

func readMeta(meta source, h *header) error {
	var primary uint32
	var properties []property
	var table source
	err := walkBoxes(meta, func(kind string, body source) (bool, error) {
		switch kind {
		case "pitm":
			b, err := body.read(0, 6)
			if err != nil {
				return true, err
			}
			primary = uint32(binary.BigEndian.Uint16(b[4:]))
			if b[0] > 0 {
				if b, err = body.read(4, 4); err != nil {
					return true, err
				}
				primary = binary.BigEndian.Uint32(b)
			}
		case "iprp":
			var err error
			properties, table, err = readProperties(body)
			return false, err
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if table.r == nil {
		return broken(h.Format, "it has no item properties")
	}
	indices, err := associations(table, primary)
	if err != nil {
		return err
	}
	for _, p := range properties {
		if p.kind == "auxC" && isAlphaAux(p.body) {
			h.Alpha = true
		}
	}
	return applyProperties(h, properties, indices)
}

func readProperties(iprp source) (properties []property, table source, err error) {
	err = walkBoxes(iprp, func(kind string, body source) (bool, error) {
		switch kind {
		case "ipco":
			return false, walkBoxes(body, func(kind string, body source) (bool, error) {
				properties = append(properties, property{kind, body})
				return len(properties) > 1000, nil
			})
		case "ipma":
			table = body
		}
		return false, nil
	})
	return properties, table, err
}

// associations returns the 1-based property numbers of an item from an ipma box.
func associations(table source, item uint32) ([]int, error) {
	if table.size < 8 || table.size > maxProperties {
		return nil, broken("avif or heic", "its table of item properties is empty or above 64 KiB")
	}
	b, err := table.read(0, int(table.size))
	if err != nil {
		return nil, err
	}
	wideItem, wideIndex := b[0] > 0, b[3]&1 != 0
	at := 2
	if wideItem {
		at = 4
	}
	for b = b[8:]; len(b) > at; {
		id := uint32(binary.BigEndian.Uint16(b))
		if wideItem {
			id = binary.BigEndian.Uint32(b)
		}
		count, size := int(b[at]), 1
		if wideIndex {
			size = 2
		}
		b = b[at+1:]
		if len(b) < count*size {
			break
		}
		if id == item {
			return indices(b[:count*size], size), nil
		}
		b = b[count*size:]
	}
	return nil, broken("avif or heic", "the primary picture has no properties")
}

// indices drops the bit that marks a property as essential.
func indices(b []byte, size int) []int {
	var list []int
	for ; len(b) >= size; b = b[size:] {
		if size == 2 {
			list = append(list, int(binary.BigEndian.Uint16(b)&0x7fff))
		} else {
			list = append(list, int(b[0]&0x7f))
		}
	}
	return list
}

func applyProperties(h *header, properties []property, indices []int) error {
	turn, mirror := 0, -1
	var crop source
	for _, i := range indices {
		if i < 1 || i > len(properties) {
			continue
		}
		p := properties[i-1]
		switch p.kind {
		case "ispe":
			b, err := p.body.read(4, 8)
			if err != nil {
				return err
			}
			h.Width = int(min(binary.BigEndian.Uint32(b), 1<<31-1))
			h.Height = int(min(binary.BigEndian.Uint32(b[4:]), 1<<31-1))
		case "irot", "imir":
			b, err := p.body.read(0, 1)
			if err != nil {
				return err
			}
			if p.kind == "irot" {
				turn = int(b[0] & 3)
			} else {
				mirror = int(b[0] & 1)
			}
		case "clap":
			crop = p.body
		case "colr":
			if err := readColour(p.body, h); err != nil {
				return err
			}
		}
	}
	h.Orientation = heifOrientation(turn, mirror)
	if crop.r != nil {
		return applyCrop(h, crop)
	}
	return nil
}

// applyCrop takes the size from a clean aperture: width and height as fractions (ISO/IEC 14496-12 §12.1.4.2).
func applyCrop(h *header, clap source) error {
	b, err := clap.read(0, 16)
	if err != nil {
		return err
	}
	w, wd := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	height, hd := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	if wd == 0 || hd == 0 || int64(w/wd) > int64(h.Width) || int64(height/hd) > int64(h.Height) {
		return broken(h.Format, "its clean aperture is larger than the picture")
	}
	h.cropped = int(w/wd) != h.Width || int(height/hd) != h.Height
	h.Width, h.Height = int(w/wd), int(height/hd)
	return nil
}

// heifOrientation maps quarter turns against the clock, then a mirror (0 swaps top and bottom, 1 left and right, -1 is
// none), to the EXIF orientation (ISO/IEC 23008-12 §6.5.10, §6.5.12).
func heifOrientation(turn, mirror int) int {
	return [4][3]int{{1, 4, 2}, {8, 5, 7}, {3, 2, 4}, {6, 7, 5}}[turn][mirror+1]
}

// readColour takes an ICC profile, or reports a colour description that the decoders would ignore: wide-gamut primaries
// or a high dynamic range without a profile (ITU-T H.273 tables 2 and 3). A profile beside code points decides.
func readColour(colr source, h *header) error {
	b, err := colr.read(0, 4)
	if err != nil {
		return err
	}
	if kind := string(b); kind == "prof" || kind == "rICC" {
		h.profile, h.colour = colr.part(4, colr.size), ""
	}
	if string(b) != "nclx" || h.profile.r != nil {
		return nil
	}
	if b, err = colr.read(4, 4); err != nil {
		return err
	}
	primaries, transfer := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	switch {
	case transfer == 16 || transfer == 18:
		h.colour = "a high dynamic range (PQ or HLG)"
	case primaries > 7:
		h.colour = "wide-gamut colours without an ICC profile"
	}
	return nil
}

func isAlphaAux(auxC source) bool {
	n := min(auxC.size, 64)
	b, err := auxC.read(0, int(n))
	if err != nil || n < 5 {
		return false
	}
	urn, _, _ := strings.Cut(string(b[4:]), "\x00")
	return urn == "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha" || urn == "urn:mpeg:hevc:2015:auxid:1"
}

// readSamples takes the number of frames of a sequence from the sample size box of its first track. What it visits is
// bounded in depth and in sum.
func readSamples(movie source, h *header) error {
	found, steps := false, 0
	var descend func(source, int) error
	descend = func(s source, depth int) error {
		return walkBoxes(s, func(kind string, body source) (bool, error) {
			steps++
			var err error
			switch kind {
			case "trak", "mdia", "minf", "stbl":
				if depth < 4 {
					err = descend(body, depth+1)
				}
			case "stsz":
				var b []byte
				if b, err = body.read(8, 4); err == nil {
					h.Frames = max(1, int(min(binary.BigEndian.Uint32(b), 1<<30)))
				}
				found = true
			}
			return found || steps > maxSteps, err
		})
	}
	return descend(movie, 0)
}

// walkBoxes visits the boxes of s (ISO/IEC 14496-12 §4.2) until visit says stop. A box that is larger than what holds
// it is an error, so that nothing loops or overflows.
func walkBoxes(s source, visit func(kind string, body source) (stop bool, err error)) error {
	off := int64(0)
	for range maxSteps {
		if s.size-off < 8 {
			return nil
		}
		b, err := s.read(off, 8)
		if err != nil {
			return err
		}
		size, head := uint64(binary.BigEndian.Uint32(b)), int64(8)
		switch size {
		case 0:
			size = uint64(s.size - off) //nolint:gosec // positive, checked above
		case 1:
			wide, err := s.read(off+8, 8)
			if err != nil {
				return err
			}
			size, head = binary.BigEndian.Uint64(wide), 16
		}
		if size < uint64(head) || size > uint64(s.size-off) { //nolint:gosec // positive, checked above
			return broken("avif or heic", "a box is cut short")
		}
		n := int64(size) //nolint:gosec // at most s.size
		stop, err := visit(string(b[4:]), s.part(off+head, n-head))
		if stop || err != nil {
			return err
		}
		off += n
	}
	return broken("avif or heic", "it has too many boxes")
}
