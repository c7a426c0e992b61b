package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"mediagen/internal/engine"
)

// keyOf is the request key that a dry run shows.
func keyOf(t testing.TB, r *rig, req *engine.GenerateImages) string {
	t.Helper()
	res, err := r.GenerateImages(t.Context(), req, engine.Output{DryRun: true}, nil)
	must(t, err)
	return res.Plan.RequestKey
}

// variations change one field each, to one of several values. The model is one that takes everything.
func variations() []func(*engine.GenerateImages, int) {
	type g = engine.GenerateImages
	word := func(i int) string { return fmt.Sprint("w", i) }
	return []func(*g, int){
		func(r *g, i int) { r.Prompt = secretPrompt + word(i) },
		func(r *g, i int) { r.Model = "test-" + word(i) },
		func(r *g, i int) { r.N = 2 + i },
		func(r *g, i int) { r.Size = word(i) },
		func(r *g, i int) { r.Quality = word(i) },
		func(r *g, i int) { r.Background = word(i) },
		func(r *g, i int) { r.OutputCompression = new(i) },
		func(r *g, i int) { r.Complexity = word(i) },
		func(r *g, i int) { r.Partials = 1 + i },
		func(r *g, i int) { r.FrameCount = 2 + i },
		func(r *g, i int) { r.FrameDurationMS = 10 + i },
		func(r *g, i int) { r.SafetyIdentifier = word(i) },
		func(r *g, i int) { r.User = word(i) },
		func(r *g, i int) { r.Moderation = word(i) },
		func(r *g, i int) { r.Param = append(r.Param, fmt.Sprintf("seed=%d", i)) },
		func(r *g, i int) { r.Param = append(r.Param, fmt.Sprintf(`style={"a":%d,"b":1}`, i)) },
		func(r *g, i int) { r.Param = append(r.Param, fmt.Sprintf(`seed_text="%d"`, i)) },
	}
}

// TestRequestKey: over random requests, two have the same key exactly when they say the same.
func TestRequestKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
	rng := rand.New(rand.NewPCG(3, 5))
	byKey, byText := map[string]string{}, map[string]string{}
	for range 600 {
		req := engine.NewGenerateImages()
		req.Prompt, req.Model, req.OutputFormat = secretPrompt, "test-model", "gif"
		for _, change := range variations() {
			if rng.IntN(8) == 0 {
				change(req, rng.IntN(3))
			}
		}
		rng.Shuffle(len(req.Param), func(i, j int) { req.Param[i], req.Param[j] = req.Param[j], req.Param[i] })
		key := keyOf(t, r, req)
		sorted := *req
		sorted.Param = slices.Sorted(slices.Values(req.Param))
		text := jsonOf(t, sorted)
		if had, ok := byKey[key]; ok && had != text {
			t.Fatalf("one key for two requests:\n%s\n%s", had, text)
		}
		if had, ok := byText[text]; ok && had != key {
			t.Fatalf("two keys for one request: %s", text)
		}
		byKey[key], byText[text] = text, key
	}
	if len(byKey) < 300 {
		t.Errorf("only %d different requests", len(byKey))
	}
}

// TestRequestKeyOfSVG has the fields that other formats lack, and ignores the order of keys in JSON values.
func TestRequestKeyOfSVG(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
	seen := map[string]bool{}
	for _, change := range []func(*engine.GenerateImages){
		func(*engine.GenerateImages) {},
		func(g *engine.GenerateImages) { g.SVGModel = "author" },
		func(g *engine.GenerateImages) { g.SVGModel, g.SVGEffort = "author", "low" },
	} {
		req := engine.NewGenerateImages()
		req.Prompt, req.Model, req.OutputFormat = secretPrompt, "test-model", "svg"
		change(req)
		seen[keyOf(t, r, req)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d keys for three requests", len(seen))
	}
	one, two := small(), small()
	one.Param, two.Param = []string{`a={"x":1,"y":2}`}, []string{`a={ "y": 2, "x": 1 }`}
	if keyOf(t, r, one) != keyOf(t, r, two) {
		t.Error("the order of keys counts")
	}
}

// TestRequestKeyKnowsWhereItGoes: another endpoint, provider or output place.
func TestRequestKeyKnowsWhereItGoes(t *testing.T) {
	t.Parallel()
	base := keyOf(t, newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true}), small())
	for _, f := range []*fake{{endpoint: "http://other.invalid/v1/"}, {name: "azure"}} {
		r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: true})
		if keyOf(t, r, small()) == base {
			t.Errorf("%s at %s has the same key", f.Name(), f.Endpoint())
		}
	}
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{DryRun: true, Dest: "elsewhere/"}, nil)
	must(t, err)
	if res.Plan.RequestKey != base {
		t.Error("the place of the files is not part of the request")
	}
}

// TestRequestKeyOfInputs: bytes and roles count, names do not.
func TestRequestKeyOfInputs(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}})
	hole := encodePNG(overlay(8, 6))
	r.write("a.png", tinyPNG())
	r.write("copy.png", tinyPNG())
	r.write("b.png", pngOf(8, 6, overlay(1, 1).At(0, 0)))
	r.write("hole.png", hole)
	key := func(change func(*engine.EditImages)) string {
		t.Helper()
		req := editOf("a.png", "b.png")
		req.Model = "test-model"
		change(req)
		res, err := r.EditImages(t.Context(), req, engine.Output{DryRun: true}, nil)
		must(t, err)
		return res.Plan.RequestKey
	}
	base := key(func(*engine.EditImages) {})
	if base != key(func(e *engine.EditImages) { e.Images[0] = "copy.png" }) {
		t.Error("the name of an input counts")
	}
	seen := map[string]string{base: "base"}
	for name, change := range map[string]func(*engine.EditImages){
		"one":      func(e *engine.EditImages) { e.Images = e.Images[:1] },
		"order":    func(e *engine.EditImages) { slices.Reverse(e.Images) },
		"twice":    func(e *engine.EditImages) { e.Images = []string{"a.png", "a.png"} },
		"three":    func(e *engine.EditImages) { e.Images = append(e.Images, "hole.png") },
		"mask":     func(e *engine.EditImages) { e.Mask = "hole.png" },
		"markup":   func(e *engine.EditImages) { e.Markup = "hole.png" },
		"fidelity": func(e *engine.EditImages) { e.InputFidelity = "high" },
	} {
		k := key(change)
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[k] = name
	}
	// The journal has the key that the dry run showed.
	req := editOf("a.png", "b.png")
	req.Model = "test-model"
	_, err := r.EditImages(t.Context(), req, engine.Output{}, nil)
	must(t, err)
	if r.row().RequestKey != base {
		t.Error("plan and row differ")
	}
}
