package engine_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// scene is a smooth picture with an edge, which encoders treat as a photograph.
func scene(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(255 * x / w), uint8(255 * y / h), uint8((x*y/7 + x) % 256), 255}
			if x > w/2 && y > h/2 {
				c.G = 200
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func animation(t testing.TB) []byte {
	t.Helper()
	var g gif.GIF
	for i := range 3 {
		p := image.NewPaletted(image.Rect(0, 0, 32, 24), palette.WebSafe)
		p.SetColorIndex(i, i, 9)
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 10)
	}
	var b bytes.Buffer
	must(t, gif.EncodeAll(&b, &g))
	return b.Bytes()
}

// signed puts a chunk with content credentials into a PNG; nothing of it has to be valid to be kept.
func signed(data []byte) []byte {
	body := append([]byte("caBX"), "manifest"...)
	chunk := binary.BigEndian.AppendUint32(nil, 8)
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	return append(append(bytes.Clone(data[:33]), chunk...), data[33:]...) // behind IHDR
}

// compressRig has the sources of the tests.
func compressRig(t testing.TB, o options) *rig {
	t.Helper()
	o.noJournal = true
	r := newRig(t, o)
	r.write("a.png", encodePNG(scene(120, 90)))
	r.write("b.jpg", jpegOf(color.White))
	return r
}

func compressOf(c engine.Compression, images ...string) *engine.CompressImages {
	return &engine.CompressImages{Compression: c, Images: images}
}

// brief is a row as the tests compare it: names relative to the working directory.
type brief struct{ Source, Status, Path, Code string }

func (r *rig) briefs(res *engine.CompressResult) []brief {
	r.t.Helper()
	short := func(path string) string {
		if rel, err := filepath.Rel(r.dir, path); err == nil && filepath.IsAbs(path) {
			return filepath.ToSlash(rel)
		}
		return path
	}
	var out []brief
	for _, i := range res.Items {
		b := brief{Source: short(i.Source), Status: i.Status, Path: short(i.Path)}
		if i.Error != nil {
			b.Code = string(i.Error.Code)
		}
		out = append(out, b)
	}
	return out
}

// TestCompressPlaces: beside the source, in a directory, in a file, on stdout, in place; the extension follows the bytes.
func TestCompressPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		c      engine.Compression
		out    engine.CompressOutput
		images []string
		want   []brief
		files  []string // beside a.png and b.jpg
	}{
		{
			"beside",
			engine.Compression{MaxSize: 40},
			engine.CompressOutput{},
			[]string{"a.png"},
			[]brief{{"a.png", "compressed", "a.compressed.png", ""}},
			[]string{"a.compressed.png"},
		},
		{
			"another format",
			engine.Compression{Format: "jpg"},
			engine.CompressOutput{},
			[]string{"a.png"},
			[]brief{{"a.png", "compressed", "a.compressed.jpeg", ""}},
			[]string{"a.compressed.jpeg"},
		},
		{
			"a directory",
			engine.Compression{MaxSize: 40},
			engine.CompressOutput{Dest: "new/"},
			[]string{"a.png", "b.jpg"},
			[]brief{{"a.png", "compressed", "new/a.png", ""}, {"b.jpg", "untouched", "new/b.jpg", ""}},
			[]string{"new/a.png", "new/b.jpg"},
		},
		{
			"the ending decides",
			engine.Compression{},
			engine.CompressOutput{Dest: "x.JPG"},
			[]string{"a.png"},
			[]brief{{"a.png", "compressed", "x.JPG", ""}},
			[]string{"x.JPG"},
		},
		{
			"no ending",
			engine.Compression{MaxSize: 40},
			engine.CompressOutput{Dest: "x"},
			[]string{"a.png"},
			[]brief{{"a.png", "compressed", "x.png", ""}},
			[]string{"x.png"},
		},
		{
			"in place",
			engine.Compression{MaxSize: 40},
			engine.CompressOutput{InPlace: true},
			[]string{"a.png"},
			[]brief{{"a.png", "compressed", "a.png", ""}},
			nil,
		},
		{
			"onto itself",
			engine.Compression{MaxSize: 40},
			engine.CompressOutput{Dest: "a.png", Overwrite: true},
			[]string{"a.png"},
			[]brief{{"a.png", "compressed", "a.png", ""}},
			nil,
		},
		{
			"fits already",
			engine.Compression{MaxBytes: 1 << 20},
			engine.CompressOutput{},
			[]string{"a.png", "b.jpg"},
			[]brief{{"a.png", "untouched", "a.png", ""}, {"b.jpg", "untouched", "b.jpg", ""}},
			nil,
		},
		{
			"fits already, in place",
			engine.Compression{MaxBytes: 1 << 20},
			engine.CompressOutput{InPlace: true},
			[]string{"a.png"},
			[]brief{{"a.png", "untouched", "a.png", ""}},
			nil,
		},
		{
			"some fail",
			engine.Compression{MaxSize: 40},
			engine.CompressOutput{},
			[]string{"missing.png", "a.png"},
			[]brief{{"missing.png", "failed", "", "not_found"}, {"a.png", "compressed", "a.compressed.png", ""}},
			[]string{"a.compressed.png"},
		},
		{
			"auto",
			engine.Compression{Format: "auto", MaxSize: 40},
			engine.CompressOutput{},
			[]string{"b.jpg"},
			[]brief{{"b.jpg", "untouched", "b.jpg", ""}},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := compressRig(t, options{})
			a := read(t, r.in("a.png"))
			res, err := r.CompressImages(t.Context(), compressOf(tt.c, tt.images...), tt.out, nil)
			if res == nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.briefs(res)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			files := slices.Sorted(slices.Values(append([]string{"a.png", "b.jpg"}, tt.files...)))
			if diff := cmp.Diff(files, r.files()); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			replaced := tt.want[0].Path == "a.png" && tt.want[0].Status == "compressed"
			if bytes.Equal(a, read(t, r.in("a.png"))) == replaced {
				t.Errorf("a.png was replaced: %v, want %v", !replaced, replaced)
			}
			for _, i := range res.Items {
				if i.Status != engine.Failed && (i.Before == nil || i.After == nil || i.After.Bytes != int64(len(read(t, i.Path)))) {
					t.Errorf("facts of %s: %+v, %+v", i.Source, i.Before, i.After)
				}
			}
		})
	}
}

// TestCompressKeepsTheBudget to the byte, and says what was done.
func TestCompressKeepsTheBudget(t *testing.T) {
	t.Parallel()
	r := compressRig(t, options{})
	var events []engine.Event
	res, err := r.CompressImages(t.Context(), compressOf(engine.Compression{MaxBytes: 3000, Format: "jpeg"}, "a.png"),
		engine.CompressOutput{Measure: true}, collect(&events))
	must(t, err)
	i, a := res.Items[0], res.Assets[0]
	if i.After.Bytes > 3000 || i.After.Bytes < 1500 || i.After.MediaType != "image/jpeg" || i.Encodes < 1 ||
		i.Quality == nil || i.SSIM == nil || *i.SSIM < 0.5 || *i.SSIM > 1 {
		t.Errorf("%+v, after %+v", i, i.After)
	}
	want := engine.Asset{
		Path: i.Path, MediaType: "image/jpeg", Bytes: i.After.Bytes, Width: i.After.Width, Height: i.After.Height,
		SHA256: a.SHA256, Source: r.in("a.png"),
	}
	if diff := cmp.Diff(want, a); diff != "" || len(a.SHA256) != 64 {
		t.Error(diff)
	}
	kinds := []engine.EventKind{}
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	if diff := cmp.Diff([]engine.EventKind{engine.EventCompressing, engine.EventCompressed}, kinds); diff != "" {
		t.Error(diff)
	}
}

type collector struct{ to *[]engine.Event }

func (c collector) Event(e engine.Event) { *c.to = append(*c.to, e) }

func collect(to *[]engine.Event) engine.Progress { return collector{to} }

// TestCompressBestEffort saves what comes nearest and says so.
func TestCompressBestEffort(t *testing.T) {
	t.Parallel()
	r := compressRig(t, options{})
	r.write("noise.png", noise(64, 64))
	r.write("a.gif", animation(t))
	c := engine.Compression{MaxBytes: 1024, MinSSIM: 0.99, BestEffort: true, FirstFrame: true, Format: "jpeg"}
	res, err := r.CompressImages(t.Context(), compressOf(c, "noise.png", "a.gif"), engine.CompressOutput{}, nil)
	must(t, err)
	if i := res.Items[0]; !i.Missed || len(i.Notes) == 0 || i.Path != r.in("noise.compressed.jpeg") {
		t.Errorf("%+v", i)
	}
	if text := strings.Join(res.Warnings, "\n"); !strings.Contains(text, "noise.png: ") ||
		!strings.Contains(text, "a.gif: only the first of 3 frames was kept") {
		t.Errorf("warnings: %s", text)
	}
}

// TestCompressDirectory takes pictures by their bytes, and leaves out what is hidden, below, linked or a copy.
func TestCompressDirectory(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{noJournal: true})
	for _, name := range []string{"in/b.png", "in/a.txt", "in/.c.png", "in/sub/d.png", "in/e.compressed.png", "in/f.tar.png"} {
		r.write(name, tinyPNG())
	}
	r.write("in/g.png", []byte("text"))
	r.write("in/icon.ico", []byte("\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00\x68\x04\x00\x00\x16\x00\x00\x00"))
	must(t, os.Symlink("b.png", r.in("in/h.png")))
	res, err := r.CompressImages(t.Context(), compressOf(engine.Compression{Format: "jpeg"}, "in"), engine.CompressOutput{}, nil)
	must(t, err)
	want := []brief{
		{"in/a.txt", "compressed", "in/a.compressed.jpeg", ""},
		{"in/b.png", "compressed", "in/b.compressed.jpeg", ""},
		{"in/f.tar.png", "compressed", "in/f.tar.compressed.jpeg", ""},
	}
	if diff := cmp.Diff(want, r.briefs(res)); diff != "" {
		t.Error(diff)
	}
}

// TestCompressStdin reads stdin and writes stdout, byte for byte when the picture fits.
func TestCompressStdin(t *testing.T) {
	t.Parallel()
	for _, fits := range []bool{false, true} {
		src := encodePNG(scene(120, 90))
		r := newRig(t, options{noJournal: true, change: func(c *engine.Config) { c.Stdin = bytes.NewReader(src) }})
		c := engine.Compression{MaxSize: 60}
		if fits {
			c = engine.Compression{MaxSize: 600}
		}
		var out bytes.Buffer
		res, err := r.CompressImages(t.Context(), compressOf(c, "-"), engine.CompressOutput{Stdout: &out}, nil)
		must(t, err)
		if diff := cmp.Diff([]brief{{"-", map[bool]string{true: "untouched", false: "compressed"}[fits], "-", ""}}, r.briefs(res)); diff != "" {
			t.Error(diff)
		}
		if bytes.Equal(out.Bytes(), src) != fits || sniff.Detect(out.Bytes()).MIME != "image/png" || len(r.files()) != 0 {
			t.Errorf("fits %v: %d bytes on stdout, files %v", fits, out.Len(), r.files())
		}
	}
	r := newRig(t, options{noJournal: true, change: func(c *engine.Config) { c.Stdin = strings.NewReader("") }})
	_, err := r.CompressImages(t.Context(), compressOf(engine.Compression{}, "-"), engine.CompressOutput{Dest: "x.png"}, nil)
	wantError(t, err, engine.KindInvalidRequest, fault.InvalidArgument, engine.BilledNo)
	r = compressRig(t, options{})
	for _, c := range []engine.Compression{{Format: "jpeg"}, {MaxSize: 600}} {
		res, err := r.CompressImages(t.Context(), compressOf(c, "a.png"), engine.CompressOutput{Stdout: brokenPipe{}}, nil)
		wantError(t, err, engine.KindFailure, fault.IOFailed, engine.BilledNo)
		if i := res.Items[0]; i.Status != engine.Failed || i.Untouched || i.After != nil || i.Path != "" {
			t.Errorf("%+v", i)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

// TestCompressSigned warns when a copy loses content credentials, and never puts one in their place.
func TestCompressSigned(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{noJournal: true})
	src := signed(encodePNG(scene(120, 90)))
	r.write("a.png", src)
	c := engine.Compression{MaxSize: 40}
	res, err := r.CompressImages(t.Context(), compressOf(c, "a.png"), engine.CompressOutput{}, nil)
	must(t, err)
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "loses the content credentials") {
		t.Errorf("warnings %q", res.Warnings)
	}
	for _, out := range []engine.CompressOutput{{InPlace: true}, {Dest: "a.png", Overwrite: true}} {
		_, err = r.CompressImages(t.Context(), compressOf(c, "a.png"), out, nil)
		e := wantError(t, err, engine.KindUnsupported, fault.UnsupportedOperation, engine.BilledNo)
		contains(t, e.Message, "content credentials")
	}
	if !bytes.Equal(src, read(t, r.in("a.png"))) {
		t.Error("the signed file was replaced")
	}
	fits := engine.Compression{MaxSize: 400}
	res, err = r.CompressImages(t.Context(), compressOf(fits, "a.png"), engine.CompressOutput{InPlace: true}, nil)
	must(t, err)
	if len(res.Warnings) != 0 || !res.Items[0].Untouched {
		t.Errorf("%+v", res.Items[0])
	}
}

// TestCompressPolicy holds for reads and writes under roots.
func TestCompressPolicy(t *testing.T) {
	t.Parallel()
	r := compressRig(t, options{mcp: true})
	outside := filepath.Join(t.TempDir(), "x.png")
	must(t, os.WriteFile(outside, tinyPNG(), 0o600))
	c := engine.Compression{MaxSize: 40}
	_, err := r.CompressImages(t.Context(), compressOf(c, outside), engine.CompressOutput{}, nil)
	wantError(t, err, engine.KindPolicyDenied, fault.PathDenied, engine.BilledNo)
	_, err = r.CompressImages(t.Context(), compressOf(c, r.in("a.png")), engine.CompressOutput{Dest: outside + ".png"}, nil)
	wantError(t, err, engine.KindPolicyDenied, fault.PathDenied, engine.BilledNo)
	res, err := r.CompressImages(t.Context(), compressOf(c, r.dir), engine.CompressOutput{}, nil)
	must(t, err)
	if len(res.Items) != 2 || len(res.Assets) != 1 {
		t.Errorf("%+v", res.Items)
	}
}

// TestCompressMany keeps the order of the sources, however they end, and tells one event at a time.
func TestCompressMany(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{noJournal: true})
	var names []string
	for i := range 20 {
		name := string(rune('a'+i)) + ".png"
		r.write(name, pngOf(8+i, 6, color.White))
		names = append(names, name)
	}
	p := &serial{}
	res, err := r.CompressImages(t.Context(), compressOf(engine.Compression{Format: "jpeg"}, names...),
		engine.CompressOutput{Dest: "out/", Jobs: 5}, p)
	must(t, err)
	for i, item := range res.Items {
		if filepath.Base(item.Source) != names[i] || item.Before.Width != 8+i || res.Assets[i].Index != i {
			t.Errorf("item %d is %+v", i, item)
		}
	}
	if p.events != 21 || p.torn {
		t.Errorf("%d events, torn %v", p.events, p.torn)
	}
}

// serial notes whether two events came at once.
type serial struct {
	mu     sync.Mutex
	events int
	torn   bool
}

func (s *serial) Event(engine.Event) {
	if !s.mu.TryLock() {
		s.torn = true
		return
	}
	defer s.mu.Unlock()
	s.events++
}
