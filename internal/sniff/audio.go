package sniff

import "encoding/binary"

// detectAudio names the sound formats without a container.
func detectAudio(head []byte) string {
	switch {
	case at(head, 0, "fLaC\x00\x00\x00\x22"), at(head, 0, "fLaC\x80\x00\x00\x22"):
		return "audio/flac"
	case isID3(head):
		return "audio/mpeg"
	case twoFrames(head, mpegFrame):
		return "audio/mpeg"
	case twoFrames(head, adtsFrame):
		return "audio/aac"
	}
	return ""
}

// isID3 wants a version that exists and a size without high bits (ID3v2.4 §3.1).
func isID3(head []byte) bool {
	return len(head) >= 10 && at(head, 0, "ID3") && head[3] >= 2 && head[3] <= 4 && head[4] != 0xff &&
		head[6]|head[7]|head[8]|head[9] < 0x80
}

// twoFrames wants a second frame of the same stream where the first says that it ends: a sync word of eleven or twelve
// bits alone turns up in any binary.
func twoFrames(head []byte, frame func([]byte) (size int, stream uint32)) bool {
	size, stream := frame(head)
	if size <= 0 || size >= len(head) {
		return false
	}
	next, same := frame(head[size:])
	return next > 0 && same == stream
}

// Bit rates in kbit/s of MPEG audio by layer and bit-rate index, for MPEG 1 and for MPEG 2 and 2.5
// (ISO/IEC 11172-3 §2.4.2.3, ISO/IEC 13818-3 §2.4.2.3).
//
//nolint:gochecknoglobals // tables that nothing writes to
var (
	bitRates1 = map[uint32][15]int{
		1: {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
		2: {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
		3: {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	}
	bitRates2 = map[uint32][15]int{
		1: {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
		2: {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
		3: {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
	}
	sampleRates = [3]int{44100, 48000, 32000}
)

// mpegFrame returns the size in bytes of the MPEG audio frame that b begins with, or 0, and the fields that stay the
// same throughout a stream: version, layer and sample rate.
func mpegFrame(b []byte) (size int, stream uint32) {
	if len(b) < 4 {
		return 0, 0
	}
	h := binary.BigEndian.Uint32(b)
	version, layer := h>>19&3, 4-h>>17&3 // version 3 = MPEG 1, 2 = MPEG 2, 0 = MPEG 2.5
	rate, sample, padding := h>>12&15, h>>10&3, int(h>>9&1)
	if h>>21 != 0x7ff || version == 1 || layer == 4 || rate == 0 || rate == 15 || sample == 3 {
		return 0, 0
	}
	rates, hertz := bitRates1, sampleRates[sample]
	if version != 3 {
		rates, hertz = bitRates2, hertz/2
	}
	if version == 0 {
		hertz /= 2
	}
	bits := rates[layer][rate] * 1000
	switch {
	case layer == 1:
		size = (12*bits/hertz + padding) * 4
	case layer == 3 && version != 3:
		size = 72*bits/hertz + padding
	default:
		size = 144*bits/hertz + padding
	}
	return size, h >> 10 & 0x783 // version, layer and sample rate; not bit rate, protection or padding
}

// adtsFrame does the same for AAC in ADTS (ISO/IEC 13818-7 §6.2).
func adtsFrame(b []byte) (size int, stream uint32) {
	if len(b) < 7 || b[0] != 0xff || b[1]&0xf6 != 0xf0 || b[2]>>2&15 > 12 {
		return 0, 0
	}
	size = int(b[3]&3)<<11 | int(b[4])<<3 | int(b[5]>>5)
	if size < 7 {
		return 0, 0
	}
	return size, uint32(b[1])<<8 | uint32(b[2]&0xfd)
}
