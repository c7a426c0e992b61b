package catalog

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files")

// today is the day on which the facts of models.yaml were written down.
func today() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// shared is read once for all tests, which is also a test that concurrent readers get along.
var shared = sync.OnceValues(func() (*Catalog, error) { return New(nil) })

func builtin(t testing.TB) *Catalog {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func model(t testing.TB, id string) Model {
	t.Helper()
	m, ok := builtin(t).Lookup(id)
	if !ok {
		t.Fatalf("model %s has no row", id)
	}
	return m
}

// TestGolden shows every change of the data in review. Renew with: go test ./internal/catalog -run Golden -update
func TestGolden(t *testing.T) {
	t.Parallel()
	data := builtin(t).load()
	got, err := json.MarshalIndent(map[string]any{
		"models": data.models, "families": data.families, "defaults": data.defaults,
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", "catalog.golden.json")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("catalog differs from %s (-want +got):\n%s", path, diff)
	}
}

// TestBuiltInFileIsStrict holds the built-in file to the rules of a user's file.
func TestBuiltInFileIsStrict(t *testing.T) {
	t.Parallel()
	c, err := New(embedded)
	if err != nil {
		t.Fatalf("the built-in file does not pass as a user's file: %v", err)
	}
	if diff := cmp.Diff(builtin(t).load().models, c.load().models); diff != "" {
		t.Errorf("merging the file over itself changed it (-want +got):\n%s", diff)
	}
	if problems := check(builtIn()); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
}

func TestRowsAreComplete(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	for _, m := range c.All("", "") {
		if len(m.Ops) == 0 || m.Provider == "" || m.Kind == "" {
			t.Errorf("%s: needs provider, kind and ops", m.ID)
		}
		if m.Price != nil && (m.Price.Source == "" || m.Price.AsOf == "") {
			t.Errorf("%s: a price needs source and as_of", m.ID)
		}
		if m.Status(today()) == StatusCurrent && m.Price == nil {
			t.Errorf("%s: a current model needs a price", m.ID)
		}
		if m.Replacement == "" {
			continue
		}
		r, ok := c.Lookup(m.Replacement)
		if !ok {
			t.Errorf("%s: replacement %s has no row", m.ID, m.Replacement)
		}
		if s := r.Status(today()); s != StatusCurrent {
			t.Errorf("%s: replacement %s is %s", m.ID, m.Replacement, s)
		}
		if r.Kind != m.Kind {
			t.Errorf("%s makes a %s, its replacement %s a %s", m.ID, m.Kind, r.ID, r.Kind)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	tests := []struct{ provider, kind, op, want string }{
		{"openai", "image", "generate", "gpt-image-2.6-flare"},
		{"openai", "image", "edit", "gpt-image-2.6-sunburst"},
		{"emulator", "image", "generate", "gpt-image-2.6-flare"},
		{"emulator", "image", "edit", "gpt-image-2.6-sunburst"},
		{"google", "image", "generate", "gemini-nano-banana-2.1"},
		{"google", "image", "edit", "gemini-nano-banana-2.1"},
		{"google", "video", "generate", "gemini-omni-1.2-flash"},
		{"vertex", "video", "generate", "veo-3.1-generate-001"},
		{"openai", "video", "generate", ""},
		{"azure", "image", "generate", ""},
		{"", "", "", ""},
	}
	for _, tt := range tests {
		if got := c.Default(tt.provider, tt.kind, tt.op); got != tt.want {
			t.Errorf("Default(%q, %q, %q) = %q, want %q", tt.provider, tt.kind, tt.op, got, tt.want)
		}
	}
	for provider, kinds := range c.load().defaults {
		for kind, ops := range kinds {
			for op, id := range ops {
				m, known := c.Resolve(id)
				if !known || m.Kind != kind || !slices.Contains(m.Ops, op) || m.Status(today()) != StatusCurrent {
					t.Errorf("default %s of %s %s %s cannot do it today", id, provider, kind, op)
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	tests := []struct{ id, wantID, aliasOf string }{
		{"gpt-image-2", "gpt-image-2", ""},
		{"gpt-image-2-2026-04-21", "gpt-image-2-2026-04-21", "gpt-image-2"},
		{"gpt-image-2.5-sunburst-2026-09-08", "gpt-image-2.5-sunburst-2026-09-08", "gpt-image-2.5-sunburst"},
		{"nano-banana-pro-preview", "nano-banana-pro-preview", "gemini-3-pro-image"},
		{"GPT-Image-2", "", ""},
		{"gpt-image-2 ", "", ""},
		{"gpt-image-", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		m, ok := builtin(t).Lookup(tt.id)
		if ok != (tt.wantID != "") || m.ID != tt.wantID || m.AliasOf != tt.aliasOf {
			t.Errorf("Lookup(%q) = %q alias of %q, %v", tt.id, m.ID, m.AliasOf, ok)
		}
	}
}

func TestResolveUnknown(t *testing.T) {
	t.Parallel()
	tests := []struct{ id, provider, kind string }{
		{"gpt-image-9", "openai", "image"},
		{"chatgpt-image-next", "openai", "image"},
		{"dall-e-4", "openai", "image"},
		{"sora-3", "openai", "video"},
		{"gemini-9-image", "google", "image"},
		{"gemini-nano-banana-3", "google", "image"},
		{"gemini-omni-2-flash", "google", "video"},
		{"nano-banana-4", "google", "image"},
		{"imagen-5.0-generate-001", "google", "image"},
		{"veo-4.0-generate-001", "google", "video"},
		{"Qwen/Qwen-Image", "", ""},
		{"our-azure-deployment", "", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		m, known := builtin(t).Resolve(tt.id)
		if known || m.ID != tt.id || m.Provider != tt.provider || m.Kind != tt.kind || !m.Permissive {
			t.Errorf("Resolve(%q) = %+v, %v", tt.id, m, known)
		}
		if p, ok := builtin(t).ProviderOf(tt.id); p != tt.provider || ok != (tt.provider != "") {
			t.Errorf("ProviderOf(%q) = %q, %v", tt.id, p, ok)
		}
	}
	if p, ok := builtin(t).ProviderOf("sora-2"); p != "openai" || !ok {
		t.Errorf("ProviderOf(sora-2) = %q, %v", p, ok)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		id   string
		now  time.Time
		want Status
	}{
		{"gpt-image-1.5", day(2026, 12, 1).Add(-RetiringWindow - time.Nanosecond), StatusCurrent},
		{"gpt-image-1.5", day(2026, 12, 1).Add(-RetiringWindow), StatusRetiring},
		{"gpt-image-1.5", day(2026, 12, 1).Add(-time.Nanosecond), StatusRetiring},
		{"gpt-image-1.5", day(2026, 12, 1), StatusRetired},
		{"gpt-image-1.5", day(2026, 12, 1).In(time.FixedZone("west", -8*3600)), StatusRetired},
		{"gpt-image-1.5-2025-12-16", today(), StatusRetiring},
		{"gpt-image-1-mini", today(), StatusRetiring},
		{"chatgpt-image-latest", today(), StatusRetiring},
		{"gpt-image-1", today(), StatusRetired},
		{"dall-e-3", today(), StatusRetired},
		{"sora-2", today(), StatusRetired},
		{"imagen-4.0-generate-001", today(), StatusRetired},
		{"veo-3.1-generate-preview", today(), StatusRetiring}, // only the earliest day is known
		{"gemini-2.5-flash-image", today(), StatusRetiring},
		{"gpt-image-2.6-flare", today(), StatusCurrent},
		{"gpt-image-2", day(2099, 1, 1), StatusCurrent},
	}
	for _, tt := range tests {
		if got := model(t, tt.id).Status(tt.now); got != tt.want {
			t.Errorf("%s at %s is %s, want %s", tt.id, tt.now, got, tt.want)
		}
	}
}

func TestRetired(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id   string
		now  time.Time
		want string
	}{
		{"gpt-image-1", today(), "model gpt-image-1 was retired on 2026-10-23; use gpt-image-2.6-sunburst"},
		{"dall-e-2", today(), "model dall-e-2 was retired on 2026-05-12; use gpt-image-2.6-flare"},
		{"sora-2-pro", today(), "model sora-2-pro was retired on 2026-09-24 and has no replacement"},
		{"sora-2-2025-12-08", today(), "model sora-2-2025-12-08 was retired on 2026-09-24 and has no replacement"},
		{
			"imagen-4.0-ultra-generate-001", today(),
			"model imagen-4.0-ultra-generate-001 was retired on 2026-08-17; use gemini-3-pro-image",
		},
		{"gpt-image-1.5", today(), ""},
		{
			"gpt-image-1.5", today().Add(12 * time.Hour),
			"model gpt-image-1.5 was retired on 2026-12-01; use gpt-image-2.6-sunburst",
		},
		{"veo-3.1-generate-preview", today(), ""},
		{"gpt-image-2", today(), ""},
	}
	for _, tt := range tests {
		r, gone := model(t, tt.id).Retired(tt.now)
		got := ""
		if gone {
			got = r.String()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.id, got, tt.want)
		}
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	all := len(c.All("", ""))
	parts := len(c.All("image", "openai")) + len(c.All("image", "google")) +
		len(c.All("video", "openai")) + len(c.All("video", "google"))
	if all == 0 || all != parts {
		t.Errorf("%d rows, but %d by kind and provider", all, parts)
	}
	if got := c.All("image", "nobody"); got != nil {
		t.Errorf("All(image, nobody) = %v", got)
	}
	if got := c.All("image", "openai")[0].ID; got != "gpt-image-2.6-flare" {
		t.Errorf("first OpenAI image model is %s; the current ones come first", got)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	tests := []struct {
		kind, provider, param string
		want                  []string
	}{
		{"image", "", "quality", []string{"auto", "low", "medium", "high", "xhigh", "max"}},
		{"image", "openai", "size", []string{"auto", "1024x1024", "1536x1024", "1024x1536"}},
		{"image", "google", "size", []string{"1K", "2K", "4K", "512"}},
		{"video", "openai", "seconds", []string{"4", "8", "12", "16", "20"}},
		{"video", "google", "size", []string{"360p", "720p", "1080p", "4k"}},
		{"image", "", "background", []string{"auto", "opaque", "transparent"}},
		{"image", "", "output_format", []string{"png", "jpeg", "webp", "gif", "svg"}},
		{"image", "", "moderation", []string{"auto", "low"}},
		{"image", "", "complexity", []string{"low", "medium", "high"}},
		{"image", "", "input_fidelity", []string{"low", "high"}},
		{"image", "", "svg_effort", []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}},
		{"video", "google", "aspect_ratio", []string{"16:9", "9:16"}},
		{"image", "", "no_such_parameter", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, c.WordsOf(tt.kind, tt.provider, tt.param)); diff != "" {
			t.Errorf("WordsOf(%q, %q, %q) (-want +got):\n%s", tt.kind, tt.provider, tt.param, diff)
		}
	}
	if diff := cmp.Diff(c.WordsOf("image", "", "quality"), c.Words("quality")); diff != "" {
		t.Errorf("Words is not about images (-want +got):\n%s", diff)
	}
	models := c.Words("model")
	for _, id := range []string{"gpt-image-2", "gpt-image-2-2026-04-21", "gemini-3-pro-image"} {
		if !slices.Contains(models, id) {
			t.Errorf("Words(model) lacks %s", id)
		}
	}
	if slices.Contains(models, "sora-2") {
		t.Error("Words(model) offers a video model")
	}
}

// TestModelJSON holds the names that models show --json prints.
func TestModelJSON(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(model(t, "gpt-image-2.6-flare"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"id":"gpt-image-2.6-flare"`, `"size_rule":{"multiple":16,`, `"max_prompt":32000`, `"released":"2026-11-04"`,
		`"text_in":5,"cached_text_in":1.25`, `"tokens_from":"gpt-image-2"`, `"assumed":true`, `"as_of":"2026-11-05"`,
		`"output_compression":{"min":0,"max":100,"formats":["jpeg","webp"]`,
	} {
		if !bytes.Contains(raw, []byte(want)) {
			t.Errorf("JSON lacks %s:\n%s", want, raw)
		}
	}
	if strings.Contains(string(raw), "retires") {
		t.Errorf("JSON names a date that is not known:\n%s", raw)
	}
}

// BenchmarkNew is what a process pays before it needs a model.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstLookup is what the first command that needs a model pays: parsing the built-in file.
func BenchmarkFirstLookup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c, err := New(nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := c.Lookup("gpt-image-2"); !ok {
			b.Fatal("no row")
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	c := builtin(b)
	for b.Loop() {
		if _, ok := c.Lookup("gpt-image-2"); !ok {
			b.Fatal("no row")
		}
	}
}
