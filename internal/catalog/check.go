package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mediagen/internal/fault"
)

// ImageParams are the parameters of an image request as far as a model has rules for them. Zero values are unset; an
// explicit zero that matters (OutputCompression) has a pointer.
type ImageParams struct {
	Op                string // "generate" or "edit"
	Prompt            string
	Size              string // "1024x1536", "auto", or a tier such as "2K"
	AspectRatio       string // "16:9"; only models that list ratios take it
	Quality           string
	Background        string
	Moderation        string
	OutputFormat      string // "" counts as png where the model lets the format be chosen
	Complexity        string
	InputFidelity     string
	N                 int // 0 counts as 1
	Partials          int // partial pictures of a stream; above 0 implies Stream
	FrameCount        int
	FrameDurationMS   int // milliseconds
	Inputs            int // source and reference pictures, mask and markup not counted
	OutputCompression *int
	Stream            bool
	Mask              bool
	Markup            bool
	SVGModel          string
	SVGEffort         string
}

// CheckImage measures a request against the model's rules before anything is sent or paid, and returns every
// violation. Each begins with the wire name of its parameter and says what is allowed. The codes are
// unsupported_modality (a video model), unsupported_operation and, for the rest, invalid_argument.
//
// A permissive model (unknown, or known by name only) is measured against its family's few rules; lists that it does
// not have pass everything. The rules are those of OpenAI's image API and of the SDK's parameter comments.
//
// Not checked here: whether the model is retired (Retired), whether a prompt is there at all (the doors require it),
// and what lies in the files (imaging).
func (m Model) CheckImage(r ImageParams) []*fault.Error {
	if m.Kind == "video" {
		return []*fault.Error{fault.New(fault.UnsupportedModality,
			"model %s makes videos; name an image model", m.ID)}
	}
	c := &checker{model: m, req: r}
	c.operation()
	c.prompt()
	c.count()
	c.size()
	c.word("quality", r.Quality, m.Qualities)
	c.background()
	c.format()
	for _, p := range r.params() {
		c.param(p)
	}
	c.inputs()
	return c.found
}

type checker struct {
	model Model
	req   ImageParams
	found []*fault.Error
}

func (c *checker) add(format string, args ...any) {
	c.found = append(c.found, fault.New(fault.InvalidArgument, format, args...))
}

func (c *checker) operation() {
	if c.req.Op == "" || len(c.model.Ops) == 0 || slices.Contains(c.model.Ops, c.req.Op) {
		return
	}
	c.found = append(c.found, fault.New(fault.UnsupportedOperation,
		"model %s cannot %s; it can %s", c.model.ID, c.req.Op, strings.Join(c.model.Ops, ", ")))
}

// prompt counts Unicode code points. OpenAI says "characters"; the tool contract counts UTF-16 units, which are never
// fewer. The looser count decides: a prompt that the vendor would take must not be refused here, while one that it
// refuses is refused by it free of charge.
func (c *checker) prompt() {
	if limit, n := c.model.MaxPrompt, utf8.RuneCountInString(c.req.Prompt); limit > 0 && n > limit {
		c.add("prompt: has %d characters; %s takes at most %d", n, c.model.ID, limit)
	}
}

func (c *checker) count() {
	n, limit := c.req.N, c.model.MaxN
	switch {
	case n < 0:
		c.add("n: %d is not a number of pictures; 1 or more is", n)
	case limit > 0 && n > limit:
		c.add("n: %d is too many; %s makes 1 to %d a request", n, c.model.ID, limit)
	case c.req.OutputFormat == "svg" && n > 1 && !c.model.Permissive:
		c.add("n: must be 1 with output_format svg, not %d", n)
	}
}

// size passes "auto" for every model: where it is not listed it means that nothing is sent.
func (c *checker) size() {
	m, r := c.model, c.req
	if r.Size != "" && r.Size != "auto" && !(m.Permissive && len(m.Sizes) == 0 && m.SizeRule == nil) {
		if len(m.Sizes) == 0 && m.SizeRule == nil {
			c.notTaken("size")
		} else if problem := m.sizeProblem(r.Size); problem != "" {
			c.add("size: %q is not made by %s; %s", r.Size, m.ID, problem)
		}
	}
	c.word("aspect_ratio", r.AspectRatio, m.AspectRatios)
}

// word checks a parameter with listed values.
func (c *checker) word(name, value string, allowed []string) {
	switch {
	case value == "" || value == "auto" || slices.Contains(allowed, value):
	case len(allowed) > 0:
		c.add("%s: %q is not taken by %s; allowed: %s", name, value, c.model.ID, strings.Join(allowed, ", "))
	case !c.model.Permissive:
		c.notTaken(name)
	}
}

func (c *checker) notTaken(name string) {
	c.add("%s: is not taken by %s; leave it out", name, c.model.ID)
}

func (c *checker) background() {
	c.word("background", c.req.Background, c.model.Backgrounds)
	if c.req.Background != "transparent" {
		return
	}
	switch f := c.outputFormat(); {
	case f == "" || f == "png" || f == "webp":
	case f != "jpeg" && c.model.Permissive:
	default:
		c.add("background: transparent needs output_format png or webp, not %s", f)
	}
}

// format lets a format pass where the vendor decides: it is converted after the pictures have come.
func (c *checker) format() {
	if len(c.model.Formats) > 0 {
		c.word("output_format", c.req.OutputFormat, c.model.Formats)
	}
}

// outputFormat is the format that the vendor is asked for; "" when that is open.
func (c *checker) outputFormat() string {
	if c.req.OutputFormat == "" && slices.Contains(c.model.Formats, "png") {
		return "png"
	}
	return c.req.OutputFormat
}

func (c *checker) inputs() {
	m, r := c.model, c.req
	switch {
	case r.Inputs < 0:
		c.add("image: %d is not a number of pictures; 0 or more is", r.Inputs)
	case r.Inputs == 0 && r.Op == "edit" && slices.Contains(m.InputOps, "edit"):
		c.add("image: an edit needs at least one picture%s", upTo(m.MaxInputs))
	case r.Inputs > 0 && !m.Permissive && r.Op != "" && !slices.Contains(m.InputOps, r.Op):
		c.add("image: %s takes no pictures to %s; it takes them to %s",
			m.ID, r.Op, strings.Join(m.InputOps, ", "))
	case m.MaxInputs > 0 && r.Inputs > m.MaxInputs:
		c.add("image: %d pictures are too many; %s takes at most %d", r.Inputs, m.ID, m.MaxInputs)
	}
}

func upTo(limit int) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprintf(" and takes at most %d", limit)
}

// setParam is a parameter of a request that is set and whose rule stands in Params.
type setParam struct {
	name  string
	word  string // for enumerations
	num   int64  // for numbers
	isNum bool
}

// params lists the parameters that are set, in the order of the request's fields.
func (r ImageParams) params() []setParam {
	all := []struct {
		setParam

		set bool
	}{
		{setParam{name: "moderation", word: r.Moderation}, r.Moderation != ""},
		{setParam{name: "complexity", word: r.Complexity}, r.Complexity != ""},
		{setParam{name: "input_fidelity", word: r.InputFidelity}, r.InputFidelity != ""},
		{setParam{name: "stream"}, r.Stream},
		{setParam{name: "partial_images", num: int64(r.Partials), isNum: true}, r.Partials != 0},
		{setParam{name: "frame_count", num: int64(r.FrameCount), isNum: true}, r.FrameCount != 0},
		{setParam{name: "frame_duration_ms", num: int64(r.FrameDurationMS), isNum: true}, r.FrameDurationMS != 0},
		{setParam{name: "svg_model", word: r.SVGModel}, r.SVGModel != ""},
		{setParam{name: "svg_effort", word: r.SVGEffort}, r.SVGEffort != ""},
		{setParam{name: "mask"}, r.Mask},
		{setParam{name: "markup"}, r.Markup},
	}
	var list []setParam
	for _, p := range all {
		if p.set {
			list = append(list, p.setParam)
		}
	}
	if r.OutputCompression != nil {
		list = append(list, setParam{name: "output_compression", num: int64(*r.OutputCompression), isNum: true})
	}
	return list
}

func (r ImageParams) has(name string) bool {
	return slices.ContainsFunc(r.params(), func(p setParam) bool { return p.name == name })
}

// param checks a parameter against its rule in Params.
func (c *checker) param(p setParam) {
	rule, ok := c.model.Params[p.name]
	if !ok {
		if !c.model.Permissive {
			c.notTaken(p.name)
		}
		return
	}
	if outside(c.req.Op, rule.Ops) {
		c.add("%s: goes with %s only, not with %s", p.name, strings.Join(rule.Ops, ", "), c.req.Op)
	}
	if f := c.outputFormat(); outside(f, rule.Formats) {
		c.add("%s: goes with output_format %s only, not with %s", p.name, strings.Join(rule.Formats, ", "), f)
	}
	if outside(p.word, rule.Values) {
		c.add("%s: %q is not taken by %s; allowed: %s", p.name, p.word, c.model.ID, strings.Join(rule.Values, ", "))
	}
	if p.isNum && (rule.Min != nil && p.num < *rule.Min || rule.Max != nil && p.num > *rule.Max) {
		c.add("%s: %d is out of range; allowed: %s", p.name, p.num, rule.span())
	}
	c.company(p, rule)
}

// outside reports whether a given word is missing from a list that has words.
func outside(word string, list []string) bool {
	return word != "" && len(list) > 0 && !slices.Contains(list, word)
}

// company checks what a parameter cannot or must stand with.
func (c *checker) company(p setParam, rule Rule) {
	for _, other := range rule.Excludes {
		if c.req.has(other) {
			c.add("%s: cannot be combined with %s; give one of the two", p.name, other)
		}
	}
	for _, other := range rule.Requires {
		if !c.req.has(other) {
			c.add("%s: needs %s as well", p.name, other)
		}
	}
}

// span says the bounds in words.
func (r Rule) span() string {
	switch {
	case r.Min == nil:
		return fmt.Sprintf("at most %d", *r.Max)
	case r.Max == nil:
		return fmt.Sprintf("%d or more", *r.Min)
	}
	return fmt.Sprintf("%d to %d", *r.Min, *r.Max)
}

// Warnings says what a caller should know of a request that passed CheckImage: limits that are not known, a model
// that ends soon, and what the vendor calls experimental or a preview. A model that has ended gets here on another
// server than its vendor's only: that it ended then matters more than what is not known of it.
func (m Model) Warnings(r ImageParams, now time.Time) []string {
	var list []string
	if gone, ok := m.Retired(now); ok {
		list = append(list, gone.String()+" (a server of another vendor may still serve it)")
	} else if m.Permissive {
		list = append(list, "the limits and the price of model "+m.ID+" are not known; the request is sent as it is")
	}
	if w := m.retiring(now); w != "" {
		list = append(list, w)
	}
	if w, h, ok := ParseSize(r.Size); ok && m.SizeRule != nil && m.SizeRule.experimental(w, h) {
		list = append(list, "sizes above "+fmt.Sprint(m.SizeRule.ExperimentalPixels)+" pixels are experimental at "+m.ID)
	}
	for _, value := range []string{r.OutputFormat, r.Background} {
		if value != "" && slices.Contains(m.Previews, value) {
			list = append(list, value+" is a preview at "+m.ID+"; not every account has it")
		}
	}
	if r.OutputFormat == "gif" && r.Size != "" && r.Size != "auto" {
		list = append(list, "GIF has tighter size limits that are not documented; size auto is safe")
	}
	return list
}

func (s SizeRule) experimental(w, h int) bool {
	return s.ExperimentalPixels > 0 && int64(w)*int64(h) > s.ExperimentalPixels
}

func (m Model) retiring(now time.Time) string {
	if m.Status(now) != StatusRetiring {
		return ""
	}
	text := "model " + m.ID + " ends on " + m.Retires.String()
	if m.RetiresEarliest {
		text = "model " + m.ID + " may end or have ended any day since " + m.Retires.String()
		if now.Before(m.Retires.Start()) {
			text = "model " + m.ID + " may end from " + m.Retires.String() + " on"
		}
	}
	if m.Replacement != "" {
		text += "; use " + m.Replacement
	}
	return text
}
