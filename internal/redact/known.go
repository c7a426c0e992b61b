package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	minKnown       = 4  // bytes of the shortest value that is looked for
	minKnownBase64 = 5  // characters of the shortest base64 of a value that is looked for
	minKnownLine   = 16 // bytes of the shortest line of a value of many lines that is looked for by itself
	minKnownRest   = 12 // bytes of the shortest rest of a key that is looked for without its prefix
	maxKnownRests  = 4  // prefixes that are taken off a key at most
)

// needles finds known strings in one pass. A bit for each pair of first bytes keeps the pass as fast as reading.
type needles struct {
	pairs    [1 << 16 / 64]uint64
	byPair   map[uint16][]string
	anything bool
}

func newNeedles(secrets []Secret) *needles {
	n := &needles{byPair: map[uint16][]string{}}
	for _, s := range secrets {
		for _, v := range variants(s.Reveal()) {
			n.add(v)
		}
	}
	return n
}

func (n *needles) add(v string) {
	if len(v) < minKnown {
		return
	}
	pair := pairAt(v, 0)
	if slices.Contains(n.byPair[pair], v) {
		return
	}
	n.byPair[pair] = append(n.byPair[pair], v)
	n.pairs[pair/64] |= 1 << (pair % 64)
	n.anything = true
}

func pairAt(s string, i int) uint16 { return uint16(s[i])<<8 | uint16(s[i+1]) }

// scrub replaces every stretch that known values cover. Values that overlap are one stretch, so that no end of one
// stays behind.
func (n *needles) scrub(text string) string {
	if !n.anything {
		return text
	}
	e := edits{text: text}
	from, to := 0, 0
	for i := 0; i+1 < len(text); i++ {
		pair := pairAt(text, i)
		if n.pairs[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		length := n.longest(pair, text[i:])
		if length == 0 {
			continue
		}
		if to > from && i > to {
			e.replace(from, to, mark)
			from, to = i, i
		}
		if to == from {
			from = i
		}
		to = max(to, i+length)
	}
	if to > from {
		e.replace(from, to, mark)
	}
	return e.result()
}

// longest returns the length of the longest known value that text begins with, 0 for none.
func (n *needles) longest(pair uint16, text string) int {
	length := 0
	for _, v := range n.byPair[pair] {
		if len(v) > length && strings.HasPrefix(text, v) {
			length = len(v)
		}
	}
	return length
}

// variants returns the forms in which a value turns up in messages.
func variants(value string) []string {
	forms := []string{value, strings.TrimSpace(value)}
	if strings.ContainsAny(value, "\r\n") {
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minKnownLine {
				forms = append(forms, line)
			}
		}
	}
	forms = append(forms, rests(strings.TrimSpace(value))...)
	all := slices.Clone(forms)
	for _, form := range forms {
		if len(form) < minKnown {
			continue
		}
		all = append(all, escaped(form)...)
		all = append(all, encoded(form)...)
	}
	return all
}

// rests returns what follows each of the first separators of a key: who repeats one may leave out its prefix, sk- or
// sk-proj-. A value with other characters than those of keys has no prefix.
func rests(key string) []string {
	var forms []string
	if strings.ContainsFunc(key, func(r rune) bool { return r >= 0x80 || !inName[r] }) {
		return nil
	}
	for range maxKnownRests {
		at := strings.IndexAny(key, "-_")
		if at < 0 || len(key)-at-1 < minKnownRest {
			return forms
		}
		key = key[at+1:]
		forms = append(forms, key)
	}
	return forms
}

// escaped returns a value as URLs and JSON carry it.
func escaped(value string) []string {
	lower := regexp.MustCompile(`%[0-9A-F]{2}`)
	var forms []string
	for _, form := range []string{url.QueryEscape(value), url.PathEscape(value)} {
		forms = append(forms, form, lower.ReplaceAllStringFunc(form, strings.ToLower))
	}
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if err := enc.Encode(value); err == nil { // a string always encodes
			text := strings.TrimSuffix(b.String(), "\n")
			forms = append(forms, text[1:len(text)-1])
		}
	}
	return forms
}

// encoded returns what is always there when base64 of some text contains value: the text before it shifts its bits in
// three ways, and the characters at its ends also depend on its neighbours.
func encoded(value string) []string {
	var forms []string
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before, skip := range []int{0, 2, 3} {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
			form := text[skip : (before+len(value))*8/6]
			if len(form) >= minKnownBase64 {
				forms = append(forms, form)
			}
		}
	}
	return forms
}
