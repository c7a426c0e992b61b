package engine_test

import (
	"context"
	"image/color"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/journal"
)

func generateOf(n int, format string) *engine.GenerateImages {
	req := engine.NewGenerateImages()
	req.Prompt, req.Model, req.N, req.OutputFormat = secretPrompt, "gpt-image-2", n, format
	return req
}

// TestCopies are made beside the pictures, which stay; the journal knows the pictures alone.
func TestCopies(t *testing.T) {
	t.Parallel()
	first, second := encodePNG(scene(120, 90)), encodePNG(scene(90, 120))
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{do: answer(first, second)}}})
	c := &engine.Compression{MaxSize: 60, Format: "JPG"}
	res, err := r.GenerateImages(t.Context(), generateOf(2, "png"), engine.Output{Dest: "out/", Template: "p-{index}", Compress: c}, nil)
	must(t, err)
	want := []string{"out/p-1.compressed.jpeg", "out/p-1.png", "out/p-2.compressed.jpeg", "out/p-2.png"}
	if diff := cmp.Diff(want, r.files()); diff != "" {
		t.Fatal(diff)
	}
	if string(read(t, r.in("out/p-1.png"))) != string(first) || c.Format != "JPG" {
		t.Error("the picture or the request was changed")
	}
	var got []string
	for _, a := range res.Assets {
		got = append(got, strings.TrimPrefix(a.Path, r.dir+"/")+" < "+strings.TrimPrefix(a.Source, r.dir+"/"))
	}
	wantAssets := []string{
		"out/p-1.png < ", "out/p-2.png < ", "out/p-1.compressed.jpeg < out/p-1.png", "out/p-2.compressed.jpeg < out/p-2.png",
	}
	if diff := cmp.Diff(wantAssets, got); diff != "" {
		t.Error(diff)
	}
	if a := res.Assets[3]; a.Index != 1 || a.Width != 45 || a.Height != 60 || a.MediaType != "image/jpeg" || a.Bytes == 0 {
		t.Errorf("%+v", a)
	}
	if row := r.row(); row.State != journal.StateLanded || len(row.Assets) != 2 {
		t.Errorf("%s with %d assets", row.State, len(row.Assets))
	}
}

// TestCopiesRefused finds before anything is paid what can never work.
func TestCopiesRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		c      engine.Compression
		format string
		out    engine.Output
		kind   engine.Kind
		says   string
	}{
		{"a budget below 1 KB", engine.Compression{MaxBytes: 10}, "", engine.Output{}, engine.KindInvalidRequest, "max_bytes"},
		{"an unknown format", engine.Compression{Format: "gif"}, "", engine.Output{}, engine.KindInvalidRequest, "format"},
		{"stdout", engine.Compression{}, "", engine.Output{Stream: true}, engine.KindInvalidRequest, "compress"},
		{
			"a copy exists",
			engine.Compression{Format: "png"},
			"",
			engine.Output{Dest: "a.png"},
			engine.KindExists,
			"a.compressed.png",
		},
		{
			"a copy of the picture's own format exists",
			engine.Compression{},
			"",
			engine.Output{Dest: "a.png"},
			engine.KindExists,
			"a.compressed.png",
		},
		{
			"a copy exists, auto",
			engine.Compression{Format: "auto"},
			"",
			engine.Output{Dest: "a.png"},
			engine.KindExists,
			"a.compressed.png",
		},
		{
			"a copy exists, dry run",
			engine.Compression{},
			"",
			engine.Output{Dest: "a.png", DryRun: true},
			engine.KindExists,
			"a.compressed.png",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			r := newRig(t, options{providers: []engine.ImageProvider{f}})
			r.write("a.compressed.png", tinyPNG())
			tt.out.Compress = &tt.c
			res, err := r.GenerateImages(t.Context(), generateOf(1, tt.format), tt.out, nil)
			e := engine.AsError(err)
			if res != nil || e == nil || e.Kind != tt.kind || !strings.Contains(e.Message, tt.says) || e.Billed != engine.BilledNo {
				t.Errorf("%+v, %+v", res, e)
			}
			if f.count() != 0 || len(r.files()) != 1 {
				t.Errorf("%d calls, files %v", f.count(), r.files())
			}
		})
	}
}

// TestCopiesFail: the pictures are there, the call is partial and says why; another error of the call stays.
func TestCopiesFail(t *testing.T) {
	t.Parallel()
	impossible := &engine.Compression{MaxBytes: 1024, MinSSIM: 0.99}
	provider := &fake{do: answer(noise(64, 64), tinyPNG())}
	r := newRig(t, options{providers: []engine.ImageProvider{provider}})
	res, err := r.GenerateImages(t.Context(), generateOf(2, "png"), engine.Output{Compress: impossible}, nil)
	e := wantError(t, err, engine.KindPartial, fault.ConstraintUnmet, engine.BilledYes)
	contains(t, e.Message, "1 of 2 compressed copies")
	if len(res.Assets) < 2 || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "--best-effort") {
		t.Errorf("%+v, files %v", res, r.files())
	}
	if row := r.row(); row.State != journal.StateLanded {
		t.Errorf("state %s", row.State)
	}
	blocked := engine.Errorf(engine.KindBlocked, "moderation_blocked", "blocked")
	r = newRig(t, options{providers: []engine.ImageProvider{&fake{do: thenFail(blocked, noise(64, 64))}}})
	res, err = r.GenerateImages(t.Context(), generateOf(2, "png"), engine.Output{Compress: impossible}, nil)
	e = wantError(t, err, engine.KindPartial, "moderation_blocked", engine.BilledYes)
	contains(t, e.Message, "1 of 2 pictures were saved")
	if len(res.Assets) != 1 {
		t.Errorf("%+v", res.Assets)
	}
}

// TestCopiesOfWhatCame: a name that was taken meanwhile is not replaced, an animation is no loss, and a caller that is
// gone gets no copy.
func TestCopiesOfWhatCame(t *testing.T) {
	t.Parallel()
	var r *rig
	late := &fake{do: during(func() {
		must(t, os.WriteFile(r.in("a.compressed.jpeg"), []byte("mine"), 0o600))
	})}
	r = newRig(t, options{providers: []engine.ImageProvider{late}})
	c := &engine.Compression{Format: "jpeg"}
	_, err := r.GenerateImages(t.Context(), generateOf(1, "png"), engine.Output{Dest: "a.png", Compress: c}, nil)
	wantError(t, err, engine.KindPartial, fault.Exists, engine.BilledYes)
	if string(read(t, r.in("a.compressed.jpeg"))) != "mine" {
		t.Error("a foreign file was replaced")
	}
	r = newRig(t, options{providers: []engine.ImageProvider{&fake{do: answer(animation(t))}}})
	_, err = r.GenerateImages(t.Context(), generateOf(1, "png"), engine.Output{Compress: c}, nil)
	wantError(t, err, engine.KindPartial, fault.UnsupportedOperation, engine.BilledYes)
	if len(r.files()) != 1 {
		t.Errorf("files %v", r.files())
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r = newRig(t, options{providers: []engine.ImageProvider{&fake{do: during(cancel)}}})
	res, err := r.GenerateImages(ctx, generateOf(1, "png"), engine.Output{Compress: c}, nil)
	wantError(t, err, engine.KindPartial, "interrupted", engine.BilledYes)
	if len(res.Assets) != 1 || len(r.files()) != 1 {
		t.Errorf("%+v, files %v", res.Assets, r.files())
	}
	r = newRig(t, options{providers: []engine.ImageProvider{&fake{do: answer(jpegOf(color.White))}}})
	res, err = r.GenerateImages(t.Context(), generateOf(1, "png"), engine.Output{Compress: &engine.Compression{MaxSize: 100}}, nil)
	must(t, err)
	if len(res.Assets) != 1 {
		t.Errorf("a picture that fits got a copy: %+v", res.Assets)
	}
}
