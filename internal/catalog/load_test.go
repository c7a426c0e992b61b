package catalog

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func load(t *testing.T, user string) *Catalog {
	t.Helper()
	c, err := New([]byte(user))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func row(t *testing.T, c *Catalog, id string) Model {
	t.Helper()
	m, ok := c.Lookup(id)
	if !ok {
		t.Fatalf("model %s has no row", id)
	}
	return m
}

func TestUserFileOverrides(t *testing.T) {
	t.Parallel()
	c := load(t, `
models:
  - id: gpt-image-2
    max_n: 4
    qualities: [auto, low]
    params: {complexity: {values: [low]}}
    price: {image_out: 15, as_of: 2026-12}
`)
	got, want := row(t, c, "gpt-image-2"), model(t, "gpt-image-2")
	if got.MaxN != 4 || len(got.Qualities) != 2 || *got.Price.ImageOut != 15_000_000 || got.Price.AsOf != "2026-12" {
		t.Errorf("not overridden: %+v", got)
	}
	if len(got.Params) != len(want.Params)+1 || got.MaxPrompt != want.MaxPrompt ||
		*got.Price.TextIn != *want.Price.TextIn {
		t.Errorf("lost what the file does not name: %+v", got)
	}
	if diff := cmp.Diff(model(t, "gpt-image-2.6-flare"), row(t, c, "gpt-image-2.6-flare")); diff != "" {
		t.Errorf("another row changed (-want +got):\n%s", diff)
	}
	// The borrower uses the table with its own rate.
	if e := c.EstimateImage("gpt-image-2", ImageParams{Size: "1024x1024", Quality: "low"}); e.Micros != 3_000 {
		t.Errorf("estimate %+v", e)
	}
	if e := c.EstimateImage("gpt-image-2.6-flare", ImageParams{Size: "1024x1024", Quality: "low"}); e.Micros != 6_000 {
		t.Errorf("estimate of the borrower %+v", e)
	}
	if got := c.All("image", "openai")[0].ID; got != "gpt-image-2.6-flare" {
		t.Errorf("order changed: %s is first", got)
	}
}

// TestUserFileDoesNotReachSharedRules: rows that share a block in the file do not share it in memory.
func TestUserFileDoesNotReachSharedRules(t *testing.T) {
	t.Parallel()
	c := load(t, "models: [{id: gpt-image-2.6-flare, params: {user: {values: [me]}}, size_rule: {max_edge: 1024}}]")
	for _, id := range []string{"gpt-image-2.6-sunburst", "gpt-image-2.5-flare", "gpt-image-2"} {
		if diff := cmp.Diff(model(t, id), row(t, c, id)); diff != "" {
			t.Errorf("%s changed (-want +got):\n%s", id, diff)
		}
	}
}

func TestUserFileAddsRows(t *testing.T) {
	t.Parallel()
	c := load(t, `
defaults:
  openai: {image: {generate: qwen}, video: {generate: wan}}
  local: {image: {generate: qwen}}
families:
  - {prefix: qwen-, provider: openai, kind: image}
  - {prefix: veo-, provider: google, kind: video, ops: [generate]}
models:
  - &own
    id: qwen
    aliases: [Qwen/Qwen-Image]
    provider: openai
    kind: image
    ops: [generate]
    sizes: [512x512]
    formats: [png]
    retires: 2030-01-01
    replacement: gpt-image-2
    price: {per_image: {512x512: 0.001}, source: our own bill, as_of: 2026-11-30}
  - {<<: *own, id: wan, aliases: [], kind: video, retires: "", replacement: "", price: ~}
`)
	m := row(t, c, "Qwen/Qwen-Image")
	if m.AliasOf != "qwen" || m.Retires.String() != "2030-01-01" || m.Replacement != "gpt-image-2" {
		t.Errorf("row is %+v", m)
	}
	if e := c.EstimateImage("qwen", ImageParams{Size: "512x512", N: 3}); !e.Known || e.Micros != 3_000 {
		t.Errorf("estimate %+v", e)
	}
	if got := faults(m.CheckImage(ImageParams{Size: "1024x1024", Complexity: "low"})); len(got) != 2 {
		t.Errorf("violations %v, want size and complexity", got)
	}
	if w := row(t, c, "wan"); w.Price != nil || !w.Retires.IsZero() || w.Kind != "video" {
		t.Errorf("null and empty did not clear: %+v", w)
	}
	for _, tt := range []struct{ provider, kind, op, want string }{
		{"openai", "image", "generate", "qwen"},
		{"openai", "image", "edit", "gpt-image-2.6-sunburst"},
		{"openai", "video", "generate", "wan"},
		{"local", "image", "generate", "qwen"},
	} {
		if got := c.Default(tt.provider, tt.kind, tt.op); got != tt.want {
			t.Errorf("Default(%s, %s, %s) = %q, want %q", tt.provider, tt.kind, tt.op, got, tt.want)
		}
	}
	if p, ok := c.ProviderOf("qwen-2"); p != "openai" || !ok {
		t.Errorf("family of the file: %q, %v", p, ok)
	}
	if m, _ := c.Resolve("veo-9"); len(m.Ops) != 1 {
		t.Errorf("family was not overridden: %+v", m)
	}
}

func TestEmptyUserFiles(t *testing.T) {
	t.Parallel()
	want := builtin(t).load().models
	for _, user := range []string{"", " \n\t\n", "# nothing yet\n", "models: []\n", "models:\n", "{}\n", "---\n"} {
		if diff := cmp.Diff(want, load(t, user).load().models); diff != "" {
			t.Errorf("%q changed the catalog (-want +got):\n%s", user, diff)
		}
	}
}

func TestUserFileErrors(t *testing.T) {
	t.Parallel()
	const head = "models:\n  - id: gpt-image-2\n    "
	tests := []struct {
		name string
		user string
		want []string // parts of the message
	}{
		{"syntax", "models:\n  - id: [x\n", []string{"my.yaml: line"}},
		{"tab", "models:\n\t- id: x\n", []string{"my.yaml: line 2"}},
		{
			"unknown top key", "prices: {}\n",
			[]string{"line 1: prices: is not a key here; allowed: defaults, families, models"},
		},
		{
			"unknown key", head + "prce: {}\n",
			[]string{"line 3: models[gpt-image-2].prce: is not a key here; allowed: id, aliases, provider"},
		},
		{
			"unknown price key", head + "price:\n      text: 1\n",
			[]string{"line 4: models[gpt-image-2].price.text: ", "allowed: text_in, cached_text_in"},
		},
		{
			"unknown rule key", head + "params: {mask: {op: edit}}\n",
			[]string{"line 3: models[gpt-image-2].params.mask.op: ", "allowed: values, min"},
		},
		{
			"unknown size rule key", head + "size_rule: {max: 1}\n",
			[]string{"size_rule.max: ", "allowed: multiple, max_ratio"},
		},
		{
			"unknown family key", "families: [{prefix: x, price: 1}]\n",
			[]string{"families[x].price: ", "allowed: prefix, provider"},
		},
		{
			"key twice", head + "max_n: 1\n    max_n: 2\n",
			[]string{"line 4: models[gpt-image-2].max_n: ", "already defined at line 3"},
		},
		{"word for a number", head + "max_n: many\n", []string{"line 3: models[gpt-image-2].max_n: must be a whole number"}},
		{"fraction for a number", head + "max_n: 1.5\n", []string{"max_n: must be a whole number"}},
		{
			"fraction of a token", head + "price: {output_tokens: {1024x1024: {low: 200.5}}}\n",
			[]string{"output_tokens.1024x1024.low: must be a whole number"},
		},
		{
			"fraction by alias", "models: [{id: gpt-image-2, notes: &x 1.5, max_n: *x}]\n",
			[]string{"max_n: must be a whole number"},
		},
		{"fraction of a bound", head + "params: {n: {min: 0.5}}\n", []string{"params.n.min: must be a whole number"}},
		{"huge number", head + "max_n: 99999999999999999999\n", []string{"max_n: must be a whole number"}},
		{"word for a list", head + "qualities: low\n", []string{"qualities: must be a list"}},
		{"word for a switch", head + "permissive: maybe\n", []string{"permissive: must be true or false"}},
		{"word for a map", head + "price: cheap\n", []string{"price: must be a map of keys"}},
		{"list for a word", head + "notes: [x]\n", []string{"notes: must be a word or text"}},
		{
			"two on one line", "models: [{id: gpt-image-2, max_n: x, max_inputs: y1}]\n",
			[]string{"].max_n: must be", "].max_inputs: must be"},
		},
		{
			"negative price", head + "price: {text_in: -5}\n",
			[]string{"line 3: models[gpt-image-2].price.text_in: \"-5\" must be dollars from 0"},
		},
		{
			"price in words", head + "price: {per_image: {1024x1024: free}}\n",
			[]string{"price.per_image.1024x1024: \"free\" must be dollars"},
		},
		{
			"day in words", head + "retires: tomorrow\n",
			[]string{"line 3: models[gpt-image-2].retires: \"tomorrow\" must be a day such as 2026-11-30"},
		},
		{"documents", "models: []\n---\nmodels: []\n", []string{"more than one document"}},
		{"not a map", "- id: x\n", []string{"must be a map of keys"}},
		{"row without id", "models:\n  - max_n: 1\n", []string{"line 2: models[0]", "needs the key id"}},
		{"row is null", "models: [~]\n", []string{"needs the key id"}},
		{"id is null", "models: [{id: ~}]\n", []string{"needs the key id"}},
		{"id is empty", "models: [{id: ''}]\n", []string{"must be 1 to 200 characters"}},
		{
			"id with spaces", "models: [{id: a b, provider: openai, kind: image}]\n",
			[]string{"models[a b].id: must be 1 to 200 characters without spaces"},
		},
		{
			"id twice", "models:\n  - id: gpt-image-2\n  - id: gpt-image-2\n",
			[]string{"line 3: models[gpt-image-2]: id \"gpt-image-2\" has a row already"},
		},
		{"alias is an id", head + "aliases: [gpt-image-1]\n", []string{"belongs to model"}},
		{"alias with spaces", head + "aliases: [a b]\n", []string{"aliases: \"a b\" must be"}},
		{"family without prefix", "families: [{provider: openai}]\n", []string{"needs the key prefix"}},
		{"family twice", "families: [{prefix: a}, {prefix: a}]\n", []string{"prefix \"a\" has a row already"}},
		{
			"family provider", "families: [{prefix: a, provider: x}]\n",
			[]string{"families[a].provider: must be openai or google"},
		},
		{"family kind", "families: [{prefix: a, kind: x}]\n", []string{"families[a].kind: must be image or video"}},
		{
			"provider", head + "provider: acme\n",
			[]string{"line 3: models[gpt-image-2].provider: \"acme\" must be one of openai, google"},
		},
		{"kind", head + "kind: audio\n", []string{"kind: \"audio\" must be one of image, video"}},
		{"operation", head + "ops: [paint]\n", []string{"ops: \"paint\" must be one of generate, edit"}},
		{
			"replacement", head + "replacement: nope\n",
			[]string{"line 3: models[gpt-image-2].replacement: model \"nope\" has no row"},
		},
		{
			"default", "defaults: {openai: {image: {generate: nope}}}\n",
			[]string{"defaults.openai.image.generate: model \"nope\" has no row"},
		},
		{"negative limit", head + "max_n: -1\n", []string{"max_n: -1 must be from 0 to"}},
		{
			"dates", head + "released: 2026-05-01\n    retires: 2026-04-01\n",
			[]string{"line 4: models[gpt-image-2].retires: 2026-04-01 must not lie before released 2026-05-01"},
		},
		{"bounds", head + "params: {n: {min: 3, max: 1}}\n", []string{"params.n: min 3 must not exceed max 1"}},
		{"size rule", head + "size_rule: {multiple: 0, max_ratio: 0, max_edge: 0, min_pixels: 9, max_pixels: 5}\n", []string{
			"size_rule.multiple: 0 must be from 1", "max_ratio: 0 must", "max_edge: 0 must", "max_pixels: 5 must be from 9",
		}},
		{"price without source", "models: [{id: x, provider: openai, kind: image, price: {image_out: 1}}]\n", []string{
			"models[x].price.source: is missing", "price.as_of: \"\" must be a day or month",
		}},
		{"as_of", head + "price: {as_of: 2026-13}\n", []string{"price.as_of: \"2026-13\" must be a day or month"}},
		{"table of nothing", head + "price: {output_tokens: {1024x1024: {low: 0}}}\n", []string{"must be from 1 to"}},
		{
			"price of a size that is not made", head + "price: {per_image: {1000x1000: 1}}\n",
			[]string{"price.per_image: \"1000x1000\" is not a size of the model"},
		},
		{"price of auto", head + "price: {per_second: {auto: 1}}\n", []string{"\"auto\" is not a size of the model"}},
		{
			"assumed size", head + "price: {assumed_sizes: [9x9]}\n",
			[]string{"assumed_sizes: \"9x9\" has no row in output_tokens"},
		},
		{
			"table from nowhere", head + "price: {tokens_from: dall-e-2}\n",
			[]string{"tokens_from: model \"dall-e-2\" has no output_tokens"},
		},
		{
			"table taken away", head + "price: ~\n",
			[]string{"models[gpt-image-2.6-flare].price.tokens_from: model \"gpt-image-2\" has no output_tokens"},
		},
		{
			"too many tokens", head + "price: {partial_tokens: 2000000000, input_image_tokens: -1}\n",
			[]string{"partial_tokens: 2000000000 must", "input_image_tokens: -1 must"},
		},
		{"too large", "# " + strings.Repeat("x", maxFile) + "\n", []string{"at most 1048576"}},
		{"endless alias", "models: &a [*a]\n", []string{"my.yaml"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := NewNamed("my.yaml", []byte(tt.user))
			if err == nil || c != nil || fault.CodeOf(err) != fault.ConfigInvalid {
				t.Fatalf("got %v, %v (code %s)", c, err, fault.CodeOf(err))
			}
			for _, part := range append(tt.want, "my.yaml: ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message lacks %q:\n%v", part, err)
				}
			}
			if strings.Contains(err.Error(), "catalog.") || strings.Contains(err.Error(), "!!") {
				t.Errorf("message shows the program's inside: %v", err)
			}
		})
	}
}

func TestManyProblemsAreCut(t *testing.T) {
	t.Parallel()
	_, err := New([]byte("models:\n" + strings.Repeat("  - {max_n: 1}\n", 30)))
	if err == nil || !strings.HasSuffix(err.Error(), "and 10 more") {
		t.Errorf("got %v", err)
	}
}

// FuzzCatalogFile: no file makes the program panic, and a file that is accepted gives a catalog that keeps its
// promises: rows of known providers, no negative price, no estimate without a source.
func FuzzCatalogFile(f *testing.F) {
	f.Add(embedded)
	for _, seed := range []string{
		"", "models: []", "models: [{id: x, provider: openai, kind: image, size_rule: {multiple: 16}}]",
		"models: [{id: gpt-image-2, price: {output_tokens: {1024x1024: {low: 1}}, tokens_from: gpt-image-1}}]",
		"models: [{id: gpt-image-2, price: {per_image: {auto: 1}, assumed: true}, sizes: [auto, 1K]}]",
		"defaults: {a: {b: {c: d}}}\nfamilies: [{prefix: '', provider: google}]",
		"models: &a [*a]", "models: [~]", "models: [{<<: 1}]", "? [a]\n: b", "models:\n - id: &x [*x]", "%YAML 9\n---\n",
		"models: [{id: sora-2, price: {per_second: {720x1280: 99999}}, params: {seconds: {default: x}}}]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, user []byte) {
		c, err := New(user)
		if err != nil {
			if _, ok := errors.AsType[*fault.Error](err); !ok || c != nil {
				t.Fatalf("not a fault: %v, %v", c, err)
			}
			return
		}
		for _, m := range c.All("", "") {
			if m.ID == "" || m.Provider == "" || m.Kind == "" {
				t.Fatalf("incomplete row %+v", m)
			}
			m.CheckImage(ImageParams{Op: "edit", Size: "1000x1000", N: 2, Partials: 2, Mask: true, FrameCount: 1})
			m.Warnings(ImageParams{Size: "1000x1000"}, today())
			for _, e := range []Estimate{
				c.EstimateImage(m.ID, ImageParams{N: 1 << 40, Partials: 1 << 40, Inputs: 1 << 40, Op: "edit"}),
				c.EstimateImage(m.ID, ImageParams{}),
				c.EstimateVideo(m.ID, VideoParams{N: 1 << 40, Seconds: 60}),
			} {
				sound := e.Micros == 0 && e.Why != ""
				if e.Known {
					sound = e.Micros >= 0 && e.Source != "" && e.AsOf != ""
				}
				if !sound {
					t.Fatalf("%s: %+v", m.ID, e)
				}
			}
			if micros, _ := c.CostOf(m.ID, Tokens{TextIn: 1 << 60, ImageOut: 1 << 60}); micros < 0 {
				t.Fatalf("%s costs %d", m.ID, micros)
			}
		}
	})
}
