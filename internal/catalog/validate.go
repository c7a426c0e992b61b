package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The bounds keep every sum of a request inside 64 bits; no real figure comes near.
const (
	maxTokens = 1_000_000_000
	maxLimit  = 1_000_000_000
)

// isID reports whether text can be a model id: 1 to 200 printable characters without spaces.
func isID(text string) bool {
	if text == "" || len(text) > 200 || !utf8.ValidString(text) {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
}

// isAsOf reports whether text is a day or a month.
func isAsOf(text string) bool {
	_, day := time.Parse(dateLayout, text)
	_, month := time.Parse("2006-01", text)
	return day == nil || month == nil
}

// check finds what is wrong in the meaning of a merged file. Its form has been checked by the decoder.
func check(f *file) []problem {
	var v validator
	owner := map[string]string{}
	for i := range f.Models {
		for _, id := range append([]string{f.Models[i].ID}, f.Models[i].Aliases...) {
			if other, taken := owner[id]; taken {
				v.add(f.Models[i].ID, "aliases", "%q belongs to model %s already", id, other)
			}
			owner[id] = f.Models[i].ID
		}
	}
	tables := map[string]bool{}
	for i := range f.Models {
		tables[f.Models[i].ID] = f.Models[i].Price != nil && len(f.Models[i].Price.OutputTokens) > 0
	}
	for i := range f.Models {
		m := &f.Models[i]
		v.model(m)
		if _, ok := owner[m.Replacement]; m.Replacement != "" && !ok {
			v.add(m.ID, "replacement", "model %q has no row", m.Replacement)
		}
		if from := priceOf(m).TokensFrom; from != "" && !tables[from] {
			v.add(m.ID, "price.tokens_from", "model %q has no output_tokens", from)
		}
	}
	v.families(f.Families)
	v.defaults(f.Defaults, owner)
	return v.problems
}

func priceOf(m *Model) Price {
	if m.Price == nil {
		return Price{}
	}
	return *m.Price
}

type validator struct{ problems []problem }

func (v *validator) add(id, key, format string, args ...any) {
	path := "models[" + id + "]." + key
	v.problems = append(v.problems, problem{path: path, text: fmt.Sprintf(format, args...)})
}

func (v *validator) model(m *Model) {
	if !isID(m.ID) {
		v.add(m.ID, "id", "must be 1 to 200 characters without spaces")
	}
	for _, a := range m.Aliases {
		if !isID(a) {
			v.add(m.ID, "aliases", "%q must be 1 to 200 characters without spaces", a)
		}
	}
	v.word(m.ID, "provider", m.Provider, "openai", "google")
	v.word(m.ID, "kind", m.Kind, "image", "video")
	for _, op := range m.Ops {
		v.word(m.ID, "ops", op, "generate", "edit", "remix", "extend", "upscale")
	}
	limits := map[string]int64{
		"max_n": int64(m.MaxN), "max_inputs": int64(m.MaxInputs), "max_prompt": int64(m.MaxPrompt),
		"max_partials": int64(m.MaxPartials), "max_input_bytes": m.MaxInputBytes, "max_mask_bytes": m.MaxMaskBytes,
	}
	for _, key := range slices.Sorted(maps.Keys(limits)) {
		v.between(m.ID, key, limits[key], 0, maxLimit)
	}
	if !m.Released.IsZero() && !m.Retires.IsZero() && m.Retires.Start().Before(m.Released.Start()) {
		v.add(m.ID, "retires", "%s must not lie before released %s", m.Retires, m.Released)
	}
	v.rules(m.ID, m.Params)
	v.sizeRule(m)
	v.price(m)
}

func (v *validator) word(id, key, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		v.add(id, key, "%q must be one of %s", got, strings.Join(allowed, ", "))
	}
}

func (v *validator) between(id, key string, got, low, high int64) {
	if got < low || got > high {
		v.add(id, key, "%d must be from %d to %d", got, low, high)
	}
}

func (v *validator) rules(id string, params map[string]Rule) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if r := params[name]; r.Min != nil && r.Max != nil && *r.Min > *r.Max {
			v.add(id, "params."+name, "min %d must not exceed max %d", *r.Min, *r.Max)
		}
	}
}

func (v *validator) sizeRule(m *Model) {
	s := m.SizeRule
	if s == nil {
		return
	}
	v.between(m.ID, "size_rule.multiple", int64(s.Multiple), 1, 1024)
	v.between(m.ID, "size_rule.max_ratio", int64(s.MaxRatio), 1, 1000)
	v.between(m.ID, "size_rule.max_edge", int64(s.MaxEdge), int64(max(s.Multiple, 1)), 65_536)
	v.between(m.ID, "size_rule.min_pixels", s.MinPixels, 1, maxLimit)
	v.between(m.ID, "size_rule.max_pixels", s.MaxPixels, max(s.MinPixels, 1), maxLimit)
	v.between(m.ID, "size_rule.experimental_pixels", s.ExperimentalPixels, 0, maxLimit)
}

func (v *validator) price(m *Model) {
	p := m.Price
	if p == nil {
		return
	}
	if strings.TrimSpace(p.Source) == "" {
		v.add(m.ID, "price.source", "is missing; say where the figures come from")
	}
	if !isAsOf(p.AsOf) {
		v.add(m.ID, "price.as_of", "%q must be a day or month such as 2026-11-30 or 2026-11", p.AsOf)
	}
	v.between(m.ID, "price.partial_tokens", p.PartialTokens, 0, maxTokens)
	if p.InputImageTokens != nil {
		v.between(m.ID, "price.input_image_tokens", *p.InputImageTokens, 0, maxTokens)
	}
	for _, size := range slices.Sorted(maps.Keys(p.OutputTokens)) {
		v.known(m, "price.output_tokens", size)
		for _, quality := range slices.Sorted(maps.Keys(p.OutputTokens[size])) {
			v.between(m.ID, "price.output_tokens."+size, p.OutputTokens[size][quality], 1, maxTokens)
		}
	}
	for _, size := range slices.Sorted(maps.Keys(p.PerImage)) {
		v.known(m, "price.per_image", size)
	}
	for _, size := range slices.Sorted(maps.Keys(p.PerSecond)) {
		v.known(m, "price.per_second", size)
	}
	for _, size := range p.AssumedSizes {
		if _, ok := p.OutputTokens[size]; !ok {
			v.add(m.ID, "price.assumed_sizes", "%q has no row in output_tokens", size)
		}
	}
}

// known refuses a price for a size that the model does not make, which is a slip of the pen.
func (v *validator) known(m *Model, key, size string) {
	if size == "auto" || !m.Permissive && m.sizeProblem(size) != "" {
		v.add(m.ID, key, "%q is not a size of the model", size)
	}
}

func (v *validator) families(list []Family) {
	seen := map[string]bool{}
	for _, f := range list {
		path := "families[" + f.Prefix + "]"
		if seen[f.Prefix] {
			v.problems = append(v.problems, problem{path: path, text: "prefix has a row already"})
		}
		seen[f.Prefix] = true
		if !slices.Contains([]string{"", "openai", "google"}, f.Provider) {
			v.problems = append(v.problems, problem{path: path + ".provider", text: "must be openai or google"})
		}
		if !slices.Contains([]string{"", "image", "video"}, f.Kind) {
			v.problems = append(v.problems, problem{path: path + ".kind", text: "must be image or video"})
		}
	}
}

func (v *validator) defaults(defaults map[string]map[string]map[string]string, owner map[string]string) {
	for _, provider := range slices.Sorted(maps.Keys(defaults)) {
		for _, kind := range slices.Sorted(maps.Keys(defaults[provider])) {
			for _, op := range slices.Sorted(maps.Keys(defaults[provider][kind])) {
				id := defaults[provider][kind][op]
				if _, ok := owner[id]; id != "" && !ok {
					path := "defaults." + provider + "." + kind + "." + op
					v.problems = append(v.problems, problem{path: path, text: fmt.Sprintf("model %q has no row", id)})
				}
			}
		}
	}
}
