package catalog

import (
	"time"
)

// Model is one row of the catalog: what a model takes, makes and costs, and how long it lives.
//
// In a row that is not Permissive an empty list means that the model does not take the parameter, and a zero limit
// means that no limit is known. A Permissive row only says who the model is; its requests are not measured against
// the lists.
type Model struct {
	// ID is what is sent to the vendor. For a model that was found through an alias it is the alias itself.
	ID string `yaml:"id" json:"id"`
	// AliasOf is the ID of the row when the model was found through an alias, else empty.
	AliasOf  string   `yaml:"-" json:"alias_of,omitempty"`
	Aliases  []string `yaml:"aliases" json:"aliases,omitempty"` // other names that the vendor takes for this row
	Provider string   `yaml:"provider" json:"provider"`         // "openai" or "google"; empty when unknown
	Kind     string   `yaml:"kind" json:"kind"`                 // "image" or "video"; empty when unknown
	// Permissive marks a row or family of which the limits are not known.
	Permissive bool     `yaml:"permissive" json:"permissive,omitempty"`
	Ops        []string `yaml:"ops" json:"ops,omitempty"`         // generate edit remix extend
	Inputs     []string `yaml:"inputs" json:"inputs,omitempty"`   // text image video audio document
	Outputs    []string `yaml:"outputs" json:"outputs,omitempty"` // formats that can come back: png jpeg webp gif svg mp4

	Sizes        []string  `yaml:"sizes" json:"sizes,omitempty"` // "1024x1536" or a tier such as "2K"
	SizeRule     *SizeRule `yaml:"size_rule" json:"size_rule,omitempty"`
	DefaultSize  string    `yaml:"default_size" json:"default_size,omitempty"`   // what the vendor makes when none is sent
	AspectRatios []string  `yaml:"aspect_ratios" json:"aspect_ratios,omitempty"` // "16:9"
	Qualities    []string  `yaml:"qualities" json:"qualities,omitempty"`
	Backgrounds  []string  `yaml:"backgrounds" json:"backgrounds,omitempty"`
	// Formats are the values of output_format. Empty: the vendor decides and mediagen converts.
	Formats []string `yaml:"formats" json:"formats,omitempty"`
	// Previews are the formats and backgrounds that the vendor calls a preview or opens to some accounts only.
	Previews []string `yaml:"previews" json:"previews,omitempty"`

	MaxN          int      `yaml:"max_n" json:"max_n,omitempty"`                     // pictures a request
	MaxInputs     int      `yaml:"max_inputs" json:"max_inputs,omitempty"`           // input pictures a request
	MaxPrompt     int      `yaml:"max_prompt" json:"max_prompt,omitempty"`           // characters (Unicode code points)
	MaxPartials   int      `yaml:"max_partials" json:"max_partials,omitempty"`       // partial pictures of a stream
	InputOps      []string `yaml:"input_ops" json:"input_ops,omitempty"`             // operations that take pictures
	InputFormats  []string `yaml:"input_formats" json:"input_formats,omitempty"`     // png jpeg webp
	MaxInputBytes int64    `yaml:"max_input_bytes" json:"max_input_bytes,omitempty"` // an input must be smaller than this
	// MaxMaskBytes is advice: OpenAI's pages disagree, so a larger mask deserves a warning, not a refusal.
	MaxMaskBytes int64 `yaml:"max_mask_bytes" json:"max_mask_bytes,omitempty"`

	// Params are the parameters beside those above, by wire name. A parameter without a rule here is not taken.
	Params map[string]Rule `yaml:"params" json:"params,omitempty"`

	Released Date `yaml:"released" json:"released,omitzero"`
	Retires  Date `yaml:"retires" json:"retires,omitzero"`
	// RetiresEarliest marks Retires as the earliest day that the vendor named. Past it the model may still answer, so
	// it stays "retiring" and is not refused.
	RetiresEarliest bool   `yaml:"retires_earliest" json:"retires_earliest,omitempty"`
	Replacement     string `yaml:"replacement" json:"replacement,omitempty"`
	Price           *Price `yaml:"price" json:"price,omitempty"`
	Notes           string `yaml:"notes" json:"notes,omitempty"`
}

// Rule says what a parameter takes. Every list that is empty and every bound that is nil leaves its side open.
type Rule struct {
	Values   []string `yaml:"values" json:"values,omitempty"`
	Min      *int64   `yaml:"min" json:"min,omitempty"`
	Max      *int64   `yaml:"max" json:"max,omitempty"`
	Ops      []string `yaml:"ops" json:"ops,omitempty"`           // the operations that take it
	Formats  []string `yaml:"formats" json:"formats,omitempty"`   // the output formats that it goes with
	Excludes []string `yaml:"excludes" json:"excludes,omitempty"` // parameters that it cannot be combined with
	Requires []string `yaml:"requires" json:"requires,omitempty"` // parameters that it needs beside it
	Default  string   `yaml:"default" json:"default,omitempty"`
}

// Price is what a model costs. Rates are dollars for a million tokens; a nil rate is unknown, which is never zero.
type Price struct {
	TextIn        *USD `yaml:"text_in" json:"text_in,omitempty"`
	CachedTextIn  *USD `yaml:"cached_text_in" json:"cached_text_in,omitempty"`
	ImageIn       *USD `yaml:"image_in" json:"image_in,omitempty"`
	CachedImageIn *USD `yaml:"cached_image_in" json:"cached_image_in,omitempty"`
	TextOut       *USD `yaml:"text_out" json:"text_out,omitempty"`
	ImageOut      *USD `yaml:"image_out" json:"image_out,omitempty"`
	VideoOut      *USD `yaml:"video_out" json:"video_out,omitempty"`

	PerImage  map[string]USD `yaml:"per_image" json:"per_image,omitempty"`   // dollars a picture, by size
	PerSecond map[string]USD `yaml:"per_second" json:"per_second,omitempty"` // dollars a second, by size or resolution

	// OutputTokens are the image output tokens of one picture, by size and then by quality.
	OutputTokens map[string]map[string]int64 `yaml:"output_tokens" json:"output_tokens,omitempty"`
	// AssumedSizes are the rows of OutputTokens that no source gives, taken from their mirror image.
	AssumedSizes []string `yaml:"assumed_sizes" json:"assumed_sizes,omitempty"`
	// TokensFrom names the model whose OutputTokens are borrowed; every estimate from them is marked as assumed.
	TokensFrom string `yaml:"tokens_from" json:"tokens_from,omitempty"`
	// PartialTokens are the image output tokens that each partial picture adds.
	PartialTokens int64 `yaml:"partial_tokens" json:"partial_tokens,omitempty"`
	// InputImageTokens are the image input tokens of one input picture. Nil: edits cannot be estimated.
	InputImageTokens *int64 `yaml:"input_image_tokens" json:"input_image_tokens,omitempty"`

	Assumed bool   `yaml:"assumed" json:"assumed,omitempty"` // a figure that the vendor did not state; printed with ~
	Source  string `yaml:"source" json:"source"`             // where the figures come from
	AsOf    string `yaml:"as_of" json:"as_of"`               // day or month of the source, else the day it was read
}

// Status says where a model stands in its life.
type Status string

// The three states of a model.
const (
	StatusCurrent  Status = "current"
	StatusRetiring Status = "retiring" // ends within RetiringWindow, or its earliest last day has passed
	StatusRetired  Status = "retired"
)

// RetiringWindow is how long before its last day a model is called retiring.
const RetiringWindow = 90 * 24 * time.Hour

// Status tells the model's state at now. A model retires at 00:00 UTC of its day.
func (m Model) Status(now time.Time) Status {
	switch {
	case m.Retires.IsZero() || now.Before(m.Retires.Start().Add(-RetiringWindow)):
		return StatusCurrent
	case now.Before(m.Retires.Start()) || m.RetiresEarliest:
		return StatusRetiring
	}
	return StatusRetired
}

// Retired tells when a model ended and what takes its place. Replacement is empty when the vendor offers none.
type Retired struct {
	ID          string `json:"id"`
	Replacement string `json:"replacement,omitempty"`
	On          Date   `json:"on"`
}

// String says it in one sentence that is fit for an error message.
func (r Retired) String() string {
	if r.Replacement == "" {
		return "model " + r.ID + " was retired on " + r.On.String() + " and has no replacement"
	}
	return "model " + r.ID + " was retired on " + r.On.String() + "; use " + r.Replacement
}

// Retired reports whether the model has ended at now. The date binds on the vendor's own host only: another server
// may go on serving the model under the same name, so the caller asks only for a native endpoint.
func (m Model) Retired(now time.Time) (Retired, bool) {
	if m.Status(now) != StatusRetired {
		return Retired{}, false
	}
	return Retired{ID: m.ID, Replacement: m.Replacement, On: m.Retires}, true
}
