package redact

import "strings"

// Scrubber takes secrets out of text that other code wrote: errors of SDKs and of net/http, panics, log records. It is
// safe for concurrent use.
type Scrubber struct {
	known *needles
	media bool // base64 and data URLs stay
}

// NewScrubber returns a Scrubber that also knows the values of the secrets, in the encodings in which they turn up:
// exact, URL-escaped, JSON-escaped and inside base64. Values shorter than 4 bytes are left out, for they would blot out
// ordinary words.
func NewScrubber(secrets ...Secret) *Scrubber {
	return &Scrubber{known: newNeedles(secrets)}
}

// WithMedia returns a Scrubber that leaves base64 and data URLs in, for logs whose reader asked for them. Secrets go as
// before, those inside base64 included.
func (s *Scrubber) WithMedia() *Scrubber { return &Scrubber{known: s.known, media: true} }

// String returns text with "[redacted]" in the place of known values, of the values of credential headers, signed query
// keys and credential fields, of API keys, tokens and private keys of known shapes and of the payload of data URLs, and
// with base64 of more than 64 characters replaced by its length. Scrubbed text stays as it is.
//
// It reads each byte a few times at most, whatever the text, and allocates only when it finds something.
func (s *Scrubber) String(text string) string {
	text = s.known.scrub(text)
	text = s.patterns(text)
	if s.media {
		return text
	}
	return cutRuns(text, func(run string) string { return "[base64, " + charCount(run) + "]" })
}

// edits builds a text from another one by replacing spans, in order. It allocates nothing before the first one.
type edits struct {
	text string
	done int // text[:done] is in out
	out  strings.Builder
}

func (e *edits) replace(from, to int, with string) {
	if e.done == 0 && e.out.Len() == 0 {
		e.out.Grow(len(e.text) + len(with))
	}
	e.out.WriteString(e.text[e.done:from])
	e.out.WriteString(with)
	e.done = to
}

func (e *edits) result() string {
	if e.done == 0 {
		return e.text
	}
	e.out.WriteString(e.text[e.done:])
	return e.out.String()
}
