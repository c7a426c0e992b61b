package redact

import "strings"

const (
	minToken  = 8   // characters of the shortest token behind a known prefix
	minJWT    = 20  // characters of the shortest JSON web token, and behind the "AQ." of a Google key
	maxName   = 64  // characters looked at to find the name before a value
	maxDataID = 128 // characters of the longest media type in a data URL
)

// The tables that the passes over a text use.
//
//nolint:gochecknoglobals // tables
var (
	// anchors are characters that every pattern has and that ordinary text has rarely.
	anchors = tableOf(":=%-zbB9JQ")
	// inToken marks characters of keys and tokens, the asterisks and dots of shortened ones, and base64.
	inToken = tableOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=~.*")
	// inName marks characters of header, field and query names.
	inName = tableOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
	// inMediaType marks characters between "data:" and the comma (RFC 2397), quotes left out.
	inMediaType = tableOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-/;=%*'")
)

// span is a stretch of text that must go; it is empty when from == to.
type span struct{ from, to int }

// patterns replaces what looks like a credential by its place or its shape, and the payload of data URLs.
func (s *Scrubber) patterns(text string) string {
	e := edits{text: text}
	for i := 0; i < len(text); i++ {
		if !anchors[text[i]] {
			continue
		}
		at := s.spanAt(text, i)
		at.from = max(at.from, e.done)
		if at.to <= at.from || isMark(text[at.from:at.to]) {
			continue
		}
		e.replace(at.from, at.to, mark)
		i = max(i, at.to-1)
	}
	return e.result()
}

func isMark(s string) bool { return s == mark || s == unsetMark }

// spanAt returns the credential, or the data URL's payload, whose anchor is text[i].
func (s *Scrubber) spanAt(text string, i int) span {
	switch text[i] {
	case ':':
		if payload := dataURL(text, i); payload.to > 0 && !s.media {
			return payload
		}
		return namedValue(text, i, i+1)
	case '=':
		return namedValue(text, i, i+1)
	case '%':
		return escapedQuery(text, i)
	case 'b', 'B':
		return bearer(text, i)
	case '-':
		if strings.HasPrefix(text[i:], "-----BEGIN ") {
			return privateKey(text, i)
		}
		return prefixed(text, i, "sk-", minToken)
	case 'z':
		return prefixed(text, i+1, "AIza", minToken)
	case '9':
		return prefixed(text, i+1, "ya29.", minToken)
	case 'Q':
		return prefixed(text, i+1, "AQ.", minJWT)
	default:
		return jwt(text, i)
	}
}

// prefixed finds a key with the prefix whose last character is text[last], with min characters or more behind it.
func prefixed(text string, last int, prefix string, minimum int) span {
	from := last + 1 - len(prefix)
	if from < 0 || !strings.HasPrefix(text[from:], prefix) || !startsWord(text, from) {
		return span{}
	}
	to := tokenEnd(text, last+1)
	if to-last-1 < minimum {
		return span{}
	}
	return span{from, to}
}

// jwt finds a JSON web token (RFC 7519), whose header always begins with "eyJ" and whose parts are joined with dots. It
// looks only at the start of a run of its characters, so that no run is read more than once.
func jwt(text string, i int) span {
	const prefix = "eyJ"
	from := i + 1 - len(prefix)
	inside := func(k int) bool { return inName[text[k]] || text[k] == '.' }
	if from < 0 || text[from:i+1] != prefix || !startsWord(text, from) {
		return span{}
	}
	if from > 0 && inside(from-1) && !isAlnum(text[from-1]) {
		return span{}
	}
	to := i + 1
	for to < len(text) && inside(to) {
		to++
	}
	if to-from < minJWT || !strings.Contains(text[from:to], ".") {
		return span{}
	}
	return span{from, to}
}

// bearer finds the token behind the word "bearer".
func bearer(text string, i int) span {
	const word = "bearer"
	if i+len(word) > len(text) || !strings.EqualFold(text[i:i+len(word)], word) {
		return span{}
	}
	from := skip(text, i+len(word), " \t")
	if from == i+len(word) {
		return span{}
	}
	to := tokenEnd(text, from)
	token := text[from:to]
	prose := strings.EqualFold(token, "authentication") || strings.EqualFold(token, "authorization")
	if len(token) < minToken || prose {
		return span{}
	}
	return span{from, to}
}

// privateKey finds a PEM block (RFC 7468) of a private key, also when its end is missing.
func privateKey(text string, i int) span {
	const head, tail = "PRIVATE KEY-----", "-----END "
	label := text[i:min(len(text), i+maxName)]
	begin := strings.Index(label, head)
	if begin < 0 {
		return span{}
	}
	from := i + begin + len(head)
	if end := strings.Index(text[from:], tail); end >= 0 {
		return span{from, from + end}
	}
	return span{from, len(text)}
}

// dataURL finds the payload of a data URL whose colon is text[i].
func dataURL(text string, i int) span {
	const scheme = "data"
	from := i - len(scheme)
	if from < 0 || !strings.EqualFold(text[from:i], scheme) || !startsWord(text, from) {
		return span{}
	}
	comma := i + 1
	for comma < len(text) && comma-i <= maxDataID && inMediaType[text[comma]] {
		comma++
	}
	if comma == len(text) || text[comma] != ',' {
		return span{}
	}
	media := text[i+1 : comma]
	if media != "" && !strings.ContainsAny(media, "/;") {
		return span{}
	}
	return span{comma + 1, wordEnd(text, comma+1)}
}

// startsWord reports whether a word can begin at text[i]: no letter or digit stands before it, unless that is the end
// of an escape such as \n, %20 or \u0026.
func startsWord(text string, i int) bool {
	if i == 0 || !isAlnum(text[i-1]) {
		return true
	}
	return (i >= 2 && text[i-2] == '\\') ||
		(i >= 3 && text[i-3] == '%') ||
		(i >= 6 && text[i-6] == '\\' && text[i-5] == 'u')
}

func isAlnum(c byte) bool { return inName[c] && c != '-' && c != '_' }

func tokenEnd(text string, i int) int {
	for i < len(text) && inToken[text[i]] {
		i++
	}
	return i
}

// wordEnd returns the end of what has no white space, quotes, angle brackets or backslashes.
func wordEnd(text string, i int) int {
	for i < len(text) && !endsWord(text[i]) {
		i++
	}
	return i
}

func endsWord(c byte) bool { return c <= ' ' || c == 0x7f || strings.IndexByte("\"'`<>\\", c) >= 0 }

func skip(text string, i int, chars string) int {
	for i < len(text) && strings.IndexByte(chars, text[i]) >= 0 {
		i++
	}
	return i
}
