package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// entry is one value of a YAML file with its dotted key and line.
type entry struct {
	key   string
	value raw
	line  int
}

// schema tells which dotted keys a file may hold.
type schema struct {
	leaves  map[string]bool
	groups  map[string]bool
	suggest func(key string) string // what to say after "unknown key"; may be ""
}

// newSchema derives the groups from the leaves: "a.b.c" makes "a" and "a.b" groups.
func newSchema(keys []string, suggest func(string) string) schema {
	s := schema{leaves: map[string]bool{}, groups: map[string]bool{}, suggest: suggest}
	for _, key := range keys {
		s.leaves[key] = true
		for i, r := range key {
			if r == '.' {
				s.groups[key[:i]] = true
			}
		}
	}
	return s
}

// flatten reads a YAML document into entries, in the order of the file. Every fault is reported, each with its line; no
// text of the file but its keys gets into a message, for YAML's own errors quote values. Keys may be nested or dotted.
func (s schema) flatten(data []byte) ([]entry, []error) {
	root, err := document(data)
	if err != nil {
		return nil, []error{err}
	}
	if root == nil {
		return nil, nil
	}
	w := walker{schema: s, seen: map[string]int{}}
	w.mapping(root, "")
	return w.entries, w.faults
}

// document returns the root of the only document, nil when there is none.
func document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, yamlFault(err)
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("line %d: a second document begins; the file holds one", second.Line)
	case !errors.Is(err, io.EOF):
		return nil, yamlFault(err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// yamlFault keeps the line of a YAML error and nothing else of it.
func yamlFault(err error) error {
	if m := regexp.MustCompile(`line (\d+)`).FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("line %s: not valid YAML; write one `key: value` a line, deeper keys indented by spaces", m[1])
	}
	return errors.New("not valid YAML; write one `key: value` a line, deeper keys indented by spaces")
}

type walker struct {
	schema  schema
	entries []entry
	faults  []error
	seen    map[string]int // key to its line
}

func (w *walker) fault(line int, format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...)))
}

// mapping walks the keys below prefix. The depth is bounded by the schema: only its groups are entered.
func (w *walker) mapping(n *yaml.Node, prefix string) {
	n = target(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		where := "the file"
		if prefix != "" {
			where = prefix
		}
		w.fault(n.Line, "%s is not a mapping; write `key: value` lines", where)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]), target(n.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			w.fault(key.Line, "a key is not a word")
			continue
		}
		full := key.Value
		if prefix != "" {
			full = prefix + "." + key.Value
		}
		w.pair(full, key.Line, value)
	}
}

func (w *walker) pair(key string, line int, value *yaml.Node) {
	leaf, group := w.schema.leaves[key], w.schema.groups[key]
	if !leaf && !group {
		w.fault(line, "unknown key %s%s", quoted(key), w.schema.suggest(key))
		return
	}
	if first, again := w.seen[key]; again {
		w.fault(line, "key %q is there twice; the first is on line %d", key, first)
		return
	}
	w.seen[key] = line
	if group {
		w.mapping(value, key)
		return
	}
	w.leaf(key, value)
}

func (w *walker) leaf(key string, n *yaml.Node) {
	switch n.Kind {
	case yaml.ScalarNode:
		if !isNull(n) {
			w.entries = append(w.entries, entry{key: key, value: scalar(n.Value), line: n.Line})
		}
	case yaml.SequenceNode:
		v := raw{list: true}
		for _, item := range n.Content {
			if item = target(item); item.Kind != yaml.ScalarNode {
				w.fault(item.Line, "%s has an entry that is not one value", key)
				return
			}
			v.items = append(v.items, strings.TrimSpace(item.Value))
		}
		w.entries = append(w.entries, entry{key: key, value: v, line: n.Line})
	default:
		w.fault(n.Line, "%s holds keys; give it a value", key)
	}
}

// target follows an alias to its anchor. One step is enough: an anchor is never on an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// isNull reports whether n is YAML's null: nothing, ~ or null.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
