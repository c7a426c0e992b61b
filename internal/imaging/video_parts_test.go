package imaging

import (
	"bytes"
	"io"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

func TestGuessISO(t *testing.T) {
	t.Parallel()
	brands := func(list string) []byte { return box("ftyp", []byte(list[:4]), words(0), []byte(list[4:])) }
	tests := []struct {
		name string
		src  []byte
		want string // extension
	}{
		{"compatible brand", brands("xxxxyyyyisom"), "mp4"},
		{"compatible QuickTime", brands("xxxxqt  "), "mov"},
		{"compatible sound is no video", brands("xxxxM4A "), ""},
		{"compatible picture is no video", brands("xxxxavif"), ""},
		{"none", brands("xxxxyyyy"), ""},
		{"no compatible brands", brands("xxxx"), ""},
		{"brand behind the box", join(brands("xxxxyyyy"), []byte("isomisom")), ""},
		{"generic picture", brands("mif1isom"), ""},
		{"moov first", box("moov", make([]byte, 9)), "mov"},
		{"mdat first", box("mdat", make([]byte, 9)), "mov"},
		{"wide first", join(box("wide"), box("mdat")), "mov"},
		{"another box first", box("meta", make([]byte, 9)), ""},
		{"too short", []byte("\x00\x00\x00\x08moov"), ""},
	}
	for _, tt := range tests {
		got := guessISO(sourceOf(tt.src))
		if diff := cmp.Diff(tt.want, got.Ext); diff != "" || (got.Kind != sniff.KindVideo) != (tt.want == "") {
			t.Errorf("%s: %+v (-want +got):\n%s", tt.name, got, diff)
		}
	}
}

func TestTurn(t *testing.T) {
	t.Parallel()
	const one = 1 << 16
	tests := []struct {
		name       string
		a, b, c, d int32
		want       int
	}{
		{"upright", one, 0, 0, one, 0},
		{"right", 0, one, -one, 0, 90},
		{"upside down", -one, 0, 0, -one, 180},
		{"left", 0, -one, one, 0, 270},
		{"twice as large", 2 * one, 0, 0, 2 * one, 0},
		{"right and half as large", 0, one / 2, -one / 2, 0, 90},
		{"mirrored", -one, 0, 0, one, 0},
		{"mirrored and turned", 0, one, one, 0, 90},
		{"askew", one, one, -one, one, 0},
		{"no matrix", 0, 0, 0, 0, 0},
	}
	for _, tt := range tests {
		if got := turn(tt.a, tt.b, tt.c, tt.d); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	for in, want := range map[uint32]int{
		0: 0, 1280 << 16: 1280, 1279<<16 | 0x8000: 1280, 1279<<16 | 0x7fff: 1279, math.MaxUint32: 65_536,
	} {
		if got := fixed(words(in)); got != want {
			t.Errorf("fixed(%#x) = %d, want %d", in, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"isom": "isom", "qt  ": "qt", "mp4\x00": "mp4", "a\x00bc": "a?bc", "\x1b[2J": "?[2J", "\xffabc": "?abc", "    ": "",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestIsKind(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"moov": true, "\xa9nam": true, "hev1": true, "ipr ": true, "\x00\x00\x00\x00": false, "ab\x80d": false, "a\ncd": false,
		"\xa9\xa9ab": false,
	} {
		if got := isKind(in); got != want {
			t.Errorf("isKind(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestSoundObject(t *testing.T) {
	t.Parallel()
	esds := func(es ...byte) []byte {
		return join(words(0, 1), box("mp4a", make([]byte, 28), box("esds", words(0), es)))
	}
	deep := join(words(0, 1), box("mp4a", make([]byte, 28+16),
		box("wave", box("frma", []byte("mp4a")), box("esds", words(0), []byte{3, 20, 0, 0, 0, 4, 13, 0x6b, 0x15}))))
	tests := []struct {
		name string
		src  []byte
		want string
	}{
		{"aac", esds(3, 20, 0, 1, 0, 4, 13, 0x40, 0x15), "aac"},
		{"aac of mpeg-2", esds(3, 20, 0, 1, 0, 4, 13, 0x67, 0x15), "aac"},
		{"mp3", esds(3, 20, 0, 1, 0, 4, 13, 0x69, 0x15), "mp3"},
		{"ac-3", esds(3, 20, 0, 1, 0, 4, 13, 0xa5, 0x15), "ac3"},
		{"length of four bytes", esds(3, 0x80, 0x80, 0x80, 20, 0, 1, 0, 4, 0x80, 0x80, 0x80, 13, 0x6b), "mp3"},
		{"depends on another stream", esds(3, 20, 0, 1, 0x80, 9, 9, 4, 13, 0x6b), "mp3"},
		{"has a clock of its own", esds(3, 20, 0, 1, 0x20, 9, 9, 4, 13, 0x6b), "mp3"},
		{"both", esds(3, 20, 0, 1, 0xa0, 9, 9, 9, 9, 4, 13, 0x6b), "mp3"},
		{"QuickTime's place", deep, "mp3"},
		{"unknown object", esds(3, 20, 0, 1, 0, 4, 13, 0x33), "mp4a"},
		{"no esds", join(words(0, 1), box("mp4a", make([]byte, 28))), "aac"},
		{"another descriptor", esds(5, 20, 0, 1, 0, 4, 13, 0x6b), "aac"},
		{"another descriptor inside", esds(3, 20, 0, 1, 0, 6, 13, 0x6b), "aac"},
		{"empty esds", esds(), "aac"},
		{"length that does not end", esds(3, 0x80, 0x80, 0x80, 0x80, 0x80), "aac"},
		{"cut behind the flags", esds(3, 20, 0, 1, 0xa0), "aac"},
		{"nothing", nil, "aac"},
	}
	for _, tt := range tests {
		if got := soundObject(sourceOf(tt.src)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestElementAt(t *testing.T) {
	t.Parallel()
	type result struct {
		id                        uint32
		start, end, body, missing int64
		unknown                   bool
		code                      fault.Code
	}
	tests := []struct {
		name string
		src  []byte
		want result
	}{
		{"one byte each", []byte{0xec, 0x82, 7, 7}, result{id: 0xec, start: 2, end: 4, body: 2}},
		{"empty", []byte{0xec, 0x80}, result{id: 0xec, start: 2, end: 2}},
		{"id of two bytes", []byte{0x42, 0x82, 0x81, 7}, result{id: 0x4282, start: 3, end: 4, body: 1}},
		{"id of four bytes", []byte{0x1a, 0x45, 0xdf, 0xa3, 0x80}, result{id: idHeader, start: 5, end: 5}},
		{"size of two bytes", []byte{0xec, 0x40, 1, 7}, result{id: 0xec, start: 3, end: 4, body: 1}},
		{"size of eight bytes", el(0xec, []byte{7}), result{id: 0xec, start: 9, end: 10, body: 1}},
		{"unknown size", []byte{0xec, 0xff, 1, 2, 3}, result{id: 0xec, start: 2, end: 5, body: 3, unknown: true}},
		{
			"unknown size of two bytes",
			[]byte{0xec, 0x7f, 0xff, 1},
			result{id: 0xec, start: 3, end: 4, body: 1, unknown: true},
		},
		{"cut", []byte{0xec, 0x90, 7, 7}, result{id: 0xec, start: 2, end: 18, body: 2, missing: 14}},
		{"cut in its id", []byte{0x1a, 0x45}, result{missing: 3}},
		{"cut before its size", []byte{0xec}, result{missing: 1}},
		{"cut in its size", []byte{0xec, 0x10, 0}, result{missing: 2}},
		{"id of five bytes", []byte{0x08, 0, 0, 0, 0, 0x80}, result{code: badVideo}},
		{"size of nine bytes", []byte{0xec, 0x00, 1}, result{code: badVideo}},
	}
	for _, tt := range tests {
		e, err := elementAt(sourceOf(tt.src), 0)
		got := result{e.id, e.start, e.end, e.body.size, e.missing, e.unknown, fault.CodeOf(err)}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// The first track of a kind counts, wherever tracks of other kinds stand.
func TestProbeVideoManyTracks(t *testing.T) {
	t.Parallel()
	track := func(id uint32, kind, codec string, frames uint32) []byte {
		return trak(trackHeader(id, 0, 320*id, 180*id), kind, 1000, 2000, visual(codec), frames)
	}
	src := join(ftyp("isom"), box("moov", movieClock(2000), track(1, "tmcd", "tmcd", 1), track(2, "vide", "hvc1", 50),
		track(3, "soun", "sowt", 9), track(4, "vide", "jpeg", 1), track(5, "soun", "Opus", 9)),
		box("moov", movieClock(9000)), box("mdat"))
	got, err := probeVideoOf(src)
	must(t, err)
	want := mp4Info(func(i *VideoInfo) {
		i.Duration, i.Width, i.Height, i.Frames, i.FPS = 2*time.Second, 640, 360, 50, 25
		i.VideoCodec, i.AudioCodec = "hevc", "pcm"
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ProbeVideo (-want +got):\n%s", diff)
	}
}

func TestProbeVideoWhole(t *testing.T) {
	t.Parallel()
	video := trak(trackHeader(1, 0, 1280, 720), "vide", 12_288, 61_440, visual("avc1"), 120)
	empty := trak(trackHeader(1, 0, 1280, 720), "vide", 12_288, 0, visual("avc1"), 0)
	mvex := box("mvex", box("trex", words(0, 1, 1, 0, 0, 0)))
	fragment := box("moof", box("mfhd", words(0, 1)))
	longer := box("mvex", box("mehd", []byte{1, 0, 0, 0}, u64(5000)))
	tests := []struct {
		name  string
		boxes [][]byte
		want  bool
		d     time.Duration
	}{
		{"samples and data", [][]byte{box("moov", movieClock(5000), video), box("mdat")}, true, 5 * time.Second},
		{"samples without data", [][]byte{box("moov", movieClock(5000), video)}, false, 5 * time.Second},
		{"no samples, no data", [][]byte{box("moov", movieClock(0), empty)}, true, 0},
		{"data without moov", [][]byte{box("mdat", make([]byte, 40))}, false, 0},
		{"a brand and nothing else", nil, false, 0},
		{"fragments to come", [][]byte{box("moov", movieClock(0), empty, mvex)}, false, 0},
		{"a fragment", [][]byte{box("moov", movieClock(0), empty, mvex), fragment, box("mdat")}, true, 0},
		{"samples and no fragment", [][]byte{box("moov", movieClock(0), video, longer), box("mdat")}, true, 5 * time.Second},
		{"samples, no fragment, no data", [][]byte{box("moov", movieClock(0), video, longer)}, false, 5 * time.Second},
		{"64-bit mehd", [][]byte{box("moov", movieClock(0), empty, longer), fragment}, true, 5 * time.Second},
		{"length of the tracks", [][]byte{box("moov", movieClock(0), video), box("mdat")}, true, 5 * time.Second},
	}
	for _, tt := range tests {
		got, err := probeVideoOf(join(ftyp("isom"), join(tt.boxes...)))
		must(t, err)
		if got.Whole != tt.want || got.Duration != tt.d || got.Missing != 0 {
			t.Errorf("%s: %+v, want whole %v and %v", tt.name, got, tt.want, tt.d)
		}
	}
}

func TestProbeVideoBrokenBoxes(t *testing.T) {
	t.Parallel()
	tests := map[string][]byte{
		"mvhd too short":        box("moov", box("mvhd", words(0, 0))),
		"64-bit mvhd too short": box("moov", box("mvhd", []byte{1, 0, 0, 0}, make([]byte, 20))),
		"tkhd too short":        box("moov", box("trak", box("tkhd", words(0, 0, 0, 1)))),
		"64-bit tkhd too short": box("moov", box("trak", box("tkhd", []byte{1, 0, 0, 0}, make([]byte, 84)))),
		"hdlr too short":        box("moov", box("trak", box("mdia", box("hdlr", words(0, 0))))),
		"stsz too short":        box("moov", box("trak", box("mdia", box("minf", box("stbl", box("stsz", words(0, 0))))))),
		"stsd of no entry": box("moov", box("trak", box("mdia", handler("vide"),
			box("minf", box("stbl", box("stsd", words(0, 1))))))),
		"mdhd of 0 ticks": box("moov", box("trak", box("mdia", box("mdhd", words(0, 0, 0, 0, 9, 0))))),
		"mehd too short":  box("moov", movieClock(0), box("mvex", box("mehd", words(0)))),
		"trun too short":  box("moof", box("traf", box("tfhd", words(0, 1)), box("trun", words(0)))),
		"sidx too short":  box("sidx", words(0, 1, 1000)),
		"sidx too long":   box("sidx", words(0, 1, 1000, 0, 0), words(9)),
	}
	for name, b := range tests {
		got, err := probeVideoOf(join(ftyp("isom"), b, box("free")))
		if fault.CodeOf(err) != badVideo {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, badVideo)
		}
		cut := join(ftyp("isom"), b)
		cut[len(ftyp("isom"))+3] += 8 // the box announces more than there is: what it holds is what was left of it
		got, err = probeVideoOf(cut)
		must(t, err)
		if got.Whole || got.Missing != 8 {
			t.Errorf("%s, cut: %+v, want 8 bytes missing", name, got)
		}
	}
}

func TestPartReader(t *testing.T) {
	t.Parallel()
	b := bytes.Repeat([]byte("0123456789"), 700)
	got, err := io.ReadAll(&partReader{source: sourceOf(b).part(5, 6000)})
	must(t, err)
	if !bytes.Equal(got, b[5:6005]) {
		t.Errorf("%d bytes, want 6000", len(got))
	}
	got, err = io.ReadAll(&partReader{source: source{bytes.NewReader(b), 9000}})
	must(t, err)
	if !bytes.Equal(got, b) {
		t.Errorf("a size that is too large: %d bytes, want %d", len(got), len(b))
	}
	_, err = io.ReadAll(&partReader{source: source{goneReader{b, 100}, 7000}, off: 90})
	if fault.CodeOf(err) != fault.IOFailed {
		t.Errorf("a failing reader: %v, want io_failed", err)
	}
}
