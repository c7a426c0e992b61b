package param

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mediagen/internal/fault"
)

// Set is the list of a request's parameters, in the order in which help shows them.
type Set []*Param

// Lookup returns the parameter with the wire name, or nil.
func (s Set) Lookup(name string) *Param {
	i := slices.IndexFunc(s, func(p *Param) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return s[i]
}

// Check tests the bound fields, however they were filled: required ones present, words, ranges and lengths. The error
// is a *fault.Error with code invalid_argument whose message names every faulty parameter and what is allowed.
func (s Set) Check() error {
	var faults []string
	for _, p := range s {
		if problem := p.check(); problem != "" {
			faults = append(faults, p.Name+" "+problem)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%s", strings.Join(faults, "; "))
}

// check returns what is wrong with the present value, or "".
func (p *Param) check() string {
	v := p.load()
	if p.Required && (p.empty(v) || blank(v)) {
		return "is required"
	}
	// An empty field means "not given", unless there is a fixed default that somebody has overwritten with 0.
	if p.empty(v) && p.empty(p.fallback) {
		return ""
	}
	return p.problem(v)
}

// problem returns what is wrong with a value of the parameter, or "". It is not called for values that are absent.
func (p *Param) problem(v any) string {
	switch v := v.(type) {
	case string:
		return p.textProblem(v)
	case int:
		return p.rangeProblem(float64(v), "")
	case int64:
		return p.sizeProblem(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "must be a number"
		}
		return p.rangeProblem(v, "")
	case time.Duration:
		return p.rangeProblem(v.Seconds(), " s")
	case []string:
		return p.listProblem(v)
	default:
		return ""
	}
}

func (p *Param) textProblem(s string) string {
	if !utf8.ValidString(s) && p.Kind != KindFile && p.Kind != KindFiles {
		return "must be valid UTF-8"
	}
	if p.Kind == KindEnum && !p.Open && s != "" && !slices.Contains(p.Enum, s) {
		return "must be " + orList(p.Enum)
	}
	if n := utf8.RuneCountInString(s); p.MaxLen > 0 && n > p.MaxLen {
		return fmt.Sprintf("must have at most %d characters, not %d", p.MaxLen, n)
	}
	return ""
}

func (p *Param) listProblem(items []string) string {
	if problem := p.rangeProblem(float64(len(items)), " items"); problem != "" {
		return problem
	}
	for i, item := range items {
		if strings.TrimSpace(item) == "" {
			return fmt.Sprintf("must not be empty at position %d", i+1)
		}
		if problem := p.textProblem(item); problem != "" {
			return fmt.Sprintf("%s (position %d)", problem, i+1)
		}
	}
	return ""
}

func (p *Param) rangeProblem(v float64, unit string) string {
	if p.Min == nil || p.Max == nil || (v >= *p.Min && v <= *p.Max) {
		return ""
	}
	return fmt.Sprintf("must be between %s and %s%s, not %s", number(*p.Min), number(*p.Max), unit, number(v))
}

func (p *Param) sizeProblem(v int64) string {
	if p.rangeProblem(float64(v), "") == "" {
		return ""
	}
	return fmt.Sprintf("must be between %s and %s, not %s", FormatSize(int64(*p.Min)), FormatSize(int64(*p.Max)),
		FormatSize(v))
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// orList writes words as a person would: png, jpeg or webp.
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// blank reports whether v is a text of white space.
func blank(v any) bool {
	s, ok := v.(string)
	return ok && strings.TrimSpace(s) == ""
}

// empty reports whether v stands for "not given". Only an OptInt can be given and 0. false is a value like true, but as
// a default it need not be shown.
func (p *Param) empty(v any) bool {
	if p.Optional() {
		return v == nil
	}
	switch v := v.(type) {
	case string:
		return v == ""
	case int:
		return v == 0
	case int64:
		return v == 0
	case float64:
		return v == 0
	case bool:
		return !v
	case time.Duration:
		return v == 0
	case []string:
		return len(v) == 0
	default:
		return v == nil
	}
}
