package cli_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/iostreams"
)

// TestCompressRequest turns flags into the request and the output.
func TestCompressRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.wants(0, "images", "compress", "--max-bytes", "200k", "--max-size", "2048", "--quality", "70", "--format", "webp",
		"--min-ssim", "0.95", "--background", "#102030", "--best-effort", "--first-frame", "--max-input-pixels", "200M",
		"--max-input-side", "20000", "-o", "web/", "--overwrite", "-j", "3", "a.png", "dir", "-")
	want := compressed{
		Req: engine.CompressImages{
			Compression: engine.Compression{
				MaxBytes: 200_000, MaxSize: 2048, Quality: 70, Format: "webp", MinSSIM: 0.95, Background: "#102030",
				BestEffort: true, FirstFrame: true, MaxInputPixels: 200_000_000, MaxInputSide: 20_000,
			},
			Images: []string{"a.png", "dir", "-"},
		},
		Out: engine.CompressOutput{Dest: "web/", Overwrite: true, Jobs: 3},
	}
	if diff := cmp.Diff(want, b.call()); diff != "" {
		t.Error(diff)
	}
	if got := b.out.String(); got != "out/a.png\n" {
		t.Errorf("stdout %q", got)
	}
	b.wants(0, "images", "compress", "--in-place", "a.png", "--json")
	want = compressed{
		Req: engine.CompressImages{Images: []string{"a.png"}}, Out: engine.CompressOutput{InPlace: true, Measure: true},
	}
	if diff := cmp.Diff(want, b.call()); diff != "" {
		t.Error(diff)
	}
}

// TestCompressMistakes never reach the engine.
func TestCompressMistakes(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"":                          "at least one picture",
		"--quality 0 a":             "between 1 and 100",
		"--quality x a":             "whole number",
		"--max-bytes 500 a":         "between 1Ki and 1Gi",
		"--max-bytes -1 a":          "whole number",
		"--max-size -1 a":           "between 16 and 16384",
		"--min-ssim NaN a":          "must be a number",
		"--min-ssim 1.1 a":          "between 0 and 1",
		"-j 0 a":                    "at least 1",
		"--output= a":               "-o is empty",
		"-o - --json a":             "both want stdout",
		"-o - -0 a":                 "--print0 makes no sense",
		"-0 --json a":               "both shape stdout",
		"--max-input-pixels 10G a":  "between 1 and 400M",
		"--max-input-side 100000 a": "between 1 and 65535",
	} {
		b := newBench(t, "")
		b.wants(2, append([]string{"images", "compress"}, strings.Fields(line)...)...)
		if text := b.errOut.String() + b.out.String(); !strings.Contains(text, says) || len(b.eng.calls) > 0 {
			t.Errorf("%q: %s, calls %v", line, text, b.eng.calls)
		}
	}
}

// TestCompressStdout gives the engine stdout, but no terminal unless it is forced, and prints no path.
func TestCompressStdout(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.deps.Streams.OutTTY = true
	b.wants(2, "images", "compress", "-o", "-", "a.png")
	if !strings.Contains(b.errOut.String(), "terminal") || len(b.eng.calls) > 0 {
		t.Errorf("stderr %s", b.errOut)
	}
	b.wants(0, "images", "compress", "-o", "-", "--force", "a.png")
	if c, ok := b.call().(compressed); !ok || c.Out.Stdout == nil || c.Out.Dest != "" || b.out.Len() != 0 {
		t.Errorf("%+v, stdout %q", b.call(), b.out)
	}
}

// mixed is a run in which one of three failed, and the error of it.
func mixed() (*engine.CompressResult, error) {
	r := oneSmaller()
	r.Items = append(r.Items,
		engine.Compressed{Source: "/base/here/b.png", Status: engine.Failed, Notes: []string{}, Error: &engine.ItemError{
			Kind: engine.KindConstraint, Code: fault.ConstraintUnmet, Message: "b.png: sk-canary does not fit", Hint: "--best-effort",
		}},
		engine.Compressed{Source: "/base/c.png", Status: engine.Untouched, Path: "/base/c.png", Untouched: true, Notes: []string{"n"}})
	r.Warnings = []string{"c.png: n"}
	return r, engine.Errorf(engine.KindPartial, "partial", "1 of 3 files could not be compressed")
}

// TestCompressPartial prints what is there in the order of the sources, and why the rest is not.
func TestCompressPartial(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.smaller, b.eng.err = mixed()
	b.wants(13, "images", "compress", "a.png", "b.png", "../c.png")
	if got := b.out.String(); got != "out/a.png\n/base/c.png\n" {
		t.Errorf("stdout %q", got)
	}
	want := "warning: c.png: n\n" +
		"mediagen: images compress: b.png: [redacted] does not fit\nhint: --best-effort\n" +
		"mediagen: images compress: 1 of 3 files could not be compressed\n"
	if diff := cmp.Diff(want, b.errOut.String()); diff != "" {
		t.Error(diff)
	}
	b.eng.smaller, b.eng.err = mixed()
	b.wants(13, "images", "compress", "-0", "-q", "a.png", "b.png", "../c.png")
	if got := b.out.String(); got != "out/a.png\x00/base/c.png\x00" || strings.Contains(b.errOut.String(), "warning") {
		t.Errorf("stdout %q, stderr %q", got, b.errOut)
	}
	b.eng.smaller, b.eng.err = mixed()
	b.wants(13, "images", "compress", "--json", "a.png", "b.png", "../c.png")
	r := b.reply()
	e, _ := r.Items[1]["error"].(map[string]any)
	if r.OK || r.Error.Exit != 13 || len(r.Assets) != 1 || len(r.Items) != 3 || e["message"] != "b.png: [redacted] does not fit" {
		t.Errorf("%s", b.out)
	}
	if diff := cmp.Diff([]string{"c.png: n"}, r.Warnings); diff != "" || b.errOut.Len() != 0 {
		t.Errorf("%s, stderr %q", diff, b.errOut)
	}
}

// TestCompressBrokenStdout ends with a failure that says so; with another error both are told.
func TestCompressBrokenStdout(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.deps.Streams.Out = brokenWriter{io.ErrClosedPipe}
	b.wants(1, "images", "compress", "a.png")
	if !strings.Contains(b.errOut.String(), "stdout cannot be written") {
		t.Errorf("stderr %q", b.errOut)
	}
	b.eng.smaller, b.eng.err = mixed()
	b.wants(13, "images", "compress", "a.png", "b.png", "c.png")
	if text := b.errOut.String(); !strings.Contains(text, "stdout cannot be written") || !strings.Contains(text, "1 of 3") {
		t.Errorf("stderr %q", text)
	}
}

// TestCompressProgress shows one bar for all pictures, as plain lines off a terminal.
func TestCompressProgress(t *testing.T) {
	t.Parallel()
	events := []engine.Event{
		{Kind: engine.EventCompressing, Total: 3}, {Kind: engine.EventCompressed, Total: 3}, {Kind: engine.EventSaved},
	}
	for _, tt := range []struct {
		err  error
		want string
		code int
	}{
		{nil, "compressing 3 pictures: started\ncompressing 3 pictures: done in 0s\n", 0},
		{
			engine.Errorf(engine.KindPartial, "partial", "p"),
			"compressing 3 pictures: started\ncompressing 3 pictures: done in 0s, some failed\nmediagen: images compress: p\n", 13,
		},
		{
			engine.Errorf(engine.KindConstraint, "c", "p"),
			"compressing 3 pictures: started\ncompressing 3 pictures: failed after 0s\nmediagen: images compress: p\n", 9,
		},
	} {
		b := newBench(t, "")
		b.eng.events, b.eng.err = events, tt.err
		b.wants(tt.code, "images", "compress", "a.png")
		if diff := cmp.Diff(tt.want, b.errOut.String()); diff != "" {
			t.Error(diff)
		}
	}
	streams, _, errOut := iostreams.Test("")
	streams.ErrTTY = true
	b := newBench(t, "")
	b.deps.Streams, b.eng.events = streams, events
	b.wants(0, "images", "compress", "a.png")
	if text := errOut.String(); !strings.Contains(text, "compressing 3") || !strings.Contains(text, "\x1b[K") {
		t.Errorf("no bar: %q", text)
	}
}

// TestCompressSignal ends with the signal's code and still prints what is there.
func TestCompressSignal(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.ctx = signalled(t, engine.KindInterrupted)
	b.wants(130, "images", "compress", "a.png")
	if got := b.out.String(); got != "out/a.png\n" {
		t.Errorf("stdout %q", got)
	}
}

// TestGenerateCompress turns pairs into the options of the copies, and refuses what the flags would.
func TestGenerateCompress(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.wants(0, "images", "generate", "--compress", "max-bytes=200k,format=webp,best-effort", "x")
	call, ok := b.call().(generated)
	want := &engine.Compression{MaxBytes: 200_000, Format: "webp", BestEffort: true}
	if diff := cmp.Diff(want, call.Out.Compress); diff != "" || !ok {
		t.Error(diff)
	}
	b.wants(0, "images", "edit", "-i", "a.png", "x")
	if call, ok := b.call().(edited); !ok || call.Out.Compress != nil {
		t.Errorf("%+v", b.call())
	}
	for pairs, says := range map[string]string{
		"":            "there is nothing in it",
		"max-bytes=1": "between 1Ki and 1Gi",
		"size=3":      `"size" is not known`,
		"quality":     "quality needs a value",
	} {
		b := newBench(t, "")
		b.wants(2, "images", "edit", "-i", "a.png", "--compress", pairs, "x")
		if text := b.errOut.String(); !strings.Contains(text, "compress: ") || !strings.Contains(text, says) || b.opened > 0 {
			t.Errorf("%q: %s", pairs, text)
		}
	}
	b = newBench(t, "")
	b.wants(2, "images", "generate", "-o", "-", "--compress", "format=webp", "x")
	if words := b.words("images", "generate", "--compress", "quality=3,m"); !slices.Contains(words, "quality=3,max-bytes=\tmake each "+
		"file at most this large, in bytes: 200k, 1.5M, 512Ki") {
		t.Errorf("completion: %q", words)
	}
}

// TestCompressEnded tells of what the end of the command cut off in one line, however much it was.
func TestCompressEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	r := oneSmaller()
	for range 3 {
		r.Items = append(r.Items, engine.Compressed{Source: "/x.png", Status: engine.Failed, Error: &engine.ItemError{
			Kind: engine.KindInterrupted, Code: "interrupted", Message: "x.png: stopped before the picture was done",
		}})
	}
	b.eng.smaller, b.eng.err = r, engine.Errorf(engine.KindPartial, "partial", "3 of 4 files could not be compressed")
	b.wants(13, "images", "compress", "a.png", "x.png")
	want := "mediagen: images compress: 3 files were not done when the command was ended\n" +
		"mediagen: images compress: 3 of 4 files could not be compressed\n"
	if diff := cmp.Diff(want, b.errOut.String()); diff != "" {
		t.Error(diff)
	}
}
