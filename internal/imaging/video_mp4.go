package imaging

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
	"time"

	"mediagen/internal/fault"
)

// maxMovie bounds the moov box; an hour of video needs about 2 MB.
const maxMovie = 64 << 20

// movie gathers what the boxes of a file say.
type movie struct {
	info *VideoInfo

	steps    int
	cut      bool // the box being read runs past the end of the file: what it holds may do so too
	damaged  bool // something that is no box follows
	hasMovie bool // moov
	hasData  bool // mdat
	hasPart  bool // moof
	samples  bool // a table of samples that is not empty

	length       time.Duration // mvhd
	scale        uint32        // mvhd, ticks a second
	whole        time.Duration // mehd
	longest      time.Duration // mdhd
	indexed      interval      // sidx, of all tracks
	video, audio *track
}

// track is what matters of a trak box.
type track struct {
	id       uint32
	handler  string // vide, soun, …
	rotation int
	w, h     int
	frames   int64
	scale    uint32
	length   uint64   // ticks
	entries  source   // stsd
	indexed  interval // sidx
}

func probeISO(s source, info *VideoInfo) error {
	m := movie{info: info}
	if err := m.readFile(s); err != nil {
		return err
	}
	if !m.hasMovie && m.damaged {
		return brokenVideo(info.Format, "it has no moov box that can be read")
	}
	m.conclude()
	return nil
}

// readFile visits the boxes of the file. Only what no reader can step over ends it early.
func (m *movie) readFile(s source) error {
	for off := int64(0); off < s.size; {
		if s.size-off < 8 {
			return m.readTail(s, off)
		}
		a, err := atomAt(s, off)
		if fault.CodeOf(err) == fault.IOFailed {
			return err
		}
		m.steps++
		if m.damaged = err != nil || m.steps > videoSteps || !isKind(a.kind); m.damaged {
			break
		}
		m.cut = a.missing > 0
		if err := m.readTop(a); err != nil && !(m.cut && fault.CodeOf(err) == badVideo) {
			return err
		}
		if m.cut {
			m.info.Missing = a.missing
			return nil
		}
		off += a.size
	}
	return nil
}

// readTail judges a rest that is too short for a box: a size of 0 ends a list, anything else is the beginning of one.
func (m *movie) readTail(s source, off int64) error {
	b, err := readVideo(s, off, int(s.size-off))
	if err != nil {
		return err
	}
	if len(b) < 4 || strings.Trim(string(b), "\x00") != "" {
		m.info.Missing = 8 - int64(len(b))
	}
	return nil
}

// isKind reports whether a box of this name can be: QuickTime's names may begin with a copyright sign.
func isKind(kind string) bool {
	return !strings.ContainsFunc(strings.TrimPrefix(kind, "\xa9"), func(r rune) bool { return r < ' ' || r > '~' })
}

func (m *movie) readTop(a atom) error {
	switch a.kind {
	case "ftyp":
		b, err := readVideo(a.body, 0, 4)
		if err != nil {
			return err
		}
		m.info.Brand = clean(string(b))
	case "moov":
		if m.hasMovie {
			return nil
		}
		m.hasMovie, m.info.FastStart = true, !m.hasData
		if a.size > maxMovie {
			return fault.New(badVideo, "the moov box of the %s takes %d bytes, at most %d are read",
				m.info.Format, a.size, maxMovie)
		}
		return m.readMovie(a.body)
	case "mdat":
		m.hasData = true
	case "moof":
		m.hasPart, m.info.Fragmented = true, true
		return m.readFragment(a.body)
	case "sidx":
		return m.readIndex(a.body)
	}
	return nil
}

// walk visits the boxes within one. A rest below 8 bytes is QuickTime's terminator.
func (m *movie) walk(s source, visit func(atom) error) error {
	for off := int64(0); s.size-off >= 8; {
		if m.steps++; m.steps > videoSteps {
			return brokenVideo(m.info.Format, "it has too many boxes")
		}
		a, err := atomAt(s, off)
		if err != nil {
			return err
		}
		if a.missing > 0 && !m.cut {
			return brokenVideo(m.info.Format, "a box is longer than the one that holds it")
		}
		if err := visit(a); err != nil {
			return err
		}
		if a.missing > 0 {
			return nil
		}
		off += a.size
	}
	return nil
}

func (m *movie) readMovie(moov source) error {
	return m.walk(moov, func(a atom) error {
		switch a.kind {
		case "mvhd":
			scale, ticks, err := m.timing(a.body)
			m.scale, m.length = scale, span(ticks, scale)
			return err
		case "trak":
			return m.readTrack(a.body)
		case "mvex":
			m.info.Fragmented = true
			return m.walk(a.body, m.readExtent)
		}
		return nil
	})
}

// timing reads the clock and the duration of an mvhd or mdhd box (ISO/IEC 14496-12 §8.2.2, §8.4.2). All ones mean that
// the duration is not known.
func (m *movie) timing(s source) (scale uint32, ticks uint64, err error) {
	b, err := readVideo(s, 0, 20)
	if err != nil {
		return 0, 0, err
	}
	scale, ticks = binary.BigEndian.Uint32(b[12:]), uint64(binary.BigEndian.Uint32(b[16:]))
	if ticks == math.MaxUint32 {
		ticks = 0
	}
	if b[0] == 1 {
		if b, err = readVideo(s, 20, 12); err != nil {
			return 0, 0, err
		}
		scale, ticks = binary.BigEndian.Uint32(b), binary.BigEndian.Uint64(b[4:])
		if ticks == math.MaxUint64 {
			ticks = 0
		}
	}
	if scale == 0 {
		return 0, 0, brokenVideo(m.info.Format, "a clock has 0 ticks a second")
	}
	return scale, ticks, nil
}

func (m *movie) readTrack(trak source) error {
	t := &track{}
	err := m.walk(trak, func(a atom) error {
		switch a.kind {
		case "tkhd":
			return t.readHeader(a.body)
		case "mdia", "minf", "stbl":
			return m.readMedia(t, a, 0)
		}
		return nil
	})
	if err != nil && !m.cut {
		return err
	}
	m.longest = max(m.longest, span(t.length, t.scale))
	m.samples = m.samples || t.frames > 0
	switch {
	case t.handler == "vide" && m.video == nil:
		m.video = t
	case t.handler == "soun" && m.audio == nil:
		m.audio = t
	default:
		return err
	}
	if e := m.readEntry(t); err == nil {
		err = e
	}
	return err
}

// readMedia descends from mdia through minf to stbl.
func (m *movie) readMedia(t *track, a atom, depth int) error {
	if depth > 3 {
		return nil
	}
	return m.walk(a.body, func(a atom) error {
		switch a.kind {
		case "minf", "stbl":
			return m.readMedia(t, a, depth+1)
		case "mdhd":
			var err error
			t.scale, t.length, err = m.timing(a.body)
			return err
		case "hdlr":
			b, err := readVideo(a.body, 8, 4)
			if t.handler == "" { // QuickTime has a second one in minf, for the data
				t.handler = string(b)
			}
			return err
		case "stsd":
			t.entries = a.body
		case "stsz", "stz2":
			b, err := readVideo(a.body, 8, 4)
			if err != nil {
				return err
			}
			t.frames = int64(binary.BigEndian.Uint32(b))
		}
		return nil
	})
}

// readHeader takes the number, the matrix and the size of a tkhd box (ISO/IEC 14496-12 §8.3.2).
func (t *track) readHeader(tkhd source) error {
	b, err := readVideo(tkhd, 0, 84)
	if err != nil {
		return err
	}
	t.id = binary.BigEndian.Uint32(b[12:])
	if b[0] == 1 {
		t.id = binary.BigEndian.Uint32(b[20:])
		if b, err = readVideo(tkhd, 12, 84); err != nil {
			return err
		}
	}
	cell := func(i int) int32 { return int32(binary.BigEndian.Uint32(b[40+4*i:])) } //nolint:gosec // signed there
	t.rotation = turn(cell(0), cell(1), cell(3), cell(4))
	t.w, t.h = fixed(b[76:]), fixed(b[80:])
	return nil
}

// turn reads the quarter turns clockwise out of the matrix (a b; c d); a mirror is taken no notice of.
func turn(a, b, c, d int32) int {
	switch {
	case a == 0 && d == 0 && b > 0:
		return 90
	case a == 0 && d == 0 && b < 0:
		return 270
	case b == 0 && c == 0 && a < 0 && d < 0:
		return 180
	}
	return 0
}

// fixed rounds a number of 16.16 bits.
func fixed(b []byte) int { return int((uint64(binary.BigEndian.Uint32(b)) + 1<<15) >> 16) }

// conclude joins what the boxes said.
func (m *movie) conclude() {
	i := m.info
	i.Duration = m.length
	if i.Fragmented {
		i.Duration = cmp.Or(m.whole, m.indexed.length(), m.length)
	} else if i.Duration == 0 {
		i.Duration = m.longest
	}
	if v := m.video; v != nil {
		i.Width, i.Height, i.Rotation, i.Frames = v.w, v.h, v.rotation, v.frames
		length := span(v.length, v.scale)
		if i.Fragmented {
			length = cmp.Or(v.indexed.length(), i.Duration)
		}
		i.FPS = rate(float64(v.frames), length.Seconds())
	}
	data := m.hasData || !m.samples
	if i.Fragmented && !m.samples { // some have their first samples in moov, like other files
		data = m.hasPart
	}
	i.Whole = m.hasMovie && data && !m.damaged && i.Missing == 0
}
