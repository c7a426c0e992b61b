package catalog

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const dateLayout = "2006-01-02"

// Date is a calendar day. The day begins at 00:00 UTC, because the vendors name days without a time and the earliest
// reading is the safe one. The zero Date means that no day is known.
type Date struct{ day time.Time }

// NewDate returns the day that contains year, month and day in UTC.
func NewDate(year int, month time.Month, day int) Date {
	return Date{day: time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

// Start returns 00:00 UTC of the day; the zero time for the zero Date.
func (d Date) Start() time.Time { return d.day }

// IsZero reports whether no day is known.
func (d Date) IsZero() bool { return d.day.IsZero() }

// Equal reports whether both are the same day.
func (d Date) Equal(o Date) bool { return d.day.Equal(o.day) }

// String returns the day as 2026-11-30, or "" for the zero Date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return d.day.Format(dateLayout)
}

// MarshalJSON writes the day as "2026-11-30" and the zero Date as "".
func (d Date) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalYAML reads 2026-11-30. An empty string is the zero Date, so that a user's row can lift a date.
func (d *Date) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode && node.Value == "" {
		*d = Date{}
		return nil
	}
	day, err := time.Parse(dateLayout, node.Value)
	if node.Kind != yaml.ScalarNode || err != nil || day.Year() < 2000 {
		return badValue(node, "must be a day such as 2026-11-30")
	}
	*d = Date{day: day}
	return nil
}

// USD is an amount of money in integer micro-dollars: 1_000_000 is one dollar.
type USD int64

// maxUSD bounds every price in a catalog file. It lies far above any price and keeps sums inside 64 bits.
const maxUSD = USD(100_000 * 1_000_000)

// String returns the amount in dollars without trailing zeros: "0.053", "30".
func (u USD) String() string {
	sign, v := "", int64(u)
	if v < 0 {
		sign = "-"
	}
	whole, part := magnitude(v)/1_000_000, magnitude(v)%1_000_000
	if part == 0 {
		return sign + strconv.FormatUint(whole, 10)
	}
	return sign + strings.TrimRight(fmt.Sprintf("%d.%06d", whole, part), "0")
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return uint64(-(v + 1)) + 1 //nolint:gosec // -(v+1) is not negative
	}
	return uint64(v)
}

// MarshalJSON writes the amount in dollars as an exact decimal number.
func (u USD) MarshalJSON() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalYAML reads dollars as a plain decimal with at most six places. Binary floats are never involved.
func (u *USD) UnmarshalYAML(node *yaml.Node) error {
	v, ok := parseUSD(node.Value)
	if node.Kind != yaml.ScalarNode || !ok {
		return badValue(node, "must be dollars from 0 to 100000 with at most six decimal places, such as 0.053")
	}
	*u = v
	return nil
}

func parseUSD(text string) (USD, bool) {
	whole, part, dotted := strings.Cut(text, ".")
	if !digits(whole, 6) || dotted && !digits(part, 6) {
		return 0, false
	}
	v, err := strconv.ParseInt(whole+part+strings.Repeat("0", 6-len(part)), 10, 64)
	if err != nil || USD(v) > maxUSD {
		return 0, false
	}
	return USD(v), true
}

// digits reports whether s is made of 1 to maxLen decimal digits.
func digits(s string, maxLen int) bool {
	if s == "" || len(s) > maxLen {
		return false
	}
	return strings.Trim(s, "0123456789") == ""
}

// badValue is an error that the decoder collects with the others instead of stopping at the first.
func badValue(node *yaml.Node, rule string) error {
	shown := node.Value
	if node.Kind != yaml.ScalarNode {
		shown = "a list or a map"
	}
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: `%s` %s", node.Line, shown, rule)}}
}
