package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"mediagen/internal/param"
	"mediagen/internal/redact"
)

// origin is where a value was found.
type origin struct {
	text    string // as Origin.From
	workDir bool   // a file of the working directory said it
}

func fromDefault() origin { return origin{text: "default"} }

// found is a value and its origin.
type found struct {
	value  raw
	origin origin
}

// layer is what one source says, by key. Nothing unset is in it.
type layer map[string]found

// show writes a typed value for people: secrets redacted, URLs without user and query.
func (s Setting) show(value any) string {
	switch v := value.(type) {
	case nil:
		if s.Secret {
			return redact.Secret{}.String()
		}
		return ""
	case redact.Secret:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case time.Duration:
		return v.String()
	case int64:
		return s.showAmount(v)
	case []string:
		return strings.Join(s.showEach(v), ",")
	case []int:
		texts := make([]string, len(v))
		for i, n := range v {
			texts[i] = strconv.Itoa(n)
		}
		return strings.Join(texts, ",")
	case string:
		return s.showEach([]string{v})[0]
	}
	return fmt.Sprint(value)
}

func (s Setting) showAmount(n int64) string {
	if s.Kind == KindBytes {
		return param.FormatSize(n)
	}
	if n == 0 {
		return "none"
	}
	return FormatMoney(n)
}

func (s Setting) showEach(values []string) []string {
	if s.Kind != KindURL && s.Kind != KindURLs && s.Kind != KindProxy {
		return values
	}
	out := make([]string, len(values))
	for i, v := range values {
		if v != "" {
			v = redact.URL(v)
		}
		out[i] = v
	}
	return out
}

// quote shows a value that somebody got wrong: never a secret's, never long, and without what looks like a key.
func (s Setting) quote(r raw) string {
	if s.Secret || s.Kind == KindProxy {
		return "the value"
	}
	text := r.text
	if r.list {
		text = strings.Join(r.items, ",")
	}
	if s.Kind == KindURL {
		text = redact.URL(text)
	}
	return quoted(text)
}

// quoted is text between quotes for a message: cut, and scrubbed of what looks like a key.
func quoted(text string) string {
	return strconv.Quote(cut(redact.NewScrubber().String(text)))
}

func cut(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "..."
}
