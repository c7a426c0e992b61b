package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Sample returns a config file in which every setting is explained and commented out with its default. The same table
// always gives the same bytes.
func Sample() []byte {
	var b bytes.Buffer
	b.WriteString(`# Settings of mediagen. Everything is optional: take away the "#" before a key to set it.
# A flag wins over the environment, that over an env file, and that over this file.
# Keys are better kept in secrets.yaml beside this file (chmod 600) or in the environment.
# Sizes: k M G = 1000, Ki Mi Gi = 1024. Durations: 90s, 15m, 1h30m. Money: dollars. Lists: [a, b] or "a, b".
`)
	group := ""
	for _, s := range Settings() {
		if s.Bootstrap {
			continue
		}
		indent, name := "", s.Key
		if g, rest, nested := strings.Cut(s.Key, "."); nested {
			indent, name = "  ", rest
			if g != group {
				fmt.Fprintf(&b, "\n%s:\n", g)
			}
			group = g
		} else {
			group = ""
			b.WriteByte('\n')
		}
		for _, line := range s.remarks() {
			fmt.Fprintf(&b, "%s# %s\n", indent, line)
		}
		fmt.Fprintf(&b, "%s#%s: %s\n", indent, name, s.sampleValue())
	}
	return b.Bytes()
}

// remarks explain a setting above its line in the sample.
func (s Setting) remarks() []string {
	doc := sentence(s.Doc)
	if s.Words != nil {
		doc += " One of: " + strings.Join(s.Words, ", ") + "."
	}
	if s.DefaultDoc != "" {
		doc += " Default: " + s.DefaultDoc + "."
	}
	sources := "Environment: " + strings.Join(s.Env, ", ") + "."
	if s.Flag != "" {
		sources += " Flag: --" + s.Flag + "."
	}
	return append(wrap(doc, 110), wrap(sources, 110)...)
}

// sampleValue is the default as YAML that Load reads back.
func (s Setting) sampleValue() string {
	switch v := s.Default.(type) {
	case []string, []int:
		return "[" + strings.ReplaceAll(s.show(v), ",", ", ") + "]"
	case nil:
		if s.isList() {
			return "[]"
		}
		return `""`
	}
	return s.show(s.Default)
}

// MarkdownTable returns the settings as a Markdown table for the README and the documentation.
func MarkdownTable() []byte {
	var b bytes.Buffer
	b.WriteString("| Setting | Environment | Flag | Default | Meaning |\n|---|---|---|---|---|\n")
	for _, s := range Settings() {
		flag := ""
		if s.Flag != "" {
			flag = code("--" + s.Flag)
		}
		names := make([]string, len(s.Env))
		for i, name := range s.Env {
			names[i] = code(name)
		}
		meaning := sentence(s.Doc)
		if s.Words != nil {
			meaning += " One of: " + strings.Join(s.Words, ", ") + "."
		}
		row := []string{code(s.Key), strings.Join(names, ", "), flag, s.defaultCell(), meaning}
		for i := range row {
			row[i] = strings.NewReplacer("|", `\|`, "*", `\*`).Replace(row[i])
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.Bytes()
}

func (s Setting) defaultCell() string {
	if s.Default != nil {
		return code(s.show(s.Default))
	}
	return s.DefaultDoc
}

func code(text string) string { return "`" + text + "`" }

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// wrap breaks text into lines of at most width bytes between words.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
