package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"mediagen/internal/fault"
	"mediagen/internal/param"
)

// Image is what generating and editing have in common. An empty field means: the configured default, else the
// contract's, else the provider's. JSON names are the wire names of both doors.
type Image struct {
	Prompt            string   `json:"prompt"`
	Provider          string   `json:"provider"`
	Model             string   `json:"model"`
	N                 int      `json:"n"`
	Size              string   `json:"size"`
	Quality           string   `json:"quality"`
	Background        string   `json:"background"`
	OutputFormat      string   `json:"output_format"`
	OutputCompression *int     `json:"output_compression"`
	Complexity        string   `json:"complexity"`
	Partials          int      `json:"partials"`
	FrameCount        int      `json:"frame_count"`
	FrameDurationMS   int      `json:"frame_duration_ms"`
	SVGModel          string   `json:"svg_model"`
	SVGEffort         string   `json:"svg_effort"`
	SafetyIdentifier  string   `json:"safety_identifier"`
	User              string   `json:"user"`
	Param             []string `json:"param"`
}

// GenerateImages asks for pictures from text.
type GenerateImages struct {
	Image
	Moderation string `json:"moderation"`
}

// EditImages asks for pictures from pictures and text.
type EditImages struct {
	Image
	Images          []string `json:"image"`
	Mask            string   `json:"mask"`
	MaskWhiteIsEdit bool     `json:"mask_white_is_edit"`
	Markup          string   `json:"markup"`
	InputFidelity   string   `json:"input_fidelity"`
}

// Words are the closed and open word lists that describe parameters; the catalog supplies the ones it knows.
type Words func(param string) []string

// NewGenerateImages returns a request with the fixed defaults.
func NewGenerateImages() *GenerateImages { return &GenerateImages{Image: Image{N: 1}} }

// NewEditImages returns a request with the fixed defaults.
func NewEditImages() *EditImages { return &EditImages{Image: Image{N: 1}} }

// Params describes the request's parameters in the order in which help shows them.
func (r *GenerateImages) Params(words Words) param.Set {
	set := r.params(words)
	return append(set,
		param.OpenEnum(&r.Moderation, "moderation", "strictness of the provider's moderation", words("moderation")...))
}

// Params describes the request's parameters in the order in which help shows them.
func (r *EditImages) Params(words Words) param.Set {
	own := param.Set{
		param.Files(&r.Images, "image",
			"picture to edit: path, file:// URL, data URL, base64: text, or - for stdin (1 to 16)").
			Need().Between(1, 16).Shorthand("i"),
		param.File(&r.Mask, "mask", "PNG whose fully transparent pixels mark what may change"),
		param.Bool(&r.MaskWhiteIsEdit, "mask_white_is_edit",
			"the mask is black and white; convert it so that white may change"),
		param.File(&r.Markup, "markup", "transparent PNG laid over the first picture, with drawn instructions"),
	}
	set := append(own, r.params(words)...)
	return append(set, param.OpenEnum(&r.InputFidelity, "input_fidelity",
		"how closely to keep to the inputs, on models that take it", words("input_fidelity")...))
}

func (r *Image) params(words Words) param.Set {
	return param.Set{
		param.Text(&r.Prompt, "prompt", "what the picture must show").Need().Shorthand("p"),
		param.OpenEnum(&r.Provider, "provider", "who makes the picture, by default the one of the model whose key is there",
			words("provider")...),
		param.OpenEnum(&r.Model, "model", "model id (see: mediagen models list)", words("model")...).Shorthand("m"),
		param.Int(&r.N, "n", "how many pictures").Between(1, 10).Shorthand("n"),
		param.OpenEnum(&r.Size, "size", "WIDTHxHEIGHT in pixels, or auto", words("size")...),
		param.OpenEnum(&r.Quality, "quality", "effort of rendering, and price", words("quality")...),
		param.OpenEnum(&r.Background, "background", "background of the picture", words("background")...),
		param.OpenEnum(&r.OutputFormat, "output_format",
			"file format, by default that of the name given with -o, else the provider's", words("output_format")...),
		param.OptInt(&r.OutputCompression, "output_compression", "compression of jpeg and webp in percent").Between(0, 100),
		param.OpenEnum(&r.Complexity, "complexity", "planning effort, independent of quality", words("complexity")...),
		param.Int(&r.Partials, "partials", "save up to this many partial pictures while the final one is made").Between(0, 3),
		param.Int(&r.FrameCount, "frame_count", "frames of a gif").Between(2, 16),
		param.Int(&r.FrameDurationMS, "frame_duration_ms",
			"duration of a gif's frame in milliseconds, which the provider rounds to 10").Between(1, 655350),
		param.String(&r.SVGModel, "svg_model", "author model of an svg"),
		param.OpenEnum(&r.SVGEffort, "svg_effort", "reasoning effort of the svg's author model", words("svg_effort")...),
		param.String(&r.SafetyIdentifier, "safety_identifier", "stable hashed id of the end user"),
		param.String(&r.User, "user", "older name of safety-identifier"),
		param.Strings(&r.Param, "param",
			"key=value passed to the server as it is (repeatable); a JSON value keeps its type").Repeat(),
	}
}

// extra reads the key=value pairs of Param. A value that is JSON keeps its type; anything else is text.
func (r *Image) extra() (map[string]any, error) {
	if len(r.Param) == 0 {
		return nil, nil //nolint:nilnil // no pairs, no map
	}
	out := make(map[string]any, len(r.Param))
	for _, pair := range r.Param {
		key, text, ok := strings.Cut(pair, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fault.New(fault.InvalidArgument, "param must be key=value")
		}
		if isReserved(key) {
			return nil, fault.New(fault.InvalidArgument, "param %s has a flag of its own; use that", field(key))
		}
		if _, twice := out[key]; twice {
			return nil, fault.New(fault.InvalidArgument, "param %s is given twice; give it once", field(key))
		}
		out[key] = jsonValue(text)
	}
	return out, nil
}

// jsonValue reads text as JSON, or returns it as it is. Numbers keep their digits: a float would round a long seed.
func jsonValue(text string) any {
	if !json.Valid([]byte(text)) {
		return text
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return text
	}
	return v
}

// isReserved reports whether a parameter has a field of its own: a second way would let a value pass unchecked. Servers
// differ in how they take case and nested names such as svg[model], so neither escapes.
func isReserved(key string) bool {
	name, _, _ := strings.Cut(strings.ToLower(key), "[")
	switch name {
	case "prompt", "model", "n", "size", "quality", "background", "output_format", "output_compression", "complexity",
		"partial_images", "stream", "frame_count", "frame_duration_ms", "svg", "safety_identifier", "user", "moderation",
		"image", "mask", "markup", "input_fidelity":
		return true
	}
	return false
}

// Output says where the pictures go and what may be spent. It is the door's business, so it stays out of the request.
type Output struct {
	Dest             string // -o: directory, file, or "" for the default; "-" is Stream's job
	Template         string // --name
	Overwrite        bool
	Sidecar          bool
	Compress         *Compression // save a smaller copy of each picture too, as NAME.compressed.EXT; nil for none
	Stream           bool         // keep the one picture in the spool for Result.Assets[0].Path to be piped
	Tool             string       // the MCP tool's name, which is part of the default file name
	DryRun           bool
	MaxCost          *int64 // micro-dollars; nil means no cap
	AllowUnknownCost bool
}

// check reports what contradicts itself before anything is opened.
func (o Output) check(n, partials int) error {
	if !o.Stream {
		return nil
	}
	if n > 1 {
		return fault.New(fault.InvalidArgument, "-o - takes one picture, not %d; name a directory instead", n)
	}
	if partials > 0 || o.Sidecar || o.Template != "" || o.Compress != nil {
		return fault.New(fault.InvalidArgument, "-o - cannot go with partials, sidecar, compress or name")
	}
	return nil
}

// field names a parameter in a message.
func field(name string) string { return fmt.Sprintf("%q", name) }
