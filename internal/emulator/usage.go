package emulator

import (
	"math"
	"strconv"
	"unicode/utf8"

	"mediagen/internal/catalog"
)

// usage is OpenAI's token count of a picture request. Output that the catalog has tokens for counts those, so that an
// estimate can be held against the reply; the other numbers are plausible, not a vendor's.
type usage struct {
	Input         int           `json:"input_tokens"`
	Output        int           `json:"output_tokens"`
	Total         int           `json:"total_tokens"`
	InputDetails  usageDetails  `json:"input_tokens_details"`
	OutputDetails *usageDetails `json:"output_tokens_details,omitempty"` // not part of a stream's event
}

type usageDetails struct {
	Text  int `json:"text_tokens"`
	Image int `json:"image_tokens"`
}

// countUsage counts for n pictures. withInput false leaves the input out: in a stream of several pictures the first
// event carries it, so that the sum over all events is the request's.
func countUsage(cat *catalog.Catalog, p imageParams, inputs []input, n int, withInput bool) usage {
	var u usage
	if withInput {
		u.InputDetails.Text = textTokens(p.Prompt)
		for _, in := range inputs {
			u.InputDetails.Image += inputTokens(in, p.Fidelity)
		}
	}
	u.Input = u.InputDetails.Text + u.InputDetails.Image
	u.Output = n * (outputTokens(cat, p) + partialTokens(cat, p.Model)*p.Partials)
	u.Total = u.Input + u.Output
	return u
}

// textTokens follows the rule of thumb of four characters a token.
func textTokens(prompt string) int { return 6 + (utf8.RuneCountInString(prompt)+3)/4 }

// inputTokens counts tiles of 512 pixels after the shorter side was scaled to 512, as the first image models did.
func inputTokens(in input, fidelity string) int {
	long, short := max(in.width, in.height), max(1, min(in.width, in.height))
	tiles := int(math.Ceil(float64(long) / float64(short)))
	n := 65 + 129*tiles
	if fidelity == "high" {
		n += 4160
	}
	return n
}

// The model whose figures stand for those of models that the catalog has none for, and a size that all have some for.
const (
	fallback = "gpt-image-2"
	square   = "1024x1024"
)

// tableOf returns the model in whose tokens the pictures of a model are counted.
func tableOf(cat *catalog.Catalog, model string) string {
	if _, known := cat.OutputTokens(model, square, "high"); known {
		return model
	}
	return fallback
}

// partialTokens is what one partial image adds.
func partialTokens(cat *catalog.Catalog, model string) int {
	m, _ := cat.Lookup(tableOf(cat, model)) // has tokens, hence a row with a price
	return int(m.Price.PartialTokens)
}

// outputTokens counts one picture as the catalog does. Where that knows no figure, the qualities above high count one
// and a half times and twice as much as high, and a size counts its area in squares of 1024.
func outputTokens(cat *catalog.Catalog, p imageParams) int {
	model, size := tableOf(cat, p.Model), strconv.Itoa(p.Width)+"x"+strconv.Itoa(p.Height)
	if n, known := cat.OutputTokens(model, size, p.Quality); known {
		return int(n)
	}
	quality, factor := p.Quality, 1.0
	switch quality {
	case "xhigh":
		quality, factor = "high", 1.5
	case "max":
		quality, factor = "high", 2
	}
	n, known := cat.OutputTokens(model, size, quality)
	if !known {
		n, _ = cat.OutputTokens(model, square, quality)
		factor *= float64(p.Width*p.Height) / (1024 * 1024)
	}
	return int(math.Ceil(float64(n) * factor))
}

// svgUsage is the bill of the model that wrote an SVG, beside the picture model's.
type svgUsage struct {
	Model     string `json:"model"`
	Input     int    `json:"input_tokens"`
	Output    int    `json:"output_tokens"`
	Reasoning int    `json:"reasoning_tokens"`
	Total     int    `json:"total_tokens"`
}

// svgUsageOf returns nil for every other format.
func svgUsageOf(p imageParams) *svgUsage {
	if p.Format != "svg" {
		return nil
	}
	u := svgUsage{Model: p.SVGModel, Input: textTokens(p.Prompt) + 400, Output: 1800, Reasoning: 600}
	if u.Model == "" {
		u.Model = "emulated-svg-author"
	}
	u.Total = u.Input + u.Output
	return &u
}
