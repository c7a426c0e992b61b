package drawing

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"hash/crc32"
	"image"
	"image/gif"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/image/webp"

	"mediagen/internal/fault"
)

const hostile = `</rdf:li><script>alert("1")</script> ]]> & 'q' ` + "\x00\x01\ufffe 日本 🦊"

// sample returns a small file of a format.
func sample(t *testing.T, format, prompt string) File {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	s := Sketch{Width: 65, Height: 49, Prompt: prompt, Model: "m", Count: 1}
	switch format {
	case "svg":
		return Vector(s)
	case "gif":
		f, err := p.Animate(s, 3, 50)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	img, err := p.Paint(s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Encode(t.Context(), img, format, 80, prompt)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func readAll(t *testing.T, f File) []byte {
	t.Helper()
	data, err := io.ReadAll(f.Open())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPaddingOfEverySize holds for sizes around every boundary of the formats that a padded file is as long as it says,
// at least as long as was asked, and by at most 11 bytes more: a chunk's own frame.
func TestPaddingOfEverySize(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"png", "jpeg", "webp", "gif", "svg"} {
		plain := sample(t, format, "a fox")
		base := plain.Size()
		if got := int64(len(readAll(t, plain))); got != base {
			t.Errorf("%s: file of %d bytes says %d", format, got, base)
		}
		extras := []int64{-5, 0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 65533, 65534, 65535, 65536, 65537, 65538, 65541, 131_075}
		rng := rand.New(rand.NewPCG(7, 8))
		for range 60 {
			extras = append(extras, rng.Int64N(300_000))
		}
		for _, extra := range extras {
			f := plain
			f.PadTo(base + extra)
			data := readAll(t, f)
			if int64(len(data)) != f.Size() || f.Size() < base+extra || f.Size() > base+max(extra, 0)+11 {
				t.Errorf("%s + %d: %d bytes, says %d, want about %d", format, extra, len(data), f.Size(), base+extra)
			}
			if again := readAll(t, f); !bytes.Equal(data, again) {
				t.Errorf("%s + %d: a second reading differs", format, extra)
			}
			checkLayout(t, format, data)
		}
	}
}

// checkLayout walks a file's chunks to its very end.
func checkLayout(t *testing.T, format string, data []byte) {
	t.Helper()
	switch format {
	case "png":
		at := 8
		for at+12 <= len(data) {
			n := int(binary.BigEndian.Uint32(data[at:]))
			if binary.BigEndian.Uint32(data[at+8+n:]) != crc32.ChecksumIEEE(data[at+4:at+8+n]) {
				t.Errorf("png: chunk %s has a wrong checksum", data[at+4:at+8])
			}
			at += 12 + n
		}
		if at != len(data) || string(data[len(data)-8:len(data)-4]) != "IEND" {
			t.Errorf("png: chunks end at %d of %d", at, len(data))
		}
	case "jpeg":
		at := 2
		for data[at] == 0xff && data[at+1] != 0xda {
			at += 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		}
		if data[at] != 0xff || !bytes.HasSuffix(data, []byte{0xff, 0xd9}) {
			t.Errorf("jpeg: segments lead to %x at %d", data[at], at)
		}
	case "webp":
		at := 12
		for at+8 <= len(data) {
			n := int(binary.LittleEndian.Uint32(data[at+4:]))
			at += 8 + n + n%2
		}
		if at != len(data) || int(binary.LittleEndian.Uint32(data[4:])) != len(data)-8 {
			t.Errorf("webp: chunks end at %d of %d", at, len(data))
		}
	case "gif":
		if _, err := gif.DecodeAll(bytes.NewReader(data)); err != nil {
			t.Errorf("gif: %v", err)
		}
	case "svg":
		wellFormed(t, data)
	}
}

func wellFormed(t *testing.T, data []byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("not well-formed: %v in %.300s", err, data)
			return
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "script" {
			t.Error("a prompt became an element")
		}
	}
}

func TestHostilePromptStaysText(t *testing.T) {
	t.Parallel()
	wellFormed(t, readAll(t, sample(t, "svg", hostile)))
	packet := xmp(hostile)
	start, end := strings.Index(packet, "<x:xmpmeta"), strings.Index(packet, "<?xpacket end")
	wellFormed(t, []byte(packet[start:end]))
	for _, format := range []string{"png", "jpeg", "webp", "gif"} {
		checkLayout(t, format, readAll(t, sample(t, format, hostile)))
	}
}

func TestWebPKeepsItsAlpha(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, clear := range []bool{true, false} {
		img, err := p.Paint(Sketch{Width: 64, Height: 64, Prompt: "x", Count: 1, Transparent: clear})
		if err != nil {
			t.Fatal(err)
		}
		f, err := Encode(t.Context(), img, "webp", 80, "x")
		if err != nil {
			t.Fatal(err)
		}
		data := readAll(t, f)
		if got := string(data[12:16]); got != "VP8X" {
			t.Fatalf("first chunk is %q, want VP8X", got)
		}
		if flags := data[20]; (flags&0x10 != 0) != clear || flags&0x04 == 0 {
			t.Errorf("transparent %v: flags %08b", clear, flags)
		}
		cfg, err := webp.DecodeConfig(bytes.NewReader(data))
		if err != nil || cfg.Width != 64 || cfg.Height != 64 {
			t.Errorf("canvas is %dx%d, %v", cfg.Width, cfg.Height, err)
		}
	}
}

func TestTextRefusesAnUnknownLayout(t *testing.T) {
	t.Parallel()
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	good := map[string][]byte{}
	for _, format := range []string{"png", "jpeg", "webp"} {
		good[format] = readAll(t, sample(t, format, "x"))
	}
	for _, data := range [][]byte{nil, {0xff}, []byte("GIF89a"), bytes.Repeat([]byte{0}, 200), good["jpeg"][:5]} {
		if _, err := pngWithText(data, "x"); err == nil {
			t.Errorf("png: %x is taken", data)
		}
		if _, err := jpegWithText(data, "x"); err == nil {
			t.Errorf("jpeg: %x is taken", data)
		}
		if _, err := webpWithText(data, img, "x"); err == nil {
			t.Errorf("webp: %x is taken", data)
		}
	}
	if _, err := Encode(t.Context(), img, "bmp", 80, "x"); fault.CodeOf(err) != fault.UnsupportedOperation {
		t.Errorf("bmp: error = %v, want code %s", err, fault.UnsupportedOperation)
	}
}

func TestCutBytes(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "abc", "日本語", "a🦊b", strings.Repeat("é", 100)} {
		for limit := range len(s) + 2 {
			got := cutBytes(s, limit)
			if len(got) > limit || !strings.HasPrefix(s, got) || !utf8.ValidString(got) || limit-len(got) > 3 && got != s {
				t.Errorf("cutBytes(%q, %d) = %q", s, limit, got)
			}
		}
	}
}

func TestNameAndMIME(t *testing.T) {
	t.Parallel()
	a, b := sample(t, "png", "a"), sample(t, "png", "b")
	padded := a
	padded.PadTo(100_000)
	if a.Name() == b.Name() || a.Name() == padded.Name() || a.Name() != sample(t, "png", "a").Name() {
		t.Errorf("names %s, %s, %s must follow from the bytes", a.Name(), b.Name(), padded.Name())
	}
	for format, want := range map[string]string{"png": "image/png", "svg": "image/svg+xml", "webp": "image/webp"} {
		if got := sample(t, format, "a").MIME(); got != want {
			t.Errorf("%s: %s, want %s", format, got, want)
		}
	}
}

func TestAnimation(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	prompt := strings.Repeat("a long prompt 日本 ", 40) // more than one block of a comment
	for frames := 2; frames <= 16; frames += 7 {
		f, err := p.Animate(Sketch{Width: 96, Height: 64, Prompt: prompt, Count: 1}, frames, 154)
		if err != nil {
			t.Fatal(err)
		}
		data := readAll(t, f)
		g, err := gif.DecodeAll(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Image) != frames || g.Delay[frames-1] != 15 {
			t.Errorf("%d frames of %d/100 s, want %d of 15", len(g.Image), g.Delay[frames-1], frames)
		}
		if g.Image[0].Rect != image.Rect(0, 0, 96, 64) {
			t.Errorf("first frame is %v, want the whole picture", g.Image[0].Rect)
		}
		for i, m := range g.Image[1:] {
			if m.Rect.Dx()*m.Rect.Dy() > 96*64 || m.Rect.Empty() {
				t.Errorf("frame %d is %v, want a part of the picture", i+1, m.Rect)
			}
		}
		if got := gifComment(data); got != prompt {
			t.Errorf("comment of %d bytes, want the prompt of %d", len(got), len(prompt))
		}
	}
}

// gifComment joins the blocks of the first comment extension.
func gifComment(data []byte) string {
	at := bytes.Index(data, []byte{0x21, 0xfe})
	if at < 0 {
		return ""
	}
	var text []byte
	for at += 2; data[at] != 0; at += 1 + int(data[at]) {
		text = append(text, data[at+1:at+1+int(data[at])]...)
	}
	return string(text)
}

// TestDitherKeepsTheMean holds that a flat colour comes out as a mixture of about that colour.
func TestDitherKeepsTheMean(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	for range 200 {
		want := [3]float64{float64(rng.IntN(256)), float64(rng.IntN(256)), float64(rng.IntN(256))}
		c := newCanvas(16, 16)
		for i := 0; i < len(c.Pix); i += 4 {
			c.Pix[i], c.Pix[i+1], c.Pix[i+2], c.Pix[i+3] = uint8(want[0]), uint8(want[1]), uint8(want[2]), 255
		}
		m := dithered(c.RGBA, c.Rect)
		var sum [3]float64
		for y := range 16 {
			for x := range 16 {
				r, g, b, _ := m.At(x, y).RGBA()
				sum[0] += float64(r>>8) / 256
				sum[1] += float64(g>>8) / 256
				sum[2] += float64(b>>8) / 256
			}
		}
		for i := range sum {
			if d := sum[i] - want[i]; d > 5 || d < -5 {
				t.Errorf("channel %d of %v comes out as %.1f", i, want, sum[i])
			}
		}
	}
}

func TestVectorNamesItsSize(t *testing.T) {
	t.Parallel()
	text := string(readAll(t, Vector(Sketch{Width: 1536, Height: 1024, Prompt: strings.Repeat("word ", 100), Count: 1})))
	for _, part := range []string{`width="1536" height="1024" viewBox="0 0 1536 1024"`, "EMULATED", strings.Repeat("word ", 100), "…"} {
		if !strings.Contains(text, part) {
			t.Errorf("svg lacks %.60q: %.400s", part, text)
		}
	}
	if text != string(readAll(t, Vector(Sketch{Width: 1536, Height: 1024, Prompt: strings.Repeat("word ", 100), Count: 1}))) {
		t.Error("the same sketch gives another svg")
	}
}

func TestPNGTextIsWhereReadersLook(t *testing.T) {
	t.Parallel()
	data := readAll(t, sample(t, "png", "Füchse"))
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	head, pixels := bytes.Index(data, []byte("iTXtDescription\x00\x00\x00\x00\x00Füchse")), bytes.Index(data, []byte("IDAT"))
	if head < 0 || head > pixels {
		t.Errorf("iTXt at %d, pixels at %d: want the text first", head, pixels)
	}
}
