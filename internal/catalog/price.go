package catalog

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Estimate is what a request will cost before it is sent. Micros are micro-dollars and count only when Known.
type Estimate struct {
	Micros int64 `json:"micros"`
	Known  bool  `json:"known"`
	// Assumed: a figure comes from another model or from no statement of the vendor; shown with ~.
	Assumed bool `json:"assumed,omitempty"`
	// UpperBound: the dearest value stands for "auto" or for a value that was left to the vendor.
	UpperBound bool `json:"upper_bound,omitempty"`
	// Why says why the price is unknown or, when Known, what was assumed. It is fit for a message.
	Why    string `json:"why,omitempty"`
	Source string `json:"source,omitempty"`
	AsOf   string `json:"as_of,omitempty"`
}

// maxCount bounds every count of a request in an estimate, so that sums stay inside 64 bits. No model takes more.
const maxCount = 10_000

// EstimateImage estimates an image request for n pictures: for each one its output tokens or price, its partial
// pictures, and the prompt again, because the vendors do not say whether n pictures bill the prompt once. "auto" and
// an unset size or quality count as the dearest value of the table. A model, size, quality or rate without a figure
// makes the whole estimate unknown. Model is an id or alias; retired models are estimated like others.
func (c *Catalog) EstimateImage(model string, p ImageParams) Estimate {
	m, ok := c.Lookup(model)
	if !ok || m.Price == nil {
		return Estimate{Why: "no price is known for model " + model}
	}
	e := Estimate{Assumed: m.Price.Assumed, Source: m.Price.Source, AsOf: m.Price.AsOf}
	var total sum
	why := c.estimatePictures(m, p, &e, &total)
	if why == "" {
		why = estimateInputs(m, p, &total)
	}
	if why != "" {
		return Estimate{Why: why, Source: e.Source, AsOf: e.AsOf}
	}
	e.Known, e.Micros = true, total.micros()
	return e
}

// estimatePictures adds the output. It returns why that is not possible, or "".
func (c *Catalog) estimatePictures(m Model, p ImageParams, e *Estimate, total *sum) string {
	n := clamp(max(p.N, 1))
	if p.OutputFormat == "svg" {
		return "the model that writes the SVG is billed apart, at a rate that is not known"
	}
	if p.OutputFormat == "gif" {
		return "the output tokens of animated pictures are not known"
	}
	if len(m.Price.PerImage) > 0 {
		price, why := bySize(m, m.Price.PerImage, p.Size, e)
		total.add(n*1_000_000, price)
		return why
	}
	if m.Price.ImageOut == nil {
		return "no image output rate is known for model " + m.ID
	}
	tokens, why := c.outputTokens(m, p, e)
	if why != "" {
		return why
	}
	total.add(n*tokens, *m.Price.ImageOut)
	total.add(n*clamp(p.Partials)*m.Price.PartialTokens, *m.Price.ImageOut)
	return ""
}

// bySize finds the price of a picture or a second by size.
func bySize(m Model, prices map[string]USD, size string, e *Estimate) (USD, string) {
	if size == "" || size == "auto" {
		if m.DefaultSize == "" {
			e.UpperBound = true
			e.note("the dearest known size was taken")
			return slices.Max(slices.Collect(maps.Values(prices))), ""
		}
		size = m.DefaultSize
	}
	price, ok := prices[size]
	if !ok {
		return 0, "no price is known for size " + size + " of model " + m.ID
	}
	return price, ""
}

// outputTokens finds the image output tokens of one picture in the model's own table or in the borrowed one.
func (c *Catalog) outputTokens(m Model, p ImageParams, e *Estimate) (int64, string) {
	owner := c.tokensOwner(m)
	if m.Price.TokensFrom != "" {
		e.note("token table of " + m.Price.TokensFrom + " assumed")
	}
	size, quality, best := p.Size, p.Quality, int64(0)
	for s, row := range owner.Price.OutputTokens {
		for q, tokens := range row {
			if open(size, s) && open(quality, q) && tokens > best {
				best = tokens
			}
		}
	}
	if best == 0 {
		return 0, "no output tokens are known for " + named(size, "any size") + " at quality " + named(quality, "auto") +
			" of model " + m.ID
	}
	if open(size, "") || open(quality, "") {
		e.UpperBound = true
		e.note("auto priced at the dearest known value")
	}
	if slices.Contains(owner.Price.AssumedSizes, size) {
		e.Assumed = true
		e.note("tokens of " + size + " taken from its mirror image")
	}
	return best, ""
}

// OutputTokens returns the image output tokens of one picture, of a size and quality that are given in words, from the
// model's own table or the borrowed one. It is false where no figure is known; "auto" has none. Partial pictures are
// not included.
func (c *Catalog) OutputTokens(model, size, quality string) (tokens int64, known bool) {
	m, ok := c.Lookup(model)
	if !ok || m.Price == nil {
		return 0, false
	}
	tokens, known = c.tokensOwner(m).Price.OutputTokens[size][quality]
	return tokens, known
}

// tokensOwner is the model whose token table counts for m, which has a price: itself or the one that it borrows from,
// whose row and table were checked when the file was read.
func (c *Catalog) tokensOwner(m Model) Model {
	if m.Price.TokensFrom == "" {
		return m
	}
	owner, _ := c.Lookup(m.Price.TokensFrom)
	return owner
}

func (e *Estimate) note(text string) { e.Why = strings.TrimPrefix(e.Why+"; "+text, "; ") }

// open reports whether a request that asks for want may get the value of the table.
func open(want, value string) bool { return want == "" || want == "auto" || want == value }

func named(value, otherwise string) string {
	if value == "" || value == "auto" {
		return otherwise
	}
	return value
}

// estimateInputs adds prompt and input pictures. It returns why that is not possible, or "".
func estimateInputs(m Model, p ImageParams, total *sum) string {
	n := clamp(max(p.N, 1))
	if m.Price.TextIn != nil {
		total.add(n*PromptTokens(p.Prompt), *m.Price.TextIn)
	} else if len(m.Price.PerImage) == 0 {
		return "no text input rate is known for model " + m.ID
	}
	pictures := clamp(p.Inputs)
	if p.Op == "edit" {
		pictures = max(pictures, 1)
	}
	if p.Mask {
		pictures++
	}
	if p.Markup {
		pictures++
	}
	switch {
	case pictures == 0:
	case m.Price.InputImageTokens == nil:
		return "the input tokens of pictures are not known for model " + m.ID
	case m.Price.ImageIn == nil:
		return "no image input rate is known for model " + m.ID
	default:
		total.add(n*pictures**m.Price.InputImageTokens, *m.Price.ImageIn)
	}
	return ""
}

// PromptTokens estimates the text tokens of a prompt on the safe side: one for every two ASCII characters (English
// prose has about four to a token, code and digits two to three) and one for every byte of the rest, which is the most
// that a byte-level tokenizer can make of it.
func PromptTokens(prompt string) int64 {
	var ascii, rest int64
	for i := range len(prompt) {
		if prompt[i] < utf8.RuneSelf {
			ascii++
		} else {
			rest++
		}
	}
	return (ascii+1)/2 + rest
}

// VideoParams are the parameters of a video request that decide its price.
type VideoParams struct {
	Size    string // "720x1280" or a resolution such as "1080p"
	Seconds int    // 0 takes the model's default
	N       int    // 0 counts as 1
}

// EstimateVideo estimates a video request from the price of a second. An unset or "auto" size counts as the model's
// default, else as the dearest one.
func (c *Catalog) EstimateVideo(model string, p VideoParams) Estimate {
	m, ok := c.Lookup(model)
	if !ok || m.Price == nil || len(m.Price.PerSecond) == 0 {
		return Estimate{Why: "no price a second is known for model " + model}
	}
	e := Estimate{Assumed: m.Price.Assumed, Source: m.Price.Source, AsOf: m.Price.AsOf}
	seconds := clamp(p.Seconds)
	if p.Seconds == 0 {
		n, err := strconv.Atoi(m.Params["seconds"].Default)
		if err != nil {
			n = 0 // no default: answered below
		}
		seconds = clamp(n)
	}
	if seconds == 0 {
		return Estimate{Why: "the price needs the number of seconds", Source: e.Source, AsOf: e.AsOf}
	}
	price, why := bySize(m, m.Price.PerSecond, p.Size, &e)
	if why != "" {
		return Estimate{Why: why, Source: e.Source, AsOf: e.AsOf}
	}
	var total sum
	total.add(clamp(max(p.N, 1))*seconds*1_000_000, price)
	e.Known, e.Micros = true, total.micros()
	return e
}

// Tokens are the counts that a provider reported. TextIn and ImageIn include their cached part, as the reports do;
// In and Out are the reported totals, which tell a missing breakdown from an empty one.
type Tokens struct {
	In            int64 // input_tokens; 0 when not reported
	TextIn        int64
	CachedTextIn  int64 // capped at TextIn
	ImageIn       int64
	CachedImageIn int64 // capped at ImageIn
	Out           int64 // output_tokens; image output where the breakdown is absent
	TextOut       int64
	ImageOut      int64
	VideoOut      int64
}

// CostOf returns what the reported tokens cost in micro-dollars, rounded half up once at the end. It is unknown (and
// 0) when the model has no row, a rate that is needed is missing, a count is negative, an input total comes without
// its breakdown, or no output was reported at all: paid work has output. A missing cached rate counts as the full
// one, and text output without a rate of its own as image output (gpt-image-1 bills its whole output so).
//
// The figures cover one reply of the image model. The model that writes an SVG reports apart and is not included.
func (c *Catalog) CostOf(model string, t Tokens) (micros int64, known bool) {
	m, ok := c.Lookup(model)
	if !ok || m.Price == nil || t.negative() || t.In > 0 && t.TextIn == 0 && t.ImageIn == 0 {
		return 0, false
	}
	p := m.Price
	textOut, imageOut := t.output(p)
	if textOut == 0 && imageOut == 0 && t.VideoOut == 0 {
		return 0, false
	}
	cachedText, cachedImage := min(t.CachedTextIn, t.TextIn), min(t.CachedImageIn, t.ImageIn)
	var total sum
	for _, b := range []struct {
		tokens int64
		rate   *USD
	}{
		{t.TextIn - cachedText, p.TextIn},
		{cachedText, either(p.CachedTextIn, p.TextIn)},
		{t.ImageIn - cachedImage, p.ImageIn},
		{cachedImage, either(p.CachedImageIn, p.ImageIn)},
		{textOut, p.TextOut},
		{imageOut, p.ImageOut},
		{t.VideoOut, p.VideoOut},
	} {
		if b.tokens == 0 {
			continue
		}
		if b.rate == nil {
			return 0, false
		}
		total.add(b.tokens, *b.rate)
	}
	return total.micros(), true
}

// output splits the output into text and images: the breakdown, else all of it as images.
func (t Tokens) output(p *Price) (text, image int64) {
	text, image = t.TextOut, t.ImageOut
	if text == 0 && image == 0 && t.VideoOut == 0 {
		image = t.Out
	}
	if p.TextOut == nil && p.ImageOut != nil {
		return 0, max(saturate(text, image), t.Out-t.VideoOut)
	}
	return text, image
}

func (t Tokens) negative() bool {
	return min(t.In, t.TextIn, t.CachedTextIn, t.ImageIn, t.CachedImageIn, t.Out, t.TextOut, t.ImageOut, t.VideoOut) < 0
}

func either(first, second *USD) *USD {
	if first != nil {
		return first
	}
	return second
}

func clamp(n int) int64 { return int64(min(max(n, 0), maxCount)) }

func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// sum adds tokens times rates exactly, in millionths of a micro-dollar, over 128 bits.
type sum struct{ hi, lo uint64 }

// add takes counts and rates that are not negative, which the callers have made sure of.
func (s *sum) add(tokens int64, rate USD) {
	hi, lo := bits.Mul64(uint64(tokens), uint64(rate)) //nolint:gosec // neither is negative
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, carry)
}

// micros rounds half up to micro-dollars; what does not fit is the largest amount there is.
func (s *sum) micros() int64 {
	const unit = 1_000_000
	lo, carry := bits.Add64(s.lo, unit/2, 0)
	hi := s.hi + carry
	if hi >= unit {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, unit)
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(q)
}
