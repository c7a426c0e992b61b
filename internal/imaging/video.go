package imaging

import (
	"encoding/binary"
	"io"
	"math"
	"strings"
	"time"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// VideoInfo is what a video's headers say.
type VideoInfo struct {
	Format     string        // mp4 (m4v, m4a and 3gp too), mov, webm or mkv
	MIME       string        // as package sniff names it
	Brand      string        // the major brand of an ISO file, the DocType of an EBML file; "" where there is none
	Duration   time.Duration // 0 = unknown
	Width      int           // pixels as shown, after rotation; 0 = no video track
	Height     int           // pixels as shown, after rotation; 0 = no video track
	Rotation   int           // degrees clockwise that a player turns the frames: 0, 90, 180 or 270
	Frames     int64         // of the first video track; 0 = unknown, always for webm and mkv, which do not count them
	FPS        float64       // frames by the length that the headers tell, to three decimals; 0 = unknown
	VideoCodec string        // of the first video track: h264, hevc, av1, vp9, …, else the container's own name for it
	AudioCodec string        // of the first audio track: aac, opus, mp3, pcm, …, else the container's own name for it
	FastStart  bool          // the headers stand before the media data, so that playing can begin while loading
	Fragmented bool          // an ISO file whose samples are described in moof boxes
	Whole      bool          // everything that the headers announce is there and nothing else; see Missing
	Missing    int64         // bytes by which the file ends before what it announces; 0 when Whole or not known
}

// badVideo is the code for bytes that are no video that can be read. The caller declared them a video; they are not.
const badVideo = fault.MIMEMismatch

// videoSteps bounds the boxes or elements that a probe visits: an hour of a live recording has about 250,000.
const videoSteps = 1 << 18

// ProbeVideo reads what a video of size bytes is from its headers: ISO base media files (mp4, m4v, mov) and EBML files
// (webm, mkv). Media data and tables are stepped over, so that it takes a few kilobytes of memory whatever the file
// claims.
//
// A file that was cut short is no error as long as it can be named: Whole is then false and Missing says how much is
// known to lack. An ISO file cut before its moov box, where the headers stand, has a format, a brand and little else.
// Whole does not vouch for what no size covers: an mdat box that runs to the end of the file, or the rest of a live
// recording that ends between two elements. A file of more than 262144 boxes or elements is never called whole.
//
// It returns mime_mismatch when the bytes are something else (the message says what), when nothing can be said about
// them, and when a header contradicts itself; io_failed when r fails.
func ProbeVideo(r io.ReaderAt, size int64) (VideoInfo, error) {
	if size <= 0 {
		return VideoInfo{}, fault.New(badVideo, "the video is empty")
	}
	s := source{r, size}
	t, err := sniff.DetectReader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return VideoInfo{}, err
	}
	if t.MIME == "" {
		t = guessISO(s)
	}
	info := VideoInfo{Format: t.Ext, MIME: t.MIME}
	switch t.Ext {
	case "mp4", "m4a", "3gp", "3g2":
		info.Format = "mp4"
		err = probeISO(s, &info)
	case "mov":
		err = probeISO(s, &info)
	case "webm", "mkv":
		err = probeEBML(s, &info)
	default:
		return VideoInfo{}, notAVideo(t)
	}
	if err != nil {
		return VideoInfo{}, err
	}
	if info.Rotation%180 != 0 {
		info.Width, info.Height = info.Height, info.Width
	}
	return info, nil
}

func notAVideo(t sniff.Type) error {
	const readable = "mp4, mov, m4v, webm and mkv can be read"
	if t.MIME == "" {
		return fault.New(badVideo, "the bytes are of no known video format: %s", readable)
	}
	return fault.New(badVideo, "the bytes are %s, not a video: %s", t.MIME, readable)
}

func brokenVideo(format, why string) error {
	return fault.New(badVideo, "the %s header is broken: %s", format, why)
}

// guessISO names a file that begins like an ISO file but not with a brand that package sniff knows: a compatible brand
// decides; a file of QuickTime's first years has no brand at all.
func guessISO(s source) sniff.Type {
	b, err := s.read(0, int(min(s.size, 256)))
	if err != nil || len(b) < 12 {
		return sniff.Type{}
	}
	switch string(b[4:8]) {
	case "ftyp":
		if brand := string(b[8:12]); brand == "mif1" || brand == "msf1" || brand == "miaf" { // pictures of any codec
			return sniff.Type{}
		}
		size := int(min(binary.BigEndian.Uint32(b), 256))
		for i := 16; i+4 <= min(len(b), size); i += 4 {
			t := sniff.Detect([]byte("\x00\x00\x00\x10ftyp" + string(b[i:i+4]) + "\x00\x00\x00\x00"))
			if t.Kind == sniff.KindVideo {
				return t
			}
		}
	case "moov", "mdat", "wide", "pnot":
		t, _ := sniff.ByExt("mov")
		return t
	}
	return sniff.Type{}
}

// readVideo is source.read with the words of a video.
func readVideo(s source, off int64, n int) ([]byte, error) {
	b, err := s.read(off, n)
	if err == nil {
		return b, nil
	}
	if fault.CodeOf(err) == fault.IOFailed {
		return nil, fault.Caused(fault.IOFailed, err, "the video cannot be read")
	}
	return nil, fault.New(badVideo, "the video is cut short inside a header")
}

// span converts ticks of 1/scale seconds. What a duration cannot hold, 292 years, is as good as unknown.
func span(ticks uint64, scale uint32) time.Duration {
	if scale == 0 || ticks/uint64(scale) >= math.MaxInt64/uint64(time.Second) {
		return 0
	}
	whole, rest := ticks/uint64(scale), ticks%uint64(scale)
	return time.Duration(whole)*time.Second + //nolint:gosec // bounded above
		time.Duration(rest*uint64(time.Second)/uint64(scale)) //nolint:gosec // below one second
}

// rate returns frames a second to three decimals: 29.97 rather than 29.97002997002997.
func rate(frames, seconds float64) float64 {
	fps := math.Round(frames/seconds*1000) / 1000
	if !(fps > 0 && fps < 1e6) { // no number, or none that a camera knows
		return 0
	}
	return fps
}

// clean keeps a foreign name printable.
func clean(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, strings.TrimRight(name, "\x00")))
}
