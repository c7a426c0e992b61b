package catalog

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"mediagen/internal/fault"
)

//go:embed models.yaml
var embedded []byte

// maxFile bounds a user's catalog file in bytes. The built-in one has under 20 KiB.
const maxFile = 1 << 20

// file is the shape of a catalog file.
type file struct {
	// Defaults gives a model id by provider, kind and operation.
	Defaults map[string]map[string]map[string]string `yaml:"defaults"`
	Families []Family                                `yaml:"families"`
	Models   []Model                                 `yaml:"models"`
}

// New returns the built-in catalog with the rows of a user's file merged over it; user may be empty. See NewNamed.
func New(user []byte) (*Catalog, error) { return NewNamed("catalog file", user) }

// NewNamed is New with a name for the user's file, which begins every error. Rows are merged by id: maps merge key by
// key, lists are replaced, null clears a map, a list or a price, and an id without a row adds one. Families are merged
// by prefix and defaults by provider, kind and operation. Everything wrong with the file comes back in one
// *fault.Error of code config_invalid that names lines and keys.
func NewNamed(name string, user []byte) (*Catalog, error) {
	if len(bytes.TrimSpace(user)) == 0 {
		return &Catalog{load: sync.OnceValue(func() *content { return build(builtIn()) })}, nil
	}
	if len(user) > maxFile {
		return nil, fault.New(fault.ConfigInvalid, "%s: has %d bytes; at most %d are read", name, len(user), maxFile)
	}
	src := &source{name: name}
	over, err := src.read(user)
	if err != nil {
		return nil, err
	}
	base := builtIn()
	if err := src.fault(merge(base, over)); err != nil {
		return nil, err
	}
	if err := src.fault(check(base)); err != nil {
		return nil, err
	}
	data := build(base)
	return &Catalog{load: func() *content { return data }}, nil
}

// builtIn reads the file in the binary. That it can be read is settled when the binary is built and tested, so a
// failure is a defect of the program and not of its input.
func builtIn() *file {
	var f file
	if err := yaml.Unmarshal(embedded, &f); err != nil {
		panic("built-in catalog: " + err.Error())
	}
	return &f
}

// overlay is a user's file. Rows stay nodes, which are decoded over the existing rows.
type overlay struct {
	Defaults map[string]map[string]map[string]string `yaml:"defaults"`
	Families []yaml.Node                             `yaml:"families"`
	Models   []yaml.Node                             `yaml:"models"`
}

// read decodes a user's file strictly, and once more into the overlay, because a node cannot be decoded strictly.
func (s *source) read(user []byte) (*overlay, error) {
	if err := yaml.Unmarshal(user, &s.root); err != nil {
		return nil, s.fault(problemsOf(err))
	}
	var o overlay
	dec := yaml.NewDecoder(bytes.NewReader(user))
	dec.KnownFields(true)
	err := dec.Decode(new(file))
	if errors.Is(err, io.EOF) {
		return &o, nil // only comments
	}
	if err != nil {
		return nil, s.fault(problemsOf(err))
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, s.fault([]problem{{text: "holds more than one document; put everything into the first"}})
	}
	if err := s.fault(s.fractions()); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(user, &o); err != nil {
		return nil, s.fault(problemsOf(err))
	}
	return &o, nil
}

// merge decodes the user's rows over the built-in ones.
func merge(base *file, o *overlay) []problem {
	problems := mergeRows(&base.Models, o.Models, "id", func(m *Model) string { return m.ID })
	problems = append(problems,
		mergeRows(&base.Families, o.Families, "prefix", func(f *Family) string { return f.Prefix })...)
	mergeDefaults(base, o.Defaults)
	return problems
}

// mergeRows decodes nodes over the rows of a list that have the same key, and adds rows for new keys.
func mergeRows[T any](list *[]T, rows []yaml.Node, key string, keyOf func(*T) string) []problem {
	var problems []problem
	seen := map[string]bool{}
	for i := range rows {
		name, ok := keyIn(&rows[i], key)
		if !ok || seen[name] {
			text := "needs the key " + key
			if ok {
				text = fmt.Sprintf("%s %q has a row already", key, name)
			}
			problems = append(problems, problem{line: rows[i].Line, text: text})
			continue
		}
		seen[name] = true
		at := slices.IndexFunc(*list, func(t T) bool { return keyOf(&t) == name })
		if at < 0 {
			at = len(*list)
			*list = append(*list, *new(T))
		}
		problems = append(problems, problemsOf(rows[i].Decode(&(*list)[at]))...)
	}
	return problems
}

// keyIn returns the value of a row's key. A row that is no map, or has it only by null, has none.
func keyIn(row *yaml.Node, key string) (string, bool) {
	var keys map[string]yaml.Node
	if err := row.Decode(&keys); err != nil {
		return "", false
	}
	value, ok := keys[key]
	return value.Value, ok && value.Kind == yaml.ScalarNode && value.ShortTag() != "!!null"
}

func mergeDefaults(base *file, over map[string]map[string]map[string]string) {
	for provider, kinds := range over {
		if base.Defaults[provider] == nil {
			base.Defaults[provider] = map[string]map[string]string{}
		}
		for kind, ops := range kinds {
			if base.Defaults[provider][kind] == nil {
				base.Defaults[provider][kind] = map[string]string{}
			}
			maps.Copy(base.Defaults[provider][kind], ops)
		}
	}
}
