package engine_test

import (
	"bytes"
	"context"
	"image/color"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

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
