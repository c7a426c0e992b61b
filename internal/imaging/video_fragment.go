package imaging

import (
	"encoding/binary"
	"time"
)

// readExtent takes the duration of all fragments together (ISO/IEC 14496-12 §8.8.2).
func (m *movie) readExtent(a atom) error {
	if a.kind != "mehd" {
		return nil
	}
	b, err := readVideo(a.body, 0, 8)
	if err != nil {
		return err
	}
	ticks := uint64(binary.BigEndian.Uint32(b[4:]))
	if b[0] == 1 {
		if b, err = readVideo(a.body, 4, 8); err != nil {
			return err
		}
		ticks = binary.BigEndian.Uint64(b)
	}
	m.whole = span(ticks, m.scale)
	return nil
}

// readFragment counts the frames of a moof box (ISO/IEC 14496-12 §8.8.4 to §8.8.8).
func (m *movie) readFragment(moof source) error {
	return m.walk(moof, func(a atom) error {
		if a.kind != "traf" {
			return nil
		}
		var id uint32
		return m.walk(a.body, func(a atom) error {
			if a.kind != "tfhd" && a.kind != "trun" {
				return nil
			}
			b, err := readVideo(a.body, 4, 4)
			if err != nil {
				return err
			}
			if a.kind == "tfhd" {
				id = binary.BigEndian.Uint32(b)
			} else if m.video != nil && m.video.id == id {
				m.video.frames += int64(binary.BigEndian.Uint32(b))
			}
			return nil
		})
	})
}

// readIndex adds up the parts that a sidx box lists (ISO/IEC 14496-12 §8.16.3).
func (m *movie) readIndex(sidx source) error {
	b, err := readVideo(sidx, 0, 24)
	if err != nil {
		return err
	}
	id := binary.BigEndian.Uint32(b[4:])
	scale, start, at := binary.BigEndian.Uint32(b[8:]), uint64(binary.BigEndian.Uint32(b[12:])), int64(24)
	if b[0] == 1 {
		start, at = binary.BigEndian.Uint64(b[12:]), 32
		if b, err = readVideo(sidx, 8, 24); err != nil {
			return err
		}
	}
	if scale == 0 {
		return brokenVideo(m.info.Format, "a clock has 0 ticks a second")
	}
	const each, batch = 12, 100
	var ticks uint64
	for left := int(binary.BigEndian.Uint16(b[22:])); left > 0; left -= batch {
		n := min(left, batch)
		if b, err = readVideo(sidx, at, n*each); err != nil {
			return err
		}
		for ; len(b) > 0; b = b[each:] {
			ticks += uint64(binary.BigEndian.Uint32(b[4:]))
		}
		at += int64(n * each)
	}
	m.indexed.add(start, ticks, scale)
	if m.video != nil && m.video.id == id {
		m.video.indexed.add(start, ticks, scale)
	}
	return nil
}

// interval is the time that parts take up together, in any order.
type interval struct{ start, end time.Duration }

func (e *interval) add(start, ticks uint64, scale uint32) {
	first := span(start, scale)
	last := first + span(ticks, scale)
	if last < first { // longer than can be told
		return
	}
	if e.end == 0 || first < e.start {
		e.start = first
	}
	e.end = max(e.end, last)
}

func (e *interval) length() time.Duration { return e.end - e.start }
