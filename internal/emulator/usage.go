package emulator

import (
	"math"
	"unicode/utf8"
)

// usage is OpenAI's token count of a picture request. The numbers are plausible, not a vendor's.
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

// partialTokens is what one partial image adds (OpenAI's guide).
const partialTokens = 100

// countUsage counts for n pictures. withInput false leaves the input out: in a stream of several pictures the first
// event carries it, so that the sum over all events is the request's.
func countUsage(p imageParams, inputs []input, n int, withInput bool) usage {
	var u usage
	if withInput {
		u.InputDetails.Text = textTokens(p.Prompt)
		for _, in := range inputs {
			u.InputDetails.Image += inputTokens(in, p.Fidelity)
		}
	}
	u.Input = u.InputDetails.Text + u.InputDetails.Image
	u.Output = n * (outputTokens(p) + partialTokens*p.Partials)
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

// outputTokens counts one picture. The square sizes follow the published price per picture divided by the price per
// token (gpt-image-2: 0.006, 0.053, 0.211 at 30 per million; the first generation published counts), other sizes
// their area.
func outputTokens(p imageParams) int {
	square := map[string]float64{"low": 200, "medium": 1767, "high": 7033, "xhigh": 10550, "max": 14066}
	if familyOf(p.Model).fixedSizes {
		square = map[string]float64{"low": 272, "medium": 1056, "high": 4160}
	}
	area := float64(p.Width*p.Height) / (1024 * 1024)
	return int(math.Ceil(square[p.Quality] * area))
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
