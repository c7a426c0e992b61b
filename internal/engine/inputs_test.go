package engine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// given is an input as the provider sees it.
type given struct {
	Name, MIME string
	Size       int64
	Data       string
}

// capture reads the inputs while the call runs, twice, as a provider that sends again does.
func capture(t testing.TB, got map[string]given) doFunc {
	t.Helper()
	return func(_ context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		take := func(role string, in engine.Input) {
			for range 2 {
				f, err := in.Open()
				must(t, err)
				data, err := io.ReadAll(f)
				must(t, err)
				must(t, f.Close())
				got[role] = given{in.Name, in.MIME, in.Size, string(data)}
			}
		}
		for i, in := range call.Images {
			take("image"+string(rune('0'+i)), in)
		}
		if call.Mask != nil {
			take("mask", *call.Mask)
		}
		if call.Markup != nil {
			take("markup", *call.Markup)
		}
		return draw(call, sink)
	}
}

func editRig(t testing.TB, o options) (*rig, map[string]given) {
	t.Helper()
	got := map[string]given{}
	o.providers = []engine.ImageProvider{&fake{do: capture(t, got)}}
	return newRig(t, o), got
}

func editOf(images ...string) *engine.EditImages {
	r := engine.NewEditImages()
	r.Prompt, r.Model, r.Images = secretPrompt, "gpt-image-2.6-flare", images
	return r
}

// noise is a picture that does not compress, so that its base64 text is long.
func noise(w, h int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(rng.Uint32())
	}
	return encodePNG(img)
}

// TestSources gives one picture in every form.
func TestSources(t *testing.T) {
	t.Parallel()
	data := noise(16, 16)
	text := base64.StdEncoding.EncodeToString(data)
	if len(text) < 512 {
		t.Fatal("the fixture is too short for bare base64")
	}
	r, got := editRig(t, options{change: func(c *engine.Config) { c.Stdin = bytes.NewReader(data) }})
	r.write("a b.png", data)
	r.write("sub/a.png", data)
	abs := r.in("sub/a.png")
	tests := []struct{ ref, name string }{
		{"a b.png", "a b.png"},
		{"./sub/../sub/a.png", "a.png"},
		{abs, "a.png"},
		{"file://" + abs, "a.png"},
		{"FILE://" + abs, "a.png"},
		{"data:image/png;base64," + text, "input_1.png"},
		{"DATA:;base64," + text, "input_1.png"},
		{"base64:" + text, "input_1.png"},
		{text, "input_1.png"},
		{"-", "input_1.png"},
	}
	for _, tt := range tests {
		_, err := r.EditImages(t.Context(), editOf(tt.ref), engine.Output{}, nil)
		if err != nil {
			t.Errorf("%.40s: %v", tt.ref, err)
			continue
		}
		want := map[string]given{"image0": {tt.name, "image/png", int64(len(data)), string(data)}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.40s: %s", tt.ref, diff)
		}
	}
	if rows := r.rows(); !strings.Contains(string(rows[0].Params), `"role":"image"`) || len(rows) != len(tests) {
		t.Errorf("%d rows, parameters %s", len(rows), rows[0].Params)
	}
}

// TestExistingFileBeatsBase64: long names made of letters and slashes are paths where such a file exists.
func TestExistingFileBeatsBase64(t *testing.T) {
	t.Parallel()
	text := base64.StdEncoding.EncodeToString(noise(16, 16))
	if text[0] == '/' {
		t.Fatal("the fixture is an absolute path")
	}
	var parts []string // segments that file systems take
	for i := 0; i < 600; i += 100 {
		parts = append(parts, strings.Map(func(c rune) rune {
			if c == '/' {
				return 'A'
			}
			return c
		}, text[i:i+99]))
	}
	ref := strings.Join(parts, "/")
	r, got := editRig(t, options{})
	r.write(ref, tinyPNG())
	_, err := r.EditImages(t.Context(), editOf(ref), engine.Output{}, nil)
	must(t, err)
	if got["image0"].Data != string(tinyPNG()) {
		t.Error("the file was not read")
	}
}

// TestBareBase64Refused never repeats the text, which would fill a log.
func TestBareBase64Refused(t *testing.T) {
	t.Parallel()
	picture := base64.StdEncoding.EncodeToString(noise(16, 16))
	html := base64.StdEncoding.EncodeToString([]byte("<!DOCTYPE html>" + strings.Repeat("<p>no</p>", 100)))
	tests := []struct {
		name, ref string
		mcp       bool
		kind      engine.Kind
		code      fault.Code
	}{
		{"wrapped lines", picture[:76] + "\n" + picture[76:], false, engine.KindInvalidRequest, fault.InvalidBase64},
		{"URL alphabet", strings.Repeat("_-8A", 200), false, engine.KindInvalidRequest, fault.InvalidBase64},
		{"cut", picture[:len(picture)-3], false, engine.KindInvalidRequest, fault.InvalidBase64},
		{"no picture", html, false, engine.KindPolicyDenied, fault.MIMEMismatch},
		{"too large", strings.Repeat("A", 20_000_000), true, engine.KindPolicyDenied, fault.ItemTooLarge},
		{"too large with a prefix", "base64:" + strings.Repeat("A", 20_000_000), true, engine.KindPolicyDenied, fault.ItemTooLarge},
		{"too large in a data URL", "data:image/png;base64," + strings.Repeat("A", 20_000_000), true, engine.KindPolicyDenied, fault.ItemTooLarge},
		{"short text is a path", picture[:100], false, engine.KindNotFound, fault.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, _ := editRig(t, options{mcp: tt.mcp})
			_, err := r.EditImages(t.Context(), editOf(tt.ref), engine.Output{}, nil)
			e := wantError(t, err, tt.kind, tt.code, engine.BilledNo)
			if len(tt.ref) > 512 && (strings.Contains(e.Error(), tt.ref[20:52]) || len(e.Error()) > 300) {
				t.Errorf("the message repeats the text: %.200s", e.Error())
			}
		})
	}
}

// TestStdin is bounded, must hold something, and is not for servers.
func TestStdin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		stdin io.Reader
		kind  engine.Kind
		code  fault.Code
	}{
		{"none", nil, engine.KindInvalidRequest, fault.InvalidArgument},
		{"empty", strings.NewReader(""), engine.KindInvalidRequest, fault.InvalidArgument},
		{"a web page", strings.NewReader("<html>"), engine.KindPolicyDenied, fault.MIMEMismatch},
		{"endless", io.MultiReader(bytes.NewReader(tinyPNG()), zeros{}), engine.KindPolicyDenied, fault.ItemTooLarge},
		{"broken", io.MultiReader(bytes.NewReader(tinyPNG()), broken{}), engine.KindFailure, fault.IOFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, _ := editRig(t, options{change: func(c *engine.Config) { c.Stdin = tt.stdin }})
			_, err := r.EditImages(t.Context(), editOf("-"), engine.Output{}, nil)
			wantError(t, err, tt.kind, tt.code, engine.BilledNo)
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, os.ErrClosed }

// TestSizesByDoor: what an MCP caller sends inside of a request has the MCP bounds; files have the model's own at both
// doors. The bounds are a thousandth of the real ones, to which the corpus holds the engine.
func TestSizesByDoor(t *testing.T) {
	t.Parallel()
	inline := func(size int) string { return "base64:" + base64.StdEncoding.EncodeToString(padded(size)) }
	nine := inline(9_000)
	tests := []struct {
		name   string
		mcp    bool
		images []string
		mask   bool
		code   fault.Code
	}{
		{"MCP, one inline", true, []string{inline(10_000)}, false, ""},
		{"MCP, one inline above the bound", true, []string{inline(10_001)}, false, fault.ItemTooLarge},
		{"MCP, three inline", true, []string{nine, nine, nine}, false, ""},
		{"MCP, four inline", true, []string{nine, nine, nine, nine}, false, fault.RequestTooLarge},
		{"MCP, four with the mask", true, []string{nine, nine, nine}, true, fault.RequestTooLarge},
		{"MCP, files of the same size", true, []string{"9.png", "9.png", "9.png", "9.png", "20.png"}, false, ""},
		{"MCP, files and inline", true, []string{"20.png", nine, "20.png", nine, nine}, false, ""},
		{"MCP, a file above the model's bound", true, []string{"50.png"}, false, fault.ItemTooLarge},
		{"shell, five inline", false, []string{nine, nine, nine, nine, inline(50_000)}, false, ""},
		{"shell, one inline above the model's bound", false, []string{inline(50_001)}, false, fault.ItemTooLarge},
		{"shell, a file above the model's bound", false, []string{"50.png"}, false, fault.ItemTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, _ := editRig(t, options{mcp: tt.mcp, change: func(c *engine.Config) {
				c.Bounds.ItemBytes, c.Bounds.RequestBytes, c.Bounds.ShellImage = 10_000, 32_000, 50_000
			}})
			r.write("9.png", padded(9_000))
			r.write("20.png", padded(20_000))
			r.write("50.png", padded(50_001))
			req := editOf(tt.images...)
			if tt.mask {
				req.Mask = "base64:" + base64.StdEncoding.EncodeToString(append(encodePNG(overlay(8, 6)), make([]byte, 9_000)...))
			}
			_, err := r.EditImages(t.Context(), req, engine.Output{}, nil)
			if tt.code == "" {
				must(t, err)
				return
			}
			wantError(t, err, engine.KindPolicyDenied, tt.code, engine.BilledNo)
		})
	}
}

// padded is a picture of exactly so many bytes.
func padded(size int) []byte {
	return append(bytes.Clone(tinyPNG()), make([]byte, size-len(tinyPNG()))...)
}

// TestUploadNames are safe in a multipart header.
func TestUploadNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plain.png":                       "plain.png",
		"ünïcode 図.png":                   "ünïcode 図.png",
		"quo\"te.png":                     "quo_te.png",
		"back\\slash.png":                 "back_slash.png",
		"line\u2028sep.png":               "line_sep.png",
		"bidi\u202etxt.png":               "bidi_txt.png",
		"bad\xffutf8.png":                 "bad_utf8.png",
		strings.Repeat("x", 150) + ".png": strings.Repeat("x", 96) + ".png",
	} {
		r, got := editRig(t, options{noJournal: true})
		if err := os.WriteFile(filepath.Join(r.dir, name), tinyPNG(), 0o600); err != nil {
			t.Logf("this disk does not take %q", name)
			continue
		}
		_, err := r.EditImages(t.Context(), editOf(name), engine.Output{}, nil)
		must(t, err)
		if got["image0"].Name != want {
			t.Errorf("%q is sent as %q, want %q", name, got["image0"].Name, want)
		}
	}
}

// TestSixteenPictures go in their order.
func TestSixteenPictures(t *testing.T) {
	t.Parallel()
	p, s := emulate(t, "openai")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	var refs []string
	for i := range 16 {
		name := string(rune('a'+i)) + ".png"
		r.write(name, pngOf(8+i, 6, color.White))
		refs = append(refs, name)
	}
	req := editOf(refs...)
	req.Model = "test-model"
	res, err := r.EditImages(t.Context(), req, engine.Output{}, nil)
	must(t, err)
	if s.requests.Load() != 1 || len(res.Assets) != 1 || r.row().Op != "images edit" {
		t.Errorf("%d requests, assets %v", s.requests.Load(), res.Assets)
	}
	params := string(r.row().Params)
	if a, p := strings.Index(params, `"name":"a.png"`), strings.Index(params, `"name":"p.png"`); a < 0 || p < a {
		t.Errorf("inputs are not in their order: %s", params)
	}
}

// overlay is opaque but for one pixel.
func overlay(w, h int) *image.NRGBA {
	img := fill(w, h, color.Black)
	img.Set(0, 0, color.Transparent)
	return img
}

// withOrientation puts an orientation tag into a JPEG.
func withOrientation(jpeg []byte, orientation byte) []byte {
	tiff := []byte{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0}
	body := append([]byte("Exif\x00\x00"), tiff...)
	seg := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2))
	return append(append(append([]byte{}, jpeg[:2]...), append(seg, body...)...), jpeg[2:]...)
}

// TestMasks: PNG, the first picture's upright size, alpha, a transparent pixel.
func TestMasks(t *testing.T) {
	t.Parallel()
	half := fill(8, 6, color.NRGBA{A: 128})
	tests := []struct {
		name, image string
		mask        []byte
		says        string // empty: it is taken
		hint        bool   // offers the conversion
	}{
		{name: "good", image: "a.png", mask: encodePNG(overlay(8, 6))},
		{name: "upright size", image: "turned.jpg", mask: encodePNG(overlay(6, 8))},
		{name: "stored size", image: "turned.jpg", mask: encodePNG(overlay(8, 6)), says: "8x6, but the first picture is 6x8 after its orientation tag"},
		{name: "another size", image: "a.png", mask: encodePNG(overlay(8, 7)), says: "8x7"},
		{name: "no alpha", image: "a.png", mask: tinyPNG(), says: "no alpha channel", hint: true},
		{name: "half transparent only", image: "a.png", mask: encodePNG(half), says: "no fully transparent pixel", hint: true},
		{name: "jpeg", image: "a.png", mask: jpegOf(color.White), says: "image/jpeg; it must be a png", hint: true},
		{name: "web page", image: "a.png", mask: []byte("<html>"), says: "text/html; it must be a png", hint: true},
		{name: "cut", image: "a.png", mask: encodePNG(overlay(8, 6))[:60], says: "mask.png"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, got := editRig(t, options{})
			r.write("a.png", tinyPNG())
			r.write("turned.jpg", withOrientation(jpegOf(color.White), 6))
			r.write("mask.png", tt.mask)
			for _, what := range []string{"mask", "markup"} {
				req := editOf(tt.image, "a.png")
				if what == "mask" {
					req.Mask = "mask.png"
				} else {
					req.Markup = "mask.png"
				}
				_, err := r.EditImages(t.Context(), req, engine.Output{}, nil)
				if tt.says == "" {
					must(t, err)
					if got[what].Data != string(tt.mask) || got[what].MIME != "image/png" || got[what].Name != "mask.png" {
						t.Errorf("%s: %+v", what, got[what])
					}
					continue
				}
				e := wantError(t, err, engine.KindInvalidRequest, fault.InvalidImage, engine.BilledNo)
				contains(t, e.Message, tt.says)
				if hint := strings.Contains(e.Hint, "--mask-white-is-edit"); hint != (tt.hint && what == "mask") {
					t.Errorf("%s: hint %q", what, e.Hint)
				}
			}
		})
	}
}

// TestWhiteMask is converted: white is what may change, and that becomes transparent.
func TestWhiteMask(t *testing.T) {
	t.Parallel()
	painted := fill(8, 6, color.Black)
	for x := range 4 {
		for y := range 6 {
			painted.Set(x, y, color.White)
		}
	}
	p, _ := emulate(t, "openai")
	f := &fake{}
	got := map[string]given{}
	f.do = func(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		if reply, err := capture(t, got)(ctx, call, discard{}); err != nil {
			return reply, err
		}
		return p.EditImages(ctx, call, sink) // the real client and server take it as a mask
	}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	r.write("a.png", tinyPNG())
	r.write("bw.v2.png", encodePNG(painted))
	req := editOf("a.png")
	req.Model, req.Mask, req.MaskWhiteIsEdit = "test-model", "bw.v2.png", true
	_, err := r.EditImages(t.Context(), req, engine.Output{}, nil)
	must(t, err)
	if got["mask"].Name != "bw.v2.png" {
		t.Errorf("named %s", got["mask"].Name)
	}
	img, err := png.Decode(strings.NewReader(got["mask"].Data))
	must(t, err)
	for x := range 8 {
		if _, _, _, a := img.At(x, 3).RGBA(); (a == 0) != (x < 4) {
			t.Errorf("alpha at %d is %d", x, a)
		}
	}

	r.write("black.png", pngOf(8, 6, color.Black))
	req.Mask = "black.png"
	_, err = r.EditImages(t.Context(), req, engine.Output{}, nil)
	contains(t, wantError(t, err, engine.KindInvalidRequest, fault.InvalidImage, engine.BilledNo).Message, "black.png", "white")
	req.Mask = "missing.png"
	_, err = r.EditImages(t.Context(), req, engine.Output{}, nil)
	wantError(t, err, engine.KindNotFound, fault.NotFound, engine.BilledNo)
	r.write("other.png", pngOf(9, 6, color.White))
	req.Mask = "other.png"
	_, err = r.EditImages(t.Context(), req, engine.Output{}, nil)
	contains(t, wantError(t, err, engine.KindInvalidRequest, fault.InvalidImage, engine.BilledNo).Message, "9x6")
}

// discard is a sink for nothing.
type discard struct{ engine.ImageSink }

func (discard) Picture(engine.Slot) (engine.PictureWriter, error) { return discardWriter{}, nil }

type discardWriter struct{}

func (discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (discardWriter) Commit() error               { return nil }
func (discardWriter) Abort()                      {}

// TestLargeMask is sent, with a warning.
func TestLargeMask(t *testing.T) {
	t.Parallel()
	r, _ := editRig(t, options{})
	r.write("a.png", tinyPNG())
	mask := append(encodePNG(overlay(8, 6)), make([]byte, 4_000_001)...)
	r.write("mask.png", mask)
	req := editOf("a.png")
	req.Mask = "mask.png"
	res, err := r.EditImages(t.Context(), req, engine.Output{}, nil)
	must(t, err)
	contains(t, jsonOf(t, res.Warnings), "larger than 4 MB")
}

// TestPathsUnderRoots are opened by the workspace's rules.
func TestPathsUnderRoots(t *testing.T) {
	t.Parallel()
	r, _ := editRig(t, options{mcp: true})
	r.write("a.png", tinyPNG())
	must(t, os.WriteFile(filepath.Join(filepath.Dir(r.dir), "out.png"), tinyPNG(), 0o600))
	must(t, os.Symlink("../out.png", r.in("link.png")))
	_, err := r.EditImages(t.Context(), editOf("a.png"), engine.Output{}, nil)
	must(t, err)
	for _, ref := range []string{"../out.png", "link.png", filepath.Dir(r.dir) + "/out.png", "file:///etc/passwd", "/etc/passwd"} {
		_, err := r.EditImages(t.Context(), editOf(ref), engine.Output{}, nil)
		wantError(t, err, engine.KindPolicyDenied, fault.PathDenied, engine.BilledNo)
	}
}

// TestShrunkInput is told from a broken connection.
func TestShrunkInput(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	f := &fake{do: func(_ context.Context, call engine.ImageCall, _ engine.ImageSink) (engine.ImageReply, error) {
		must(t, os.Truncate(r.in("a.png"), 10))
		in, err := call.Images[0].Open()
		must(t, err)
		data, err := io.ReadAll(in)
		if !errors.Is(err, engine.ErrInput) || len(data) != 10 {
			t.Errorf("read %d bytes, %v", len(data), err)
		}
		return engine.ImageReply{}, err
	}}
	r.table.list = []engine.ImageProvider{f}
	r.write("a.png", tinyPNG())
	_, err := r.EditImages(t.Context(), editOf("a.png"), engine.Output{}, nil)
	if !errors.Is(err, engine.ErrInput) {
		t.Errorf("got %v", err)
	}
}
