package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
)

// canned answers every create with one picture.
func canned(t testing.TB) *server {
	t.Helper()
	s := serve(t, nil)
	s.Config.Handler = s.record(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"created":1,"data":[{"b64_json":"AAEC"}]}`)
	}))
	return s
}

// TestGenerateBodies holds the JSON against requests recorded from the SDK (provider-facts section 11, rows 1 to 5).
func TestGenerateBodies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		call     engine.ImageCall
		want     string
		emulated bool
	}{
		{
			name: "all common parameters, no HTML escapes", emulated: true,
			call: engine.ImageCall{
				Prompt: "a <b>cat</b> & \"dog\"\n\u2028", N: 1, OutputCompression: new(80), SafetyIdentifier: "u1",
				Background: "opaque",
				Complexity: "low", Model: flare, Moderation: "low", OutputFormat: "jpeg", Quality: "low", Size: "1536x864",
			},
			want: `{"prompt":"a <b>cat</b> & \"dog\"\n\u2028","n":1,"output_compression":80,"safety_identifier":"u1",` +
				`"background":"opaque","complexity":"low","model":"gpt-image-2.6-flare","moderation":"low",` +
				`"output_format":"jpeg","quality":"low","size":"1536x864"}`,
		},
		{
			name: "svg", emulated: true,
			call: engine.ImageCall{Prompt: "icon", Model: flare, OutputFormat: "svg", SVGModel: "gpt-6-astra", SVGEffort: "low"},
			want: `{"prompt":"icon","model":"gpt-image-2.6-flare","output_format":"svg",` +
				`"svg":{"model":"gpt-6-astra","reasoning":{"effort":"low"}}}`,
		},
		{
			name: "svg effort alone", emulated: true,
			call: engine.ImageCall{Prompt: "icon", Model: flare, OutputFormat: "svg", SVGEffort: "none"},
			want: `{"prompt":"icon","model":"gpt-image-2.6-flare","output_format":"svg","svg":{"reasoning":{"effort":"none"}}}`,
		},
		{
			name: "gif", emulated: true,
			call: engine.ImageCall{
				Prompt: "icon", Model: "m", Size: "64x64", OutputFormat: "gif", FrameCount: 4,
				FrameDurationMS: 120,
			},
			want: `{"prompt":"icon","frame_count":4,"frame_duration_ms":120,"model":"m","output_format":"gif","size":"64x64"}`,
		},
		{
			name: "extras keep their JSON types",
			call: engine.ImageCall{Prompt: "x", Model: "Qwen/Qwen-Image", ResponseFormat: "b64_json", Extra: map[string]any{
				"negative_prompt": "blurry", "num_inference_steps": 20, "seed": int64(9007199254740993), "guidance_scale": 4.5,
				"enable_teacache": false, "lora": map[string]any{"name": "l"}, "layers": []any{1, "a"}, "nothing": nil,
				"exact": json.Number("1.10"),
			}},
			want: `{"prompt":"x","model":"Qwen/Qwen-Image","response_format":"b64_json","enable_teacache":false,"exact":1.10,` +
				`"guidance_scale":4.5,"layers":[1,"a"],"lora":{"name":"l"},"negative_prompt":"blurry","nothing":null,` +
				`"num_inference_steps":20,"seed":9007199254740993}`,
		},
		{
			name: "partials ask for a stream", emulated: true,
			call: engine.ImageCall{Prompt: "x", Partials: 2, Model: "m", Size: "64x64"},
			want: `{"prompt":"x","partial_images":2,"model":"m","size":"64x64","stream":true}`,
		},
		{
			name: "stream with extras",
			call: engine.ImageCall{Prompt: "x", Stream: true, Model: "m", Extra: map[string]any{"seed": 42}},
			want: `{"prompt":"x","model":"m","seed":42,"stream":true}`,
		},
		{
			name: "compression 0 is sent", emulated: true,
			call: engine.ImageCall{
				Prompt: "x", Model: "m", Size: "64x64", OutputFormat: "jpeg", OutputCompression: new(0),
				User: "u",
			},
			want: `{"prompt":"x","output_compression":0,"user":"u","model":"m","output_format":"jpeg","size":"64x64"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := canned(t)
			if tt.emulated {
				srv = emulated(t)
			}
			out := newSink()
			if _, err := client(t, srv.URL).GenerateImages(t.Context(), tt.call, out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(unescaped(t, tt.want), unescaped(t, string(srv.lastBody))); diff != "" {
				t.Error(diff)
			}
			if got := srv.last.Header.Get("Accept"); got != "application/json" {
				t.Errorf("Accept = %q", got)
			}
			if got := srv.last.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type = %q", got)
			}
			if srv.last.ContentLength != int64(len(srv.lastBody)) || len(out.final()) != 1 {
				t.Errorf("Content-Length %d of %d, %d pictures", srv.last.ContentLength, len(srv.lastBody), len(out.final()))
			}
		})
	}
}

// unescaped makes two spellings of U+2028 the same; everything else is compared byte by byte.
func unescaped(t *testing.T, text string) string {
	t.Helper()
	if !json.Valid([]byte(text)) {
		t.Fatalf("not JSON: %s", text)
	}
	return string(bytes.ReplaceAll([]byte(text), []byte("\u2028"), []byte(`\u2028`)))
}

// part is one part of a form.
type part struct{ Name, File, Type, Value string }

// parts reads a multipart body as it came.
func parts(t *testing.T, r *http.Request, body []byte) []part {
	t.Helper()
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		t.Fatalf("Content-Type %q: %v", r.Header.Get("Content-Type"), err)
	}
	var list []part
	mr := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		p, err := mr.NextRawPart()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		value, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		text := string(value)
		if p.FileName() != "" {
			text = strconv.Itoa(len(value)) + " bytes"
		}
		list = append(list, part{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), text})
	}
}

// TestEditForms holds the parts against the requests recorded from the SDK (provider-facts section 11, rows 6 to 9).
func TestEditForms(t *testing.T) {
	t.Parallel()
	plain, hole := pngOf(t, 96, 64, false), pngOf(t, 96, 64, true)
	a, b := input("a.png", "image/png", plain), input("b.jpeg", "image/jpeg", []byte("\xff\xd8\xff\xe0jpeg"))
	overlay := input(`m "1" \ü.png`, "image/png", hole)
	size := func(data []byte) string { return strconv.Itoa(len(data)) + " bytes" }
	tests := []struct {
		name     string
		call     engine.ImageCall
		want     []part
		emulated bool
	}{
		{
			name: "several pictures and a mask", emulated: true,
			call: engine.ImageCall{
				Prompt: "wider\r\n\"quoted\"", Model: "m", N: 2, OutputFormat: "png", Size: "64x64",
				Images: []engine.Input{a, a}, Mask: &overlay,
			},
			want: []part{
				{"image[]", "a.png", "image/png", size(plain)},
				{"image[]", "a.png", "image/png", size(plain)},
				{"mask", `m "1" \ü.png`, "image/png", size(hole)},
				{Name: "model", Value: "m"},
				{Name: "n", Value: "2"},
				{Name: "output_format", Value: "png"},
				{Name: "prompt", Value: "wider\r\n\"quoted\""},
				{Name: "size", Value: "64x64"},
			},
		},
		{
			name: "one picture, markup and svg", emulated: true,
			call: engine.ImageCall{
				Prompt: "icon", Model: flare, OutputFormat: "svg", SVGModel: "gpt-6-astra", SVGEffort: "low",
				Images: []engine.Input{a}, Markup: &overlay,
			},
			want: []part{
				{"image", "a.png", "image/png", size(plain)},
				{"markup", `m "1" \ü.png`, "image/png", size(hole)},
				{Name: "model", Value: flare},
				{Name: "output_format", Value: "svg"},
				{Name: "prompt", Value: "icon"},
				{Name: "svg[model]", Value: "gpt-6-astra"},
				{Name: "svg[reasoning][effort]", Value: "low"},
			},
		},
		{
			name: "stream", emulated: true,
			call: engine.ImageCall{Prompt: "x", Model: "m", Size: "64x64", Partials: 2, Images: []engine.Input{a}},
			want: []part{
				{"image", "a.png", "image/png", size(plain)},
				{Name: "model", Value: "m"},
				{Name: "partial_images", Value: "2"},
				{Name: "prompt", Value: "x"},
				{Name: "size", Value: "64x64"},
				{Name: "stream", Value: "true"},
			},
		},
		{
			name: "gif", emulated: true,
			call: engine.ImageCall{
				Prompt: "x", Model: "m", Size: "64x64", OutputFormat: "gif", FrameCount: 3, FrameDurationMS: 90,
				Images: []engine.Input{a},
			},
			want: []part{
				{Name: "frame_count", Value: "3"},
				{Name: "frame_duration_ms", Value: "90"},
				{"image", "a.png", "image/png", size(plain)},
				{Name: "model", Value: "m"},
				{Name: "output_format", Value: "gif"},
				{Name: "prompt", Value: "x"},
				{Name: "size", Value: "64x64"},
			},
		},
		{
			name: "every text parameter and extras of every type",
			call: engine.ImageCall{
				Prompt: "x", Model: "m", Background: "opaque", Complexity: "high", InputFidelity: "high", OutputCompression: new(0),
				OutputFormat: "webp", Quality: "max", ResponseFormat: "b64_json", SafetyIdentifier: "s", User: "u", Stream: true,
				Images: []engine.Input{a, b},
				Extra: map[string]any{
					"seed": 42, "guidance_scale": 4.5, "negative_prompt": "blurry", "tea": true, "lora": map[string]any{"a": []any{1}},
				},
			},
			want: []part{
				{Name: "background", Value: "opaque"},
				{Name: "complexity", Value: "high"},
				{"image[]", "a.png", "image/png", size(plain)},
				{"image[]", "b.jpeg", "image/jpeg", "8 bytes"},
				{Name: "input_fidelity", Value: "high"},
				{Name: "model", Value: "m"},
				{Name: "output_compression", Value: "0"},
				{Name: "output_format", Value: "webp"},
				{Name: "prompt", Value: "x"},
				{Name: "quality", Value: "max"},
				{Name: "response_format", Value: "b64_json"},
				{Name: "safety_identifier", Value: "s"},
				{Name: "user", Value: "u"},
				// Extras come last, in any order; the test sorts them.
				{Name: "guidance_scale", Value: "4.5"},
				{Name: "lora", Value: `{"a":[1]}`},
				{Name: "negative_prompt", Value: "blurry"},
				{Name: "seed", Value: "42"},
				{Name: "stream", Value: "true"},
				{Name: "tea", Value: "true"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := canned(t)
			if tt.emulated {
				srv = emulated(t)
			}
			out := newSink()
			if _, err := client(t, srv.URL).EditImages(t.Context(), tt.call, out); err != nil {
				t.Fatal(err)
			}
			got := parts(t, srv.last, srv.lastBody)
			sortExtras(got, len(tt.want)-len(tt.call.Extra)-1)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if srv.last.ContentLength != int64(len(srv.lastBody)) || len(srv.encoding) > 0 {
				t.Errorf("Content-Length %d for %d bytes, transfer encoding %v", srv.last.ContentLength, len(srv.lastBody),
					srv.encoding)
			}
			if len(out.final()) == 0 {
				t.Error("no picture came")
			}
		})
	}
}

// sortExtras sorts what follows the first n parts by name.
func sortExtras(list []part, n int) {
	if n < 0 || n > len(list) {
		return
	}
	rest := list[n:]
	for i := range rest {
		for k := range rest[i:] {
			if rest[i+k].Name < rest[i].Name {
				rest[i], rest[i+k] = rest[i+k], rest[i]
			}
		}
	}
}

func TestACallThatCannotBeWrittenIsNotSent(t *testing.T) {
	t.Parallel()
	srv := canned(t)
	c := client(t, srv.URL)
	bad := map[string]any{"f": func() {}}
	picture := []engine.Input{input("a.png", "image/png", []byte("x"))}
	calls := map[string]func(engine.ImageSink) (engine.ImageReply, error){
		"extra of a generate": func(s engine.ImageSink) (engine.ImageReply, error) {
			return c.GenerateImages(t.Context(), engine.ImageCall{Prompt: "p", Model: "m", Extra: bad}, s)
		},
		"extra of an edit": func(s engine.ImageSink) (engine.ImageReply, error) {
			return c.EditImages(t.Context(), engine.ImageCall{Prompt: "p", Model: "m", Images: picture, Extra: bad}, s)
		},
		"file name": func(s engine.ImageSink) (engine.ImageReply, error) {
			in := input("a\x00.png", "image/png", []byte("x"))
			return c.EditImages(t.Context(), engine.ImageCall{Prompt: "p", Model: "m", Images: []engine.Input{in}}, s)
		},
		"media type": func(s engine.ImageSink) (engine.ImageReply, error) {
			in := input("a.png", "png", []byte("x"))
			return c.EditImages(t.Context(), engine.ImageCall{Prompt: "p", Model: "m", Images: []engine.Input{in}}, s)
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			_, err := call(newSink())
			_, got := told(t, err)
			if diff := cmp.Diff(outcome{engine.KindInvalidRequest, "invalid_request", engine.BilledNo}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if posts, _ := srv.counts(); posts != 0 {
		t.Errorf("%d requests were sent", posts)
	}
}

// modelSent finds the model in JSON and in a form.
var modelSent = regexp.MustCompile(`"model"[:\r\n]+"?([^"\r]+)`)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		change       func(c *openai.Config, origin string)
		model        string
		named        string // the model in the request, when it is another one
		path, query  string
		header       map[string]string // "" means absent
		endpointPath string
	}{
		{
			name:   "openai with organisation and project",
			change: func(c *openai.Config, _ string) { c.OrgID, c.ProjectID = "org-1", "proj-1" },
			path:   "/v1/images/", endpointPath: "/v1/",
			header: map[string]string{
				"Authorization": "Bearer " + testKey, "OpenAI-Organization": "org-1", "OpenAI-Project": "proj-1", "Api-Key": "",
			},
		},
		{
			name:   "no key, no header",
			change: func(c *openai.Config, _ string) { c.APIKey = redact.Secret{} },
			path:   "/v1/images/", endpointPath: "/v1/",
			header: map[string]string{"Authorization": "", "Api-Key": "", "OpenAI-Organization": "", "OpenAI-Project": ""},
		},
		{
			name:   "base path with an escape",
			change: func(c *openai.Config, origin string) { c.BaseURL = origin + "/team%2Fa/v1/" },
			path:   "/team%2Fa/v1/images/", endpointPath: "/team%2Fa/v1/",
		},
		{
			name:   "base without a path",
			change: func(c *openai.Config, origin string) { c.BaseURL = " " + origin + "\n" },
			path:   "/images/", endpointPath: "/",
		},
		{
			name: "azure classic",
			change: func(c *openai.Config, origin string) {
				c.Azure = &openai.Azure{Endpoint: origin, APIVersion: "2025-04-01-preview", Deployment: "my images"}
				c.OrgID, c.BaseURL = "org-1", "https://api.openai.com/v1"
			},
			named: "my images",
			path:  "/openai/deployments/my%20images/images/", query: "api-version=2025-04-01-preview", endpointPath: "/",
			header: map[string]string{"Authorization": "", "Api-Key": testKey, "OpenAI-Organization": ""},
		},
		{
			name: "azure names the deployment after the model",
			change: func(c *openai.Config, origin string) {
				c.Azure = &openai.Azure{Endpoint: origin + "/", APIVersion: "2024-10-21"}
			},
			model: "a/../b", path: "/openai/deployments/a%2F..%2Fb/images/", query: "api-version=2024-10-21", endpointPath: "/",
		},
		{
			name: "azure deployment of dots",
			change: func(c *openai.Config, origin string) {
				c.Azure = &openai.Azure{Endpoint: origin, APIVersion: "2024-10-21", Deployment: ".."}
			},
			named: "..", path: "/openai/deployments/%2E%2E/images/", query: "api-version=2024-10-21", endpointPath: "/",
		},
		{
			name: "azure v1",
			change: func(c *openai.Config, origin string) {
				c.Azure = &openai.Azure{Endpoint: origin + "/openai/v1", APIVersion: "2024-10-21", Deployment: "d"}
			},
			path: "/openai/v1/images/", endpointPath: "/openai/v1/", named: "d",
			header: map[string]string{"Authorization": "", "Api-Key": testKey},
		},
		{
			name: "azure without a key",
			change: func(c *openai.Config, origin string) {
				c.Azure, c.APIKey = &openai.Azure{Endpoint: origin + "/openai/v1/"}, redact.Secret{}
			},
			path: "/openai/v1/images/", endpointPath: "/openai/v1/",
			header: map[string]string{"Authorization": "", "Api-Key": ""},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := canned(t)
			c := client(t, srv.URL, func(cfg *openai.Config) { tt.change(cfg, srv.URL) })
			if c.Endpoint() != srv.URL+tt.endpointPath {
				t.Errorf("Endpoint() = %s, want %s", c.Endpoint(), srv.URL+tt.endpointPath)
			}
			call := engine.ImageCall{Prompt: "p", Model: "m", Images: []engine.Input{input("a.png", "image/png", []byte("x"))}}
			if tt.model != "" {
				call.Model = tt.model
			}
			named := call.Model
			if tt.named != "" {
				named = tt.named
			}
			for op, send := range map[string]func() error{
				"generations": func() error { _, err := c.GenerateImages(t.Context(), call, newSink()); return err },
				"edits":       func() error { _, err := c.EditImages(t.Context(), call, newSink()); return err },
			} {
				if err := send(); err != nil {
					t.Fatal(err)
				}
				if got := srv.last.URL.EscapedPath(); got != tt.path+op || srv.last.URL.RawQuery != tt.query {
					t.Errorf("%s: asked for %s?%s, want %s?%s", op, got, srv.last.URL.RawQuery, tt.path+op, tt.query)
				}
				for name, want := range tt.header {
					if got := srv.last.Header.Get(name); got != want {
						t.Errorf("%s: %s = %q, want %q", op, name, got, want)
					}
				}
				if m := modelSent.FindSubmatch(srv.lastBody); m == nil || string(m[1]) != named {
					t.Errorf("%s: the model in the request is %q", op, m)
				}
				if got := srv.last.Header.Get("User-Agent"); got != "mediagen/test OpenAI/Go 3.99.0" {
					t.Errorf("User-Agent = %q", got)
				}
			}
		})
	}
}

// TestTheEnvironmentIsNotRead cannot run beside other tests.
func TestTheEnvironmentIsNotRead(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-hostile-key", "OPENAI_ADMIN_KEY": "sk-hostile-admin", "OPENAI_ORG_ID": "hostile-org",
		"OPENAI_PROJECT_ID": "hostile-project", "OPENAI_BASE_URL": "http://hostile.invalid/v1",
		"OPENAI_CUSTOM_HEADERS": "X-Hostile: 1\nAuthorization: Bearer hostile", "OPENAI_WEBHOOK_SECRET": "hostile-hook",
		"AZURE_OPENAI_API_KEY": "hostile-azure",
	} {
		t.Setenv(name, value)
	}
	srv := canned(t)
	c := client(t, srv.URL, func(c *openai.Config) { c.APIKey = redact.Secret{} })
	call := engine.ImageCall{Prompt: "p", Model: "m", Images: []engine.Input{input("a.png", "image/png", []byte("x"))}}
	for _, send := range []func() error{
		func() error { _, err := c.GenerateImages(t.Context(), call, newSink()); return err },
		func() error { _, err := c.EditImages(t.Context(), call, newSink()); return err },
	} {
		if err := send(); err != nil {
			t.Fatal(err)
		}
		var seen bytes.Buffer
		if err := srv.last.Header.Write(&seen); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(bytes.ToLower(seen.Bytes()), []byte("hostile")) || srv.last.Header.Get("Authorization") != "" {
			t.Errorf("the environment got into the request:\n%s", seen.String())
		}
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	ok := &http.Client{}
	for name, cfg := range map[string]openai.Config{
		"scheme":         {BaseURL: "ftp://host/v1", HTTPClient: ok},
		"no host":        {BaseURL: "https:///v1", HTTPClient: ok},
		"only a port":    {BaseURL: "https://:8080/v1", HTTPClient: ok},
		"not a URL":      {BaseURL: "http://[::1/v1", HTTPClient: ok},
		"user":           {BaseURL: "https://user:secret-word@host/v1", HTTPClient: ok},
		"query":          {BaseURL: "https://host/v1?key=secret-word", HTTPClient: ok},
		"fragment":       {BaseURL: "https://host/v1#secret-word", HTTPClient: ok},
		"azure endpoint": {Azure: &openai.Azure{}, HTTPClient: ok},
		"no HTTP client": {},
	} {
		_, err := openai.New(cfg)
		if err == nil || bytes.Contains([]byte(err.Error()), []byte("secret-word")) {
			t.Errorf("%s: error %v, want one without the secret", name, err)
			continue
		}
		if e := engine.AsError(err); e.Kind != engine.KindConfig || e.Code != "config_invalid" {
			t.Errorf("%s: %s %s, want a config error", name, e.Kind, e.Code)
		}
	}
}

func TestNative(t *testing.T) {
	t.Parallel()
	for want, cfgs := range map[bool][]openai.Config{
		true: {{}, {BaseURL: "https://API.openai.com/v1"}, {BaseURL: "http://127.0.0.1/v1", ActsNative: true}},
		false: {
			{BaseURL: "https://api.openai.com.evil.example/v1"},
			{Azure: &openai.Azure{Endpoint: "https://api.openai.com"}},
		},
	} {
		for _, cfg := range cfgs {
			cfg.HTTPClient, cfg.Name = &http.Client{}, "n"
			c, err := openai.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if c.Native() != want || c.Name() != "n" {
				t.Errorf("%+v: Native() = %t, want %t", cfg, c.Native(), want)
			}
		}
	}
}
