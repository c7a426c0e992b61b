// Package catalog knows the models: who serves them, what they take and make, when they end, and what they cost. The
// data is models.yaml, which is part of the binary, and a user's file of the same shape that is merged over it.
//
// It does no I/O, asks no provider and reads no clock: callers pass the bytes of the user's file and the time. It
// does not know which endpoint a request goes to, does not decide whether a retired model is refused, and never
// guesses a price: what no row gives is unknown, and unknown is not zero.
package catalog

import (
	"slices"
	"strings"
)

// Catalog is a set of models with its defaults. It is immutable and safe for concurrent use; the slices and maps of
// the models that it hands out are shared and must not be changed.
type Catalog struct {
	// load returns the content, which is the same at every call. Without a user's file the first call reads the
	// built-in one: that takes some milliseconds, which commands that need no model do not pay.
	load func() *content
}

// content is a catalog that has been read.
type content struct {
	models   []Model
	index    map[string]int // by id and alias
	families []Family       // longest prefix first
	defaults map[string]map[string]map[string]string
}

// Family is what is known of a model by the beginning of its id alone.
type Family struct {
	Prefix   string          `yaml:"prefix"`
	Provider string          `yaml:"provider"`
	Kind     string          `yaml:"kind"`
	Ops      []string        `yaml:"ops"`
	Inputs   []string        `yaml:"inputs"`
	Outputs  []string        `yaml:"outputs"`
	Params   map[string]Rule `yaml:"params"`
}

// Lookup returns the model with this id or alias. Ids are compared exactly, as the vendors do. The ID of the result
// is the id that was asked for, which is the one to send; AliasOf then names the row.
func (c *Catalog) Lookup(id string) (Model, bool) {
	data := c.load()
	i, ok := data.index[id]
	if !ok {
		return Model{}, false
	}
	m := data.models[i]
	if m.ID != id {
		m.ID, m.AliasOf = id, m.ID
	}
	return m, true
}

// Resolve returns the model with this id or alias, or else what its family allows: a permissive model that only
// refuses what no server of the family can be sent. An id of no family gets no Provider and no Kind. known is false
// for every id without a row; such a model passes with a warning, because new models must not wait for a release.
func (c *Catalog) Resolve(id string) (m Model, known bool) {
	if m, ok := c.Lookup(id); ok {
		return m, true
	}
	f := c.family(id)
	return Model{
		ID: id, Provider: f.Provider, Kind: f.Kind, Permissive: true,
		Ops: f.Ops, Inputs: f.Inputs, Outputs: f.Outputs, Params: f.Params,
	}, false
}

func (c *Catalog) family(id string) Family {
	for _, f := range c.load().families {
		if strings.HasPrefix(id, f.Prefix) {
			return f
		}
	}
	return Family{}
}

// All returns the models of a kind ("image", "video") and provider ("openai", "google") in the order of the file,
// current ones first; an empty argument takes all. Ended models are among them: ask Status.
func (c *Catalog) All(kind, provider string) []Model {
	var found []Model
	for _, m := range c.load().models {
		if (kind == "" || m.Kind == kind) && (provider == "" || m.Provider == provider) {
			found = append(found, m)
		}
	}
	return found
}

// Default returns the id of the model to use when the caller names none, or "" when there is no default and one must
// be named (design.md §7). The providers are "openai", "emulator", "google" (API key) and "vertex". Azure has none: a
// deployment's name is the user's.
func (c *Catalog) Default(provider, kind, op string) string {
	return c.load().defaults[provider][kind][op]
}

// ProviderOf returns the vendor of a model: of its row, else of its family. It is false when neither is known.
func (c *Catalog) ProviderOf(id string) (string, bool) {
	m, _ := c.Resolve(id)
	return m.Provider, m.Provider != ""
}

// Words returns the values that image models take for a parameter; see WordsOf.
func (c *Catalog) Words(param string) []string { return c.WordsOf("image", "", param) }

// WordsOf returns the values that a parameter takes, for completion and help: the union over the models of a kind and
// provider ("" takes all), in the order of first appearance. The parameters are "model" (ids and aliases, ended ones
// too), "size", "aspect_ratio", "quality", "background", "output_format" and every name in Params with listed values.
func (c *Catalog) WordsOf(kind, provider, param string) []string {
	var words []string
	seen := map[string]bool{}
	for _, m := range c.All(kind, provider) {
		for _, w := range m.words(param) {
			if !seen[w] {
				seen[w] = true
				words = append(words, w)
			}
		}
	}
	return words
}

func (m Model) words(param string) []string {
	switch param {
	case "model":
		return append([]string{m.ID}, m.Aliases...)
	case "size":
		return m.Sizes
	case "aspect_ratio":
		return m.AspectRatios
	case "quality":
		return m.Qualities
	case "background":
		return m.Backgrounds
	case "output_format":
		return m.Formats
	}
	return m.Params[param].Values
}

// build indexes what a file holds.
func build(f *file) *content {
	c := &content{models: f.Models, index: map[string]int{}, families: slices.Clone(f.Families), defaults: f.Defaults}
	for i := range c.models {
		m := &c.models[i]
		c.index[m.ID] = i
		for _, a := range m.Aliases {
			c.index[a] = i
		}
		if m.Price != nil && m.Price.TokensFrom != "" {
			m.Price.Assumed = true // a borrowed table is never more than an assumption
		}
	}
	slices.SortStableFunc(c.families, func(a, b Family) int { return len(b.Prefix) - len(a.Prefix) })
	return c
}
