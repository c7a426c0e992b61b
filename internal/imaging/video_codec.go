package imaging

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// codecs gives the names that people know to sample entries (registered at mp4ra.org, and QuickTime's own) and to
// codec ids of Matroska (RFC 9559 §27.1).
//
//nolint:gochecknoglobals // a table that nothing writes to
var codecs = map[string]string{
	"avc1": "h264", "avc2": "h264", "avc3": "h264", "avc4": "h264", "dva1": "h264", "dvav": "h264",
	"hvc1": "hevc", "hev1": "hevc", "dvh1": "hevc", "dvhe": "hevc", "vvc1": "vvc", "vvi1": "vvc",
	"av01": "av1", "dav1": "av1", "vp08": "vp8", "vp09": "vp9",
	"apch": "prores", "apcn": "prores", "apcs": "prores", "apco": "prores", "ap4h": "prores", "ap4x": "prores",
	"jpeg": "mjpeg", "mjpa": "mjpeg", "mjpb": "mjpeg", "mp4v": "mpeg4", "s263": "h263", "h263": "h263",
	"mp4a": "aac", "Opus": "opus", "fLaC": "flac", ".mp3": "mp3", "ac-3": "ac3", "ec-3": "eac3",
	"twos": "pcm", "sowt": "pcm", "lpcm": "pcm", "ipcm": "pcm", "fpcm": "pcm", "raw ": "pcm", "NONE": "pcm",
	"in24": "pcm", "in32": "pcm", "fl32": "pcm", "fl64": "pcm",

	"V_VP8": "vp8", "V_VP9": "vp9", "V_AV1": "av1", "V_MPEG4/ISO/AVC": "h264", "V_MPEGH/ISO/HEVC": "hevc",
	"V_MPEG4/ISO/ASP": "mpeg4", "V_PRORES": "prores", "V_MJPEG": "mjpeg", "V_THEORA": "theora",
	"A_OPUS": "opus", "A_VORBIS": "vorbis", "A_AAC": "aac", "A_MPEG/L3": "mp3", "A_FLAC": "flac",
	"A_AC3": "ac3", "A_EAC3": "eac3", "A_PCM/INT/LIT": "pcm", "A_PCM/INT/BIG": "pcm", "A_PCM/FLOAT/IEEE": "pcm",
}

// codecName falls back on the container's name, kept printable.
func codecName(id string) string {
	if name, ok := codecs[id]; ok {
		return name
	}
	if strings.HasPrefix(id, "A_AAC/") { // the profile follows, in old files
		return "aac"
	}
	return clean(id)
}

// readEntry takes the codec, and a size that the track header lacks, from the first sample entry (ISO/IEC 14496-12
// §8.5.2, §12.1.3).
func (m *movie) readEntry(t *track) error {
	if t.entries.r == nil {
		return nil
	}
	b, err := readVideo(t.entries, 12, 4)
	if err != nil {
		return err
	}
	kind := string(b)
	if t.handler == "soun" {
		m.info.AudioCodec = codecName(kind)
		if kind == "mp4a" {
			m.info.AudioCodec = soundObject(t.entries)
		}
		return nil
	}
	m.info.VideoCodec = codecName(kind)
	if t.w > 0 && t.h > 0 {
		return nil
	}
	if b, err = readVideo(t.entries, 40, 4); err != nil {
		return err
	}
	t.w, t.h = int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	return nil
}

// soundObject tells what an mp4a entry holds by the object type of its esds box (ISO/IEC 14496-1 §7.2.6.6, registered
// at mp4ra.org). Where QuickTime puts that box differs by version, so it is searched for in the first bytes.
func soundObject(stsd source) string {
	b, err := readVideo(stsd, 0, int(min(stsd.size, 256)))
	i := bytes.Index(b, []byte("esds"))
	if err != nil || i < 0 {
		return "aac"
	}
	b = b[min(i+8, len(b)):]
	if b = descriptor(b, 3); len(b) < 3 {
		return "aac"
	}
	skip, flags := 3, b[2]
	for _, f := range []struct {
		bit  byte
		size int
	}{{0x80, 2}, {0x20, 2}} { // depends on another stream; has a clock of its own
		if flags&f.bit != 0 {
			skip += f.size
		}
	}
	b = descriptor(b[min(skip, len(b)):], 4)
	if len(b) == 0 {
		return "aac"
	}
	switch object := b[0]; {
	case object == 0x69 || object == 0x6b:
		return "mp3"
	case object == 0xa5:
		return "ac3"
	case object == 0xa6:
		return "eac3"
	case object == 0xad:
		return "opus"
	case object == 0xdd:
		return "vorbis"
	case slices.Contains([]byte{0x40, 0x66, 0x67, 0x68}, object):
		return "aac"
	}
	return "mp4a"
}

// descriptor returns the body of the MPEG-4 descriptor that b begins with, if it has the tag (ISO/IEC 14496-1 §8.3.3).
func descriptor(b []byte, tag byte) []byte {
	if len(b) == 0 || b[0] != tag {
		return nil
	}
	for i := 1; i < min(len(b), 5); i++ {
		if b[i] < 0x80 {
			return b[i+1:]
		}
	}
	return nil
}
