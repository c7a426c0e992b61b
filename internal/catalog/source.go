package catalog

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"mediagen/internal/fault"
)

// maxProblems bounds how many problems of one file an error lists.
const maxProblems = 20

// problem is one thing that is wrong with a catalog file. Either line or path may be missing; the source fills in
// what it can find.
type problem struct {
	line int
	path string // "models[gpt-image-2].max_n"
	hint string // a key or value on the line, to tell two entries of one line apart
	text string
}

// source is a user's file as far as errors need it: its name and its node tree, where lines and keys are found.
type source struct {
	name string
	root yaml.Node
}

// entry is one key of the file.
type entry struct {
	line int
	path string
	key  string
	text string // scalar value, else ""
	// fraction marks a scalar that YAML reads as a binary float.
	fraction bool
}

// fault joins problems into one error, or returns nil when there are none.
func (s *source) fault(problems []problem) error {
	if len(problems) == 0 {
		return nil
	}
	entries := s.entries(nil, "", &s.root)
	lines := make([]string, 0, len(problems))
	for _, p := range problems {
		lines = append(lines, s.describe(p, entries))
	}
	if more := len(lines) - maxProblems; more > 0 {
		lines = append(lines[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return fault.New(fault.ConfigInvalid, "%s: %s", s.name, strings.Join(lines, "; "))
}

func (s *source) describe(p problem, entries []entry) string {
	if p.path != "" && p.line == 0 {
		p.line = lineOf(entries, p.path)
	}
	if p.path == "" && p.line > 0 {
		p.path = pathOn(entries, p.line, p.hint)
	}
	where := ""
	if p.line > 0 {
		where = "line " + strconv.Itoa(p.line) + ": "
	}
	if p.path != "" {
		where += p.path + ": "
	}
	return where + p.text
}

// lineOf finds the line of a path, or of the nearest part of it that the user wrote.
func lineOf(entries []entry, path string) int {
	for path != "" {
		if i := slices.IndexFunc(entries, func(e entry) bool { return e.path == path }); i >= 0 {
			return entries[i].line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

// pathOn finds the key on a line: the one that hint names by key or value, else the first.
func pathOn(entries []entry, line int, hint string) string {
	first := ""
	for _, e := range entries {
		if e.line != line {
			continue
		}
		if hint != "" && (e.key == hint || e.text != "" && strings.HasPrefix(e.text, hint)) {
			return e.path
		}
		if first == "" {
			first = e.path
		}
	}
	return first
}

// entries lists the keys below a node. Aliases are not followed: their keys stand at their anchor.
func (s *source) entries(list []entry, path string, n *yaml.Node) []entry {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := strings.TrimPrefix(path+"."+key.Value, ".")
			list = append(list, entry{
				line: key.Line, path: at, key: key.Value, text: value.Value, fraction: isFraction(value),
			})
			list = s.entries(list, at, value)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			at := path + "[" + label(item, i) + "]"
			list = append(list, entry{line: item.Line, path: at, text: item.Value})
			list = s.entries(list, at, item)
		}
	case yaml.DocumentNode:
		for _, item := range n.Content {
			list = s.entries(list, path, item)
		}
	}
	return list
}

func isFraction(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!float"
}

// fractions finds fractions where whole numbers belong, which the decoder would cut off in silence.
func (s *source) fractions() []problem {
	whole := map[string]bool{}
	for _, t := range fileTypes() {
		for f := range t.Fields() {
			typ := f.Type
			if typ.Kind() == reflect.Pointer {
				typ = typ.Elem()
			}
			if typ != reflect.TypeFor[USD]() && (typ.Kind() == reflect.Int || typ.Kind() == reflect.Int64) {
				whole[f.Tag.Get("yaml")] = true
			}
		}
	}
	var problems []problem
	for _, e := range s.entries(nil, "", &s.root) {
		if e.fraction && (whole[e.key] || strings.Contains(e.path, ".output_tokens.")) {
			problems = append(problems, problem{line: e.line, path: e.path, text: "must be a whole number"})
		}
	}
	return problems
}

// label names an item of a list: by its id or prefix where it has one, else by its place.
func label(item *yaml.Node, i int) string {
	if item.Kind == yaml.MappingNode {
		for k := 0; k+1 < len(item.Content); k += 2 {
			if key := item.Content[k].Value; (key == "id" || key == "prefix") && item.Content[k+1].Value != "" {
				return item.Content[k+1].Value
			}
		}
	}
	return strconv.Itoa(i)
}

// problemsOf splits an error of the YAML decoder into problems, in words that do not name Go types.
func problemsOf(err error) []problem {
	if err == nil {
		return nil
	}
	texts := []string{err.Error()}
	if te, ok := errors.AsType[*yaml.TypeError](err); ok {
		texts = te.Errors
	}
	problems := make([]problem, 0, len(texts))
	for _, text := range texts {
		problems = append(problems, reword(text))
	}
	return problems
}

// reword reads one message of the decoder. The patterns are compiled here because only a broken file needs them.
func reword(text string) problem {
	atLine := regexp.MustCompile(`(?s)^(?:yaml: )?line (\d+): (.*)$`)
	noSuchKey := regexp.MustCompile(`^field (.*) not found in type (\S+)$`)
	wrongType := regexp.MustCompile("(?s)^cannot (?:unmarshal|decode) \\S+ ?`?(.*?)(?:\\.\\.\\.)?`? (?:into|as a) (\\S+)$")
	badContent := regexp.MustCompile("(?s)^`(.*)` (must be .*)$")

	p := problem{text: strings.TrimPrefix(text, "yaml: ")}
	if m := atLine.FindStringSubmatch(text); m != nil {
		p.line, _ = strconv.Atoi(m[1]) // digits only; too many leave the line out
		p.text = m[2]
	}
	if m := noSuchKey.FindStringSubmatch(p.text); m != nil {
		p.hint, p.text = m[1], "is not a key here; allowed: "+strings.Join(keysOf(m[2]), ", ")
	} else if m := wrongType.FindStringSubmatch(p.text); m != nil {
		p.hint, p.text = m[1], "must be "+wanted(m[2])
	} else if m := badContent.FindStringSubmatch(p.text); m != nil {
		p.hint, p.text = m[1], fmt.Sprintf("%q %s", m[1], m[2])
	}
	return p
}

// wanted names a Go type as a person would.
func wanted(goType string) string {
	switch {
	case goType == "int" || goType == "int64":
		return "a whole number"
	case goType == "bool":
		return "true or false"
	case goType == "string":
		return "a word or text"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	}
	return "a map of keys"
}

// keysOf lists the keys of a map in a catalog file by the type that it is decoded into.
func keysOf(goType string) []string {
	var keys []string
	for _, t := range fileTypes() {
		if t.String() != goType {
			continue
		}
		for f := range t.Fields() {
			if key := f.Tag.Get("yaml"); key != "" && key != "-" {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// fileTypes lists the maps of fixed keys that a catalog file is made of.
func fileTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[file](), reflect.TypeFor[Family](), reflect.TypeFor[Model](),
		reflect.TypeFor[Rule](), reflect.TypeFor[Price](), reflect.TypeFor[SizeRule](),
	}
}
