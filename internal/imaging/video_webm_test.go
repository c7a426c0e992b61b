package imaging

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// idBytes is an EBML id as it stands in a file.
func idBytes(id uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, id)
	for b[0] == 0 {
		b = b[1:]
	}
	return b
}

// el is an element with a size of 8 bytes.
func el(id uint32, parts ...[]byte) []byte {
	body := join(parts...)
	return join(idBytes(id), u64(1<<56|uint64(len(body))), body)
}

// live is an element of unknown size.
func live(id uint32, parts ...[]byte) []byte { return join(idBytes(id), []byte{0xff}, join(parts...)) }

func segment(parts ...[]byte) []byte { return el(idSegment, parts...) }

func ebmlHead(docType string) []byte {
	return el(idHeader, el(0x4286, []byte{1}), el(idDocType, []byte(docType)))
}

func webm(parts ...[]byte) []byte { return join(ebmlHead("webm"), join(parts...)) }

func webmInfo() []byte {
	return el(idInfo, el(idTimestampScale, []byte{0x0f, 0x42, 0x40}), el(idDuration, u64(math.Float64bits(8500))))
}

func videoTrack(video ...[]byte) []byte {
	return el(idTrackEntry, el(idTrackType, []byte{1}), el(idCodecID, []byte("V_VP9")),
		el(idDefaultDuration, words(33_366_667)), el(idVideo, video...))
}

func audioTrack(codec string) []byte {
	return el(idTrackEntry, el(idTrackType, []byte{2}), el(idCodecID, []byte(codec)))
}

func pixels16(w, h uint16) []byte {
	return join(el(idPixelWidth, binary.BigEndian.AppendUint16(nil, w)),
		el(idPixelHeight, binary.BigEndian.AppendUint16(nil, h)))
}

func webmTracks() []byte { return el(idTracks, audioTrack("A_OPUS"), videoTrack(pixels16(1920, 1080))) }

// cluster holds a timestamp and a block of 40 bytes.
func cluster() []byte { return join(el(0xe7, []byte{0}), el(0xa3, make([]byte, 40))) }

func webmFile() []byte {
	return webm(segment(webmInfo(), webmTracks(), el(idCluster, cluster()), el(idCluster, cluster())))
}

// liveWebM is what a browser's recorder writes: no size for the segment and its clusters, and no duration.
func liveWebM() []byte {
	return webm(live(idSegment, el(idInfo, el(idTimestampScale, []byte{0x0f, 0x42, 0x40})), webmTracks(),
		live(idCluster, cluster()), live(idCluster, cluster())))
}

func TestProbeVideoEBML(t *testing.T) {
	t.Parallel()
	info := func(change func(*VideoInfo)) VideoInfo {
		i := VideoInfo{
			Format: "webm", MIME: "video/webm", Brand: "webm", Duration: 8500 * time.Millisecond, Width: 1920, Height: 1080,
			FPS: 29.97, VideoCodec: "vp9", AudioCodec: "opus", FastStart: true, Whole: true,
		}
		if change != nil {
			change(&i)
		}
		return i
	}
	tracks := func(video ...[]byte) []byte {
		return webm(segment(webmInfo(), el(idTracks, audioTrack("A_OPUS"), videoTrack(video...)), el(idCluster, cluster())))
	}
	roll := func(degrees float32) []byte {
		return el(idProjection, el(idPoseRoll, words(math.Float32bits(degrees))))
	}
	byteOf := func(id uint32, v byte) []byte { return el(id, []byte{v}) }
	tests := []struct {
		name string
		src  []byte
		want VideoInfo
	}{
		{"webm", webmFile(), info(nil)},
		{"live", liveWebM(), info(func(i *VideoInfo) { i.Duration = 0 })},
		{
			"mkv", join(ebmlHead("matroska"), segment(webmInfo(), webmTracks(), el(idCluster, cluster()))),
			info(func(i *VideoInfo) { i.Format, i.MIME, i.Brand = "mkv", "video/x-matroska", "matroska" }),
		},
		{
			"headers behind the media", webm(segment(el(idCluster, cluster()), webmInfo(), webmTracks())),
			info(func(i *VideoInfo) { i.FastStart = false }),
		},
		{
			"duration of 4 bytes, default scale",
			webm(segment(el(idInfo, el(idDuration, words(math.Float32bits(1500)))), webmTracks(), el(idCluster, cluster()))),
			info(func(i *VideoInfo) { i.Duration = 1500 * time.Millisecond }),
		},
		{
			"duration that is no number",
			webm(segment(el(idInfo, el(idDuration, u64(math.Float64bits(math.NaN())))), webmTracks(), el(idCluster, cluster()))),
			info(func(i *VideoInfo) { i.Duration = 0 }),
		},
		{
			"display size", tracks(pixels16(720, 576), el(idDisplayWidth, []byte{4, 0}), el(idDisplayHeight, []byte{2, 0x40})),
			info(func(i *VideoInfo) { i.Width, i.Height = 1024, 576 }),
		},
		{
			"display size that is a ratio",
			tracks(pixels16(720, 576), byteOf(idDisplayWidth, 16), byteOf(idDisplayHeight, 9), byteOf(idDisplayUnit, 3)),
			info(func(i *VideoInfo) { i.Width, i.Height = 720, 576 }),
		},
		{
			"cropped", tracks(pixels16(1920, 1088), byteOf(idCropBottom, 8), byteOf(idCropLeft, 2), byteOf(idCropRight, 18)),
			info(func(i *VideoInfo) { i.Width = 1900 }),
		},
		{
			"cropped to nothing", tracks(pixels16(10, 10), byteOf(idCropTop, 20)),
			info(func(i *VideoInfo) { i.Width, i.Height = 10, 0 }),
		},
		{"turned right", tracks(pixels16(1920, 1080), roll(-90)), info(func(i *VideoInfo) {
			i.Width, i.Height, i.Rotation = 1080, 1920, 90
		})},
		{"turned left", tracks(pixels16(1920, 1080), roll(90)), info(func(i *VideoInfo) {
			i.Width, i.Height, i.Rotation = 1080, 1920, 270
		})},
		{"upside down", tracks(pixels16(1920, 1080), roll(180)), info(func(i *VideoInfo) { i.Rotation = 180 })},
		{"askew", tracks(pixels16(1920, 1080), roll(12)), info(nil)},
		{
			"sound only", webm(segment(webmInfo(), el(idTracks, audioTrack("A_AAC/MPEG4/LC")), el(idCluster, cluster()))),
			info(func(i *VideoInfo) { i.Width, i.Height, i.FPS, i.VideoCodec, i.AudioCodec = 0, 0, 0, "", "aac" }),
		},
		{
			"unknown codec", webm(segment(webmInfo(), el(idTracks, audioTrack("A_NEW\x01\x00")), el(idCluster, cluster()))),
			info(func(i *VideoInfo) { i.Width, i.Height, i.FPS, i.VideoCodec, i.AudioCodec = 0, 0, 0, "", "A_NEW?" }),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := probeVideoOf(tt.src)
			must(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ProbeVideo (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProbeVideoCutEBML(t *testing.T) {
	t.Parallel()
	whole := webmFile()
	head := len(ebmlHead("webm"))
	for n := head; n < len(whole); n++ {
		got, err := probeVideoOf(whole[:n])
		must(t, err)
		want := int64(len(whole) - n)
		if n < head+12 { // the segment's size is not there
			want = got.Missing
		}
		if got.Whole || got.Format != "webm" || got.Missing != want || (got.Missing == 0) != (n == head) {
			t.Fatalf("cut at %d of %d: %+v, want %d missing", n, len(whole), got, want)
		}
		if got.Duration != 0 && got.Duration != 8500*time.Millisecond || got.Width != 0 && got.Width != 1920 ||
			got.FPS != 0 && got.FPS != 29.97 || got.VideoCodec != "" && got.VideoCodec != "vp9" {
			t.Fatalf("cut at %d: a value that is cut short counts: %+v", n, got)
		}
	}
	recording := liveWebM()
	got, err := probeVideoOf(recording[:len(recording)-7])
	must(t, err)
	if got.Whole || got.Missing != 7 {
		t.Errorf("a recording cut in a block: %+v", got)
	}
	got, err = probeVideoOf(recording[:len(recording)-len(el(0xa3, make([]byte, 40)))])
	must(t, err)
	if !got.Whole {
		t.Errorf("a recording that ends between two elements: %+v", got)
	}
}

func TestProbeVideoDamagedEBML(t *testing.T) {
	t.Parallel()
	for name, src := range map[string][]byte{
		"zeros behind":            append(webmFile(), make([]byte, 30)...),
		"id of 8 bytes":           webm(live(idSegment, webmInfo(), webmTracks(), cluster(), []byte{0x01, 0xff, 0xff})),
		"size of 9 bytes":         webm(live(idSegment, webmInfo(), webmTracks(), []byte{0xec, 0x00, 0xff})),
		"unknown size of a block": webm(live(idSegment, webmInfo(), webmTracks(), live(idCluster, live(0xa3, cluster())))),
		"cluster over the segment": webm(segment(webmInfo(), webmTracks(), live(idCluster), []byte{0xa3, 0xc0}),
			make([]byte, 64)),
		"no tracks":     webm(segment(webmInfo(), el(idCluster, cluster()))),
		"no media data": webm(segment(webmInfo(), webmTracks())),
	} {
		got, err := probeVideoOf(src)
		must(t, err)
		if got.Whole || got.Missing != 0 || got.Duration != 8500*time.Millisecond {
			t.Errorf("%s: %+v, want not whole and nothing measured", name, got)
		}
	}
}
