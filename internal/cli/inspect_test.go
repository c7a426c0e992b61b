package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// oneClip is a video that was cut short, with a sidecar beside it.
func oneClip() engine.Inspection {
	return engine.Inspection{
		Source: "/base/b.mp4", Kind: "video", Format: "mp4", MediaType: "video/mp4", Bytes: 99, Width: 320, Height: 240,
		Frames: 48, C2PA: true, SourceType: "trainedAlgorithmicMedia",
		Video: &engine.VideoDetails{
			Brand: "isom", DurationS: 2, FPS: 23.976, Rotation: 90, VideoCodec: "h264", AudioCodec: "aac", Missing: 7,
		},
		Sidecar: &engine.SidecarFacts{
			Path: "/base/b.mp4.json", Prompt: "a\x1b[31m fox", Provider: "openai", Model: "m", Made: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
			Cost: engine.SidecarCost{Amount: new(json.Number("0.04")), Currency: "USD", Basis: "reported"},
		},
	}
}

// TestInspectCards shows one card a file.
func TestInspectCards(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.seen = []engine.Inspection{onePhoto(), oneClip()}
	b.wants(0, "images", "inspect", "a.png", "../b.mp4")
	if diff := cmp.Diff(inspected{[]string{"a.png", "../b.mp4"}}, b.call()); diff != "" {
		t.Error(diff)
	}
	want := `file                 a.png
format               png, image/png
bytes                3
size                 4x2
frames               1
orientation          1
colour profile       none
transparency         no
content credentials  none

file                  /base/b.mp4
format                mp4, video/mp4
bytes                 99
size                  320x240
frames                48
brand                 isom
duration              2 s
frames a second       23.976
rotation              90
video codec           h264
audio codec           aac
starts while loading  no
whole                 no, 7 bytes are missing
content credentials   present (C2PA, not verified)
digital source type   trainedAlgorithmicMedia
prompt                a\x1b[31m fox
model                 m
provider              openai
cost                  0.04 USD (reported)
made                  2026-11-30T12:00:00Z
`
	if diff := cmp.Diff(want, b.out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestInspectUnknown leaves out what is not known, and says unknown of money.
func TestInspectUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	c := oneClip()
	c.Width, c.Frames, c.Video, c.Sidecar = 0, 0, &engine.VideoDetails{}, &engine.SidecarFacts{}
	b.eng.seen = []engine.Inspection{c}
	b.wants(0, "images", "inspect", "b.mp4")
	text := b.out.String()
	for _, no := range []string{"size", "duration", "frames", "made", "prompt", "rotation"} {
		if strings.Contains(text, no) {
			t.Errorf("%s is shown: %s", no, text)
		}
	}
	if !strings.Contains(text, "cost                  unknown\n") || !strings.Contains(text, "whole                 no\n") {
		t.Errorf("stdout %s", text)
	}
}

// TestInspectPartial shows what could be read, and why the rest could not.
func TestInspectPartial(t *testing.T) {
	t.Parallel()
	partial := engine.Errorf(engine.KindPartial, "partial", "1 of 2 files could not be read")
	b := newBench(t, "")
	seen := func() []engine.Inspection {
		return []engine.Inspection{{Source: "t.png", Error: &engine.ItemError{
			Kind: engine.KindUnsupported, Code: fault.UnsupportedOperation, Message: "t.png: sk-canary", Hint: "h",
		}}, onePhoto()}
	}
	b.eng.seen, b.eng.err = seen(), partial
	b.wants(13, "images", "inspect", "t.png", "a.png")
	want := "mediagen: images inspect: t.png: [redacted]\nhint: h\nmediagen: images inspect: 1 of 2 files could not be read\n"
	if !strings.HasPrefix(b.out.String(), "file                 a.png\n") || b.errOut.String() != want {
		t.Errorf("stdout %s, stderr %s", b.out, b.errOut)
	}
	b.eng.seen = seen()
	b.wants(13, "images", "inspect", "t.png", "a.png", "--json")
	r := b.reply()
	e, _ := r.Items[0]["error"].(map[string]any)
	if len(r.Items) != 2 || e["message"] != "t.png: [redacted]" || r.Items[1]["error"] != nil || r.Error.Exit != 13 {
		t.Errorf("%s", b.out)
	}
	b.eng.seen = nil
	b.wants(13, "images", "inspect", "t.png")
	b.wants(2, "images", "inspect")
}
