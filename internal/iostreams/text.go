package iostreams

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with everything escaped that would control a terminal or hide what stands there: control
// characters, line separators, marks that change the direction of text, and invalid UTF-8. Text from outside goes
// through it before a person sees it.
func Printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unprintable(r) && r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// unprintable reports whether a rune controls a terminal, breaks a line, or is one of the bidirectional marks
// (Unicode Bidi_Control).
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// red returns s in red where stderr takes colour (SGR 31 of ECMA-48).
func (s *Streams) red(text string) string {
	if !s.ErrColor {
		return text
	}
	return "\x1b[31m" + text + "\x1b[0m"
}

// clip cuts s to a number of columns and marks the cut. Runes of the scripts that have wide characters count as two
// columns, which errs on the short side.
func clip(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	const cut = "..."
	room := columns - len(cut)
	if room <= 0 {
		return strings.Repeat(".", max(columns, 0))
	}
	for i, r := range s {
		if room -= runeWidth(r); room < 0 {
			return s[:i] + cut
		}
	}
	return s
}

// Middle cuts s to a number of columns in its middle, so that both ends of a path can be read, and marks the cut. It
// counts columns as Width does.
func Middle(s string, columns int) string {
	const cut = "..."
	room := columns - len(cut)
	if Width(s) <= columns || room <= 0 {
		return clip(s, columns)
	}
	head := clip(s, room-room/2+len(cut))
	tail := s
	for Width(tail) > room/2 {
		_, n := utf8.DecodeRuneInString(tail)
		tail = tail[n:]
	}
	return head + tail
}

// Width is the number of columns that printable text takes on a terminal, at most: runes of the scripts that have wide
// characters count as two.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 2 from U+1100 on, where the wide characters begin (Unicode Standard Annex 11).
func runeWidth(r rune) int {
	if r >= 0x1100 {
		return 2
	}
	return 1
}

// duration writes a time as people read it: 2.3s below ten seconds, then 35s, 2m5s.
func duration(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func percent(done, total int64) string {
	return fmt.Sprintf("%d%%", int(100*float64(min(done, total))/float64(total)))
}

// size writes bytes in units of 1000, as the command line takes them.
func size(n int64) string {
	const step = 1000
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, units := float64(n)/step, "kMGTPE"
	for value >= step-0.05 && len(units) > 1 { // what would round to 1000.0
		value, units = value/step, units[1:]
	}
	return fmt.Sprintf("%.1f %cB", value, units[0])
}
