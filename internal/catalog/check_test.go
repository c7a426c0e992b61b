package catalog

import (
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// faults returns the parameters that a check complained about, in order.
func faults(list []*fault.Error) []string {
	names := make([]string, 0, len(list))
	for _, e := range list {
		name, _, found := strings.Cut(e.Message, ": ")
		if e.Code != fault.InvalidArgument || !found {
			name = string(e.Code)
		}
		names = append(names, name)
	}
	return names
}

func TestCheckImage(t *testing.T) {
	t.Parallel()
	edit := func(p ImageParams) ImageParams {
		p.Op = "edit"
		p.Inputs = max(p.Inputs, 1)
		return p
	}
	const flare, sun25, two, onefive, mini = "gpt-image-2.6-flare", "gpt-image-2.5-sunburst", "gpt-image-2",
		"gpt-image-1.5", "gpt-image-1-mini"
	tests := []struct {
		name  string
		model string
		req   ImageParams
		want  []string
	}{
		{"nothing set", flare, ImageParams{}, nil},
		{
			"plain generate", flare,
			ImageParams{Op: "generate", Prompt: "a fox", N: 1, Size: "1024x1536", Quality: "high"},
			nil,
		},
		{"everything auto", two, ImageParams{Size: "auto", Quality: "auto", Background: "auto", Moderation: "auto"}, nil},
		{"plain edit", flare, edit(ImageParams{Mask: true, Size: "auto"}), nil},
		{"alias has the rules of its row", "gpt-image-2-2026-04-21", ImageParams{Quality: "max"}, []string{"quality"}},

		{"operation", two, ImageParams{Op: "upscale"}, []string{"unsupported_operation"}},
		{"a video model", "veo-3.1-generate-001", ImageParams{N: 99}, []string{"unsupported_modality"}},
		{"an unknown video model", "veo-9", ImageParams{}, []string{"unsupported_modality"}},

		{"prompt at the limit", two, ImageParams{Prompt: strings.Repeat("x", 32_000)}, nil},
		{"prompt above the limit", two, ImageParams{Prompt: strings.Repeat("x", 32_001)}, []string{"prompt"}},
		{"characters, not bytes or UTF-16 units", two, ImageParams{Prompt: strings.Repeat("😀", 32_000)}, nil},
		{"too many characters of four bytes", two, ImageParams{Prompt: strings.Repeat("😀", 32_001)}, []string{"prompt"}},

		{"n at the limit", two, ImageParams{N: 10}, nil},
		{"n above the limit", two, ImageParams{N: 11}, []string{"n"}},
		{"n below zero", two, ImageParams{N: -1}, []string{"n"}},
		{"n has no limit where calls are repeated", "gemini-3-pro-image", ImageParams{N: 40}, nil},

		{"free size", two, ImageParams{Size: "1536x864"}, nil},
		{"free size of 2.5", sun25, ImageParams{Size: "2560x1440"}, nil},
		{"largest size", flare, ImageParams{Size: "3840x2160"}, nil},
		{"free size of an older model", onefive, ImageParams{Size: "1536x864"}, []string{"size"}},
		{"fixed size of an older model", onefive, ImageParams{Size: "1536x1024"}, nil},
		{"size not divisible", two, ImageParams{Size: "1000x1000"}, []string{"size"}},
		{"size in words", two, ImageParams{Size: "large"}, []string{"size"}},
		{"size with spaces", two, ImageParams{Size: "1024 x 1024"}, []string{"size"}},
		{"aspect ratio where none is taken", two, ImageParams{AspectRatio: "16:9"}, []string{"aspect_ratio"}},

		{"max quality", flare, ImageParams{Quality: "max"}, nil},
		{"xhigh quality of 2.5", sun25, ImageParams{Quality: "xhigh"}, nil},
		{"xhigh quality of 2", two, ImageParams{Quality: "xhigh"}, []string{"quality"}},
		{"dead quality", two, ImageParams{Quality: "hd"}, []string{"quality"}},

		{"transparent png by default", flare, ImageParams{Background: "transparent"}, nil},
		{"transparent webp", flare, ImageParams{Background: "transparent", OutputFormat: "webp"}, nil},
		{"transparent jpeg", flare, ImageParams{Background: "transparent", OutputFormat: "jpeg"}, []string{"background"}},
		{"transparent gif", flare, ImageParams{Background: "transparent", OutputFormat: "gif"}, []string{"background"}},
		{"transparent svg", flare, ImageParams{Background: "transparent", OutputFormat: "svg"}, []string{"background"}},
		{"background of colour", flare, ImageParams{Background: "red"}, []string{"background"}},

		{"moderation", two, ImageParams{Op: "generate", Moderation: "low"}, nil},
		{"moderation word", two, ImageParams{Op: "generate", Moderation: "high"}, []string{"moderation"}},
		{"moderation of an edit", two, edit(ImageParams{Moderation: "low"}), []string{"moderation"}},

		{"format", two, ImageParams{OutputFormat: "webp"}, nil},
		{"gif of 2", two, ImageParams{OutputFormat: "gif"}, []string{"output_format"}},
		{"gif of 2.5", sun25, ImageParams{OutputFormat: "gif"}, nil},
		{"tiff", flare, ImageParams{OutputFormat: "tiff"}, []string{"output_format"}},

		{"compression", two, ImageParams{OutputFormat: "jpeg", OutputCompression: new(0)}, nil},
		{"compression at the top", two, ImageParams{OutputFormat: "webp", OutputCompression: new(100)}, nil},
		{
			"compression out of range", two,
			ImageParams{OutputFormat: "webp", OutputCompression: new(101)},
			[]string{"output_compression"},
		},
		{
			"compression below zero", two,
			ImageParams{OutputFormat: "webp", OutputCompression: new(-1)},
			[]string{"output_compression"},
		},
		{
			"compression of png", two,
			ImageParams{OutputFormat: "png", OutputCompression: new(80)},
			[]string{"output_compression"},
		},
		{"compression of the default format", two, ImageParams{OutputCompression: new(80)}, []string{"output_compression"}},

		{"partials", two, ImageParams{Partials: 3, Stream: true}, nil},
		{"too many partials", two, ImageParams{Partials: 4}, []string{"partial_images"}},
		{"negative partials", two, ImageParams{Partials: -1}, []string{"partial_images"}},

		{"complexity", flare, ImageParams{Complexity: "low"}, nil},
		{"complexity word", flare, ImageParams{Complexity: "max"}, []string{"complexity"}},
		{"complexity of 2.5", sun25, ImageParams{Complexity: "low"}, []string{"complexity"}},

		{"fidelity of 1.5", onefive, edit(ImageParams{InputFidelity: "high"}), nil},
		{"fidelity of mini", mini, edit(ImageParams{InputFidelity: "low"}), nil},
		{"high fidelity of mini", mini, edit(ImageParams{InputFidelity: "high"}), []string{"input_fidelity"}},
		{"fidelity of 2", two, edit(ImageParams{InputFidelity: "low"}), []string{"input_fidelity"}},
		{"fidelity of 2.6", flare, edit(ImageParams{InputFidelity: "low"}), []string{"input_fidelity"}},
		{"fidelity of a generate", onefive, ImageParams{Op: "generate", InputFidelity: "low"}, []string{"input_fidelity"}},

		{"gif frames", flare, ImageParams{OutputFormat: "gif", FrameCount: 16, FrameDurationMS: 655_350}, nil},
		{"one frame", flare, ImageParams{OutputFormat: "gif", FrameCount: 1}, []string{"frame_count"}},
		{"17 frames", flare, ImageParams{OutputFormat: "gif", FrameCount: 17}, []string{"frame_count"}},
		{"frame too long", flare, ImageParams{OutputFormat: "gif", FrameDurationMS: 655_351}, []string{"frame_duration_ms"}},
		{
			"frames of png", flare,
			ImageParams{FrameCount: 3, FrameDurationMS: 5},
			[]string{"frame_count", "frame_duration_ms"},
		},
		{"gif stream", flare, ImageParams{OutputFormat: "gif", Stream: true}, []string{"stream"}},
		{"gif partials", flare, ImageParams{OutputFormat: "gif", Partials: 1}, []string{"partial_images"}},
		{"gif mask", flare, edit(ImageParams{OutputFormat: "gif", Mask: true}), []string{"mask"}},
		{
			"gif compression", flare,
			ImageParams{OutputFormat: "gif", OutputCompression: new(80)},
			[]string{"output_compression"},
		},

		{"svg", flare, ImageParams{OutputFormat: "svg", N: 1, SVGModel: "m", SVGEffort: "low"}, nil},
		{
			"svg effort word", flare,
			ImageParams{OutputFormat: "svg", SVGModel: "m", SVGEffort: "huge"},
			[]string{"svg_effort"},
		},
		{"svg effort without model", flare, ImageParams{OutputFormat: "svg", SVGEffort: "low"}, []string{"svg_effort"}},
		{"svg model of png", flare, ImageParams{SVGModel: "m"}, []string{"svg_model"}},
		{"two svg", flare, ImageParams{OutputFormat: "svg", N: 2}, []string{"n"}},
		{
			"svg stream", flare,
			ImageParams{OutputFormat: "svg", Stream: true, Partials: 1},
			[]string{"stream", "partial_images"},
		},
		{
			"svg compression", flare,
			ImageParams{OutputFormat: "svg", OutputCompression: new(80)},
			[]string{"output_compression"},
		},

		{"markup", flare, edit(ImageParams{Markup: true}), nil},
		{"markup of 2.5", sun25, edit(ImageParams{Markup: true}), nil},
		{"markup of 2", two, edit(ImageParams{Markup: true}), []string{"markup"}},
		{"mask and markup", flare, edit(ImageParams{Mask: true, Markup: true}), []string{"mask"}},
		{"mask of a generate", flare, ImageParams{Op: "generate", Mask: true}, []string{"mask"}},
		{"markup of a generate", flare, ImageParams{Op: "generate", Markup: true}, []string{"markup"}},

		{"16 inputs", two, edit(ImageParams{Inputs: 16}), nil},
		{"17 inputs", two, edit(ImageParams{Inputs: 17}), []string{"image"}},
		{"an edit of nothing", two, ImageParams{Op: "edit"}, []string{"image"}},
		{"negative inputs", two, ImageParams{Op: "edit", Inputs: -1}, []string{"image"}},
		{"inputs of a generate", two, ImageParams{Op: "generate", Inputs: 1}, []string{"image"}},

		{"google", "gemini-nano-banana-2.1", ImageParams{Op: "generate", Size: "4K", AspectRatio: "1:8", Inputs: 14}, nil},
		{"google edit", "gemini-3-pro-image", edit(ImageParams{Size: "2K"}), nil},
		{"google, format converted here", "gemini-3-pro-image", ImageParams{OutputFormat: "webp"}, nil},
		{
			"google, auto means nothing is sent", "gemini-3-pro-image",
			ImageParams{Size: "auto", Quality: "auto", Background: "auto"},
			nil,
		},
		{"google 512", "gemini-nano-banana-2.1", ImageParams{Size: "512"}, []string{"size"}},
		{"google 512 of the one that makes it", "gemini-3.1-flash-image", ImageParams{Size: "512"}, nil},
		{"google lower case tier", "gemini-nano-banana-2.1", ImageParams{Size: "1k"}, []string{"size"}},
		{"google ratio", "gemini-3-pro-image", ImageParams{AspectRatio: "1:8"}, []string{"aspect_ratio"}},
		{"google inputs", "gemini-3-pro-image", edit(ImageParams{Inputs: 15}), []string{"image"}},
		{
			"google takes none of OpenAI's", "gemini-3-pro-image",
			edit(ImageParams{
				Quality: "high", Background: "opaque", Moderation: "low", Complexity: "low", Mask: true, Partials: 1,
			}),
			[]string{"quality", "background", "moderation", "complexity", "partial_images", "mask"},
		},

		{
			"unknown model passes", "gpt-image-9",
			ImageParams{N: 50, Size: "5x5", Quality: "ultra", Complexity: "x", OutputFormat: "avif"},
			nil,
		},
		{
			"unknown server passes", "Qwen/Qwen-Image",
			edit(ImageParams{Inputs: 99, Size: "333x333", Mask: true, AspectRatio: "2:7"}), nil,
		},
		{
			"contradictions do not pass", "our-deployment",
			ImageParams{
				Op: "edit", Mask: true, Markup: true, Moderation: "low", OutputFormat: "jpeg", Background: "transparent",
				FrameCount: 3, SVGModel: "m",
			},
			[]string{"background", "moderation", "frame_count", "svg_model", "mask"},
		},
		{
			"impossible numbers do not pass", "our-deployment",
			ImageParams{N: -1, Partials: -1, Inputs: -1, OutputCompression: new(101)},
			[]string{"n", "partial_images", "output_compression", "image"},
		},
		{"a row known by name only", "chatgpt-image-latest", ImageParams{Size: "5x5", Quality: "ultra"}, nil},

		{
			"all violations come at once", two,
			ImageParams{
				Op: "edit", N: 11, Size: "1x1", Quality: "hd", OutputFormat: "bmp", OutputCompression: new(200), Inputs: 20,
			},
			[]string{"n", "size", "quality", "output_format", "output_compression", "output_compression", "image"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, _ := builtin(t).Resolve(tt.model)
			list := m.CheckImage(tt.req)
			got := faults(list)
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%v", diff, list)
			}
		})
	}
}

// TestCheckImageSaysWhatIsAllowed holds the words of one message of each sort.
func TestCheckImageSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model string
		req   ImageParams
		want  string
	}{
		{
			"gpt-image-2",
			ImageParams{Quality: "hd"},
			`quality: "hd" is not taken by gpt-image-2; allowed: auto, low, medium, high`,
		},
		{"gpt-image-2", ImageParams{N: 11}, "n: 11 is too many; gpt-image-2 makes 1 to 10 a request"},
		{"gpt-image-2", ImageParams{Complexity: "low"}, "complexity: is not taken by gpt-image-2; leave it out"},
		{"gpt-image-2", ImageParams{Partials: 4}, "partial_images: 4 is out of range; allowed: 0 to 3"},
		{"gpt-image-9", ImageParams{Partials: -4}, "partial_images: -4 is out of range; allowed: 0 or more"},
		{"gpt-image-2", ImageParams{Op: "remix"}, "model gpt-image-2 cannot remix; it can generate, edit"},
		{
			"gpt-image-2",
			ImageParams{OutputFormat: "png", OutputCompression: new(5)},
			"output_compression: goes with output_format jpeg, webp only, not with png",
		},
		{
			"gpt-image-1.5",
			ImageParams{Size: "512x512"},
			`size: "512x512" is not made by gpt-image-1.5; allowed: auto, 1024x1024, 1536x1024, 1024x1536`,
		},
		{
			"gpt-image-2",
			ImageParams{Size: "1000x1000"},
			`size: "1000x1000" is not made by gpt-image-2; both edges must be divisible by 16; the nearest is 992x992; ` +
				"allowed: auto, 1024x1024, 1536x1024, 1024x1536, or WIDTHxHEIGHT with both edges divisible by 16, " +
				"ratio 1:3 to 3:1, no edge above 3840, 655360 to 8294400 pixels",
		},
		{"sora-2", ImageParams{}, "model sora-2 makes videos; name an image model"},
	}
	for _, tt := range tests {
		m, _ := builtin(t).Resolve(tt.model)
		list := m.CheckImage(tt.req)
		if len(list) != 1 || list[0].Message != tt.want {
			t.Errorf("got  %v\nwant %s", list, tt.want)
		}
	}
}

// TestCheckImageNeverEchoesThePrompt: messages go to logs and models.
func TestCheckImageNeverEchoesThePrompt(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("private ", 10_000)
	for _, m := range builtin(t).All("", "") {
		for _, e := range m.CheckImage(ImageParams{Op: "edit", Prompt: secret, N: -1, Quality: "x", Mask: true}) {
			if strings.Contains(e.Message, "private") {
				t.Errorf("%s: %s", m.ID, e.Message)
			}
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model string
		req   ImageParams
		want  []string
	}{
		{"gpt-image-2.6-flare", ImageParams{Size: "1024x1024"}, nil},
		{"gpt-image-2.6-flare", ImageParams{Size: "2560x1440"}, nil},
		{
			"gpt-image-2.6-flare",
			ImageParams{Size: "2560x1456"},
			[]string{"sizes above 3686400 pixels are experimental at gpt-image-2.6-flare"},
		},
		{
			"gpt-image-2.6-flare",
			ImageParams{OutputFormat: "svg"},
			[]string{"svg is a preview at gpt-image-2.6-flare; not every account has it"},
		},
		{
			"gpt-image-2",
			ImageParams{Background: "transparent"},
			[]string{"transparent is a preview at gpt-image-2; not every account has it"},
		},
		{
			"gpt-image-2.5-flare",
			ImageParams{OutputFormat: "gif", Size: "1024x1024"},
			[]string{
				"gif is a preview at gpt-image-2.5-flare; not every account has it",
				"GIF has tighter size limits that are not documented; size auto is safe",
			},
		},
		{"gpt-image-1.5", ImageParams{}, []string{"model gpt-image-1.5 ends on 2026-12-01; use gpt-image-2.6-sunburst"}},
		{
			"gemini-2.5-flash-image",
			ImageParams{},
			[]string{"model gemini-2.5-flash-image may end or have ended any day since 2026-10-02; use gemini-nano-banana-2.1"},
		},
		{"gpt-image-1", ImageParams{}, []string{
			"model gpt-image-1 was retired on 2026-10-23; use gpt-image-2.6-sunburst (a server of another vendor may still serve it)",
		}},
		{"dall-e-3", ImageParams{}, []string{
			"model dall-e-3 was retired on 2026-05-12; use gpt-image-2.6-flare (a server of another vendor may still serve it)",
		}},
		{
			"gpt-image-9",
			ImageParams{Size: "5x5"},
			[]string{"the limits and the price of model gpt-image-9 are not known; the request is sent as it is"},
		},
	}
	for _, tt := range tests {
		m, _ := builtin(t).Resolve(tt.model)
		if diff := cmp.Diff(tt.want, m.Warnings(tt.req, today())); diff != "" {
			t.Errorf("%s %+v (-want +got):\n%s", tt.model, tt.req, diff)
		}
	}
	early := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	want := []string{"model gemini-2.5-flash-image may end from 2026-10-02 on; use gemini-nano-banana-2.1"}
	if diff := cmp.Diff(want, model(t, "gemini-2.5-flash-image").Warnings(ImageParams{}, early)); diff != "" {
		t.Errorf("before the earliest day (-want +got):\n%s", diff)
	}
}

func TestSizeRule(t *testing.T) {
	t.Parallel()
	rule := model(t, "gpt-image-2").SizeRule
	tests := []struct {
		w, h int
		want int // rules broken
	}{
		{1024, 1024, 0},
		{3840, 2160, 0}, // 8,294,400 pixels exactly
		{2160, 3840, 0},
		{1024, 640, 0}, // 655,360 pixels exactly
		{1024, 624, 1},
		{3840, 2176, 1}, // 34,560 pixels too many
		{3856, 2144, 1}, // edge
		{2400, 800, 0},  // 3:1 exactly
		{2416, 800, 1},  // just beyond
		{800, 2416, 1},
		{1000, 1000, 1},
		{16, 16, 1},
		{1, 1, 2},
		{5000, 100, 4},
		{0, 1024, 1},
		{-16, -16, 1},
	}
	for _, tt := range tests {
		if got := rule.Problems(tt.w, tt.h); len(got) != tt.want {
			t.Errorf("%dx%d: %v, want %d", tt.w, tt.h, got, tt.want)
		}
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "x", "1024", "1024x", "x1024", "0x5", "05x5", "-1x5", "+1x5", "1 x1", "1x1x1",
		"1024X1024", "１x1", "123456x1", "auto",
	} {
		if w, h, ok := ParseSize(bad); ok {
			t.Errorf("%q was read as %dx%d", bad, w, h)
		}
	}
	if w, h, ok := ParseSize("1024x1536"); !ok || w != 1024 || h != 1536 {
		t.Errorf("1024x1536 was read as %dx%d, %v", w, h, ok)
	}
}

// TestNearestIsAllowed: what a message proposes must itself pass.
func TestNearestIsAllowed(t *testing.T) {
	t.Parallel()
	rule := model(t, "gpt-image-2").SizeRule
	passes := func(a, b uint16) bool {
		w, h, ok := rule.Nearest(int(a), int(b))
		return ok && len(rule.Problems(w, h)) == 0
	}
	if err := quick.Check(passes, &quick.Config{MaxCount: 50}); err != nil {
		t.Error(err)
	}
	if w, h, ok := rule.Nearest(1536, 864); !ok || w != 1536 || h != 864 {
		t.Errorf("an allowed size is not its own nearest: %dx%d", w, h)
	}
	if _, _, ok := (SizeRule{Multiple: 1, MaxEdge: 60_000}).Nearest(1, 1); ok {
		t.Error("a rule with too many sizes was searched")
	}
	if _, _, ok := (SizeRule{Multiple: 16, MaxEdge: 32, MaxRatio: 1, MinPixels: 9999}).Nearest(1, 1); ok {
		t.Error("a rule that allows nothing has a nearest size")
	}
}

// TestCheckImageNeverPanics runs every model, known and unknown, over arbitrary requests.
func TestCheckImageNeverPanics(t *testing.T) {
	t.Parallel()
	c := builtin(t)
	ids := append(c.WordsOf("", "", "model"), "gpt-image-9", "veo-9", "gemini-9", "other")
	safe := func(r ImageParams, pick uint) bool {
		m, _ := c.Resolve(ids[pick%uint(len(ids))])
		for _, e := range m.CheckImage(r) {
			if e.Message == "" || e.Code == "" {
				return false
			}
		}
		return c.EstimateImage(m.ID, r).Micros >= 0
	}
	if err := quick.Check(safe, nil); err != nil {
		t.Error(err)
	}
}
