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
	entry = regexp.MustCompile(`^\s*(\S(?:.*?\S)?)\s{2,}(\S.*)$`)
	// hung is a line that continues the meaning above it.
	hung = regexp.MustCompile(`^ {10,}\S`)
)

// parse finds the structure of a help text, which is written for a terminal: paragraphs, indented code, and lists whose
// two columns are set apart by blanks.
func parse(text string) []block {
	p := &reader{lines: strings.Split(text, "\n"), fresh: true}
	for i, line := range p.lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
		case strings.HasPrefix(line, "  "), strings.HasPrefix(line, "\t"):
			p.indented(line)
		default:
			p.flush(i, trimmed)
		}
		p.fresh = trimmed == ""
	}
	return p.blocks
}

// reader is a help text while it is read.
type reader struct {
	lines  []string
	blocks []block
	fresh  bool // a blank line, or the start, lies above
}

func (p *reader) add(b block) { p.blocks = append(p.blocks, b) }

// open returns the block above when it is of the given kind, so that a line can join it.
func (p *reader) open(kind blockKind) *block {
	if len(p.blocks) == 0 || p.blocks[len(p.blocks)-1].kind != kind {
		return nil
	}
	return &p.blocks[len(p.blocks)-1]
}

// indented reads a line of a list or of code.
func (p *reader) indented(line string) {
	trimmed := strings.TrimSpace(line)
	above := p.open(blockTerm)
	switch term := entry.FindStringSubmatch(line); {
	case above != nil && hung.MatchString(line):
		above.text = strings.TrimSpace(above.text + " " + trimmed)
	case term != nil:
		p.add(block{kind: blockTerm, lines: term[1:2], text: term[2]})
	case above != nil && !p.fresh:
		p.add(block{kind: blockTerm, lines: []string{trimmed}})
	case p.open(blockCode) != nil:
		code := p.open(blockCode)
		code.lines = append(code.lines, line)
	default:
		p.add(block{kind: blockCode, lines: []string{line}})
	}
}

// flush reads a line that is not indented: line i of the text.
func (p *reader) flush(i int, line string) {
	switch term := entry.FindStringSubmatch(line); {
	case term != nil:
		p.add(block{kind: blockTerm, lines: term[1:2], text: term[2]})
	case p.heads(i, line):
		p.add(block{kind: blockHead, lines: []string{strings.Trim(line, "#: ")}})
	case p.open(blockText) != nil && !p.fresh:
		text := p.open(blockText)
		text.lines = append(text.lines, line)
	default:
		p.add(block{kind: blockText, lines: []string{line}})
	}
}

// heads reports whether a line is a heading: marked with #, or a few words above an indented line.
func (p *reader) heads(i int, line string) bool {
	if strings.HasPrefix(line, "#") {
		return true
	}
	listed := i+1 < len(p.lines) && strings.HasPrefix(p.lines[i+1], "  ")
	return listed && len(line) < 30 && !strings.ContainsAny(line[len(line)-1:], ".:,;")
}
