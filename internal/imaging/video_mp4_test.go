package imaging

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func ftyp(brand string) []byte { return box("ftyp", []byte(brand), words(512), []byte("iso2")) }

// hugeBox has a 64-bit size.
func hugeBox(kind string, size uint64) []byte { return join(words(1), []byte(kind), u64(size)) }

// movieClock has 1000 ticks a second.
func movieClock(ticks uint32) []byte {
	return box("mvhd", words(0, 0, 0, 1000, ticks), make([]byte, 80))
}

// matrices of tkhd for the four rotations.
var matrices = map[int][]uint32{
	0: {1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30}, 90: {0, 1 << 16, 0, 0xffff0000, 0, 0, 0, 0, 1 << 30},
	180: {0xffff0000, 0, 0, 0, 0xffff0000, 0, 0, 0, 1 << 30}, 270: {0, 0xffff0000, 0, 1 << 16, 0, 0, 0, 0, 1 << 30},
}

func trackHeader(id uint32, rotation int, w, h uint32) []byte {
	return box("tkhd", words(7, 0, 0, id, 0, 0, 0, 0, 0, 0), words(matrices[rotation]...), words(w<<16, h<<16))
}

func handler(kind string) []byte { return box("hdlr", words(0, 0), []byte(kind), make([]byte, 13)) }

// visual is a sample entry of 640x360.
func visual(codec string) []byte {
	return box(codec, make([]byte, 24), []byte{2, 0x80, 1, 0x68}, make([]byte, 50))
}

// sound is a sample entry, with an esds box where object is not 0.
func sound(codec string, object byte) []byte {
	if object == 0 {
		return box(codec, make([]byte, 28))
	}
	config := []byte{4, 0x80, 0x80, 0x80, 13, object, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	es := append([]byte{3, byte(3 + len(config)), 0, 1, 0}, config...)
	return box(codec, make([]byte, 28), box("esds", words(0), es))
}

func trak(header []byte, kind string, scale, ticks uint32, entry []byte, frames uint32) []byte {
	table := box("stbl", box("stsd", words(0, 1), entry), box("stts", words(0, 0)), box("stsz", words(0, 0, frames)),
		box("stco", words(0, 1, 48)))
	return box("trak", header, box("mdia", box("mdhd", words(0, 0, 0, scale, ticks, 0)), handler(kind),
		box("minf", handler("url "), table)))
}

type mp4Options struct {
	brand           string // "" = isom
	moovLast, wide  bool
	rotation        int
	w, h            uint32 // 0 = 1280x720
	video, audio    []byte // sample entries; nil = avc1 and AAC
	noVideo, silent bool
}

// mp4File has 120 frames in 5 s at 24 frames a second and 100 bytes of media data.
func mp4File(o mp4Options) []byte {
	if o.brand == "" {
		o.brand = "isom"
	}
	if o.w == 0 && o.h == 0 {
		o.w, o.h = 1280, 720
	}
	if o.video == nil {
		o.video = visual("avc1")
	}
	if o.audio == nil {
		o.audio = sound("mp4a", 0x40)
	}
	parts := [][]byte{movieClock(5000)}
	if !o.silent {
		parts = append(parts, trak(trackHeader(2, 0, 0, 0), "soun", 48_000, 240_000, o.audio, 234))
	}
	if !o.noVideo {
		parts = append(parts, trak(trackHeader(1, o.rotation, o.w, o.h), "vide", 12_288, 61_440, o.video, 120))
	}
	moov := box("moov", append(parts, box("udta", words(0)))...)
	data := box("mdat", make([]byte, 100))
	if o.wide {
		data = append(hugeBox("mdat", 116), make([]byte, 100)...)
	}
	if o.moovLast {
		return join(ftyp(o.brand), box("free"), data, moov)
	}
	return join(ftyp(o.brand), moov, box("free"), data)
}

func mp4Info(change func(*VideoInfo)) VideoInfo {
	i := VideoInfo{
		Format: "mp4", MIME: "video/mp4", Brand: "isom", Duration: 5 * time.Second, Width: 1280, Height: 720,
		Frames: 120, FPS: 24, VideoCodec: "h264", AudioCodec: "aac", FastStart: true, Whole: true,
	}
	if change != nil {
		change(&i)
	}
	return i
}

func TestProbeVideoISO(t *testing.T) {
	t.Parallel()
	v1Clock := box("mvhd", []byte{1, 0, 0, 0}, u64(0), u64(0), words(1000), u64(7000), make([]byte, 80))
	v1Header := box("tkhd", []byte{1, 0, 0, 7}, u64(0), u64(0), words(1, 0), u64(0), make([]byte, 16),
		words(matrices[90]...), words(640<<16, 360<<16))
	v1Media := box("mdhd", []byte{1, 0, 0, 0}, u64(0), u64(0), words(30_000), u64(math.MaxUint64), words(0))
	v1 := box("moov", v1Clock, box("trak", v1Header, box("mdia", v1Media, handler("vide"))))
	unknownLength := box("moov", movieClock(math.MaxUint32),
		trak(trackHeader(1, 0, 1280, 720), "vide", 12_288, 61_440, visual("avc1"), 120))
	toTheEnd := bytes.Replace(mp4File(mp4Options{}), words(108, 0x6d646174), words(0, 0x6d646174), 1)
	old := mp4File(mp4Options{})[len(ftyp("isom")):]
	tests := []struct {
		name string
		src  []byte
		want VideoInfo
	}{
		{"faststart", mp4File(mp4Options{}), mp4Info(nil)},
		{"moov at the end", mp4File(mp4Options{moovLast: true}), mp4Info(func(i *VideoInfo) { i.FastStart = false })},
		{"64-bit mdat", mp4File(mp4Options{wide: true}), mp4Info(nil)},
		{"mdat to the end", toTheEnd, mp4Info(nil)},
		{"turned 90", mp4File(mp4Options{rotation: 90}), mp4Info(func(i *VideoInfo) {
			i.Rotation, i.Width, i.Height = 90, 720, 1280
		})},
		{"turned 180", mp4File(mp4Options{rotation: 180}), mp4Info(func(i *VideoInfo) { i.Rotation = 180 })},
		{"turned 270", mp4File(mp4Options{rotation: 270}), mp4Info(func(i *VideoInfo) {
			i.Rotation, i.Width, i.Height = 270, 720, 1280
		})},
		{"size in the sample entry only", mp4File(mp4Options{h: 1, rotation: 90}), mp4Info(func(i *VideoInfo) {
			i.Rotation, i.Width, i.Height = 90, 360, 640
		})},
		{"mov", mp4File(mp4Options{brand: "qt  ", video: visual("apcn"), audio: sound("sowt", 0)}), mp4Info(func(i *VideoInfo) {
			i.Format, i.MIME, i.Brand, i.VideoCodec, i.AudioCodec = "mov", "video/quicktime", "qt", "prores", "pcm"
		})},
		{"m4v", mp4File(mp4Options{brand: "M4V "}), mp4Info(func(i *VideoInfo) { i.Brand = "M4V" })},
		{"brand that only a compatible one explains", mp4File(mp4Options{brand: "XAVC"}), mp4Info(func(i *VideoInfo) {
			i.Brand = "XAVC"
		})},
		{"no brand", old, mp4Info(func(i *VideoInfo) { i.Format, i.MIME, i.Brand = "mov", "video/quicktime", "" })},
		{"m4a", mp4File(mp4Options{brand: "M4A ", noVideo: true}), VideoInfo{
			Format: "mp4", MIME: "audio/mp4", Brand: "M4A", Duration: 5 * time.Second, AudioCodec: "aac", FastStart: true,
			Whole: true,
		}},
		{"silent", mp4File(mp4Options{silent: true}), mp4Info(func(i *VideoInfo) { i.AudioCodec = "" })},
		{"64-bit clocks", join(ftyp("isom"), v1), VideoInfo{
			Format: "mp4", MIME: "video/mp4", Brand: "isom", Duration: 7 * time.Second, Width: 360, Height: 640, Rotation: 90,
			FastStart: true, Whole: true,
		}},
		{"unknown length", join(ftyp("isom"), unknownLength, box("mdat")), mp4Info(func(i *VideoInfo) { i.AudioCodec = "" })},
		{"padded with zeros", append(mp4File(mp4Options{}), 0, 0, 0, 0), mp4Info(nil)},
		{"fragmented", fragmentedFile(false, false), mp4Info(func(i *VideoInfo) {
			i.Fragmented, i.Duration, i.FPS, i.Frames, i.AudioCodec = true, 0, 0, 96, ""
		})},
		{"fragmented with mehd", fragmentedFile(true, false), mp4Info(func(i *VideoInfo) {
			i.Fragmented, i.Duration, i.Frames, i.AudioCodec = true, 4*time.Second, 96, ""
		})},
		{"fragmented with sidx", fragmentedFile(false, true), mp4Info(func(i *VideoInfo) {
			i.Fragmented, i.Duration, i.Frames, i.AudioCodec = true, 4*time.Second, 96, ""
		})},
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

// fragmentedFile has two fragments of 48 frames for 2 s each, of track 1, and one of another track.
func fragmentedFile(mehd, sidx bool) []byte {
	mvex := box("mvex", box("trex", words(0, 1, 1, 0, 0, 0)))
	if mehd {
		mvex = box("mvex", box("mehd", words(0, 4000)), box("trex", words(0, 1, 1, 0, 0, 0)))
	}
	out := join(ftyp("iso6"), box("moov", movieClock(0),
		trak(trackHeader(1, 0, 1280, 720), "vide", 12_288, 0, visual("avc1"), 0), mvex))
	copy(out[8:], "isom")
	if sidx {
		out = append(out, sidxBox(0)...)
	}
	moof := func(track, frames uint32) []byte {
		return box("moof", box("mfhd", words(0, 1)),
			box("traf", box("tfhd", words(0, track)), box("trun", words(0, frames))))
	}
	data := box("mdat", make([]byte, 30))
	return join(out, moof(1, 48), data, moof(1, 48), data, moof(2, 500), data)
}

// sidxBox lists two parts of 2 s that begin at 3 s.
func sidxBox(version byte) []byte {
	head := join([]byte{version, 0, 0, 0}, words(1, 1000, 3000, 0))
	if version == 1 {
		head = join([]byte{version, 0, 0, 0}, words(1, 1000), u64(3000), u64(0))
	}
	return box("sidx", head, words(2), words(30, 2000, 0), words(30, 2000, 0))
}

func TestSidx(t *testing.T) {
	t.Parallel()
	many := join(words(0, 1, 1000, 3000, 0), words(250), bytes.Repeat(words(30, 20, 0), 250))
	tests := []struct {
		name       string
		src        []byte
		start, end time.Duration
		fails      bool
	}{
		{"version 0", sidxBox(0)[8:], 3 * time.Second, 7 * time.Second, false},
		{"version 1", sidxBox(1)[8:], 3 * time.Second, 7 * time.Second, false},
		{"more than one batch", many, 3 * time.Second, 8 * time.Second, false},
		{"cut", many[:len(many)-1], 0, 0, true},
		{"clock of 0 ticks", join(words(0, 1, 0, 0, 0), words(0)), 0, 0, true},
		{
			"longer than can be told",
			join([]byte{1, 0, 0, 0}, words(1, 1), u64(9e9), u64(0), words(1), words(30, 1<<32-1, 0)), 0, 0, false,
		},
	}
	for _, tt := range tests {
		m := &movie{info: &VideoInfo{}}
		err := m.readIndex(source{bytes.NewReader(tt.src), int64(len(tt.src))})
		if m.indexed.start != tt.start || m.indexed.end != tt.end || (err != nil) != tt.fails {
			t.Errorf("%s: %v to %v, %v; want %v to %v", tt.name, m.indexed.start, m.indexed.end, err, tt.start, tt.end)
		}
	}
}

// One list a fragment, in any order, is one length.
func TestSidxOfFragments(t *testing.T) {
	t.Parallel()
	early := join(words(0, 1, 1000, 1000, 0), words(1), words(30, 2000, 0))
	for _, order := range [][2][]byte{{sidxBox(0)[8:], early}, {early, sidxBox(0)[8:]}} {
		m := &movie{info: &VideoInfo{}}
		must(t, m.readIndex(sourceOf(order[0])))
		must(t, m.readIndex(sourceOf(order[1])))
		if m.indexed.start != time.Second || m.indexed.end != 7*time.Second {
			t.Errorf("%v to %v, want 1s to 7s", m.indexed.start, m.indexed.end)
		}
	}
}

// Sound that goes on for longer makes the file longer, but not its frames slower.
func TestProbeVideoLongerSound(t *testing.T) {
	t.Parallel()
	sound := bytes.Replace(sidxBox(0), words(1, 1000), words(2, 800), 1) // of track 2, in a slower clock: 5 s
	got, err := probeVideoOf(join(fragmentedFile(false, true), sound))
	must(t, err)
	if got.FPS != 24 || got.Duration != 5*time.Second+750*time.Millisecond {
		t.Errorf("%+v, want 24 frames a second and 5.75s", got)
	}
}

// Whatever is cut off, the probe says how much lacks, or that it does not know; it never fails and never says "whole".
func TestProbeVideoCutISO(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]mp4Options{
		"faststart": {}, "moov at the end": {moovLast: true}, "64-bit": {wide: true, moovLast: true},
	} {
		whole := mp4File(o)
		starts := map[int]bool{} // of boxes: a cut there cannot be measured
		for off := 0; off < len(whole); {
			starts[off] = true
			n := int(binary.BigEndian.Uint32(whole[off:]))
			if n == 1 {
				n = int(binary.BigEndian.Uint64(whole[off+8:]))
			}
			off += n
		}
		for n := len(ftyp("isom")); n < len(whole); n++ {
			got, err := probeVideoOf(whole[:n])
			must(t, err)
			if got.Whole || got.Format != "mp4" || got.Brand != "isom" || (got.Missing == 0) != starts[n] {
				t.Fatalf("%s cut at %d of %d: %+v", name, n, len(whole), got)
			}
		}
	}
	last := mp4File(mp4Options{})
	got, err := probeVideoOf(last[:len(last)-30])
	must(t, err)
	want := mp4Info(func(i *VideoInfo) { i.Whole, i.Missing = false, 30 })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cut in mdat (-want +got):\n%s", diff)
	}
	before, _, _ := bytes.Cut(last, []byte("stts"))
	got, err = probeVideoOf(before)
	must(t, err)
	if got.Missing == 0 || got.Duration != 5*time.Second || got.AudioCodec != "aac" || got.VideoCodec != "" {
		t.Errorf("cut in moov: %+v", got)
	}
}

func TestProbeVideoTrailingBytes(t *testing.T) {
	t.Parallel()
	for name, tail := range map[string][]byte{
		"text": []byte("\n<html>oops</html>"), "size below 8": words(5, 0x66726565), "size of 2^63": hugeBox("free", 1<<63),
	} {
		got, err := probeVideoOf(append(mp4File(mp4Options{}), tail...))
		must(t, err)
		if got.Whole || got.Duration != 5*time.Second {
			t.Errorf("%s: %+v, want not whole", name, got)
		}
	}
}

func TestProbeVideoBounds(t *testing.T) {
	t.Parallel()
	empty := bytes.Repeat(box("free"), videoSteps)
	got, err := probeVideoOf(join(mp4File(mp4Options{}), empty))
	must(t, err)
	if got.Whole {
		t.Error("more boxes than are visited count as whole")
	}
	_, err = probeVideoOf(join(ftyp("isom"), box("moov", empty, box("free"))))
	if fault.CodeOf(err) != fault.MIMEMismatch {
		t.Errorf("too many boxes in moov: %v", err)
	}
	deep := box("stbl", box("stsz", words(0, 0, 9)))
	for range 2000 {
		deep = box("minf", deep)
	}
	got, err = probeVideoOf(join(ftyp("isom"), box("moov", movieClock(5000), box("trak", box("mdia", handler("vide"), deep)))))
	must(t, err)
	if got.Frames != 0 {
		t.Error("boxes at any depth are read")
	}
}

func TestCodecs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		video, audio []byte
		want         []string
	}{
		{visual("hvc1"), sound("Opus", 0), []string{"hevc", "opus"}},
		{visual("av01"), sound("mp4a", 0x6b), []string{"av1", "mp3"}},
		{visual("vp09"), sound("mp4a", 0x66), []string{"vp9", "aac"}},
		{visual("jpeg"), sound("mp4a", 0), []string{"mjpeg", "aac"}},
		{visual("abcd"), sound("mp4a", 0xdd), []string{"abcd", "vorbis"}},
		{visual("a\x00\xffd"), sound("mp4a", 0x01), []string{"a??d", "mp4a"}},
		{visual("dvh1"), sound("mp4a", 0xa6), []string{"hevc", "eac3"}},
		{visual("ap4h"), sound("mp4a", 0xad), []string{"prores", "opus"}},
	}
	for _, tt := range tests {
		got, err := probeVideoOf(mp4File(mp4Options{video: tt.video, audio: tt.audio}))
		must(t, err)
		if diff := cmp.Diff(tt.want, []string{got.VideoCodec, got.AudioCodec}); diff != "" {
			t.Errorf("codecs (-want +got):\n%s", diff)
		}
	}
}
