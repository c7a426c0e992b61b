// Package redact keeps secrets out of what people and programs read: a Secret type that no formatting prints, and a
// scrubber for text that other code wrote.
//
// It decides nothing about where secrets come from, and it is the last line of defence, not the first: code that builds
// messages leaves secrets, base64 and signed URLs out by itself.
package redact

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// What stands in the place of a secret.
const (
	mark      = "[redacted]"
	unsetMark = "[unset]"
)

// Secret holds a value that only Reveal gives out. The value sits in a closure, for a string in an unexported field is
// still printed by the fmt verbs of a struct around it. The zero value is unset.
type Secret struct {
	reveal func() string
}

// NewSecret wraps s; an empty s gives an unset Secret.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{reveal: func() string { return s }}
}

// Reveal returns the value, "" when it is unset. Only code that sends the secret to its owner calls it.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.reveal != nil }

// Equal reports whether both hold the same value. Its time does not depend on where two values differ.
func (s Secret) Equal(o Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(o.Reveal())) == 1
}

// String returns "[redacted]" or "[unset]".
func (s Secret) String() string {
	if s.IsSet() {
		return mark
	}
	return unsetMark
}

// GoString returns what String returns.
func (s Secret) GoString() string { return s.String() }

// Format prints what String returns, whatever the verb and its flags.
func (s Secret) Format(f fmt.State, _ rune) {
	// A fmt.State keeps the error of its writer and fmt reports it; there is nobody to tell here.
	_, _ = io.WriteString(f, s.String())
}

// MarshalText returns what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON returns what String returns as a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// LogValue returns what String returns.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
