package engine_test

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/catalog"
	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/param"
)

// TestRangesAreTheCatalogs: a number that the default model takes must not be refused before the catalog is asked, and
// help must not name another range than models show.
func TestRangesAreTheCatalogs(t *testing.T) {
	t.Parallel()
	cat, err := catalog.New(nil)
	must(t, err)
	m, _ := cat.Lookup("gpt-image-2.6-flare")
	names := map[string]string{"partials": "partial_images"}
	compared := 0
	for _, p := range engine.NewGenerateImages().Params(func(string) []string { return nil }) {
		name := p.Name
		if wire := names[name]; wire != "" {
			name = wire
		}
		rule, ok := m.Params[name]
		if !ok || p.Min == nil || p.Max == nil || rule.Min == nil || rule.Max == nil {
			continue
		}
		compared++
		if *p.Min != float64(*rule.Min) || *p.Max != float64(*rule.Max) {
			t.Errorf("%s: %v to %v, in the catalog %d to %d", p.Name, *p.Min, *p.Max, *rule.Min, *rule.Max)
		}
	}
	if compared != 4 {
		t.Errorf("%d ranges were compared, want those of partials, compression and the two of gif", compared)
	}
}

// TestParity: every JSON field of a request has exactly one parameter, and the reverse.
func TestParity(t *testing.T) {
	t.Parallel()
	words := func(string) []string { return nil }
	generate, edit := engine.NewGenerateImages(), engine.NewEditImages()
	for _, tt := range []struct {
		request any
		set     param.Set
	}{{*generate, generate.Params(words)}, {*edit, edit.Params(words)}} {
		var got []string
		for _, p := range tt.set {
			got = append(got, p.Name)
		}
		want := jsonFields(reflect.TypeOf(tt.request))
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%T: fields -, parameters +\n%s", tt.request, diff)
		}
		if len(slices.Compact(got)) != len(tt.set) {
			t.Errorf("%T: a parameter stands twice", tt.request)
		}
	}
}

func jsonFields(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if f.Anonymous {
			names = append(names, jsonFields(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// TestParamsSetTheirField: each parameter writes the field of its name and no other.
func TestParamsSetTheirField(t *testing.T) {
	t.Parallel()
	words := func(string) []string { return nil }
	samples := map[string]string{
		"n": "2", "output_compression": "50", "partials": "1", "frame_count": "4", "frame_duration_ms": "100",
		"mask_white_is_edit": "true",
	}
	for _, p := range engine.NewEditImages().Params(words) {
		req := engine.NewEditImages()
		must(t, req.Params(words).Lookup(p.Name).Set(either(samples[p.Name], "x=1")))
		var before, after map[string]any
		must(t, json.Unmarshal([]byte(jsonOf(t, engine.NewEditImages())), &before))
		must(t, json.Unmarshal([]byte(jsonOf(t, req)), &after))
		for name := range after {
			if changed := !cmp.Equal(before[name], after[name]); changed != (name == p.Name) {
				t.Errorf("parameter %s: field %s changed: %v", p.Name, name, changed)
			}
		}
	}
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestExtras pass values with their JSON type over the real wire, to a create and to an edit.
func TestExtras(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasSuffix(r.URL.Path, "edits") {
			must(t, r.ParseMultipartForm(1<<20))
			bodies = append(bodies, jsonOf(t, r.MultipartForm.Value))
		} else {
			body, _ := io.ReadAll(r.Body)
			bodies = append(bodies, string(body))
		}
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
	})
	s := serve(t, h)
	r := newRig(t, options{providers: []engine.ImageProvider{client(t, "openai", s.URL)}, noJournal: true})
	pairs := []string{
		"seed=18446744073709551615", "scale=4.50", "on=true", "none=null", "text=a red fox", `quoted="7"`, "list=[1,\"b\"]",
		`object={"a":{"b":2}}`, "empty=", "equals=a=b", "leading=007",
	}
	req := small()
	req.Param = pairs
	_, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
	wantError(t, err, engine.KindInvalidRequest, "http_400", engine.BilledNo)
	for _, want := range []string{
		`"seed":18446744073709551615`, `"scale":4.50`, `"on":true`, `"none":null`, `"text":"a red fox"`, `"quoted":"7"`,
		`"list":[1,"b"]`, `"object":{"a":{"b":2}}`, `"empty":""`, `"equals":"a=b"`, `"leading":"007"`,
	} {
		if !strings.Contains(strings.ReplaceAll(bodies[0], " :", ":"), want) {
			t.Errorf("the body lacks %s: %s", want, bodies[0])
		}
	}

	r.write("a.png", tinyPNG())
	edit := engine.NewEditImages()
	edit.Prompt, edit.Model, edit.Images, edit.Param = secretPrompt, "test-model", []string{"a.png"}, pairs
	_, err = r.EditImages(t.Context(), edit, engine.Output{}, nil)
	wantError(t, err, engine.KindInvalidRequest, "http_400", engine.BilledNo)
	contains(t, bodies[1], `"seed":["18446744073709551615"]`, `"on":["true"]`, `"text":["a red fox"]`, `"quoted":["7"]`,
		`"object":["{\"a\":{\"b\":2}}"]`)
}

// TestExtrasRefused: names with a field of their own, in any spelling that a server might take, and slips of the pen.
func TestExtrasRefused(t *testing.T) {
	t.Parallel()
	for _, pairs := range [][]string{
		{"nonsense"},
		{"=1"},
		{" =1"},
		{"n=11"},
		{"size=9x9"},
		{"SIZE=9x9"},
		{" size =9x9"},
		{"prompt=x"},
		{"image[]=x"},
		{"svg[model]=x"},
		{"stream=true"},
		{"partial_images=3"},
		{"a=1", "a=2"},
		{"mask=x"},
		{"model=dall-e-3"},
	} {
		r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
		req := small()
		req.Param = pairs
		_, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
		if err == nil {
			t.Errorf("%q was sent", pairs)
			continue
		}
		wantError(t, err, engine.KindInvalidRequest, fault.InvalidArgument, engine.BilledNo)
	}
}
