package catalog

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

// TestCostOfContract holds the check values of the tool contract, section 7.2.
func TestCostOfContract(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		model string
		tok   Tokens
		want  int64
	}{
		{"details", "gpt-image-1.5", Tokens{TextIn: 1000, ImageIn: 2000, TextOut: 500, ImageOut: 2500, Out: 3000}, 106_000},
		{
			"cached", "gpt-image-1.5",
			Tokens{TextIn: 1000, CachedTextIn: 400, ImageIn: 2000, CachedImageIn: 500, TextOut: 500, ImageOut: 2500, Out: 3000},
			101_500,
		},
		{"no output details", "gpt-image-1.5", Tokens{TextIn: 1000, ImageIn: 2000, Out: 3000}, 117_000},
		{
			"one output rate", "gpt-image-1",
			Tokens{TextIn: 1000, ImageIn: 2000, TextOut: 500, ImageOut: 2500, Out: 3000},
			145_000,
		},
		{"one output rate, no details", "gpt-image-1", Tokens{TextIn: 1000, ImageIn: 2000, Out: 3000}, 145_000},
	}
	for _, tt := range tests {
		if got, known := builtin(t).CostOf(tt.model, tt.tok); !known || got != tt.want {
			t.Errorf("%s: got %d, %v, want %d", tt.name, got, known, tt.want)
		}
	}
}

func TestCostOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		model string
		tok   Tokens
		want  int64
		known bool
	}{
		{"current model", "gpt-image-2.6-flare", Tokens{In: 10, TextIn: 10, Out: 272, ImageOut: 272}, 8210, true},
		{"alias", "gpt-image-2-2026-04-21", Tokens{TextIn: 10, ImageOut: 272}, 8210, true},
		{
			"cached tokens never exceed the input", "gpt-image-2",
			Tokens{TextIn: 100, CachedTextIn: 900, ImageOut: 1},
			155,
			true,
		},
		{"a quarter is rounded down", "gpt-image-2", Tokens{TextIn: 1, CachedTextIn: 1, ImageOut: 1}, 31, true},
		{"a half is rounded up, once", "gpt-image-2", Tokens{TextIn: 2, CachedTextIn: 2, ImageOut: 1}, 33, true},
		{
			"image input of Gemini", "gemini-3.1-flash-image",
			Tokens{TextIn: 100, ImageIn: 1000, TextOut: 10, ImageOut: 1120},
			67_780, true,
		},
		{"video", "gemini-omni-1.1-flash", Tokens{VideoOut: 57_920}, 1_013_600, true},
		{"saturates", "gpt-image-2", Tokens{ImageOut: math.MaxInt64}, math.MaxInt64, true},
		{"saturates in sum", "gpt-image-1", Tokens{TextOut: math.MaxInt64, ImageOut: math.MaxInt64}, math.MaxInt64, true},

		{"no row", "gpt-image-9", Tokens{TextIn: 10, ImageOut: 272}, 0, false},
		{"no price", "dall-e-3", Tokens{TextIn: 10, ImageOut: 272}, 0, false},
		{"no rate for an input", "gemini-3-pro-image", Tokens{TextIn: 10, ImageIn: 5, ImageOut: 1120}, 0, false},
		{"no output reported", "gpt-image-2", Tokens{TextIn: 10}, 0, false},
		{"nothing reported", "gpt-image-2", Tokens{}, 0, false},
		{"input without breakdown", "gpt-image-2", Tokens{In: 10, Out: 272}, 0, false},
		{"negative", "gpt-image-2", Tokens{TextIn: -1, ImageOut: 272}, 0, false},
		{"negative cached", "gpt-image-2", Tokens{CachedTextIn: -1, ImageOut: 272}, 0, false},
		{"negative output", "gpt-image-2", Tokens{Out: -1, ImageOut: 272}, 0, false},
	}
	for _, tt := range tests {
		got, known := builtin(t).CostOf(tt.model, tt.tok)
		if got != tt.want || known != tt.known {
			t.Errorf("%s: got %d, %v, want %d, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
}

// TestCostOfGrows: more tokens of any sort never cost less, and no cost is negative.
func TestCostOfGrows(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	ids := []string{"gpt-image-1.5", "gpt-image-1", "gpt-image-1-mini", "gpt-image-2.6-flare", "gemini-3.1-flash-image"}
	grows := func(a [6]uint32, more uint32, field, pick uint) bool {
		tok := func(v [6]uint32) Tokens {
			t := Tokens{
				TextIn: int64(v[0]) + int64(v[1]), CachedTextIn: int64(v[1]), ImageIn: int64(v[2]) + int64(v[3]),
				CachedImageIn: int64(v[3]), TextOut: int64(v[4]), ImageOut: int64(v[5]),
			}
			t.In, t.Out = t.TextIn+t.ImageIn, t.TextOut+t.ImageOut
			return t
		}
		id := ids[pick%uint(len(ids))]
		less, known := c.CostOf(id, tok(a))
		b := a
		b[field%6] += more % (math.MaxUint32 - b[field%6] + 1)
		greater, still := c.CostOf(id, tok(b))
		return less >= 0 && (!known || still && greater >= less)
	}
	if err := quick.Check(grows, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

// TestTablesMatchPublishedPrices: a derived table gives back the price of one picture from which it was derived, to
// less than the price of one token.
func TestTablesMatchPublishedPrices(t *testing.T) {
	t.Parallel()
	type row map[string]int64 // micro-dollars by quality
	published := map[string]map[string]row{
		"gpt-image-2": {
			"1024x1024": {"low": 6_000, "medium": 53_000, "high": 211_000},
			"1024x1536": {"low": 5_000, "medium": 41_000, "high": 165_000},
		},
		"gpt-image-1.5": {
			"1024x1024": {"low": 9_000, "medium": 34_000, "high": 133_000},
			"1024x1536": {"low": 13_000, "medium": 50_000, "high": 200_000},
			"1536x1024": {"low": 13_000, "medium": 50_000, "high": 200_000},
		},
		"gpt-image-1-mini": {
			"1024x1024": {"low": 5_000, "medium": 11_000, "high": 36_000},
			"1024x1536": {"low": 6_000, "medium": 15_000, "high": 52_000},
			"1536x1024": {"low": 6_000, "medium": 15_000, "high": 52_000},
		},
		"gpt-image-1": {"1024x1024": {"low": 11_000, "medium": 42_000, "high": 167_000}},
	}
	for id, sizes := range published {
		rate := int64(*model(t, id).Price.ImageOut) / 1_000_000 // micro-dollars a token
		for size, qualities := range sizes {
			for quality, want := range qualities {
				e := builtin(t).EstimateImage(id, ImageParams{Size: size, Quality: quality})
				if !e.Known || e.Micros < want || e.Micros >= want+rate || e.UpperBound || e.Assumed {
					t.Errorf("%s %s %s: %+v, published %d", id, size, quality, e, want)
				}
			}
		}
	}
	for size, row := range model(t, "gpt-image-2").Price.OutputTokens {
		if len(row) != 3 {
			t.Errorf("gpt-image-2 %s has %d qualities", size, len(row))
		}
	}
}

func TestOutputTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, model, size, quality string
		want                       int64
		known                      bool
	}{
		{"own table", "gpt-image-2", "1024x1536", "high", 5500, true},
		{"alias", "gpt-image-2-2026-04-21", "1024x1024", "low", 200, true},
		{"borrowed table", "gpt-image-2.6-flare", "1536x1024", "medium", 1367, true},
		{"auto has none", "gpt-image-2", "1024x1024", "auto", 0, false},
		{"no such size", "gpt-image-2", "2048x2048", "high", 0, false},
		{"priced by picture", "gemini-nano-banana-2.1", "1K", "", 0, false},
		{"no price", "dall-e-3", "1024x1024", "high", 0, false},
		{"no row", "my-own-model", "1024x1024", "high", 0, false},
	} {
		got, known := builtin(t).OutputTokens(tt.model, tt.size, tt.quality)
		if got != tt.want || known != tt.known {
			t.Errorf("%s: %d, %v, want %d, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
}

func TestEstimateImage(t *testing.T) {
	t.Parallel()
	const flare, two = "gpt-image-2.6-flare", "gpt-image-2"
	prompt := strings.Repeat("ab", 50) // 50 tokens: 250 micro-dollars at 5 a million
	tests := []struct {
		name    string
		model   string
		req     ImageParams
		micros  int64 // < 0: unknown
		assumed bool
		upper   bool
		why     string // part of Why
	}{
		{"one picture", two, ImageParams{Size: "1024x1024", Quality: "low"}, 6_000, false, false, ""},
		{"with prompt", two, ImageParams{Size: "1024x1024", Quality: "low", Prompt: prompt}, 6_250, false, false, ""},
		{
			"three pictures", two,
			ImageParams{Size: "1024x1024", Quality: "low", Prompt: prompt, N: 3},
			18_750, false,
			false, "",
		},
		{"partials", two, ImageParams{Size: "1024x1024", Quality: "low", Partials: 2, N: 2}, 24_000, false, false, ""},
		{"alias", "gpt-image-2-2026-04-21", ImageParams{Size: "1024x1024", Quality: "low"}, 6_000, false, false, ""},
		{"mirror image", two, ImageParams{Size: "1536x1024", Quality: "low"}, 5_010, true, false, "mirror image"},
		{"auto quality", two, ImageParams{Size: "1024x1536", Quality: "auto"}, 165_000, false, true, "dearest"},
		{"auto size", two, ImageParams{Size: "auto", Quality: "low"}, 6_000, false, true, "dearest"},
		{"all unset", two, ImageParams{}, 211_020, false, true, "dearest"},
		{
			"borrowed table", flare,
			ImageParams{Size: "1024x1024", Quality: "low"},
			6_000, true, false,
			"token table of gpt-image-2 assumed",
		},
		{"borrowed, auto", flare, ImageParams{}, 211_020, true, true, "assumed; auto priced"},

		{
			"quality without a figure", flare,
			ImageParams{Size: "1024x1024", Quality: "xhigh"},
			-1, false, false,
			"quality xhigh",
		},
		{"max without a figure", flare, ImageParams{Quality: "max"}, -1, false, false, "quality max"},
		{"size without a figure", two, ImageParams{Size: "1536x864", Quality: "low"}, -1, false, false, "1536x864"},
		{"size that is never made", two, ImageParams{Size: "5x5"}, -1, false, false, "5x5"},
		{"quality that is never made", two, ImageParams{Quality: "hd"}, -1, false, false, "quality hd"},
		{"svg", flare, ImageParams{OutputFormat: "svg"}, -1, false, false, "SVG"},
		{"gif", flare, ImageParams{OutputFormat: "gif"}, -1, false, false, "animated"},
		{
			"edit", two,
			ImageParams{Op: "edit", Inputs: 1, Size: "1024x1024", Quality: "low"},
			-1, false, false,
			"input tokens",
		},
		{
			"edit without its inputs", two,
			ImageParams{Op: "edit", Size: "1024x1024", Quality: "low"},
			-1, false, false,
			"input tokens",
		},
		{"mask", two, ImageParams{Mask: true, Size: "1024x1024", Quality: "low"}, -1, false, false, "input tokens"},
		{"unknown model", "gpt-image-9", ImageParams{}, -1, false, false, "no price is known for model gpt-image-9"},
		{"model without price", "dall-e-2", ImageParams{}, -1, false, false, "no price"},
		{"video model", "gemini-omni-1.1-flash", ImageParams{}, -1, false, false, "no image output rate"},

		{"google default size", "gemini-nano-banana-2.1", ImageParams{}, 33_600, true, false, ""},
		{"google other size", "gemini-nano-banana-2.1", ImageParams{Size: "4K"}, -1, false, false, "size 4K"},
		{"google tier", "gemini-3-pro-image", ImageParams{Size: "4K"}, 240_000, false, false, ""},
		{
			"google, four calls", "gemini-3-pro-image",
			ImageParams{Size: "1K", N: 4, Prompt: prompt},
			536_400, false, false,
			"",
		},
		{"google, size open", "gemini-3-pro-image", ImageParams{}, 240_000, false, true, "dearest"},
		{"google, small", "gemini-3.1-flash-image", ImageParams{Size: "512"}, 45_000, false, false, ""},
		{"google, lite", "gemini-3.1-flash-lite-image", ImageParams{}, 34_000, false, false, ""},
		{
			"google with references", "gemini-3-pro-image",
			ImageParams{Size: "1K", Inputs: 2},
			-1, false, false,
			"input tokens",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := builtin(t).EstimateImage(tt.model, tt.req)
			if e.Known != (tt.micros >= 0) || e.Micros != max(tt.micros, 0) {
				t.Errorf("got %+v, want %d micro-dollars", e, tt.micros)
			}
			if e.Assumed != tt.assumed || e.UpperBound != tt.upper || !strings.Contains(e.Why, tt.why) {
				t.Errorf("got %+v, want assumed %v, upper bound %v, why %q", e, tt.assumed, tt.upper, tt.why)
			}
			if e.Known && (e.Source == "" || e.AsOf == "") {
				t.Errorf("a known price without source: %+v", e)
			}
			if !e.Known && e.Why == "" {
				t.Errorf("unknown without a reason: %+v", e)
			}
		})
	}
}

// TestEstimateEditWithGivenTokens: a row that says what an input picture costs makes edits estimable.
func TestEstimateEditWithGivenTokens(t *testing.T) {
	t.Parallel()
	c, err := New([]byte("models: [{id: gpt-image-2, price: {input_image_tokens: 1000}}]"))
	if err != nil {
		t.Fatal(err)
	}
	p := ImageParams{Op: "edit", Size: "1024x1024", Quality: "low", Inputs: 2, Mask: true}
	if e := c.EstimateImage("gpt-image-2", p); !e.Known || e.Micros != 6_000+3*8_000 {
		t.Errorf("got %+v, want output and three pictures of 0.008", e)
	}
	p.N = 2
	if e := c.EstimateImage("gpt-image-2", p); !e.Known || e.Micros != 2*(6_000+3*8_000) {
		t.Errorf("got %+v for two", e)
	}
	if e := c.EstimateImage("gpt-image-2.6-sunburst", p); e.Known {
		t.Errorf("the row of another model was used: %+v", e)
	}
}

// TestEstimateImageGrows: no estimate is negative, and more pictures, partials or words never cost less, at any
// number.
func TestEstimateImageGrows(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	ids := c.WordsOf("", "", "model")
	sizes := append([]string{"", "1536x864"}, c.WordsOf("", "", "size")...)
	qualities := append([]string{""}, c.Words("quality")...)
	grows := func(pick [3]uint, n, more int, partials, extra uint8, prompt string) bool {
		id := ids[pick[0]%uint(len(ids))]
		p := ImageParams{
			Op: "generate", Prompt: prompt, N: n, Partials: int(partials),
			Size: sizes[pick[1]%uint(len(sizes))], Quality: qualities[pick[2]%uint(len(qualities))],
		}
		q := p
		q.N, q.Partials, q.Prompt = max(n, more), int(max(partials, extra)), prompt+"!"
		a, b := c.EstimateImage(id, p), c.EstimateImage(id, q)
		return a.Micros >= 0 && a.Known == b.Known && b.Micros >= a.Micros
	}
	if err := quick.Check(grows, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
	last := int64(-1)
	for n := range 12 {
		e := c.EstimateImage("gpt-image-2", ImageParams{N: n, Size: "1024x1024", Quality: "low"})
		if e.Micros < last || n > 1 && e.Micros != int64(n)*6_000 {
			t.Errorf("n=%d costs %d after %d", n, e.Micros, last)
		}
		last = e.Micros
	}
}

// TestAutoIsAnUpperBound: what is left open never costs less than any choice of the table.
func TestAutoIsAnUpperBound(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	for _, m := range c.All("image", "") {
		open := c.EstimateImage(m.ID, ImageParams{})
		for _, size := range m.Sizes {
			for _, quality := range append(slices.Clone(m.Qualities), "") {
				e := c.EstimateImage(m.ID, ImageParams{Size: size, Quality: quality})
				if open.UpperBound && e.Known && e.Micros > open.Micros {
					t.Errorf("%s: open %d, %s %s %d", m.ID, open.Micros, size, quality, e.Micros)
				}
			}
		}
	}
}

func TestPromptTokens(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]int64{
		"": 0, "a": 1, "ab": 1, "abc": 2, strings.Repeat("a", 1000): 500, "é": 2, "狐狸": 6, "😀": 4, "a fox 狐": 6,
	} {
		if got := PromptTokens(prompt); got != want {
			t.Errorf("%q: got %d, want %d", prompt, got, want)
		}
	}
}

func TestEstimateVideo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		model  string
		req    VideoParams
		micros int64 // < 0: unknown
		upper  bool
	}{
		{"the contract's sora-2", "sora-2", VideoParams{Size: "720x1280", Seconds: 4}, 400_000, false},
		{"the contract's pro", "sora-2-pro", VideoParams{Size: "1280x720", Seconds: 12}, 3_600_000, false},
		{"the contract's large pro", "sora-2-pro", VideoParams{Size: "1024x1792", Seconds: 8}, 4_000_000, false},
		{"size without a figure", "sora-2", VideoParams{Size: "1024x1792", Seconds: 4}, -1, false},
		{"model's defaults", "sora-2", VideoParams{}, 400_000, false},
		{"snapshot", "sora-2-2025-12-08", VideoParams{Seconds: 8}, 800_000, false},
		{"omni", "gemini-omni-1.2-flash", VideoParams{Seconds: 10}, 700_000, false},
		{"omni at a size without a figure", "gemini-omni-1.2-flash", VideoParams{Size: "4k", Seconds: 10}, -1, false},
		{"omni 1.1 in 4k", "gemini-omni-1.1-flash", VideoParams{Size: "4k", Seconds: 10}, 3_000_000, false},
		{"two veo", "veo-3.1-generate-001", VideoParams{Size: "1080p", Seconds: 8, N: 2}, 6_400_000, false},
		{"veo, size open", "veo-3.1-generate-001", VideoParams{Seconds: 8}, 4_800_000, true},
		{"veo, no length", "veo-3.1-generate-001", VideoParams{Size: "720p"}, -1, false},
		{"negative length", "veo-3.1-generate-001", VideoParams{Size: "720p", Seconds: -4}, -1, false},
		{"image model", "gpt-image-2", VideoParams{Seconds: 4}, -1, false},
		{"unknown model", "veo-9", VideoParams{Seconds: 4}, -1, false},
		{"no figure at all", "veo-2.0-generate-001", VideoParams{Seconds: 4}, -1, false},
	}
	for _, tt := range tests {
		e := builtin(t).EstimateVideo(tt.model, tt.req)
		if e.Known != (tt.micros >= 0) || e.Micros != max(tt.micros, 0) || e.UpperBound != tt.upper {
			t.Errorf("%s: got %+v, want %d", tt.name, e, tt.micros)
		}
		if !e.Known && e.Why == "" {
			t.Errorf("%s: unknown without a reason", tt.name)
		}
	}
	if e := builtin(t).EstimateVideo("gemini-omni-1.2-flash", VideoParams{Seconds: 5}); !e.Assumed {
		t.Error("an inferred price must be marked as assumed")
	}
}
