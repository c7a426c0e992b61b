package param

import (
	"slices"
	"strconv"
	"strings"

	"mediagen/internal/fault"
)

// SetPairs sets parameters from one text: pairs such as max-bytes=200k,format=webp, in which the names are those of the
// flags and a switch may stand alone. It serves an option that takes a whole set. The error is a *fault.Error with code
// invalid_argument; what stood before the faulty pair is set by then.
func (s Set) SetPairs(text string) error {
	given := map[string]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, hasValue := strings.Cut(strings.TrimSpace(pair), "=")
		if name == "" && !hasValue {
			continue
		}
		p := s.Lookup(strings.ReplaceAll(strings.TrimSpace(name), "-", "_"))
		switch {
		case p == nil:
			return fault.New(fault.InvalidArgument, "%s is not known; known are %s", strconv.Quote(name), andList(s.flags()))
		case given[p.Name]:
			return fault.New(fault.InvalidArgument, "%s is given twice; give it once", p.Flag())
		case !hasValue && p.Kind != KindBool:
			return fault.New(fault.InvalidArgument, "%s needs a value, as in %s", p.Flag(), p.example())
		case !hasValue:
			value = "true"
		}
		given[p.Name] = true
		if err := p.Set(strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	if len(given) == 0 {
		return fault.New(fault.InvalidArgument, "there is nothing in it; give pairs such as %s", s.example())
	}
	return nil
}

func (s Set) flags() []string {
	names := make([]string, len(s))
	for i, p := range s {
		names[i] = p.Flag()
	}
	return names
}

// example shows the first two parameters as pairs.
func (s Set) example() string {
	var pairs []string
	for _, p := range s[:min(len(s), 2)] {
		pairs = append(pairs, p.example())
	}
	return strings.Join(pairs, ",")
}

func (p *Param) example() string {
	words := map[Kind]string{KindInt: "NUMBER", KindFloat: "NUMBER", KindSize: "SIZE", KindBool: "true", KindEnum: "WORD"}
	word := words[p.Kind]
	if word == "" {
		word = "TEXT"
	}
	return p.Flag() + "=" + word
}

// andList writes words as a person would: png, jpeg and webp.
func andList(words []string) string {
	if last := len(words) - 1; last > 0 {
		return strings.Join(slices.Clone(words[:last]), ", ") + " and " + words[last]
	}
	return strings.Join(words, "")
}
