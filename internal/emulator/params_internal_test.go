package emulator

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/catalog"
)

// TestFreeSizes compares the rule with its definition: edges divisible by 16, at most 3840, aspect 1:3 to 3:1, 655,360 to
// 8,294,400 pixels.
func TestFreeSizes(t *testing.T) {
	t.Parallel()
	want := func(w, h int) bool {
		pixels := w * h
		return w%16 == 0 && h%16 == 0 && max(w, h) <= 3840 && max(w, h) <= 3*min(w, h) &&
			pixels >= 655_360 && pixels <= 8_294_400
	}
	check := func(w, h int) {
		if got := sizeProblem(familyOf("gpt-image-2.6-flare"), w, h) == ""; got != want(w, h) {
			t.Errorf("%dx%d: allowed = %v, want %v", w, h, got, want(w, h))
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	allowed := 0
	for range 20_000 {
		w, h := 16*(1+rng.IntN(260)), 16*(1+rng.IntN(260))
		check(w, h)
		check(w+rng.IntN(16), h)
		if want(w, h) {
			allowed++
		}
	}
	if allowed < 1000 {
		t.Errorf("only %d sizes of the sample are allowed", allowed)
	}
	for _, s := range [][2]int{{3840, 2160}, {2160, 3840}, {3840, 2176}, {1440, 480}, {1408, 464}, {800, 816}, {816, 816}} {
		check(s[0], s[1])
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	type traits struct{ OpenAI, Fixed, Finest, Vector, Complexity, Markup bool }
	for model, want := range map[string]traits{
		"gpt-image-1":                       {OpenAI: true, Fixed: true},
		"gpt-image-1-mini":                  {OpenAI: true, Fixed: true},
		"gpt-image-1.5-2025-12-16":          {OpenAI: true, Fixed: true},
		"gpt-image-2":                       {OpenAI: true},
		"gpt-image-2-2026-04-21":            {OpenAI: true},
		"gpt-image-2.5-flare-2026-09-08":    {OpenAI: true, Finest: true, Vector: true, Markup: true},
		"gpt-image-2.6-sunburst":            {OpenAI: true, Finest: true, Vector: true, Complexity: true, Markup: true},
		"gpt-image-3":                       {OpenAI: true, Finest: true, Vector: true, Complexity: true, Markup: true},
		"Qwen/Qwen-Image":                   {Finest: true, Vector: true, Complexity: true, Markup: true},
		"my-deployment-of-gpt-image-1":      {Finest: true, Vector: true, Complexity: true, Markup: true},
		"":                                  {Finest: true, Vector: true, Complexity: true, Markup: true},
		"dall-e-3":                          {Finest: true, Vector: true, Complexity: true, Markup: true},
		"chatgpt-image-latest":              {Finest: true, Vector: true, Complexity: true, Markup: true},
		strings.Repeat("gpt-image-1.5", 99): {OpenAI: true, Fixed: true},
	} {
		f := familyOf(model)
		got := traits{f.openAI, f.fixedSizes, f.finest, f.vector, f.complexity, f.markup}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.40s: %s", model, diff)
		}
	}
}

func TestParametersAreResolved(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body string
		edit bool
		want imageParams
	}{
		{
			`{"model":"gpt-image-2.6-flare"}`, false,
			imageParams{N: 1, Width: 1024, Height: 1024, Size: "1024x1024", Quality: "medium"},
		},
		{
			`{"model":"gpt-image-2.6-flare","size":"auto","quality":"auto","background":"auto","n":3}`, false,
			imageParams{N: 3, Width: 1024, Height: 1024, Size: "1024x1024", Quality: "medium"},
		},
		{
			`{"model":"dall-e-3","size":"1792x1024","quality":"hd","response_format":"url"}`, false,
			imageParams{N: 1, Width: 1792, Height: 1024, Size: "1792x1024", Quality: "high", ResponseURL: true},
		},
		{
			`{"model":"gpt-image-2.6-flare","quality":"max","background":"transparent","stream":true,"partial_images":3,
			"output_format":"webp","output_compression":0,"complexity":"low","safety_identifier":"u"}`, false,
			imageParams{
				N: 1, Width: 1024, Height: 1024, Size: "1024x1024", Quality: "max", Background: "transparent", Format: "webp",
				Stream: true, Partials: 3, Complexity: "low", Safety: "u",
			},
		},
		{
			`{"model":"m","output_format":"gif","frame_count":2,"frame_duration_ms":655350}`, false,
			imageParams{
				N: 1, Width: 1024, Height: 1024, Size: "1024x1024", Quality: "medium", Format: "gif", Frames: 2, FrameMS: 655350,
			},
		},
		{
			`{"model":"m","output_format":"svg","svg":{"model":"a","reasoning":{"effort":"none"}}}`, false,
			imageParams{
				N: 1, Width: 1024, Height: 1024, Size: "1024x1024", Quality: "medium", Format: "svg", SVGModel: "a", SVGEffort: "none",
			},
		},
		{
			`{"model":"gpt-image-1.5","input_fidelity":"high","size":"1024x1536"}`, true,
			imageParams{N: 1, Width: 1024, Height: 1536, Size: "1024x1536", Quality: "medium", Fidelity: "high"},
		},
	}
	for _, tt := range tests {
		f, e := readJSONFields(httptest.NewRequest("POST", "/", strings.NewReader(tt.body)))
		if e != nil {
			t.Fatalf("%s: %s", tt.body, e.Message)
		}
		f["prompt"] = field{fieldString, "x"}
		got, e := readImageParams(f, "x", tt.edit)
		if e != nil {
			t.Errorf("%s: %s", tt.body, e.Message)
			continue
		}
		want := tt.want
		want.Model, want.Prompt = f["model"].text, "x"
		if want.Format == "" {
			want.Format = "png"
		}
		if want.Background == "" {
			want.Background = "opaque"
		}
		if want.Frames == 0 {
			want.Frames, want.FrameMS = 9, 200
		}
		if _, given := f["output_compression"]; !given {
			want.Compression = 100
		}
		got.given = nil
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(imageParams{})); diff != "" {
			t.Errorf("%s: %s", tt.body, diff)
		}
	}
}

func TestFormAndJSONMeanTheSame(t *testing.T) {
	t.Parallel()
	js, e := readJSONFields(httptest.NewRequest("POST", "/", strings.NewReader(
		`{"prompt":"x","model":"m","n":2,"stream":true,"output_format":"webp","svg":null,"size":"64x32","user":"u"}`)))
	if e != nil {
		t.Fatal(e.Message)
	}
	form := fields{}
	for name, v := range map[string]string{
		"prompt": "x", "model": "m", "n": "2", "stream": "true", "output_format": "webp", "size": "64x32", "user": "u",
	} {
		form[name] = field{fieldForm, v}
	}
	a, e1 := readImageParams(js, "x", true)
	b, e2 := readImageParams(form, "x", true)
	if e1 != nil || e2 != nil {
		t.Fatal(e1, e2)
	}
	a.given, b.given = nil, nil
	if diff := cmp.Diff(a, b, cmp.AllowUnexported(imageParams{})); diff != "" {
		t.Error(diff)
	}
}

func TestFlattenNamesNestedFields(t *testing.T) {
	t.Parallel()
	f, e := readJSONFields(httptest.NewRequest("POST", "/", strings.NewReader(
		`{"a":"s","b":1.5,"c":false,"d":null,"e":[1],"f":{"g":"h","i":{"j":2}},"k":{}}`)))
	if e != nil {
		t.Fatal(e.Message)
	}
	want := fields{
		"a": {fieldString, "s"}, "b": {fieldNumber, "1.5"}, "c": {fieldBool, "false"}, "e": {fieldOther, ""},
		"f[g]": {fieldString, "h"}, "f[i][j]": {fieldNumber, "2"},
	}
	if diff := cmp.Diff(want, f, cmp.AllowUnexported(field{})); diff != "" {
		t.Error(diff)
	}
	if got := f.unknown([]string{"a", "b", "c"}); got != "e" {
		t.Errorf("unknown = %q, want the first in the order of the alphabet, e", got)
	}
	if got := (fields{"a": {}}).unknown([]string{"a"}); got != "" {
		t.Errorf("unknown = %q, want none", got)
	}
}

func TestRulesNameKnownParameters(t *testing.T) {
	t.Parallel()
	for _, rule := range togetherRules {
		if !slices.Contains(knownFields, rule.param) {
			t.Errorf("a rule is about %s, which no model takes", rule.param)
		}
		if rule.clash(imageParams{Format: "png", Compression: 100, N: 1}) && !strings.Contains(rule.message, "needs") {
			t.Errorf("%s clashes with a plain request", rule.param)
		}
	}
}

// TestStreamUsageSumsUp holds that the events of a stream together count what one JSON reply counts.
func TestStreamUsageSumsUp(t *testing.T) {
	t.Parallel()
	cat, err := catalog.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	inputs := []input{{width: 1024, height: 1024}, {width: 300, height: 2000}}
	for n := 1; n <= maxPictures; n++ {
		p := imageParams{Prompt: "a fox", Quality: "high", Width: 1536, Height: 1024, Partials: n % 4}
		whole := countUsage(cat, p, inputs, n, true)
		var sum usage
		for i := range n {
			u := countUsage(cat, p, inputs, 1, i == 0)
			sum.Input += u.Input
			sum.Output += u.Output
			sum.Total += u.Total
			sum.InputDetails.Text += u.InputDetails.Text
			sum.InputDetails.Image += u.InputDetails.Image
		}
		if diff := cmp.Diff(whole, sum); diff != "" {
			t.Errorf("n = %d: %s", n, diff)
		}
	}
}

func TestInputTokens(t *testing.T) {
	t.Parallel()
	for size, want := range map[[2]int]int{
		{1024, 1024}: 194, {1024, 1536}: 323, {1536, 1024}: 323, {100, 100}: 194, {4000, 1000}: 581, {0, 0}: 65,
	} {
		if got := inputTokens(input{width: size[0], height: size[1]}, "low"); got != want {
			t.Errorf("%v: %d tokens, want %d", size, got, want)
		}
	}
}

func TestModelsOfTheListFollowTheRules(t *testing.T) {
	t.Parallel()
	var ids []string
	for _, m := range emulatedModels {
		if !familyOf(m.ID).openAI || m.Created < 1_700_000_000 {
			t.Errorf("%+v is no model of OpenAI's", m)
		}
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	if got := len(slices.Compact(ids)); got != len(emulatedModels) {
		t.Errorf("%d different ids in %d rows", got, len(emulatedModels))
	}
}

func TestHostIsLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "localhost:1": true, "127.0.0.1": true, "127.255.255.254:80": true, "[::1]": true, "[::1]:80": true,
		"": false, ":80": false, "[]": false, "0.0.0.0": false, "[::]:80": false, "10.0.0.1:80": false,
		"localhost.": false, "LOCALHOST": false, "127.1": false, "0x7f.0.0.1": false, "127.0.0.1@evil.example": false,
		"[::ffff:127.0.0.1]:80": true, "[fe80::1]": false,
	} {
		if got := hostIsLoopback(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

func TestRequestIDsAreUniqueAndMarked(t *testing.T) {
	t.Parallel()
	svc, err := newService(Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 1000 {
		seen[svc.nextRequestID()] = true
	}
	if len(seen) != 1000 || !seen["req_emulated_00000001"] {
		t.Errorf("%d different ids, want 1000 that begin at %s", len(seen), "req_emulated_00000001")
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "abc": "abc", "abcd": "abc...", "日本語x": "日本語...", "日本": "日本"} {
		if got := clip(in, 3); got != want {
			t.Errorf("clip(%q, 3) = %q, want %q", in, got, want)
		}
	}
}

func TestShelfKeepsOneOfEqualPictures(t *testing.T) {
	t.Parallel()
	s := newShelf()
	for i := range 2 * shelfSize {
		s.put(textFile(fmt.Sprint(i % 3)))
	}
	if len(s.order) != 3 || len(s.pictures) != 3 {
		t.Errorf("%d names and %d pictures, want 3 of each", len(s.order), len(s.pictures))
	}
}
