package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
)

// needs skips where the pure-Go imaging cannot write a format.
func needs(t *testing.T, format string) {
	t.Helper()
	if !slices.Contains(imaging.Describe().Write, format) {
		t.Skipf("%s cannot write %s", imaging.Describe().Name, format)
	}
}

// TestFormat: the flag, then the ending of -o, then the setting, then the provider's; what comes as another type is
// converted when a file was named.
func TestFormat(t *testing.T) {
	t.Parallel()
	png, jpeg := tinyPNG(), jpegOf(color.White)
	tests := []struct {
		name                      string
		model, flag, dest, config string
		comes                     []byte
		sent                      string // output_format on the wire
		file                      string // the name's ending
		mime                      string
		warned                    bool
	}{
		{name: "nothing said", model: "gpt-image-2", comes: png, file: ".png", mime: "image/png"},
		{name: "setting", model: "gpt-image-2", config: "jpeg", comes: jpeg, sent: "jpeg", file: ".jpeg", mime: "image/jpeg"},
		{name: "flag beats setting", model: "gpt-image-2", flag: "png", config: "jpeg", comes: png, sent: "png", file: ".png", mime: "image/png"},
		{name: "ending beats setting", model: "gpt-image-2", dest: "a.jpg", config: "webp", comes: jpeg, sent: "jpeg", file: "a.jpg", mime: "image/jpeg"},
		{name: "ending in capitals", model: "gpt-image-2", dest: "a.JPG", comes: jpeg, sent: "jpeg", file: "a.JPG", mime: "image/jpeg"},
		{name: "flag and ending agree", model: "gpt-image-2", dest: "a.jpg", flag: "jpeg", comes: jpeg, sent: "jpeg", file: "a.jpg", mime: "image/jpeg"},
		{name: "flag by its other name", model: "gpt-image-2", flag: "jpg", comes: jpeg, sent: "jpeg", file: ".jpeg", mime: "image/jpeg"},
		{name: "flag by its other name, unknown model", model: "test-model", flag: "jpg", comes: jpeg, sent: "jpg", file: ".jpeg", mime: "image/jpeg"},
		{name: "another type comes for a directory", model: "gpt-image-2", flag: "jpeg", comes: png, sent: "jpeg", file: ".png", mime: "image/png", warned: true},
		{name: "another type comes for a file", model: "gpt-image-2", dest: "a.jpg", comes: png, sent: "jpeg", file: "a.jpg", mime: "image/jpeg"},
		{name: "another type comes for a file with a flag", model: "gpt-image-2", dest: "a.jpg", flag: "jpeg", comes: png, sent: "jpeg", file: "a.jpg", mime: "image/jpeg"},
		{name: "the model cannot", model: "gpt-image-2", dest: "a.gif", comes: png, file: "a.gif", mime: "image/gif"},
		{name: "unknown model", model: "test-model", dest: "a.jpg", comes: png, sent: "jpeg", file: "a.jpg", mime: "image/jpeg"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{do: answer(tt.comes)}
			r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: true, change: func(c *engine.Config) {
				c.Defaults.OutputFormat = tt.config
			}})
			req := engine.NewGenerateImages()
			req.Prompt, req.Model, req.OutputFormat = secretPrompt, tt.model, tt.flag
			res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: tt.dest}, nil)
			must(t, err)
			if got := f.last(t).OutputFormat; got != tt.sent {
				t.Errorf("sent %q, want %q", got, tt.sent)
			}
			a := res.Assets[0]
			base := filepath.Base(a.Path)
			if base != tt.file && filepath.Ext(base) != tt.file {
				t.Errorf("saved as %s, want %s", base, tt.file)
			}
			if got := sniff.Detect(read(t, a.Path)).MIME; got != tt.mime || a.MediaType != tt.mime {
				t.Errorf("the file is %s, reported %s, want %s", got, a.MediaType, tt.mime)
			}
			if a.Width != 8 || a.Height != 6 {
				t.Errorf("size %dx%d", a.Width, a.Height)
			}
			warned := slices.ContainsFunc(res.Warnings, func(w string) bool {
				return w == "picture 1 was asked for as jpeg and came as png; the extension follows the bytes"
			})
			if warned != tt.warned {
				t.Errorf("warnings %q", res.Warnings)
			}
		})
	}
}

// TestConvertToWhatTheModelCannot needs the imaging of the default build.
func TestConvertToWhatTheModelCannot(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"avif", "webp"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			needs(t, format)
			r := newRig(t, options{providers: []engine.ImageProvider{&fake{do: answer(tinyPNG())}}, noJournal: true})
			req := engine.NewGenerateImages()
			req.Prompt, req.Model = secretPrompt, "gpt-image-2"
			res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: "a." + format}, nil)
			must(t, err)
			if got := sniff.Detect(read(t, r.in("a."+format))).Ext; got != format || len(res.Warnings) != 0 {
				t.Errorf("got %s, warnings %q", got, res.Warnings)
			}
		})
	}
}

// TestFormatRefused clashes and endings that nothing can write are told before anything is sent.
func TestFormatRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		dest, flag, model string
		kind              engine.Kind
		code              fault.Code
		says              string
	}{
		{dest: "a.png", flag: "webp", model: "gpt-image-2", kind: engine.KindInvalidRequest, code: fault.InvalidArgument, says: "make both the same"},
		{dest: "a.txt", model: "gpt-image-2", kind: engine.KindInvalidRequest, code: fault.InvalidArgument, says: "no picture format"},
		{dest: "a.mp4", model: "gpt-image-2", kind: engine.KindInvalidRequest, code: fault.InvalidArgument, says: "no picture format"},
		{dest: "a.heic", model: "gpt-image-2", kind: engine.KindUnsupported, code: fault.UnsupportedOperation, says: "use png, jpeg, webp"},
		{dest: "a.svg", model: "gpt-image-2", kind: engine.KindUnsupported, code: fault.UnsupportedOperation, says: "svg"},
		{flag: "bmp", model: "gpt-image-2", kind: engine.KindInvalidRequest, code: fault.InvalidArgument, says: "output_format"},
		{dest: "a.jpg", model: "gpt-image-2", kind: "", says: ""},
	}
	for _, tt := range tests {
		f := &fake{}
		r := newRig(t, options{providers: []engine.ImageProvider{f}})
		req := engine.NewGenerateImages()
		req.Prompt, req.Model, req.OutputFormat = secretPrompt, tt.model, tt.flag
		_, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: tt.dest, DryRun: true}, nil)
		if tt.kind == "" {
			must(t, err)
			continue
		}
		contains(t, wantError(t, err, tt.kind, tt.code, engine.BilledNo).Message, tt.says)
	}
}

// TestDestinationWithADot is a directory although its name has an ending.
func TestDestinationWithADot(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
	for _, dir := range []string{"v1.2", "frames.png"} {
		mkdir(t, r.in(dir))
		res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: dir}, nil)
		must(t, err)
		if got := filepath.Dir(res.Assets[0].Path); got != r.in(dir) {
			t.Errorf("saved in %s", got)
		}
	}
	// A directory that is to be made says so with a slash.
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "v1.3/"}, nil)
	must(t, err)
	if got := filepath.Dir(res.Assets[0].Path); got != r.in("v1.3") {
		t.Errorf("saved in %s", got)
	}
}

// TestUnconvertible is saved as it came, under the ending of its bytes, with a warning.
func TestUnconvertible(t *testing.T) {
	t.Parallel()
	broken := tinyPNG()[:20] // its header ends too early
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{do: answer(broken)}}, noJournal: true})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "a.jpg"}, nil)
	must(t, err)
	if diff := cmp.Diff([]string{"a.png"}, r.files()); diff != "" {
		t.Error(diff)
	}
	if got := read(t, res.Assets[0].Path); string(got) != string(broken) {
		t.Error("the bytes were changed")
	}
	contains(t, jsonOf(t, res.Warnings), "could not be converted to jpeg", "cannot be read as an image")
}

// TestNoPicture: what is no picture by its bytes is kept, named by what it is, and is a lost answer; it is not piped.
func TestNoPicture(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, data, ext, mime string }{
		{"unknown", "\x00\x01 what is this", ".bin", "application/octet-stream"},
		{"page", "<!DOCTYPE html><html><body>sign in</body></html>", ".html", "text/html"},
		{"program", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60), "", ""},
		{"drawing that nobody asked for", `<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>`, ".svg", "image/svg+xml"},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.name, stream), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, options{providers: []engine.ImageProvider{&fake{do: answer([]byte(tc.data))}}})
				res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: stream}, nil)
				contains(t, wantError(t, err, engine.KindUnknownOutcome, "not_a_picture", engine.BilledMaybe).Message,
					"picture 1 is ", "which is no picture; what came is kept at "+res.Assets[0].Path)
				a := res.Assets[0]
				if !a.NoPicture || tc.ext != "" && (filepath.Ext(a.Path) != tc.ext || a.MediaType != tc.mime) {
					t.Errorf("got %+v", a)
				}
				if got := read(t, a.Path); string(got) != tc.data {
					t.Errorf("kept %q", got)
				}
				var out bytes.Buffer
				if err := r.Pipe(t.Context(), res, &out); err != nil || out.Len() > 0 {
					t.Errorf("%v, piped %q", err, out.String())
				}
				if row := r.rows()[0]; row.State != "unknown" || len(row.Assets) != 1 {
					t.Errorf("row %+v", row)
				}
			})
		}
	}
}

// TestPictureWithoutEnd is given up at a bound; its sibling still comes.
func TestPictureWithoutEnd(t *testing.T) {
	t.Parallel()
	f := &fake{do: answer(bytes.Repeat([]byte{1}, 4096), tinyPNG())}
	r := newRig(t, options{providers: []engine.ImageProvider{f}, change: func(c *engine.Config) { c.Bounds.ReplyImage = 1024 }})
	req := small()
	req.N = 2
	res, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
	contains(t, wantError(t, err, engine.KindPartial, fault.ItemTooLarge, engine.BilledYes).Message, "more than 1024 bytes")
	if len(res.Assets) != 1 || res.Assets[0].Index != 1 || len(r.files()) != 1 {
		t.Errorf("assets %+v, files %v", res.Assets, r.files())
	}
}

// TestSVG has no pixels to measure, which deserves no warning.
func TestSVG(t *testing.T) {
	t.Parallel()
	p, _ := emulate(t, "emulator")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	req := engine.NewGenerateImages()
	req.Prompt, req.Provider, req.Model, req.OutputFormat = secretPrompt, "emulator", "gpt-image-2.6-flare", "svg"
	res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: "a.svg"}, nil)
	must(t, err)
	if a := res.Assets[0]; a.MediaType != "image/svg+xml" || a.Width != 0 || a.Path != r.in("a.svg") {
		t.Errorf("got %+v", a)
	}
	if diff := cmp.Diff([]string{"svg is a preview at gpt-image-2.6-flare; not every account has it"}, res.Warnings); diff != "" {
		t.Error(diff)
	}
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return string(raw)
}

// TestVendorDecidesTheFormat: nothing is sent, and what comes is converted.
func TestVendorDecidesTheFormat(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flag, config, dest string
		mime               string
	}{
		"flag": {flag: "jpg", mime: "image/jpeg"}, "setting": {config: "jpeg", mime: "image/jpeg"},
		"file": {dest: "a.jpg", mime: "image/jpeg"}, "nothing": {mime: "image/png"},
	} {
		f := &fake{name: "google", do: answer(tinyPNG())}
		r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: true, change: func(c *engine.Config) {
			c.Defaults.OutputFormat = tt.config
		}})
		req := engine.NewGenerateImages()
		req.Prompt, req.Model, req.OutputFormat = secretPrompt, "gemini-nano-banana-2.1", tt.flag
		res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: tt.dest}, nil)
		must(t, err)
		if call := f.last(t); call.OutputFormat != "" || call.Quality != "" || call.Size != "" {
			t.Errorf("%s: sent %+v", name, call)
		}
		if a := res.Assets[0]; a.MediaType != tt.mime || sniff.Detect(read(t, a.Path)).MIME != tt.mime {
			t.Errorf("%s: got %+v", name, a)
		}
	}
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{name: "google"}}, noJournal: true})
	req := engine.NewGenerateImages()
	req.Prompt, req.Model, req.OutputFormat = secretPrompt, "gemini-nano-banana-2.1", "tiff"
	_, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
	e := wantError(t, err, engine.KindUnsupported, fault.UnsupportedOperation, engine.BilledNo)
	contains(t, e.Message, "this build can write tiff; use ", "png", "jpeg")
}

// TestTooLargeToConvert is saved as it came: a conversion needs the whole picture in memory.
func TestTooLargeToConvert(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{
		providers: []engine.ImageProvider{&fake{do: answer(tinyPNG())}}, noJournal: true,
		change: func(c *engine.Config) { c.Bounds.SaveImage = 10; c.Now = nil },
	})
	_, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "a.jpg"}, nil)
	must(t, err)
	if diff := cmp.Diff([]string{"a.png"}, r.files()); diff != "" {
		t.Error(diff)
	}
}
