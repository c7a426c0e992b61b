package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SizeRule says which sizes beside the listed ones a model makes. Source: OpenAI's image guide for gpt-image-2.
type SizeRule struct {
	Multiple  int   `yaml:"multiple" json:"multiple"`   // both edges are divisible by this
	MaxRatio  int   `yaml:"max_ratio" json:"max_ratio"` // long edge to short edge
	MaxEdge   int   `yaml:"max_edge" json:"max_edge"`   // pixels
	MinPixels int64 `yaml:"min_pixels" json:"min_pixels"`
	MaxPixels int64 `yaml:"max_pixels" json:"max_pixels"`
	// ExperimentalPixels is the area above which the vendor promises less; 0 when it says nothing.
	ExperimentalPixels int64 `yaml:"experimental_pixels" json:"experimental_pixels,omitempty"`
}

// String says the rule in words.
func (s SizeRule) String() string {
	return fmt.Sprintf("both edges divisible by %d, ratio 1:%d to %d:1, no edge above %d, %d to %d pixels",
		s.Multiple, s.MaxRatio, s.MaxRatio, s.MaxEdge, s.MinPixels, s.MaxPixels)
}

// Problems returns what keeps w x h from being made, each with the rule that it breaks; none when the size is allowed.
func (s SizeRule) Problems(w, h int) []string {
	if min(w, h) < 1 {
		return []string{"both edges must be positive"}
	}
	var found []string
	if s.uneven(w, h) {
		found = append(found, fmt.Sprintf("both edges must be divisible by %d", s.Multiple))
	}
	if s.narrow(w, h) {
		found = append(found, fmt.Sprintf("the ratio must lie between 1:%d and %d:1", s.MaxRatio, s.MaxRatio))
	}
	if max(w, h) > s.MaxEdge {
		found = append(found, fmt.Sprintf("no edge may exceed %d", s.MaxEdge))
	}
	if s.outside(w, h) {
		found = append(found,
			fmt.Sprintf("it has %d pixels, allowed are %d to %d", int64(w)*int64(h), s.MinPixels, s.MaxPixels))
	}
	return found
}

func (s SizeRule) uneven(w, h int) bool {
	return s.Multiple > 0 && (w%s.Multiple != 0 || h%s.Multiple != 0)
}

func (s SizeRule) narrow(w, h int) bool {
	return int64(max(w, h)) > int64(min(w, h))*int64(s.MaxRatio)
}

func (s SizeRule) outside(w, h int) bool {
	pixels := int64(w) * int64(h)
	return pixels < s.MinPixels || pixels > s.MaxPixels
}

// Nearest returns the allowed size whose edges differ least from w x h. It is false when there is none, or when the
// rule allows so many that a search would take long.
func (s SizeRule) Nearest(w, h int) (nearW, nearH int, ok bool) {
	const maxSteps = 500 // along one edge
	if s.Multiple < 1 || s.MaxEdge/s.Multiple > maxSteps {
		return 0, 0, false
	}
	best := int64(-1)
	for cw := s.Multiple; cw <= s.MaxEdge; cw += s.Multiple {
		for ch := s.Multiple; ch <= s.MaxEdge; ch += s.Multiple {
			dw, dh := int64(cw-w), int64(ch-h)
			if d := dw*dw + dh*dh; (best < 0 || d < best) && !s.narrow(cw, ch) && !s.outside(cw, ch) {
				best, nearW, nearH = d, cw, ch
			}
		}
	}
	return nearW, nearH, best >= 0
}

// ParseSize reads "1024x1536". Signs, spaces, leading zeros and edges above five digits are not a size.
func ParseSize(text string) (w, h int, ok bool) {
	left, right, found := strings.Cut(text, "x")
	if !found || !digits(left, 5) || !digits(right, 5) || left[0] == '0' || right[0] == '0' {
		return 0, 0, false
	}
	w, errW := strconv.Atoi(left)
	h, errH := strconv.Atoi(right)
	return w, h, errW == nil && errH == nil
}

// sizeProblem says why the model does not make a size, with what it makes; "" when it does.
func (m Model) sizeProblem(size string) string {
	if slices.Contains(m.Sizes, size) {
		return ""
	}
	if m.SizeRule == nil {
		return "allowed: " + strings.Join(m.Sizes, ", ")
	}
	allowed := "allowed: " + strings.Join(m.Sizes, ", ") + ", or WIDTHxHEIGHT with " + m.SizeRule.String()
	w, h, ok := ParseSize(size)
	if !ok {
		return allowed
	}
	problems := m.SizeRule.Problems(w, h)
	if len(problems) == 0 {
		return ""
	}
	if w, h, ok := m.SizeRule.Nearest(w, h); ok {
		problems = append(problems, fmt.Sprintf("the nearest is %dx%d", w, h))
	}
	return strings.Join(problems, "; ") + "; " + allowed
}
