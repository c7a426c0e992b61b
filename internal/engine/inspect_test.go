package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"image/color"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// box is an ISO box; claim is added to the size that its header names.
func box(kind string, claim int, body ...[]byte) []byte {
	data := bytes.Join(body, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(data)+claim)), kind...), data...)
}

// clip is a film of 2.5 s without tracks.
func clip(missing int) []byte {
	head := make([]byte, 100) // mvhd of version 0: times, then the scale and the length
	binary.BigEndian.PutUint32(head[12:], 1000)
	binary.BigEndian.PutUint32(head[16:], 2500)
	return bytes.Join([][]byte{
		box("ftyp", 0, []byte("isom\x00\x00\x02\x00isomiso2mp41")), box("moov", 0, box("mvhd", 0, head)),
		box("mdat", missing, make([]byte, 16)),
	}, nil)
}

// TestInspect tells what headers say, and needs no whole picture for it.
func TestInspect(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{noJournal: true, change: func(c *engine.Config) { c.Stdin = bytes.NewReader(tinyPNG()) }})
	jpeg := withOrientation(jpegOf(color.White), 6)
	for name, data := range map[string][]byte{
		"turned.jpg": jpeg, "signed.png": signed(encodePNG(overlay(8, 6))), "a.gif": animation(t), "whole.mp4": clip(0),
		"cut.mp4": clip(70), "text.png": []byte("text"), "cut.jpg": jpeg[:len(jpeg)-20], "wide.png": pngOf(20_000, 1, color.Black),
	} {
		r.write(name, data)
	}
	tests := []struct {
		ref  string
		want engine.Inspection
	}{
		{"turned.jpg", engine.Inspection{
			Kind: "image", Format: "jpeg", MediaType: "image/jpeg", Width: 6, Height: 8, Frames: 1,
			Image: &engine.ImageDetails{Orientation: 6},
		}},
		{"cut.jpg", engine.Inspection{
			Kind: "image", Format: "jpeg", MediaType: "image/jpeg", Width: 6, Height: 8, Frames: 1,
			Image: &engine.ImageDetails{Orientation: 6},
		}},
		{"signed.png", engine.Inspection{
			Kind: "image", Format: "png", MediaType: "image/png", Width: 8, Height: 6, Frames: 1, C2PA: true,
			Image: &engine.ImageDetails{Orientation: 1, Alpha: true},
		}},
		{"a.gif", engine.Inspection{
			Kind: "image", Format: "gif", MediaType: "image/gif", Width: 32, Height: 24, Frames: 3,
			Image: &engine.ImageDetails{Orientation: 1},
		}},
		{"wide.png", engine.Inspection{
			Kind: "image", Format: "png", MediaType: "image/png", Width: 20_000, Height: 1, Frames: 1,
			Image: &engine.ImageDetails{Orientation: 1},
		}},
		{"whole.mp4", engine.Inspection{
			Kind: "video", Format: "mp4", MediaType: "video/mp4",
			Video: &engine.VideoDetails{Brand: "isom", DurationS: 2.5, FastStart: true, Whole: true},
		}},
		{"cut.mp4", engine.Inspection{
			Kind: "video", Format: "mp4", MediaType: "video/mp4",
			Video: &engine.VideoDetails{Brand: "isom", DurationS: 2.5, FastStart: true, Missing: 70},
		}},
		{"-", engine.Inspection{
			Kind: "image", Format: "png", MediaType: "image/png", Width: 8, Height: 6, Frames: 1,
			Image: &engine.ImageDetails{Orientation: 1},
		}},
	}
	for _, tt := range tests {
		rows, err := r.InspectMedia(t.Context(), []string{tt.ref})
		if err != nil {
			t.Errorf("%s: %v", tt.ref, err)
			continue
		}
		tt.want.Source, tt.want.Bytes = "-", int64(len(tinyPNG()))
		if tt.ref != "-" {
			tt.want.Source = r.in(tt.ref)
			tt.want.Bytes = int64(len(read(t, tt.want.Source)))
		}
		if rows[0].Image != nil && tt.want.Format == "gif" {
			rows[0].Image.Alpha = false // encoders differ
		}
		if diff := cmp.Diff(tt.want, rows[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.ref, diff)
		}
	}
}

// TestInspectFails one file at a time.
func TestInspectFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{noJournal: true})
	r.write("text.png", []byte("text"))
	r.write("a.png", tinyPNG())
	for ref, want := range map[string]struct {
		kind engine.Kind
		code fault.Code
		says string
	}{
		"":                     {engine.KindInvalidRequest, fault.InvalidArgument, "empty"},
		"missing":              {engine.KindNotFound, fault.NotFound, "missing"},
		".":                    {engine.KindInvalidRequest, fault.NotRegular, "directory"},
		"text.png":             {engine.KindUnsupported, fault.UnsupportedOperation, "text.png: the bytes are text/plain"},
		"https://example.org/": {engine.KindUnsupported, fault.UnsupportedOperation, "URL"},
		"-":                    {engine.KindInvalidRequest, fault.InvalidArgument, "stdin is not a source"},
	} {
		_, err := r.InspectMedia(t.Context(), []string{ref})
		e := wantError(t, err, want.kind, want.code, engine.BilledNo)
		contains(t, e.Message, want.says)
	}
	rows, err := r.InspectMedia(t.Context(), []string{"text.png", "a.png"})
	e := wantError(t, err, engine.KindPartial, "partial", engine.BilledNo)
	contains(t, e.Message, "1 of 2 files could not be read")
	if len(rows) != 2 || rows[0].Error == nil || rows[1].Error != nil || rows[1].Width != 8 {
		t.Errorf("%+v", rows)
	}
	_, err = r.InspectMedia(t.Context(), []string{"-", "-"})
	wantError(t, err, engine.KindInvalidRequest, fault.InvalidArgument, engine.BilledNo)
	_, err = r.InspectMedia(t.Context(), nil)
	wantError(t, err, engine.KindInvalidRequest, fault.InvalidArgument, engine.BilledNo)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.InspectMedia(ctx, []string{"a.png"})
	wantError(t, err, engine.KindInterrupted, "interrupted", engine.BilledNo)
}

// TestInspectSidecar shows what --sidecar wrote, and nothing of other files.
func TestInspectSidecar(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}})
	req := engine.NewGenerateImages()
	req.Prompt, req.Model = secretPrompt, "gpt-image-2.6-flare"
	res, err := r.GenerateImages(t.Context(), req, engine.Output{Sidecar: true, Dest: "a.png"}, nil)
	must(t, err)
	rows, err := r.InspectMedia(t.Context(), []string{"a.png"})
	must(t, err)
	s := rows[0].Sidecar
	if s == nil || s.Prompt != secretPrompt || s.Model != "gpt-image-2.6-flare" || s.Provider != "openai" ||
		s.Path != res.Assets[0].Sidecar || !s.Made.Equal(today()) || s.Cost.Currency != "USD" {
		t.Errorf("%+v", s)
	}
	for name, text := range map[string]string{
		"other": `{"schema": "other/1", "prompt": "x"}`, "broken": `{"schema": "mediagen-sidecar/1"`, "huge": strings.Repeat(" ", 2<<20),
	} {
		r.write(name+".png", tinyPNG())
		r.write(name+".png.json", []byte(text))
		rows, err := r.InspectMedia(t.Context(), []string{filepath.Join(r.dir, name+".png")})
		must(t, err)
		if rows[0].Sidecar != nil {
			t.Errorf("%s: %+v", name, rows[0].Sidecar)
		}
	}
}
