package imaging

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"mediagen/internal/fault"
)

// Elements of EBML and Matroska (RFC 8794 §11.2, RFC 9559 §5.1).
const (
	idHeader          = 0x1a45dfa3
	idDocType         = 0x4282
	idSegment         = 0x18538067
	idInfo            = 0x1549a966
	idTimestampScale  = 0x2ad7b1
	idDuration        = 0x4489
	idTracks          = 0x1654ae6b
	idTrackEntry      = 0xae
	idTrackType       = 0x83
	idCodecID         = 0x86
	idDefaultDuration = 0x23e383
	idVideo           = 0xe0
	idPixelWidth      = 0xb0
	idPixelHeight     = 0xba
	idCropBottom      = 0x54aa
	idCropTop         = 0x54bb
	idCropLeft        = 0x54cc
	idCropRight       = 0x54dd
	idDisplayWidth    = 0x54b0
	idDisplayHeight   = 0x54ba
	idDisplayUnit     = 0x54b2
	idProjection      = 0x7670
	idPoseRoll        = 0x7675
	idCluster         = 0x1f43b675
)

// element is an EBML element. Its body ends with what holds it at the latest.
type element struct {
	id      uint32
	body    source
	start   int64 // offset of its body
	end     int64 // offset behind it
	unknown bool  // it ends where an element of a higher level begins (RFC 8794 §6.2)
	missing int64 // bytes that what holds it is too short by
}

// elementAt reads the header of the element at off: an id of 1 to 4 bytes and a size of 1 to 8.
func elementAt(s source, off int64) (element, error) {
	b, err := readVideo(s, off, int(min(12, s.size-off)))
	if err != nil {
		return element{}, err
	}
	idLen := bits.LeadingZeros8(b[0]) + 1
	if idLen > 4 {
		return element{}, brokenVideo("webm or mkv", "an element does not begin with an id")
	}
	if len(b) <= idLen {
		return element{missing: int64(idLen + 1 - len(b))}, nil
	}
	sizeLen := bits.LeadingZeros8(b[idLen]) + 1
	if sizeLen > 8 {
		return element{}, brokenVideo("webm or mkv", "an element has a size of more than 8 bytes")
	}
	if head := idLen + sizeLen; len(b) < head {
		return element{missing: int64(head - len(b))}, nil
	}
	size := bigEndian(b[idLen:][:sizeLen]) & (1<<(7*sizeLen) - 1)
	e := element{id: uint32(bigEndian(b[:idLen]))} //nolint:gosec // at most 4 bytes
	off += int64(idLen + sizeLen)
	e.start = off
	if size == 1<<(7*sizeLen)-1 {
		e.unknown, e.body, e.end = true, s.part(off, s.size), s.size
		return e, nil
	}
	if size > uint64(math.MaxInt64-off) { //nolint:gosec // positive
		return element{}, brokenVideo("webm or mkv", "an element is larger than any file")
	}
	e.end = off + int64(size) //nolint:gosec // checked above
	e.body, e.missing = s.part(off, e.end-off), max(0, e.end-s.size)
	return e, nil
}

// bigEndian reads up to 8 bytes.
func bigEndian(b []byte) uint64 {
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// matroska gathers what the elements of a file say.
type matroska struct {
	info     *VideoInfo
	steps    int
	cut      bool // the element being read runs past the end of the file
	damaged  bool
	segment  int64 // where the segment ends; 0 = not seen, or of unknown size
	hasInfo  bool
	hasTrack bool
	hasData  bool // a cluster
	scale    uint64
	ticks    float64
}

func probeEBML(s source, info *VideoInfo) error {
	m := &matroska{info: info, scale: 1_000_000}
	if err := m.readFile(s); err != nil {
		return err
	}
	if ns := m.ticks * float64(m.scale); ns > 0 && ns < math.MaxInt64 {
		info.Duration = time.Duration(math.Round(ns))
	}
	info.Whole = m.hasTrack && m.hasData && !m.damaged && info.Missing == 0
	return nil
}

// readFile visits the elements of the file and of its segment in one row. A cluster of unknown size, as live recordings
// have, is entered too: what it holds is stepped over like anything else.
func (m *matroska) readFile(s source) error {
	for off := int64(0); off < s.size; {
		e, err := elementAt(s, off)
		if fault.CodeOf(err) == fault.IOFailed {
			return err
		}
		if m.steps++; err != nil || m.steps > videoSteps || !m.fits(e, off) {
			m.damaged = true
			break
		}
		m.cut = e.missing > 0
		m.info.Missing = max(m.info.Missing, e.missing)
		if err := m.readTop(e); err != nil && !(m.cut && fault.CodeOf(err) == badVideo) {
			return err
		}
		switch {
		case e.id == idSegment || e.unknown:
			off = e.start
		case m.cut:
			return nil
		default:
			off = e.end
		}
	}
	return nil
}

// fits reports whether an element ends within the segment that it begins in, and whether its end can be found.
func (m *matroska) fits(e element, off int64) bool {
	if e.unknown {
		return e.id == idSegment || e.id == idCluster
	}
	return off >= m.segment || e.end <= m.segment
}

func (m *matroska) readTop(e element) error {
	switch e.id {
	case idHeader:
		return m.walk(e.body, func(e element) error {
			if e.id != idDocType || m.info.Brand != "" {
				return nil
			}
			name, err := text(e.body)
			m.info.Brand = clean(name)
			return err
		})
	case idSegment:
		if m.segment == 0 && !e.unknown {
			m.segment = e.end
		}
	case idInfo:
		if !m.hasInfo {
			m.hasInfo = true
			return m.walk(e.body, m.readInfo)
		}
	case idTracks:
		if !m.hasTrack {
			m.hasTrack, m.info.FastStart = true, !m.hasData
			return m.walk(e.body, m.readTrack)
		}
	case idCluster:
		m.hasData = true
	}
	return nil
}

// walk visits the elements within one.
func (m *matroska) walk(s source, visit func(element) error) error {
	for off := int64(0); off < s.size; {
		if m.steps++; m.steps > videoSteps {
			return brokenVideo(m.info.Format, "it has too many elements")
		}
		e, err := elementAt(s, off)
		if err != nil {
			return err
		}
		if e.unknown || e.missing > 0 && !m.cut {
			return brokenVideo(m.info.Format, "an element is longer than the one that holds it")
		}
		if e.missing == 0 || slices.Contains([]uint32{idTrackEntry, idVideo, idProjection}, e.id) { // half a number is none
			if err := visit(e); err != nil {
				return err
			}
		}
		if e.missing > 0 {
			return nil
		}
		off = e.end
	}
	return nil
}

func (m *matroska) readInfo(e element) error {
	var err error
	switch e.id {
	case idTimestampScale:
		m.scale, err = number(e.body)
		if err == nil && m.scale == 0 {
			return brokenVideo(m.info.Format, "a clock has ticks of 0 ns")
		}
	case idDuration:
		m.ticks, err = float(e.body)
	}
	return err
}

// picture is what matters of a track's Video element, in pixels and degrees.
type picture struct {
	w, h, left, right, top, bottom, shownW, shownH, unit uint64
	roll                                                 float64
}

func (m *matroska) readTrack(e element) error {
	if e.id != idTrackEntry {
		return nil
	}
	const video, audio = 1, 2
	var kind, frame uint64
	var codec string
	var p picture
	err := m.walk(e.body, func(e element) error {
		var err error
		switch e.id {
		case idTrackType:
			kind, err = number(e.body)
		case idCodecID:
			codec, err = text(e.body)
		case idDefaultDuration:
			frame, err = number(e.body)
		case idVideo:
			err = m.walk(e.body, func(e element) error { return m.readPicture(&p, e) })
		}
		return err
	})
	switch {
	case kind == video && m.info.VideoCodec == "":
		m.info.VideoCodec = codecName(codec)
		m.info.Width, m.info.Height = p.size()
		m.info.Rotation = p.rotation()
		m.info.FPS = rate(float64(time.Second), float64(frame))
	case kind == audio && m.info.AudioCodec == "":
		m.info.AudioCodec = codecName(codec)
	}
	return err
}

func (m *matroska) readPicture(p *picture, e element) error {
	if e.id == idProjection {
		return m.walk(e.body, func(e element) error {
			var err error
			if e.id == idPoseRoll {
				p.roll, err = float(e.body)
			}
			return err
		})
	}
	field, ok := map[uint32]*uint64{
		idPixelWidth: &p.w, idPixelHeight: &p.h, idDisplayWidth: &p.shownW, idDisplayHeight: &p.shownH,
		idDisplayUnit: &p.unit, idCropLeft: &p.left, idCropRight: &p.right, idCropTop: &p.top, idCropBottom: &p.bottom,
	}[e.id]
	if !ok {
		return nil
	}
	v, err := number(e.body)
	*field = min(v, math.MaxInt32)
	return err
}

// size is the display size where it is given in pixels, else what cropping leaves (RFC 9559 §5.1.4.1.28).
func (p picture) size() (w, h int) {
	if p.unit == 0 && p.shownW > 0 && p.shownH > 0 {
		return int(p.shownW), int(p.shownH) //nolint:gosec // cut at 2^31 - 1
	}
	left := func(all, cut uint64) int { return int(all - min(all, cut)) } //nolint:gosec // cut at 2^31 - 1
	return left(p.w, p.left+p.right), left(p.h, p.top+p.bottom)
}

// rotation turns the roll of the projection, against the clock, into quarter turns with it; others are no rotation.
func (p picture) rotation() int {
	switch p.roll {
	case -90, 270:
		return 90
	case 180, -180:
		return 180
	case 90, -270:
		return 270
	}
	return 0
}

// number reads an unsigned integer of up to 8 bytes (RFC 8794 §7.2).
func number(s source) (uint64, error) {
	if s.size > 8 {
		return 0, brokenVideo("webm or mkv", "a number has more than 8 bytes")
	}
	b, err := readVideo(s, 0, int(s.size))
	return bigEndian(b), err
}

// float reads a number of 4 or 8 bytes (RFC 8794 §7.3); no bytes mean 0.
func float(s source) (float64, error) {
	b, err := readVideo(s, 0, int(min(s.size, 9)))
	if err != nil {
		return 0, err
	}
	switch len(b) {
	case 0:
		return 0, nil
	case 4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b))), nil
	case 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
	}
	return 0, brokenVideo("webm or mkv", "a floating-point number does not have 4 or 8 bytes")
}

// text reads the first 64 bytes of a string; the names that matter are shorter.
func text(s source) (string, error) {
	b, err := readVideo(s, 0, int(min(s.size, 64)))
	return strings.TrimRight(string(b), "\x00"), err
}
