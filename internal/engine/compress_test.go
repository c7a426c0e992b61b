package engine_test

import (
	"bytes"
	"context"
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
	"time"

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

// TestCompressRefuses what cannot work before anything is written.
func TestCompressRefuses(t *testing.T) {
	t.Parallel()
	small := engine.Compression{MaxSize: 40}
	tests := []struct {
		name   string
		c      engine.Compression
		out    engine.CompressOutput
		images []string
		kind   engine.Kind
		says   string
	}{
		{"no picture", small, engine.CompressOutput{}, nil, engine.KindInvalidRequest, "at least one"},
		{"an empty name", small, engine.CompressOutput{}, []string{""}, engine.KindInvalidRequest, "empty"},
		{
			"a budget below 1 KB",
			engine.Compression{MaxBytes: 1000},
			engine.CompressOutput{},
			[]string{"a.png"},
			engine.KindInvalidRequest, "max_bytes must be between 1Ki and 1Gi",
		},
		{
			"a negative budget",
			engine.Compression{MaxBytes: -1},
			engine.CompressOutput{},
			[]string{"a.png"},
			engine.KindInvalidRequest, "max_bytes",
		},
		{
			"a negative size",
			engine.Compression{MaxSize: -5},
			engine.CompressOutput{},
			[]string{"a.png"},
			engine.KindInvalidRequest, "max_size",
		},
		{
			"a quality of 101",
			engine.Compression{Quality: 101},
			engine.CompressOutput{},
			[]string{"a.png"},
			engine.KindInvalidRequest, "quality",
		},
		{
			"a floor above 1",
			engine.Compression{MinSSIM: 1.5},
			engine.CompressOutput{},
			[]string{"a.png"},
			engine.KindInvalidRequest, "min_ssim",
		},
		{
			"a colour by name",
			engine.Compression{Background: "red"},
			engine.CompressOutput{},
			[]string{"a.png"},
			engine.KindInvalidRequest, "#RRGGBB",
		},
		{
			"an unknown format",
			engine.Compression{Format: "gif"},
			engine.CompressOutput{},
			[]string{"a.png"},
			engine.KindInvalidRequest, "format must be one of",
		},
		{
			"-o of another format",
			engine.Compression{Format: "webp"},
			engine.CompressOutput{Dest: "x.png"},
			[]string{"a.png"},
			engine.KindInvalidRequest, "make both the same",
		},
		{
			"-o of no format", small,
			engine.CompressOutput{Dest: "x.gif"},
			[]string{"a.png"},
			engine.KindInvalidRequest, "-o ends in .gif",
		},
		{
			"two for one file", small,
			engine.CompressOutput{Dest: "x.png"},
			[]string{"a.png", "b.jpg"},
			engine.KindInvalidRequest, "name a directory",
		},
		{
			"two for stdout", small,
			engine.CompressOutput{Stdout: &bytes.Buffer{}},
			[]string{"a.png", "b.jpg"},
			engine.KindInvalidRequest, "takes one picture",
		},
		{
			"one twice", small,
			engine.CompressOutput{},
			[]string{"a.png", "./a.png"},
			engine.KindInvalidRequest, "would both be saved as a.compressed.png",
		},
		{
			"one name in two directories", small,
			engine.CompressOutput{Dest: "new/"},
			[]string{"a.png", "sub/a.png"},
			engine.KindInvalidRequest, "would both be saved as a.png",
		},
		{
			"auto with one stem",
			engine.Compression{Format: "auto"},
			engine.CompressOutput{},
			[]string{"a.png", "a.gif"},
			engine.KindInvalidRequest, "would both be saved",
		},
		{"the target exists", small, engine.CompressOutput{Dest: "b.jpg"}, []string{"a.png"}, engine.KindExists, "exists"},
		{
			"the copy of an earlier run exists",
			engine.Compression{Format: "auto"},
			engine.CompressOutput{},
			[]string{"old.png"},
			engine.KindExists, "old.compressed.webp",
		},
		{"onto itself", small, engine.CompressOutput{Dest: "a.png"}, []string{"a.png"}, engine.KindExists, "--in-place"},
		{
			"onto itself by another way", small,
			engine.CompressOutput{Dest: "sub/../a.png"},
			[]string{"a.png"},
			engine.KindExists, "--in-place",
		},
		{
			"onto another source",
			engine.Compression{Format: "png"},
			engine.CompressOutput{Dest: "sub", Overwrite: true},
			[]string{"a.png", "sub/a.png"},
			engine.KindInvalidRequest, "which is a source too",
		},
		{
			"in place and elsewhere", small,
			engine.CompressOutput{InPlace: true, Dest: "x.png"},
			[]string{"a.png"},
			engine.KindInvalidRequest, "use one",
		},
		{
			"in place in another format",
			engine.Compression{Format: "webp"},
			engine.CompressOutput{InPlace: true},
			[]string{"a.png"},
			engine.KindInvalidRequest, "use --format png, or another place with -o",
		},
		{
			"in place, a gif",
			engine.Compression{FirstFrame: true},
			engine.CompressOutput{InPlace: true},
			[]string{"a.gif"},
			engine.KindInvalidRequest, "would become png",
		},
		{
			"in place, auto",
			engine.Compression{Format: "auto"},
			engine.CompressOutput{InPlace: true},
			[]string{"a.png"},
			engine.KindInvalidRequest, "--format auto",
		},
		{"stdin without a name", small, engine.CompressOutput{}, []string{"-"}, engine.KindInvalidRequest, "-o FILE"},
		{"stdin to a directory", small, engine.CompressOutput{Dest: "new/"}, []string{"-"}, engine.KindInvalidRequest, "-o FILE"},
		{"stdin twice", small, engine.CompressOutput{Dest: "new/"}, []string{"-", "-"}, engine.KindInvalidRequest, "one picture"},
		{"negative jobs", small, engine.CompressOutput{Jobs: -1}, []string{"a.png"}, engine.KindInvalidRequest, "jobs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := compressRig(t, options{})
			r.write("sub/a.png", tinyPNG())
			r.write("a.gif", animation(t))
			r.write("old.png", tinyPNG())
			r.write("old.compressed.webp", tinyPNG())
			before := r.files()
			res, err := r.CompressImages(t.Context(), compressOf(tt.c, tt.images...), tt.out, nil)
			e := engine.AsError(err)
			if res != nil || e == nil || e.Kind != tt.kind || !strings.Contains(e.Message, tt.says) || e.Op != "images compress" {
				t.Fatalf("%+v, error %+v", res, e)
			}
			if diff := cmp.Diff(before, r.files()); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

// TestCompressFails one picture at a time, with nothing written for it.
func TestCompressFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, image string
		c           engine.Compression
		kind        engine.Kind
		code        fault.Code
		says, hint  string
	}{
		{"missing", "no.png", engine.Compression{}, engine.KindNotFound, fault.NotFound, "no.png", ""},
		{"a URL", "https://example.org/a.png", engine.Compression{}, engine.KindUnsupported, fault.UnsupportedOperation, "URL", ""},
		{"text", "text.png", engine.Compression{}, engine.KindInvalidRequest, fault.InvalidImage, "text.png: the bytes are text", ""},
		{"cut", "cut.jpg", engine.Compression{Format: "png"}, engine.KindInvalidRequest, fault.InvalidImage, "cut.jpg", ""},
		{
			"an empty directory", "empty",
			engine.Compression{},
			engine.KindInvalidRequest, fault.InvalidArgument,
			"empty is a directory without pictures", "",
		},
		{
			"an animation", "a.gif",
			engine.Compression{Format: "png"},
			engine.KindUnsupported, fault.UnsupportedOperation,
			"holds 3 frames", "--first-frame",
		},
		{
			"an impossible budget", "noise.png",
			engine.Compression{MaxBytes: 1024, MinSSIM: 0.99},
			engine.KindConstraint,
			fault.ConstraintUnmet, "noise.png", "--best-effort",
		},
		{
			"too many pixels", "a.png",
			engine.Compression{MaxInputPixels: 100},
			engine.KindPolicyDenied, fault.PixelsExceeded,
			"at most 100", "",
		},
		{
			"too long a side", "a.png",
			engine.Compression{MaxInputSide: 100},
			engine.KindPolicyDenied, fault.PixelsExceeded,
			"at most 100 a side", "",
		},
		{"too many bytes", "big.png", engine.Compression{}, engine.KindPolicyDenied, fault.ItemTooLarge, "at most 60000", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := compressRig(t, options{change: func(c *engine.Config) { c.Bounds.SaveImage = 60_000 }})
			r.write("text.png", []byte("no picture"))
			r.write("cut.jpg", jpegOf(color.White)[:300])
			r.write("empty/readme.txt", []byte("x"))
			r.write("empty/icon.svg", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"))
			r.write("a.gif", animation(t))
			r.write("noise.png", noise(64, 64))
			r.write("big.png", padded(60_001))
			before := r.files()
			res, err := r.CompressImages(t.Context(), compressOf(tt.c, tt.image), engine.CompressOutput{}, nil)
			e := engine.AsError(err)
			if e == nil || e.Kind != tt.kind || e.Code != tt.code || !strings.Contains(e.Message, tt.says) ||
				!strings.Contains(e.Hint, tt.hint) {
				t.Fatalf("error %+v", e)
			}
			if i := res.Items[0]; i.Status != engine.Failed || i.Path != "" || i.Error.Message != e.Message || i.Error.Kind != tt.kind {
				t.Errorf("%+v", i)
			}
			if diff := cmp.Diff(before, r.files()); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

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
	_, err = r.CompressImages(t.Context(), compressOf(engine.Compression{Format: "jpeg"}, "a.png"),
		engine.CompressOutput{Stdout: brokenPipe{}}, nil)
	wantError(t, err, engine.KindFailure, fault.IOFailed, engine.BilledNo)
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

// TestCompressVerdict: partial when some made it, else the worst kind.
func TestCompressVerdict(t *testing.T) {
	t.Parallel()
	r := compressRig(t, options{})
	r.write("text.png", []byte("x"))
	r.write("noise.png", noise(64, 64))
	outside := []string{"no.png", "text.png", "noise.png"}
	c := engine.Compression{MaxBytes: 1024, MinSSIM: 0.99}
	_, err := r.CompressImages(t.Context(), compressOf(c, outside...), engine.CompressOutput{}, nil)
	e := wantError(t, err, engine.KindInvalidRequest, fault.InvalidImage, engine.BilledNo)
	contains(t, e.Message, "none of 3 files could be compressed")
	res, err := r.CompressImages(t.Context(), compressOf(c, append(outside, "b.jpg")...), engine.CompressOutput{}, nil)
	e = wantError(t, err, engine.KindPartial, "partial", engine.BilledNo)
	contains(t, e.Message, "3 of 4 files could not be compressed")
	if len(res.Items) != 4 {
		t.Errorf("%d items", len(res.Items))
	}
}

// TestCompressStops when the caller gives up, before and between pictures.
func TestCompressStops(t *testing.T) {
	t.Parallel()
	r := compressRig(t, options{})
	req := compressOf(engine.Compression{MaxSize: 40}, "a.png", "b.jpg")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.CompressImages(ctx, req, engine.CompressOutput{}, nil)
	wantError(t, err, engine.KindInterrupted, "interrupted", engine.BilledNo)
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err = r.CompressImages(late, req, engine.CompressOutput{}, nil)
	wantError(t, err, engine.KindUnavailable, "timeout", engine.BilledNo)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	_, err = r.CompressImages(ctx, req, engine.CompressOutput{Jobs: 1}, cancelAt{engine.EventCompressing, cancel})
	wantError(t, err, engine.KindInterrupted, "interrupted", engine.BilledNo)
	if len(r.files()) != 2 {
		t.Errorf("files %v", r.files())
	}
}

type cancelAt struct {
	kind   engine.EventKind
	cancel func()
}

func (c cancelAt) Event(e engine.Event) {
	if e.Kind == c.kind {
		c.cancel()
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
