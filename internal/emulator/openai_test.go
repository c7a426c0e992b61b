package emulator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"mediagen/internal/emulator"
)

func TestGenerateThroughSDK(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	svc := sdk(origin)
	res, err := svc.Generate(t.Context(), openai.ImageGenerateParams{
		Prompt: "a <b>cat</b>", N: openai.Int(2), OutputCompression: openai.Int(80), SafetyIdentifier: openai.String("u1"),
		Background: "opaque", Complexity: "low", Model: openai.ImageModelGPTImage2_6Flare, Moderation: "low",
		OutputFormat: "jpeg", Quality: "low", Size: "1280x720",
	})
	if err != nil {
		t.Fatal(err)
	}
	type summary struct {
		Created                           int64
		Background, Format, Quality, Size string
		Pictures                          int
		In, Out, Total, Text, Image       int64
	}
	got := summary{
		res.Created, string(res.Background), string(res.OutputFormat), string(res.Quality), string(res.Size), len(res.Data),
		res.Usage.InputTokens, res.Usage.OutputTokens, res.Usage.TotalTokens,
		res.Usage.InputTokensDetails.TextTokens, res.Usage.OutputTokensDetails.ImageTokens,
	}
	want := summary{clock().Unix(), "opaque", "jpeg", "low", "1280x720", 2, 9, 352, 361, 9, 352}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, d := range res.Data {
		if b := unbase64(t, d.B64JSON); !bytes.HasPrefix(b, []byte("\xff\xd8\xff")) {
			t.Errorf("picture begins with %x, want a JPEG", b[:4])
		}
	}
	if bytes.Equal(unbase64(t, res.Data[0].B64JSON), unbase64(t, res.Data[1].B64JSON)) {
		t.Error("both pictures of one reply are the same")
	}
}

func TestVectorAndAnimationThroughSDK(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	svc := sdk(origin)
	var raw *http.Response
	vector, err := svc.Generate(t.Context(), openai.ImageGenerateParams{
		Prompt: "icon & <more>", Model: openai.ImageModelGPTImage2_6Flare, OutputFormat: "svg",
		Svg: openai.ImageGenerateParamsSvg{
			Model: "gpt-6-astra", Reasoning: openai.ImageGenerateParamsSvgReasoning{Effort: "low"},
		},
	}, option.WithResponseInto(&raw))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(vector.RawJSON(), `"svg_usage":{"model":"gpt-6-astra"`) {
		t.Error("reply lacks svg_usage")
	}
	text := string(unbase64(t, vector.Data[0].B64JSON))
	for _, part := range []string{"<desc>icon &amp; &lt;more&gt;</desc>", "EMULATED", "</svg>"} {
		if !strings.Contains(text, part) {
			t.Errorf("svg lacks %q: %.300s", part, text)
		}
	}
	moving, err := svc.Generate(t.Context(), openai.ImageGenerateParams{
		Prompt: "icon", Model: "test-model", Size: "128x96", OutputFormat: "gif", FrameCount: openai.Int(4),
		FrameDurationMs: openai.Int(120),
	})
	if err != nil {
		t.Fatal(err)
	}
	checkGIF(t, unbase64(t, moving.Data[0].B64JSON), 4, 12)
}

func TestEditThroughSDK(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	picture := pngOf(t, 320, 200, false)
	files := func(n int) (list []io.Reader) {
		for range n {
			list = append(list, openai.File(bytes.NewReader(picture), "a.png", "image/png"))
		}
		return list
	}
	base := openai.ImageEditParams{Prompt: "wider", Model: "test-model", Size: "96x96", Quality: "low"}
	tests := []struct {
		name   string
		change func(p *openai.ImageEditParams)
		image  int64 // image tokens of the input
	}{
		{"one file", func(p *openai.ImageEditParams) { p.Image.OfFile = files(1)[0] }, 323},
		{"a list of one", func(p *openai.ImageEditParams) { p.Image.OfFileArray = files(1) }, 323},
		{"sixteen", func(p *openai.ImageEditParams) { p.Image.OfFileArray = files(16) }, 16 * 323},
		{"mask", func(p *openai.ImageEditParams) {
			p.Image.OfFileArray = files(2)
			p.Mask = openai.File(bytes.NewReader(pngOf(t, 320, 200, true)), "m.png", "image/png")
		}, 2 * 323},
		{"markup", func(p *openai.ImageEditParams) {
			p.Image.OfFile = files(1)[0]
			red := pngIn(t, 320, 200, true, color.NRGBA{200, 20, 30, 255})
			p.Markup = openai.File(bytes.NewReader(red), "m.png", "image/png")
		}, 323},
		{"fidelity", func(p *openai.ImageEditParams) {
			p.Image.OfFile, p.InputFidelity = files(1)[0], "high"
		}, 323 + 4160},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		p := base
		tt.change(&p)
		svc := sdk(origin)
		res, err := svc.Edit(t.Context(), p)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := res.Usage.InputTokensDetails.ImageTokens; got != tt.image {
			t.Errorf("%s: %d image tokens in, want %d", tt.name, got, tt.image)
		}
		unbase64(t, res.Data[0].B64JSON)
		seen[res.Data[0].B64JSON] = tt.name
	}
	if len(seen) != 4 { // one file, a list of one and fidelity show the same inputs
		t.Errorf("%d different pictures, want 4: the inputs must be seen", len(seen))
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	svc := openai.NewModelService(option.WithBaseURL(origin+"/v1/"), option.WithAPIKey(testKey))
	page := must[interface{ RawJSON() string }](t)(svc.List(t.Context()))
	for _, part := range []string{`"id":"gpt-image-2.6-flare"`, `"shutdown_date":"2026-12-01"`, `"shutdown_date":null`} {
		if !strings.Contains(page.RawJSON(), part) {
			t.Errorf("list lacks %s", part)
		}
	}
	for _, base := range []string{"", "/openai/v1"} {
		if r := get(t, origin+base+"/models", testKey); r.status != 200 {
			t.Errorf("%s/models: status %d", base, r.status)
		}
	}
}

func TestBases(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	const body = `{"prompt":"x","size":"64x64","model":"m"}`
	for path, want := range map[string]int{
		"/images/generations":           200,
		"/v1/images/generations":        200,
		"/openai/v1/images/generations": 200,
		"/openai/deployments/pics/images/generations?api-version=2025-04-01-preview": 200,
		"/openai/deployments/pics/images/generations":                                404,
	} {
		r := must[reply](t)(send(t.Context(), origin+path, "application/json", strings.NewReader(body),
			map[string]string{"Authorization": "", "Api-Key": "x"}))
		if r.status != want {
			t.Errorf("%s: status %d, want %d: %.200s", path, r.status, want, r.body)
		}
	}
	r := must[reply](t)(send(t.Context(), origin+"/openai/deployments/pics/images/generations?api-version=1",
		"application/json", strings.NewReader(`{"prompt":"x","size":"64x64"}`), nil))
	if r.status != 200 {
		t.Errorf("the deployment stands for the model: status %d: %s", r.status, r.body)
	}
}

func TestCreateRefusals(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	flare := func(key string, value any) map[string]any {
		return map[string]any{"model": "gpt-image-2.6-flare", "size": "1024x1024", key: value}
	}
	first := func(key string, value any) map[string]any {
		return map[string]any{"model": "gpt-image-1.5", "size": "1024x1024", key: value}
	}
	tests := []struct {
		name        string
		params      map[string]any
		code, param string
	}{
		{"no model", map[string]any{"model": nil}, "missing_required_parameter", "model"},
		{"no prompt", map[string]any{"prompt": nil}, "missing_required_parameter", "prompt"},
		{"empty prompt", map[string]any{"prompt": ""}, "string_below_min_length", "prompt"},
		{"long prompt", map[string]any{"prompt": strings.Repeat("é", 32_001)}, "string_above_max_length", "prompt"},
		{"prompt of another type", map[string]any{"prompt": 7}, "invalid_type", "prompt"},
		{"n 0", map[string]any{"n": 0}, "integer_below_min_value", "n"},
		{"n 11", map[string]any{"n": 11}, "integer_above_max_value", "n"},
		{"n half", map[string]any{"n": 1.5}, "invalid_type", "n"},
		{"n text", map[string]any{"n": "2"}, "invalid_type", "n"},
		{"size word", flare("size", "large"), "invalid_value", "size"},
		{"size with sign", flare("size", "+1024x1024"), "invalid_value", "size"},
		{"size not by 16", flare("size", "1000x1001"), "invalid_value", "size"},
		{"size too flat", flare("size", "3840x1024"), "invalid_value", "size"},
		{"size too small", flare("size", "512x512"), "invalid_value", "size"},
		{"size too long", flare("size", "4096x2048"), "invalid_value", "size"},
		{"size too many pixels", flare("size", "3840x2176"), "invalid_value", "size"},
		{"size of the first generation", first("size", "1280x720"), "invalid_value", "size"},
		{"quality", flare("quality", "hd"), "invalid_value", "quality"},
		{"finest quality too early", first("quality", "max"), "invalid_value", "quality"},
		{"background", flare("background", "green"), "invalid_value", "background"},
		{
			"transparent jpeg",
			map[string]any{"background": "transparent", "output_format": "jpeg"},
			"invalid_value", "background",
		},
		{"format", flare("output_format", "bmp"), "invalid_value", "output_format"},
		{"svg too early", first("output_format", "svg"), "invalid_value", "output_format"},
		{"moderation", flare("moderation", "off"), "invalid_value", "moderation"},
		{"compression", flare("output_compression", 101), "integer_above_max_value", "output_compression"},
		{"compression of png", flare("output_compression", 50), "invalid_value", "output_compression"},
		{"partials", map[string]any{"partial_images": 4, "stream": true}, "integer_above_max_value", "partial_images"},
		{"partials without stream", map[string]any{"partial_images": 1}, "invalid_value", "partial_images"},
		{"stream text", map[string]any{"stream": "yes"}, "invalid_type", "stream"},
		{"stream of gif", map[string]any{"stream": true, "output_format": "gif"}, "invalid_value", "stream"},
		{"frames without gif", flare("frame_count", 4), "invalid_value", "frame_count"},
		{"frames", map[string]any{"frame_count": 17, "output_format": "gif"}, "integer_above_max_value", "frame_count"},
		{"two svgs", map[string]any{"output_format": "svg", "n": 2}, "invalid_value", "n"},
		{"svg object without svg", flare("svg", map[string]any{"model": "x"}), "invalid_value", "svg"},
		{"svg effort", map[string]any{
			"output_format": "svg", "svg": map[string]any{"reasoning": map[string]any{"effort": "huge"}},
		}, "invalid_value", "svg[reasoning][effort]"},
		{"complexity", flare("complexity", "huge"), "invalid_value", "complexity"},
		{"complexity too early", first("complexity", "low"), "unknown_parameter", "complexity"},
		{"unknown", flare("seed", 4), "unknown_parameter", "seed"},
		{"response_format", flare("response_format", "url"), "unknown_parameter", "response_format"},
		{"fidelity of a create", first("input_fidelity", "low"), "unknown_parameter", "input_fidelity"},
		{"a list", flare("user", []string{"x"}), "invalid_type", "user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := must[reply](t)(create(t, origin, tt.params, nil))
			if r.status != 400 {
				t.Fatalf("status = %d, want 400: %.200s", r.status, r.body)
			}
			if diff := cmp.Diff([3]string{"invalid_request_error", tt.code, tt.param}, apiError(t, r.body)); diff != "" {
				t.Error(diff)
			}
			if len(r.body) > 1000 {
				t.Errorf("error of %d bytes repeats what was sent", len(r.body))
			}
		})
	}
}

func TestCreateAccepts(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	for name, params := range map[string]map[string]any{
		"unknown model with extras": {"model": "Qwen/Qwen-Image", "negative_prompt": "no", "seed": 42, "loras": []int{1}},
		"a new model of OpenAI's":   {"model": "gpt-image-3", "size": "1024x1024", "complexity": "high", "quality": "max"},
		"nulls":                     {"n": nil, "quality": nil, "stream": nil},
		"auto":                      {"size": "auto", "quality": "auto", "background": "auto"},
		"longest prompt":            {"prompt": strings.Repeat("漢", 32_000)},
		"url of another's model":    {"response_format": "url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := must[reply](t)(create(t, origin, params, nil))
			if r.status != 200 {
				t.Fatalf("status = %d: %.300s", r.status, r.body)
			}
			if d := parse(t, r.body).Data[0]; (d.URL != "") != (params["response_format"] == "url") {
				t.Errorf("url = %q for response_format %v", d.URL, params["response_format"])
			}
		})
	}
}

func TestBodiesThatAreNoJSON(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	for body, want := range map[string]int{
		"": 400, "[]": 400, "{": 400, `{"prompt":"x"} {}`: 400, `"x"`: 400,
		`{"prompt":"` + strings.Repeat("x", 5<<20) + `"}`: 413,
	} {
		r := must[reply](t)(send(t.Context(), origin+"/v1/images/generations", "application/json",
			strings.NewReader(body), nil))
		if r.status != want {
			t.Errorf("%.20q: status = %d, want %d", body, r.status, want)
		}
		apiError(t, r.body)
	}
}

func TestEditRefusals(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	picture, hole, solid := pngOf(t, 64, 48, false), pngOf(t, 64, 48, true), withAlpha(t, 64, 48)
	good := file{"image", "a.png", "image/png", picture}
	many := make([]file, 17)
	for i := range many {
		many[i] = file{"image[]", fmt.Sprintf("%d.png", i), "image/png", picture}
	}
	older := func(key, value string) map[string]string {
		return map[string]string{"model": "gpt-image-2", "size": "1024x1024", key: value}
	}
	mini := map[string]string{"model": "gpt-image-1-mini", "size": "1024x1024", "input_fidelity": "high"}
	part := func(field, mime string, data []byte) file { return file{field, "a." + mime, "image/" + mime, data} }
	octets := func(field string) file { return file{field, "a.png", "application/octet-stream", picture} }
	tests := []struct {
		name        string
		values      map[string]string
		files       []file
		code, param string
	}{
		{"no image", nil, nil, "missing_required_parameter", "image"},
		{"octet stream", nil, []file{octets("image")}, "unsupported_file_mimetype", "image"},
		{"no type", nil, []file{{"image[]", "a.png", "", picture}}, "unsupported_file_mimetype", "image"},
		{"gif", nil, []file{part("image", "gif", picture)}, "unsupported_file_mimetype", "image"},
		{"octet stream mask", nil, []file{good, octets("mask")}, "unsupported_file_mimetype", "mask"},
		{"no picture", nil, []file{part("image", "png", []byte("<html>"))}, "invalid_image_file", "image"},
		{"cut picture", nil, []file{part("image", "png", picture[:60])}, "invalid_image_file", "image"},
		{"disguised bmp", nil, []file{part("image", "png", []byte("BM6\x00\x00"))}, "invalid_image_file", "image"},
		{"too large", nil, []file{part("image", "png", make([]byte, 50_000_001))}, "file_too_large", "image"},
		{"seventeen", nil, many, "array_above_max_length", "image"},
		{"opaque mask", nil, []file{good, part("mask", "png", picture)}, "invalid_mask_image_format", "mask"},
		{
			"mask of another size", nil,
			[]file{good, part("mask", "png", pngOf(t, 32, 64, true))},
			"invalid_image_mask_size", "mask",
		},
		{
			"mask is no png", nil,
			[]file{good, part("mask", "jpeg", jpegOf(t, 64, 48))},
			"invalid_mask_image_format", "mask",
		},
		{
			"mask and markup", nil,
			[]file{good, part("mask", "png", hole), part("markup", "png", hole)},
			"invalid_value", "markup",
		},
		{"opaque markup", nil, []file{good, part("markup", "png", solid)}, "invalid_value", "markup"},
		{"markup too early", older("n", "1"), []file{good, part("markup", "png", hole)}, "unknown_parameter", "markup"},
		{
			"mask of gif",
			map[string]string{"output_format": "gif"},
			[]file{good, part("mask", "png", hole)},
			"invalid_value", "mask",
		},
		{"fidelity too late", older("input_fidelity", "low"), []file{good}, "unknown_parameter", "input_fidelity"},
		{"fidelity of the small model", mini, []file{good}, "invalid_value", "input_fidelity"},
		{"moderation of an edit", older("moderation", "low"), []file{good}, "unknown_parameter", "moderation"},
		{"n", map[string]string{"n": "many"}, []file{good}, "invalid_type", "n"},
		{"stream", map[string]string{"stream": "perhaps"}, []file{good}, "invalid_type", "stream"},
		{
			"long field",
			map[string]string{"user": strings.Repeat("x", 1<<20+1)},
			[]file{good},
			"string_above_max_length", "user",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			values := map[string]string{"prompt": "x", "model": "test-model", "size": "64x64"}
			maps.Copy(values, tt.values)
			body, contentType := form(t, values, tt.files...)
			r := must[reply](t)(send(t.Context(), origin+"/v1/images/edits", contentType, body, nil))
			if r.status != 400 {
				t.Fatalf("status = %d, want 400: %.200s", r.status, r.body)
			}
			if diff := cmp.Diff([3]string{"invalid_request_error", tt.code, tt.param}, apiError(t, r.body)); diff != "" {
				t.Errorf("%s\n%s", diff, r.body)
			}
		})
	}
}

func TestEditBodies(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	const open = "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nabc"
	for name, tt := range map[string]struct{ contentType, body string }{
		"json":        {"application/json", `{"prompt":"x"}`},
		"no boundary": {"multipart/form-data", "x"},
		"no type":     {"", "x"},
		"cut":         {"multipart/form-data; boundary=b", open},
		"empty":       {"multipart/form-data; boundary=b", ""},
	} {
		r := must[reply](t)(send(t.Context(), origin+"/v1/images/edits", tt.contentType,
			strings.NewReader(tt.body), nil))
		if r.status != 400 {
			t.Errorf("%s: status = %d, want 400", name, r.status)
		}
		apiError(t, r.body)
	}
}

func TestMaskMayFitTheUprightPicture(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	body, contentType := form(t, map[string]string{"prompt": "x", "model": "m", "size": "64x64"},
		file{"image", "a.jpg", "image/jpeg", withOrientation(jpegOf(t, 64, 48), 6)},
		file{"mask", "m.png", "image/png", pngOf(t, 48, 64, true)})
	r := must[reply](t)(send(t.Context(), origin+"/v1/images/edits", contentType, body, nil))
	if r.status != 200 {
		t.Errorf("status = %d: %s", r.status, r.body)
	}
}

func TestContentLengthOfOnePicture(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	for n, cheap := range map[int]bool{1: true, 2: false} {
		r := must[reply](t)(create(t, origin, map[string]any{"n": n}, nil))
		if has := r.header.Get("Content-Length") != ""; has != cheap {
			t.Errorf("n = %d: Content-Length %q, want one: %v", n, r.header.Get("Content-Length"), cheap)
		}
		if !json.Valid(r.body) {
			t.Errorf("n = %d: not JSON", n)
		}
	}
}
