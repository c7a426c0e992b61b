package emulator

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxJSONBody bounds the body of a JSON request, in bytes; the longest prompt needs a few hundred thousand.
const maxJSONBody = 4 << 20

// fields are the parameters of a request by wire name. Nested objects are flattened the way multipart forms name them:
// svg[reasoning][effort].
type fields map[string]field

// field is one parameter as it came.
type field struct {
	kind fieldKind
	text string
}

type fieldKind string

const (
	fieldForm   fieldKind = "form value" // text of a multipart form: may be read as any type
	fieldString fieldKind = "string"
	fieldNumber fieldKind = "number"
	fieldBool   fieldKind = "boolean"
	fieldOther  fieldKind = "array"
)

// readJSONFields reads a JSON object from the body. A null counts as not given.
func readJSONFields(r *http.Request) (fields, *apiError) {
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxJSONBody))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return nil, bodyError(err, "the body must be a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, bodyError(err, "the body must be one JSON object and nothing else")
	}
	f := fields{}
	f.flatten("", object)
	return f, nil
}

// bodyError tells a body that is too long from one that cannot be read.
func bodyError(err error, message string) *apiError {
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return badRequest("", "request_too_large", "the body is over %d bytes", tooLong.Limit).
			at(http.StatusRequestEntityTooLarge)
	}
	return badRequest("", "", "%s", message)
}

func (f fields) flatten(prefix string, object map[string]any) {
	for name, v := range object {
		if prefix != "" {
			name = prefix + "[" + name + "]"
		}
		switch v := v.(type) {
		case nil:
		case map[string]any:
			f.flatten(name, v)
		case string:
			f[name] = field{fieldString, v}
		case json.Number:
			f[name] = field{fieldNumber, v.String()}
		case bool:
			f[name] = field{fieldBool, strconv.FormatBool(v)}
		default:
			f[name] = field{fieldOther, ""}
		}
	}
}

// unknown returns the first field, in the order of the alphabet, that is not among known.
func (f fields) unknown(known []string) string {
	var names []string
	for name := range f {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// fieldReader reads typed parameters and keeps the first error.
type fieldReader struct {
	f   fields
	err *apiError
}

func (r *fieldReader) fail(e *apiError) {
	if r.err == nil {
		r.err = e
	}
}

// get returns a field of one of two kinds; a field of another kind is an error.
func (r *fieldReader) get(name string, want fieldKind) (string, bool) {
	v, ok := r.f[name]
	if !ok {
		return "", false
	}
	if v.kind != want && v.kind != fieldForm {
		r.fail(badRequest(name, "invalid_type", "invalid type for '%s': expected a %s, but got a %s", name, want, v.kind))
		return "", false
	}
	return v.text, true
}

// text returns a string, or "" when it was not given.
func (r *fieldReader) text(name string) string {
	s, _ := r.get(name, fieldString)
	return s
}

// oneOf returns a string out of a closed list, or fallback when it was not given.
func (r *fieldReader) oneOf(name, fallback string, words ...string) string {
	s, ok := r.get(name, fieldString)
	if !ok {
		return fallback
	}
	if !slices.Contains(words, s) {
		r.fail(invalidValue(name, s, words))
	}
	return s
}

// integer returns a number within bounds, or nil when it was not given.
func (r *fieldReader) integer(name string, low, high int) *int {
	s, ok := r.get(name, fieldNumber)
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		r.fail(badRequest(name, "invalid_type", "invalid type for '%s': expected an integer", name))
	case n < low:
		r.fail(badRequest(name, "integer_below_min_value", "invalid '%s': expected a value >= %d, but got %d", name, low, n))
	case n > high:
		r.fail(badRequest(name, "integer_above_max_value", "invalid '%s': expected a value <= %d, but got %d", name, high, n))
	}
	return &n
}

// boolean returns true or false; not given is false.
func (r *fieldReader) boolean(name string) bool {
	s, ok := r.get(name, fieldBool)
	if !ok {
		return false
	}
	b, err := strconv.ParseBool(s)
	if err != nil {
		r.fail(badRequest(name, "invalid_type", "invalid type for '%s': expected true or false", name))
	}
	return b
}

func invalidValue(name, got string, words []string) *apiError {
	return badRequest(name, "invalid_value", "invalid value '%s' for '%s': supported values are '%s'",
		clip(got, 60), name, strings.Join(words, "', '"))
}
