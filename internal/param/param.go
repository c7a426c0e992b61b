// Package param describes the parameters of a request: one list of descriptors, bound to the fields of the request,
// gives command-line flags, shell completions, JSON Schema, documentation and one set of error messages at both doors.
//
// It checks what a parameter can check alone: presence, type, words, range and length. It does not know models,
// settings, flags or schemas: per-model rules belong to the catalog, rules between fields to the engine, and each door
// translates the list itself. A default that depends on settings stays empty here.
package param

import (
	"fmt"
	"strings"
	"time"
)

// Kind is the type of a parameter's value.
type Kind int

// The kinds. There are few on purpose: each door must know how to show every one of them.
const (
	KindString   Kind = iota // one line of text
	KindText                 // long text; the command line also takes it from a file or stdin
	KindInt                  // a whole number
	KindSize                 // a whole number that may have a unit, such as 200k; see ParseSize
	KindFloat                // a finite number
	KindBool                 // true or false
	KindEnum                 // one of the words in Enum, or any word when Open
	KindDuration             // a Go duration such as 90s or 5m
	KindStrings              // a list of texts
	KindFiles                // a list of file names or URLs
	KindFile                 // one file name or URL
)

// Param describes one parameter and is bound to the field that holds its value. It satisfies pflag.Value.
type Param struct {
	Name     string   // the wire name, snake_case
	Usage    string   // one sentence without a full stop
	Kind     Kind     // the type of the value
	Enum     []string // KindEnum: the words, in the order to show
	Open     bool     // KindEnum: other words pass too, the catalog decides
	Min, Max *float64 // inclusive; numbers: the value, durations: seconds, lists: the number of items
	Required bool     // the value must be present
	MaxLen   int      // longest text, or list item, in runes (Unicode code points); 0 = no limit
	Short    string   // one-letter shorthand of the flag, or ""
	Whole    bool     // KindStrings: commas do not split a value

	target   any  // *string, *int, *int64, **int, *float64, *bool, *time.Duration or *[]string
	fallback any  // the value at construction, which counts as the default
	appended bool // a list was set once, so that the next value adds to it
}

func bind(kind Kind, target any, name, usage string) *Param {
	p := &Param{Name: name, Usage: usage, Kind: kind, target: target}
	p.fallback = p.load()
	return p
}

// String binds one line of text to v; the value that v has now is the default. So it is for all constructors.
func String(v *string, name, usage string) *Param { return bind(KindString, v, name, usage) }

// Text binds long text to v. An adapter may offer to read it from a file or stdin.
func Text(v *string, name, usage string) *Param { return bind(KindText, v, name, usage) }

// Int binds a whole number to v. A default of 0 means "not given": it is not held against a range.
func Int(v *int, name, usage string) *Param { return bind(KindInt, v, name, usage) }

// OptInt binds a whole number to v, which stays nil while the parameter is not given.
func OptInt(v **int, name, usage string) *Param { return bind(KindInt, v, name, usage) }

// Size binds a number of bytes or pixels to v. A default of 0 means "not given": it is not held against a range.
func Size(v *int64, name, usage string) *Param { return bind(KindSize, v, name, usage) }

// Float binds a finite number to v. A default of 0 means "not given": it is not held against a range.
func Float(v *float64, name, usage string) *Param { return bind(KindFloat, v, name, usage) }

// Bool binds a switch to v. As a flag it may stand alone, which means true.
func Bool(v *bool, name, usage string) *Param { return bind(KindBool, v, name, usage) }

// Duration binds a duration to v. A default of 0 means "not given": it is not held against a range.
func Duration(v *time.Duration, name, usage string) *Param {
	return bind(KindDuration, v, name, usage)
}

// Strings binds a list of texts to v. The first Set replaces the default, later ones add; a value is split at commas
// and trimmed, unless Repeat says otherwise.
func Strings(v *[]string, name, usage string) *Param { return bind(KindStrings, v, name, usage) }

// Files binds a list of file names or URLs to v. A value is one name: commas do not split it.
func Files(v *[]string, name, usage string) *Param { return bind(KindFiles, v, name, usage).Repeat() }

// File binds one file name or URL to v.
func File(v *string, name, usage string) *Param { return bind(KindFile, v, name, usage) }

// Enum binds one of the words to v, a closed list; an empty value means "not given".
func Enum(v *string, name, usage string, words ...string) *Param {
	p := bind(KindEnum, v, name, usage)
	p.Enum = words
	return p
}

// OpenEnum binds a word to v. The words complete and document; other words pass, for the catalog decides.
func OpenEnum(v *string, name, usage string, words ...string) *Param {
	p := Enum(v, name, usage, words...)
	p.Open = true
	return p
}

// Need makes the parameter required: a text must not be blank, a list not empty, a number given (0 counts only with
// OptInt).
func (p *Param) Need() *Param {
	p.Required = true
	return p
}

// Between bounds a number, a duration in seconds or the number of items in a list; both ends are allowed. It panics on
// other kinds and on an empty range, which are mistakes in the list of descriptors.
func (p *Param) Between(low, high float64) *Param {
	switch p.Kind {
	case KindInt, KindSize, KindFloat, KindDuration, KindStrings, KindFiles:
	default:
		panic("param: " + p.Name + " is a " + p.Type() + " and takes no range")
	}
	if low > high {
		panic(fmt.Sprintf("param: %s has the empty range %v to %v", p.Name, low, high))
	}
	p.Min, p.Max = &low, &high
	return p
}

// AtMost bounds the length of a text, or of each item of a list, in runes.
func (p *Param) AtMost(runes int) *Param {
	p.MaxLen = runes
	return p
}

// Shorthand gives the flag a one-letter form.
func (p *Param) Shorthand(s string) *Param {
	p.Short = s
	return p
}

// Repeat makes every Set one item of the list, commas included. It panics when the parameter is not a list, which is a
// mistake in the list of descriptors.
func (p *Param) Repeat() *Param {
	if p.Kind != KindStrings && p.Kind != KindFiles {
		panic("param: " + p.Name + " is a " + p.Type() + " and takes no list")
	}
	p.Whole = true
	return p
}

// Flag returns the kebab-case name of the flag: output_format becomes output-format.
func (p *Param) Flag() string { return strings.ReplaceAll(p.Name, "_", "-") }

// Optional reports whether the bound field tells "not given" from 0 (see OptInt).
func (p *Param) Optional() bool {
	_, ok := p.target.(**int)
	return ok
}

// Default returns the value at construction as a string, int, int64, float64, bool, time.Duration or []string, and
// false when it was empty, that is when there is no fixed default.
func (p *Param) Default() (any, bool) { return p.fallback, !p.empty(p.fallback) }

// Type returns the word that help shows for the value.
func (p *Param) Type() string {
	switch p.Kind {
	case KindText:
		return "text"
	case KindInt:
		return "int"
	case KindSize:
		return "size"
	case KindFloat:
		return "float"
	case KindBool:
		return "bool"
	case KindDuration:
		return "duration"
	case KindStrings:
		return "strings"
	case KindFiles, KindFile:
		return "file"
	default:
		return "string"
	}
}
