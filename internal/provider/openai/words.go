package openai

import (
	"strings"
	"unicode"

	"mediagen/internal/engine"
)

const (
	maxForeign      = 8 << 10 // bytes of a server's words that are looked at
	maxErrorMessage = 300     // runes of them that are shown
	echo            = 16      // runes in a row that count as a repetition of the prompt
	shortPrompt     = 4       // runes below which a prompt is looked for between quotes only
)

// foreign makes a server's words fit to print: one line without control characters, keys, base64 or the prompt.
func (c *Client) foreign(text string, call engine.ImageCall) string {
	if len(text) > maxForeign {
		text = text[:1+strings.LastIndexByte(text[:maxForeign], ' ')] // half a key would not be recognised
	}
	text = oneLine(text)
	text = c.clean(withoutPrompt(text, oneLine(call.Prompt)))
	runes := []rune(text)
	if len(runes) <= maxErrorMessage {
		return text
	}
	return string(runes[:maxErrorMessage]) + "..."
}

// oneLine drops characters that act on a terminal or hide text, and joins white space.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return strings.Join(strings.Fields(text), " ")
}

// withoutPrompt blanks every stretch that repeats the prompt or a part of it: servers quote, shorten and escape it.
func withoutPrompt(text, prompt string) string {
	folded, want := fold(text), fold(prompt)
	if len(want) == 0 {
		return text
	}
	if len(want) < shortPrompt {
		return unquoted(text, prompt)
	}
	size := min(len(want), echo)
	grams := make(map[string]bool, len(want))
	for i := 0; i+size <= len(want); i++ {
		grams[string(want[i:i+size])] = true
	}
	var out strings.Builder
	shown, hidden := 0, 0 // runes written; end of the last stretch that repeats
	runes := []rune(text)
	for i := 0; i+size <= len(folded); i++ {
		if !grams[string(folded[i:i+size])] {
			continue
		}
		if i > hidden || hidden == 0 {
			out.WriteString(string(runes[shown:max(i, shown)]))
			out.WriteString("[prompt]")
		}
		hidden = i + size
		shown = hidden
	}
	out.WriteString(string(runes[shown:]))
	return out.String()
}

// fold lowers case rune by rune, so that positions stay.
func fold(text string) []rune {
	runes := []rune(text)
	for i, r := range runes {
		runes[i] = unicode.ToLower(r)
	}
	return runes
}

// unquoted blanks a prompt of a few letters where it stands between quotes; elsewhere it is a part of other words.
func unquoted(text, prompt string) string {
	for _, q := range []string{"''", `""`, "``", "\u2018\u2019", "\u201c\u201d"} {
		marks := []rune(q)
		open, end := string(marks[0]), string(marks[1])
		text = strings.ReplaceAll(text, open+prompt+end, open+"[prompt]"+end)
	}
	return text
}
