package emulator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The limits that OpenAI documents for pictures (openai-go v3.99.0 and the guide for gpt-image-2).
const (
	maxPrompt     = 32_000 // characters
	maxPictures   = 10
	maxInputs     = 16
	maxPartials   = 3
	sizeStep      = 16
	maxEdge       = 3840
	minPixels     = 655_360
	maxPixels     = 8_294_400
	minOtherEdge  = 16 // for models that are not OpenAI's
	defaultFrames = 9
	defaultFrame  = 200 // milliseconds
)

// imageParams are the parameters of a create or edit, validated and with every "auto" resolved.
type imageParams struct {
	Model, Prompt             string
	N, Width, Height          int
	Size, Quality, Background string // as the reply names them
	Format                    string
	Compression               int // 0..100
	Fidelity, Complexity      string
	Partials                  int
	Stream                    bool
	ResponseURL               bool // data[].url was asked for; models that are not OpenAI's only
	Frames, FrameMS           int
	SVGModel, SVGEffort       string
	Safety                    string
	given                     fields
}

// family is what the rules know about a model.
type family struct {
	openAI     bool // an id of OpenAI's; others are taken as they come
	fixedSizes bool // the first generation draws three sizes
	finest     bool // xhigh and max
	vector     bool // gif and svg
	complexity bool
	markup     bool
	fidelity   []string
}

// familyOf returns the rules for a model id. Ids that are not OpenAI's, such as those of compatible servers or names of
// Azure deployments, have no rules.
func familyOf(model string) family {
	switch rest, ok := strings.CutPrefix(model, "gpt-image-"); {
	case !ok:
		return family{vector: true, finest: true, complexity: true, markup: true, fidelity: []string{"low", "high"}}
	case strings.HasPrefix(rest, "1-mini"):
		return family{openAI: true, fixedSizes: true, fidelity: []string{"low"}}
	case strings.HasPrefix(rest, "1"):
		return family{openAI: true, fixedSizes: true, fidelity: []string{"low", "high"}}
	case rest == "2" || strings.HasPrefix(rest, "2-"):
		return family{openAI: true}
	case strings.HasPrefix(rest, "2.5"):
		return family{openAI: true, finest: true, vector: true, markup: true}
	default:
		return family{openAI: true, finest: true, vector: true, markup: true, complexity: true}
	}
}

// knownFields are the parameters of both routes; an OpenAI model refuses others.
//
//nolint:gochecknoglobals // table
var knownFields = []string{
	"prompt", "model", "n", "size", "quality", "background", "output_format", "output_compression", "partial_images",
	"stream", "complexity", "frame_count", "frame_duration_ms", "svg[model]", "svg[reasoning][effort]",
	"safety_identifier", "user",
}

// readImageParams validates the parameters of a create (edit false) or an edit, in the order in which a person would
// look at them, and returns the first thing that is wrong.
func readImageParams(f fields, prompt string, edit bool) (imageParams, *apiError) {
	r := &fieldReader{f: f}
	p := imageParams{Model: r.text("model"), Prompt: prompt, given: f}
	fam := familyOf(p.Model)
	r.checkNames(fam, edit)
	r.checkPrompt(prompt)
	p.N = or(r.integer("n", 1, maxPictures), 1)
	p.Size, p.Width, p.Height = r.size(fam)
	p.Quality = r.quality(fam)
	p.readOutput(r, fam)
	p.Stream = r.boolean("stream")
	p.Partials = or(r.integer("partial_images", 0, maxPartials), 0)
	p.Complexity = r.oneOf("complexity", "", "low", "medium", "high")
	p.Safety = r.text("safety_identifier")
	p.Fidelity = r.oneOf("input_fidelity", "", fam.fidelity...)
	r.oneOf("moderation", "auto", "auto", "low")
	r.text("user")
	p.ResponseURL = r.oneOf("response_format", "b64_json", "b64_json", "url") == "url"
	r.checkTogether(p)
	return p, r.err
}

func or(p *int, fallback int) int {
	if p == nil {
		return fallback
	}
	return *p
}

// checkNames refuses parameters that the route or the model does not have.
func (r *fieldReader) checkNames(fam family, edit bool) {
	if !fam.openAI {
		return
	}
	known := slices.Clone(knownFields)
	if edit && fam.fidelity != nil {
		known = append(known, "input_fidelity")
	}
	if !edit {
		known = append(known, "moderation")
	}
	if !fam.complexity {
		known = slices.DeleteFunc(known, func(s string) bool { return s == "complexity" })
	}
	if name := r.f.unknown(known); name != "" {
		name, _, _ = strings.Cut(clip(name, 60), "[")
		r.fail(badRequest(name, "unknown_parameter", "unknown parameter: '%s'", name))
	}
}

func (r *fieldReader) checkPrompt(prompt string) {
	_, given := r.get("prompt", fieldString)
	switch n := utf8.RuneCountInString(prompt); {
	case r.err != nil:
	case !given:
		r.fail(badRequest("prompt", "missing_required_parameter", "missing required parameter: 'prompt'"))
	case n == 0:
		r.fail(badRequest("prompt", "string_below_min_length", "invalid 'prompt': expected at least 1 character"))
	case n > maxPrompt:
		r.fail(badRequest("prompt", "string_above_max_length",
			"invalid 'prompt': string too long, expected at most %d characters, but got %d", maxPrompt, n))
	}
}

// size returns the size as the reply names it and its edges in pixels.
func (r *fieldReader) size(fam family) (name string, w, h int) {
	name, ok := r.get("size", fieldString)
	if !ok || name == "auto" {
		return "1024x1024", 1024, 1024
	}
	w, h, ok = parseSize(name)
	if !ok {
		r.fail(badRequest("size", "invalid_value", "invalid size '%s': expected 'auto' or WIDTHxHEIGHT", clip(name, 40)))
		return name, 0, 0
	}
	if problem := sizeProblem(fam, w, h); problem != "" {
		r.fail(badRequest("size", "invalid_value", "invalid size '%s': %s", name, problem))
	}
	return name, w, h
}

func parseSize(s string) (w, h int, ok bool) {
	ws, hs, ok := strings.Cut(s, "x")
	if !ok {
		return 0, 0, false
	}
	w, err := strconv.Atoi(ws)
	if err != nil {
		return 0, 0, false
	}
	h, err = strconv.Atoi(hs)
	return w, h, err == nil && s == fmt.Sprintf("%dx%d", w, h)
}

// sizeProblem says what is wrong with a size for a family, or "".
func sizeProblem(fam family, w, h int) string {
	switch {
	case min(w, h) < minOtherEdge || max(w, h) > maxEdge:
		return fmt.Sprintf("each edge must be %d to %d pixels", minOtherEdge, maxEdge)
	case w*h > maxPixels:
		return fmt.Sprintf("at most %d pixels", maxPixels)
	case !fam.openAI:
		return ""
	case fam.fixedSizes && !slices.Contains([][2]int{{1024, 1024}, {1536, 1024}, {1024, 1536}}, [2]int{w, h}):
		return "supported values are '1024x1024', '1536x1024', '1024x1536' and 'auto'"
	case w%sizeStep != 0 || h%sizeStep != 0:
		return fmt.Sprintf("both edges must be divisible by %d", sizeStep)
	case w > 3*h || h > 3*w:
		return "the aspect ratio must lie between 1:3 and 3:1"
	case w*h < minPixels:
		return fmt.Sprintf("at least %d pixels", minPixels)
	}
	return ""
}

// quality returns the resolved quality: the reply never says auto.
func (r *fieldReader) quality(fam family) string {
	words := []string{"auto", "low", "medium", "high"}
	if fam.finest {
		words = append(words, "xhigh", "max")
	}
	if !fam.openAI {
		words = append(words, "standard", "hd")
	}
	switch q := r.oneOf("quality", "auto", words...); q {
	case "auto", "standard":
		return "medium"
	case "hd":
		return "high"
	default:
		return q
	}
}

// readOutput reads what the file shall be.
func (p *imageParams) readOutput(r *fieldReader, fam family) {
	formats := []string{"png", "jpeg", "webp"}
	if fam.vector {
		formats = append(formats, "gif", "svg")
	}
	p.Format = r.oneOf("output_format", "png", formats...)
	p.Background = r.oneOf("background", "auto", "auto", "opaque", "transparent")
	if p.Background == "auto" {
		p.Background = "opaque"
	}
	p.Compression = or(r.integer("output_compression", 0, 100), 100)
	p.Frames = or(r.integer("frame_count", 2, 16), defaultFrames)
	p.FrameMS = or(r.integer("frame_duration_ms", 1, 655_350), defaultFrame)
	p.SVGModel = r.text("svg[model]")
	p.SVGEffort = r.oneOf("svg[reasoning][effort]", "", "none", "minimal", "low", "medium", "high", "xhigh", "max")
}

// checkTogether refuses what does not go together.
func (r *fieldReader) checkTogether(p imageParams) {
	for _, rule := range togetherRules {
		if _, given := p.given[rule.param]; given && rule.clash(p) {
			r.fail(badRequest(strings.Split(rule.param, "[")[0], "invalid_value", "%s", rule.message))
		}
	}
}

// togetherRules are the exclusions that OpenAI documents: each holds when its parameter was given.
//
//nolint:gochecknoglobals // table
var togetherRules = []struct {
	param   string
	clash   func(p imageParams) bool
	message string
}{
	{
		"background", func(p imageParams) bool {
			return p.Background == "transparent" && p.Format != "png" && p.Format != "webp"
		},
		"a transparent background needs output_format png or webp",
	},
	{
		"output_compression",
		func(p imageParams) bool { return p.Format != "jpeg" && p.Format != "webp" && p.Compression != 100 },
		"output_compression below 100 needs output_format jpeg or webp",
	},
	{"n", func(p imageParams) bool { return p.Format == "svg" && p.N > 1 }, "svg takes n = 1 only"},
	{"stream", func(p imageParams) bool { return p.Stream && !raster(p.Format) }, "gif and svg cannot be streamed"},
	{
		"partial_images", func(p imageParams) bool { return p.Partials > 0 && !p.Stream },
		"partial_images above 0 needs stream = true",
	},
	{"frame_count", func(p imageParams) bool { return p.Format != "gif" }, "frame_count needs output_format gif"},
	{
		"frame_duration_ms", func(p imageParams) bool { return p.Format != "gif" },
		"frame_duration_ms needs output_format gif",
	},
	{"svg[model]", func(p imageParams) bool { return p.Format != "svg" }, "svg needs output_format svg"},
	{"svg[reasoning][effort]", func(p imageParams) bool { return p.Format != "svg" }, "svg needs output_format svg"},
}

// raster reports whether a format is one of still pixels.
func raster(format string) bool { return format == "png" || format == "jpeg" || format == "webp" }
