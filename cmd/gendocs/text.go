package main

import (
	"regexp"
	"strings"
)

// block is a piece of a help text.
type block struct {
	kind  blockKind
	lines []string // of a term: the term; of text and code: the lines
	text  string   // of a term: what it means
}

type blockKind int

const (
	blockText blockKind = iota // running text, joined lines
	blockHead                  // a line above an indented list
	blockTerm                  // a word and what it means
	blockCode                  // lines that stay as they are
)

var (
	// entry is a line of a list: a term, two blanks or more, its meaning.
	entry = regexp.MustCompile(`^\s*(\S(?:.*?\S)?)\s{2,}(\S.*)$`) //nolint:gochecknoglobals // constant
	// hung is a line that continues the meaning above it.
	hung = regexp.MustCompile(`^ {10,}\S`) //nolint:gochecknoglobals // constant
)

// parse finds the structure of a help text, which is written for a terminal: paragraphs, indented code, and lists whose
// two columns are set apart by blanks.
func parse(text string) []block {
	var out []block
	last := func() *block {
		if len(out) == 0 {
			return &block{kind: -1}
		}
		return &out[len(out)-1]
	}
	lines := strings.Split(text, "\n")
	fresh := true // a blank line or the start lies above
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		prev := last()
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		term := entry.FindStringSubmatch(line)
		switch {
		case trimmed == "":
		case prev.kind == blockTerm && hung.MatchString(line):
			prev.text = strings.TrimSpace(prev.text + " " + trimmed)
		case term != nil:
			out = append(out, block{kind: blockTerm, lines: term[1:2], text: term[2]})
		case indented && prev.kind == blockTerm && !fresh:
			out = append(out, block{kind: blockTerm, lines: []string{trimmed}})
		case indented && prev.kind == blockCode:
			prev.lines = append(prev.lines, line)
		case indented:
			out = append(out, block{kind: blockCode, lines: []string{line}})
		case heads(trimmed, lines[i+1:]):
			out = append(out, block{kind: blockHead, lines: []string{strings.Trim(trimmed, "#: ")}})
		case prev.kind == blockText && !fresh:
			prev.lines = append(prev.lines, trimmed)
		default:
			out = append(out, block{kind: blockText, lines: []string{trimmed}})
		}
		fresh = trimmed == ""
	}
	return out
}

// heads reports whether a line is a heading: marked with #, or a few words above an indented line.
func heads(line string, below []string) bool {
	if strings.HasPrefix(line, "#") {
		return true
	}
	return len(below) > 0 && strings.HasPrefix(below[0], "  ") && len(line) < 30 && !strings.ContainsAny(line[len(line)-1:], ".:,;")
}
