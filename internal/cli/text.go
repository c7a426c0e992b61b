package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
)

// printable is text from outside, made safe for a terminal.
func printable(s string) string { return iostreams.Printable(s) }

// paths prints saved files one a line, or NUL-terminated.
func (sh *shell) paths(assets []engine.Asset, nul bool) error {
	for _, a := range assets {
		if a.Path == "" || a.Spooled || a.NoPicture {
			continue
		}
		line := sh.line(a.Path)
		if nul {
			line = sh.shown(a.Path) + "\x00"
		}
		if err := write(sh.Streams.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// line is a path as a line of stdout. A program gets its exact bytes, unless a line break in them would make two lines
// of one path; a terminal gets nothing that steers it. -0 and --json are exact always.
func (sh *shell) line(path string) string {
	text := sh.shown(path)
	switch {
	case strings.ContainsAny(text, "\n\r"):
		sh.warn([]string{"a path has a line break in it and is shown escaped; --print0 and --json give it as it is"})
		text = printable(text)
	case sh.Streams.OutTTY:
		text = printable(text)
	}
	return text + "\n"
}

// shown is a path as a person typed it: relative when it lies below the working directory.
func (sh *shell) shown(path string) string {
	rel, err := filepath.Rel(sh.WorkDir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	if strings.HasPrefix(rel, "-") {
		return "." + string(filepath.Separator) + rel // so that no command takes it for a flag
	}
	return rel
}

// warn prints warnings for people; with --json they wait for the envelope.
func (sh *shell) warn(warnings []string) {
	if sh.flags.wantsJSON() {
		for _, w := range warnings {
			sh.warnings = append(sh.warnings, sh.Scrub(w))
		}
		return
	}
	if sh.flags.quiet {
		return
	}
	for _, w := range warnings {
		sh.note("warning: " + w)
	}
}

// note writes text to stderr, its further lines indented: foreign words can neither forge a line of ours nor steer the
// terminal. A terminal that is gone cannot be told so.
func (sh *shell) note(text string) {
	lines := strings.Split(strings.TrimRight(sh.Scrub(text), "\n"), "\n")
	for i, line := range lines {
		lines[i] = printable(strings.TrimSuffix(line, "\r"))
	}
	_, _ = fmt.Fprintln(sh.Streams.Err, strings.Join(lines, "\n  "))
}

// escapeJSON escapes what encoding/json leaves alone and a terminal might obey: DEL, the C1 controls and the marks that
// turn the direction of text. They stand only inside strings, so the value stays the same.
func escapeJSON(text string) string {
	if strings.IndexFunc(text, steers) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if steers(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// rawText is a string that --jq yields. A program gets it as it is; on a terminal, lines and tabs work and the rest is
// escaped.
func (sh *shell) rawText(text string) string {
	if !sh.Streams.OutTTY {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r != '\n' && r != '\t' && steers(r) {
			b.WriteString(printable(string(r)))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// steers reports whether a terminal might obey the rune instead of showing it.
func steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// tableGap is the number of blanks between the columns of a table.
const tableGap = 2

// table prints aligned columns without blanks at the end of lines.
func table(w io.Writer, rows [][]string) error {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 4, tableGap, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printable(cell)
		}
		if _, err := fmt.Fprintln(tw, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return write(w, strings.Join(lines, "\n"))
}

// fit makes a table whose last column is a file name fit the terminal: spare columns, by their heads, give way first,
// and what the others leave goes to the name, which loses its middle. A program gets everything.
func (sh *shell) fit(rows [][]string, spare ...string) [][]string {
	if !sh.Streams.OutTTY {
		return rows
	}
	const enough, least = 24, 8 // columns of a name
	longest := 0
	for _, row := range rows {
		longest = max(longest, iostreams.Width(printable(row[len(row)-1])))
	}
	for _, head := range spare {
		if sh.room(rows) >= min(longest, enough) {
			break
		}
		rows = without(rows, slices.Index(rows[0], head))
	}
	room := max(sh.room(rows), least)
	for _, row := range rows {
		last := len(row) - 1
		row[last] = iostreams.Middle(printable(row[last]), room)
	}
	return rows
}

// room is what the other columns of a table leave to the last one.
func (sh *shell) room(rows [][]string) int {
	left := sh.Streams.Width
	for i := range len(rows[0]) - 1 {
		widest := 0
		for _, row := range rows {
			widest = max(widest, iostreams.Width(printable(row[i])))
		}
		left -= widest + tableGap
	}
	return left
}

// without returns rows that lack a column.
func without(rows [][]string, column int) [][]string {
	out := make([][]string, 0, len(rows))
	for _, row := range rows {
		out = append(out, slices.Delete(slices.Clone(row), column, column+1))
	}
	return out
}

// card prints the rows that have a value: a name and its value each.
func card(w io.Writer, rows [][]string) error {
	var shown [][]string
	for _, row := range rows {
		if row[1] != "" {
			shown = append(shown, row)
		}
	}
	return table(w, shown)
}
