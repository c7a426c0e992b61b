package imaging

import (
	"encoding/binary"
	"math"
)

// atom is a box of an ISO base media file. Its body ends with the file at the latest.
type atom struct {
	kind    string
	body    source
	size    int64 // as announced, header included
	missing int64 // bytes that what holds the box is too short by
}

// atomAt reads the header of the box at off (ISO/IEC 14496-12 §4.2), which at least 8 bytes must follow.
func atomAt(s source, off int64) (atom, error) {
	b, err := readVideo(s, off, 8)
	if err != nil {
		return atom{}, err
	}
	rest, head := s.size-off, int64(8)
	size := uint64(binary.BigEndian.Uint32(b))
	switch size {
	case 0: // to the end
		size = uint64(rest) //nolint:gosec // at least 8
	case 1:
		head = 16
		if rest < head {
			return atom{kind: string(b[4:]), size: head, missing: head - rest}, nil
		}
		wide, err := readVideo(s, off+8, 8)
		if err != nil {
			return atom{}, err
		}
		size = binary.BigEndian.Uint64(wide)
	}
	if size < uint64(head) || size > uint64(math.MaxInt64-off) { //nolint:gosec // both are positive
		return atom{}, brokenVideo("mp4 or mov", "a box is smaller than its own header or larger than any file")
	}
	n := int64(size) //nolint:gosec // checked above
	return atom{string(b[4:]), s.part(off+head, n-head), n, max(0, n-rest)}, nil
}

// walkTop visits the boxes of a file up to damage.
func walkTop(s source, visit func(atom) error) error {
	off := int64(0)
	for range videoSteps {
		if s.size-off < 8 {
			return nil
		}
		a, err := atomAt(s, off)
		if err != nil {
			return err
		}
		if err := visit(a); err != nil || a.missing > 0 {
			return err
		}
		off += a.size
	}
	return nil
}
