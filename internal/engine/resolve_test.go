package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// TestChoice is the table of who makes the picture with which model.
func TestChoice(t *testing.T) {
	t.Parallel()
	type choice struct{ Provider, Model string }
	tests := []struct {
		name               string
		provider, model    string
		keyed              []string
		config, deployment string
		want               choice
		kind               engine.Kind
		code               fault.Code
	}{
		{name: "nothing said, one key", keyed: []string{"openai"}, want: choice{"openai", "gpt-image-2.6-flare"}},
		{name: "nothing said, both keys: the order of preference", keyed: []string{"azure", "openai"}, want: choice{"azure", "gpt-image-2.6-flare"}},
		{name: "nothing said, no key", keyed: []string{}, kind: engine.KindAuth, code: "no_key"},
		{name: "the emulator is never chosen by itself", keyed: []string{}, model: "gpt-image-2", kind: engine.KindAuth, code: "no_key"},
		{name: "the flag decides", provider: "emulator", keyed: []string{"openai"}, want: choice{"emulator", "gpt-image-2.6-flare"}},
		{name: "the flag decides against preference", provider: "openai", keyed: []string{"azure", "openai"}, want: choice{"openai", "gpt-image-2.6-flare"}},
		{name: "the flag without its key", provider: "azure", keyed: []string{"openai"}, kind: engine.KindAuth, code: "no_key"},
		{name: "model by name", model: "gpt-image-2", keyed: []string{"openai"}, want: choice{"openai", "gpt-image-2"}},
		{name: "model by alias keeps the alias", model: "gpt-image-2-2026-04-21", keyed: []string{"openai"}, want: choice{"openai", "gpt-image-2-2026-04-21"}},
		{name: "configured model", config: "gpt-image-2", keyed: []string{"openai"}, want: choice{"openai", "gpt-image-2"}},
		{name: "the request beats the configured model", config: "gpt-image-2", model: "gpt-image-2.5-flare", keyed: []string{"openai"}, want: choice{"openai", "gpt-image-2.5-flare"}},
		{name: "unknown model goes to OpenAI's shape", model: "Qwen/Qwen-Image", keyed: []string{"openai"}, want: choice{"openai", "Qwen/Qwen-Image"}},
		{name: "a model of a vendor without a key", model: "gemini-3-pro-image", keyed: []string{"openai"}, kind: engine.KindAuth, code: "no_key"},
		{name: "a model of another vendor than the flag", provider: "openai", model: "gemini-3-pro-image", keyed: []string{"openai"}, kind: engine.KindUnsupported, code: fault.UnsupportedOperation},
		{name: "a family of another vendor than the flag", provider: "emulator", model: "gemini-99-image", keyed: []string{}, kind: engine.KindUnsupported, code: fault.UnsupportedOperation},
		{name: "a deployment at Azure", keyed: []string{"azure"}, deployment: "ours", want: choice{"azure", "ours"}},
		{name: "a deployment named after its model", keyed: []string{"azure"}, deployment: "gpt-image-2", want: choice{"azure", "gpt-image-2"}},
		{name: "the request beats the deployment", keyed: []string{"azure"}, deployment: "ours", model: "gpt-image-2", want: choice{"azure", "gpt-image-2"}},
		{name: "a deployment is Azure's alone", provider: "openai", keyed: []string{"azure", "openai"}, deployment: "ours", want: choice{"openai", "gpt-image-2.6-flare"}},
		{name: "unknown provider", provider: "nobody", keyed: []string{"openai"}, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, options{
				providers: []engine.ImageProvider{&fake{name: "openai", native: true}, &fake{name: "azure"}, &fake{name: "emulator"}},
				keyed:     tt.keyed,
				change:    func(c *engine.Config) { c.Defaults.Model, c.Defaults.Deployment = tt.config, tt.deployment },
			})
			req := engine.NewGenerateImages()
			req.Prompt, req.Provider, req.Model = secretPrompt, tt.provider, tt.model
			res, err := r.GenerateImages(t.Context(), req, engine.Output{DryRun: true}, nil)
			if tt.kind != "" {
				wantError(t, err, tt.kind, tt.code, engine.BilledNo)
				if res != nil {
					t.Errorf("a result before anything was sent: %+v", res)
				}
				return
			}
			must(t, err)
			if diff := cmp.Diff(tt.want, choice{res.Plan.Provider, res.Plan.Model}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAnotherVendorsModel behind a gateway has no price, warns, and passes what its own vendor would refuse.
func TestAnotherVendorsModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
	req := engine.NewGenerateImages()
	req.Prompt, req.Model, req.Provider, req.N, req.Quality = secretPrompt, "gemini-3-pro-image", "openai", 2, "hd"
	res, err := r.GenerateImages(t.Context(), req, engine.Output{DryRun: true}, nil)
	must(t, err)
	if res.Plan.Estimate.Micros != nil || res.Plan.Size != "" {
		t.Errorf("plan %+v", res.Plan)
	}
	contains(t, strings.Join(res.Warnings, "\n"), "not known")
	limit := int64(1 << 40)
	_, err = r.GenerateImages(t.Context(), req, engine.Output{MaxCost: &limit}, nil)
	contains(t, wantError(t, err, engine.KindOverBudget, "cost_unknown", engine.BilledNo).Message, "gateway")
}

// TestEditDefault takes the edit model, configured apart from the other.
func TestEditDefault(t *testing.T) {
	t.Parallel()
	f := &fake{native: true}
	r := newRig(t, options{providers: []engine.ImageProvider{f}, change: func(c *engine.Config) { c.Defaults.Model = "gpt-image-2" }})
	r.write("a.png", tinyPNG())
	req := engine.NewEditImages()
	req.Prompt, req.Images = secretPrompt, []string{"a.png"}
	res, err := r.EditImages(t.Context(), req, engine.Output{DryRun: true}, nil)
	must(t, err)
	if got := res.Plan.Model; got != "gpt-image-2.6-sunburst" {
		t.Errorf("edit with %s", got)
	}
}

// TestNoDefaultModel says so instead of sending a request without a model.
func TestNoDefaultModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{name: "selfmade"}}})
	req := engine.NewGenerateImages()
	req.Prompt = secretPrompt
	_, err := r.GenerateImages(t.Context(), req, engine.Output{DryRun: true}, nil)
	contains(t, wantError(t, err, engine.KindInvalidRequest, fault.InvalidArgument, engine.BilledNo).Message, "no default model")
}

// TestQualityAndSize: the request, else the setting, else the contract's where the model allows it, else auto, and
// nothing for a model that is not known.
func TestQualityAndSize(t *testing.T) {
	t.Parallel()
	type pair struct{ Quality, Size string }
	tests := []struct {
		name, model, format string
		asked, config, want pair
	}{
		{name: "contract", model: "gpt-image-2", want: pair{"high", "1024x1536"}},
		{name: "setting", model: "gpt-image-2", config: pair{"low", "1024x1024"}, want: pair{"low", "1024x1024"}},
		{name: "request", model: "gpt-image-2", asked: pair{"medium", "auto"}, config: pair{"low", "1024x1024"}, want: pair{"medium", "auto"}},
		{name: "unknown model", model: "test-model", want: pair{}},
		{name: "unknown model of a family", model: "gpt-image-9", want: pair{}},
		{name: "unknown model with settings", model: "test-model", config: pair{"hd", "1x1"}, want: pair{"hd", "1x1"}},
		{name: "row without lists", model: "chatgpt-image-latest", want: pair{}},
		{name: "animated pictures have limits of their own", model: "gpt-image-2.6-flare", format: "gif", want: pair{"high", "auto"}},
		{name: "any size by rule", model: "gpt-image-2", asked: pair{Size: "1008x1520"}, want: pair{"high", "1008x1520"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: true, change: func(c *engine.Config) {
				c.Defaults.Quality, c.Defaults.Size = tt.config.Quality, tt.config.Size
			}})
			req := engine.NewGenerateImages()
			req.Prompt, req.Model, req.OutputFormat = secretPrompt, tt.model, tt.format
			req.Quality, req.Size = tt.asked.Quality, tt.asked.Size
			_, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
			must(t, err)
			call := f.last(t)
			if diff := cmp.Diff(tt.want, pair{call.Quality, call.Size}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRetired binds on the vendor's own host only.
func TestRetired(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{true, false} {
		f := &fake{native: native}
		r := newRig(t, options{providers: []engine.ImageProvider{f}})
		req := engine.NewGenerateImages()
		req.Prompt, req.Model = secretPrompt, "gpt-image-1"
		res, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
		if !native {
			must(t, err)
			contains(t, strings.Join(res.Warnings, "\n"), "retired on 2026-10-23; use gpt-image-2.6-sunburst")
			continue
		}
		e := wantError(t, err, engine.KindModelRetired, "model_retired", engine.BilledNo)
		contains(t, e.Message, "2026-10-23")
		contains(t, e.Hint, "--model gpt-image-2.6-")
		if f.count() != 0 || len(r.rows()) != 0 {
			t.Error("a retired model left a trace")
		}
	}
}

// TestModelOfAnotherKind is refused with what it does make.
func TestModelOfAnotherKind(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]fault.Code{
		"sora-2": fault.UnsupportedOperation, "sora-9": fault.UnsupportedModality, "dall-e-3": fault.UnsupportedOperation,
	} {
		r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
		r.write("a.png", tinyPNG())
		req := engine.NewEditImages()
		req.Prompt, req.Model, req.Images = secretPrompt, model, []string{"a.png"}
		_, err := r.EditImages(t.Context(), req, engine.Output{}, nil)
		wantError(t, err, engine.KindUnsupported, want, engine.BilledNo)
	}
}

// TestWarnings come once each.
func TestWarnings(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	must(t, err)
	want := []string{"the limits and the price of model test-model are not known; the request is sent as it is"}
	if diff := cmp.Diff(want, res.Warnings); diff != "" {
		t.Error(diff)
	}
	req := engine.NewGenerateImages()
	req.Prompt, req.Model, req.OutputFormat = secretPrompt, "gpt-image-2.6-flare", "gif"
	res, err = r.GenerateImages(t.Context(), req, engine.Output{DryRun: true}, nil)
	must(t, err)
	if diff := cmp.Diff([]string{"gif is a preview at gpt-image-2.6-flare; not every account has it"}, res.Warnings); diff != "" {
		t.Error(diff)
	}
	req.Model, req.OutputFormat = "gpt-image-2", ""
	res, err = r.GenerateImages(t.Context(), req, engine.Output{DryRun: true}, nil)
	must(t, err)
	if res.Warnings == nil || len(res.Warnings) != 0 {
		t.Errorf("got %#v, want an empty list", res.Warnings)
	}
}

// TestResponseFormat is asked of servers with models of their own, and of nobody else: GPT image models refuse it.
func TestResponseFormat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, provider, model string
		native                bool
		param                 []string
		want                  string
	}{
		{name: "compatible server", model: "Qwen/Qwen-Image", want: "b64_json"},
		{name: "compatible server, the user's own wish", model: "Qwen/Qwen-Image", param: []string{"response_format=url"}},
		{name: "known model behind a gateway", model: "gpt-image-2"},
		{name: "new model of the family behind a gateway", model: "gpt-image-9"},
		{name: "vendor's own host", model: "test-model", native: true},
		{name: "deployment at Azure", provider: "azure", model: "my-deployment"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{name: tt.provider, native: tt.native}
			r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: true})
			req := engine.NewGenerateImages()
			req.Prompt, req.Provider, req.Model, req.Param = secretPrompt, tt.provider, tt.model, tt.param
			_, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
			must(t, err)
			if got := f.last(t).ResponseFormat; got != tt.want {
				t.Errorf("response_format %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFieldsReachTheProvider sets everything that a request can say.
func TestFieldsReachTheProvider(t *testing.T) {
	t.Parallel()
	f := &fake{native: true}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	req := &engine.GenerateImages{
		Image: engine.Image{
			Prompt: secretPrompt, Model: "gpt-image-2.6-flare", N: 2, Size: "1024x1024", Quality: "low", Background: "opaque",
			OutputFormat: "webp", OutputCompression: new(0), Complexity: "low", Partials: 2, SafetyIdentifier: "sid", User: "u",
			Param: []string{"seed=7"},
		},
		Moderation: "low",
	}
	_, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
	must(t, err)
	want := engine.ImageCall{
		Model: "gpt-image-2.6-flare", Prompt: secretPrompt, N: 2, Size: "1024x1024", Quality: "low", Background: "opaque",
		Moderation: "low", OutputFormat: "webp", OutputCompression: new(0), Complexity: "low", Partials: 2,
		SafetyIdentifier: "sid", User: "u",
	}
	got := f.last(t)
	if text := strings.TrimSpace(jsonOf(t, got.Extra)); text != `{"seed":7}` {
		t.Errorf("extra %s", text)
	}
	got.Extra = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	params := string(r.row().Params)
	contains(t, params, `"size":"1024x1024"`, `"quality":"low"`, `"output_compression":0`, `"partials":2`, `"moderation":"low"`,
		`"param":{"seed":7}`, `"complexity":"low"`, `"n":2`)
	for _, private := range []string{secretPrompt, "sid"} {
		if strings.Contains(params, private) {
			t.Errorf("the parameters tell %q: %s", private, params)
		}
	}
}
