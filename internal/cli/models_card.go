package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mediagen/internal/catalog"
	"mediagen/internal/engine"
)

// modelCard shows everything of one model in words; --json has the figures as they are.
func modelCard(w io.Writer, m engine.ModelInfo) error {
	rows := [][]string{
		{"model", m.ID},
		{"alias of", m.AliasOf},
		{"also called", list(m.Aliases)},
		{"provider", m.Provider},
		{"kind", m.Kind},
		{"can", list(m.Ops)},
		{"status", modelStatus(m)},
		{"released", m.Released.String()},
		{"retires", retires(m)},
		{"replacement", m.Replacement},
		{"sizes", list(m.Sizes)},
	}
	if m.SizeRule != nil {
		rows = append(rows, []string{"other sizes", m.SizeRule.String()})
	}
	rows = append(rows, [][]string{
		{"aspect ratios", list(m.AspectRatios)},
		{"qualities", list(m.Qualities)},
		{"formats", list(m.Formats)},
		{"backgrounds", list(m.Backgrounds)},
		{"pictures a call", count(m.MaxN)},
		{"inputs", count(m.MaxInputs)},
		{"prompt characters", count(m.MaxPrompt)},
	}...)
	for _, name := range slices.Sorted(maps.Keys(m.Params)) {
		rows = append(rows, []string{"takes " + name, ruleText(m.Params[name])})
	}
	if m.Price != nil {
		rows = append(rows, priceRows(*m.Price)...)
	}
	rows = append(rows, []string{"notes", m.Notes})
	return card(w, rows)
}

func retires(m engine.ModelInfo) string {
	day := m.Retires.String()
	if m.RetiresEarliest && day != "" {
		return "from " + day
	}
	return day
}

// ruleText says what a parameter takes, in words.
func ruleText(r catalog.Rule) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case len(r.Values) > 0:
		add("%s", list(r.Values))
	case r.Min != nil && r.Max != nil:
		add("%d to %d", *r.Min, *r.Max)
	case r.Min != nil:
		add("at least %d", *r.Min)
	case r.Max != nil:
		add("up to %d", *r.Max)
	default:
		add("any value")
	}
	if r.Default != "" {
		add("default %s", r.Default)
	}
	for _, limit := range []struct {
		words string
		list  []string
	}{{"only to", r.Ops}, {"only with", r.Formats}, {"needs", r.Requires}, {"not with", r.Excludes}} {
		if len(limit.list) > 0 {
			add("%s %s", limit.words, list(limit.list))
		}
	}
	return strings.Join(parts, "; ")
}

// priceRows say what a model costs and where that is from.
func priceRows(p catalog.Price) [][]string {
	mark := ""
	if p.Assumed {
		mark = "~"
	}
	var rates []string
	for _, r := range []struct {
		usd  *catalog.USD
		what string
	}{
		{p.TextIn, "text in"},
		{p.CachedTextIn, "cached text in"},
		{p.ImageIn, "image in"},
		{p.CachedImageIn, "cached image in"},
		{p.TextOut, "text out"},
		{p.ImageOut, "image out"},
		{p.VideoOut, "video out"},
	} {
		if r.usd != nil {
			rates = append(rates, mark+"$"+r.usd.String()+" "+r.what)
		}
	}
	rows := [][]string{
		{"price of 1M tokens", list(rates)},
		{"price of a picture", amounts(p.PerImage, mark)},
		{"price of a second", amounts(p.PerSecond, mark)},
		{"tokens as of", p.TokensFrom},
	}
	for _, size := range slices.Sorted(maps.Keys(p.OutputTokens)) {
		tokens := p.OutputTokens[size]
		rows = append(rows, []string{"tokens at " + size, byValue(tokens)})
	}
	return append(rows, []string{"price source", p.Source + " (" + p.AsOf + ")"})
}

// amounts lists "2K $0.134" for each size.
func amounts(m map[string]catalog.USD, mark string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, key+" "+mark+"$"+m[key].String())
	}
	return list(parts)
}

// byValue lists "low 200, medium 1767, high 7034", cheapest first.
func byValue(m map[string]int64) string {
	keys := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(m[a], m[b]) })
	var parts []string
	for _, key := range keys {
		parts = append(parts, fmt.Sprintf("%s %d", key, m[key]))
	}
	return list(parts)
}

func list(words []string) string { return strings.Join(words, ", ") }

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("up to %d", n)
}
