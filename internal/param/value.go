package param

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"mediagen/internal/fault"
)

// Set parses s and stores it in the bound field. A value that is not allowed leaves the field as it was and gives a
// *fault.Error with code invalid_argument. An empty s unsets an enum and an OptInt.
func (p *Param) Set(s string) error {
	v, err := p.parse(s)
	if err != nil {
		return fault.New(fault.InvalidArgument, "%s %w", p.Name, err)
	}
	if problem := p.problem(v); problem != "" {
		return fault.New(fault.InvalidArgument, "%s %s", p.Name, problem)
	}
	p.store(v)
	p.appended = true
	return nil
}

// String returns the present value in the form that Set takes; lists are joined with commas.
func (p *Param) String() string {
	switch v := p.load().(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case int64:
		return FormatSize(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case time.Duration:
		return v.String()
	case []string:
		return strings.Join(v, ",")
	default:
		return ""
	}
}

// load returns the value of the bound field, nil for an unset OptInt. A zero Param, which pflag makes to learn the zero
// value, has no field and gives nil too.
func (p *Param) load() any {
	switch t := p.target.(type) {
	case *string:
		return *t
	case *int:
		return *t
	case *int64:
		return *t
	case **int:
		if *t == nil {
			return nil
		}
		return **t
	case *float64:
		return *t
	case *bool:
		return *t
	case *time.Duration:
		return *t
	case *[]string:
		return slices.Clone(*t)
	default:
		return nil
	}
}

// store puts v, which parse made for this very target, into the bound field.
func (p *Param) store(v any) {
	switch t := p.target.(type) {
	case *string:
		*t = v.(string)
	case *int:
		*t = v.(int)
	case *int64:
		*t = v.(int64)
	case **int:
		*t = nil
		if n, ok := v.(int); ok {
			*t = &n
		}
	case *float64:
		*t = v.(float64)
	case *bool:
		*t = v.(bool)
	case *time.Duration:
		*t = v.(time.Duration)
	case *[]string:
		*t = v.([]string)
	}
}

// parse turns s into the type of the bound field. Its errors continue the parameter's name.
func (p *Param) parse(s string) (any, error) {
	switch p.Kind {
	case KindInt:
		return p.parseInt(s)
	case KindSize:
		return parseSize(s)
	case KindFloat:
		return parseFloat(s)
	case KindBool:
		v, err := strconv.ParseBool(s)
		if err != nil {
			return nil, errors.New("must be true or false")
		}
		return v, nil
	case KindDuration:
		v, err := time.ParseDuration(s)
		if err != nil {
			return nil, errors.New("must be a duration with a unit, such as 90s, 5m or 1h30m")
		}
		return v, nil
	case KindStrings, KindFiles:
		return p.parseList(s), nil
	default:
		return s, nil
	}
}

func (p *Param) parseInt(s string) (any, error) {
	if s == "" && p.Optional() {
		return nil, nil // nil is the value: not given
	}
	v, err := strconv.Atoi(s)
	if err != nil {
		return nil, errors.New("must be a whole number")
	}
	return v, nil
}

func parseSize(s string) (any, error) {
	v, err := ParseSize(s)
	if err != nil {
		return nil, errors.New("must be a whole number, such as 819200, 500k, 10M (1000) or 512Ki, 44Mi (1024)")
	}
	return v, nil
}

func parseFloat(s string) (any, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return nil, errors.New("must be a number")
	}
	return v, nil
}

// parseList returns the new list: the items of s behind those of earlier calls.
func (p *Param) parseList(s string) []string {
	var items []string
	if list, ok := p.load().([]string); ok && p.appended {
		items = list
	}
	if p.Whole {
		return append(items, s)
	}
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
