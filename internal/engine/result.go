package engine

import (
	"encoding/json"
	"fmt"
	"time"
)

// Result is what a paid call came to. Both doors render it.
type Result struct {
	Job      *JobInfo `json:"job,omitempty"`
	Assets   []Asset  `json:"assets"`
	Usage    *Usage   `json:"usage,omitempty"`
	Cost     Cost     `json:"cost"`
	Warnings []string `json:"warnings"`
	Plan     *Plan    `json:"plan,omitempty"`
}

// JobInfo names a job of the journal.
type JobInfo struct {
	ID       string    `json:"id"`
	State    string    `json:"state"`
	Provider string    `json:"provider"`
	Model    string    `json:"model"`
	Created  time.Time `json:"created"`
}

// Asset is a saved picture. Paths are absolute. A partial picture has Partial > 0; an asset in the spool has Spooled
// set and is not at its final name yet; one that only has a URL was made and not read.
type Asset struct {
	Path      string  `json:"path,omitempty"`
	URL       string  `json:"url,omitempty"`
	MediaType string  `json:"media_type,omitempty"`
	Bytes     int64   `json:"bytes,omitempty"`
	Width     int     `json:"width,omitempty"`  // pixels, upright
	Height    int     `json:"height,omitempty"` // pixels, upright
	DurationS float64 `json:"duration_s,omitempty"`
	SHA256    string  `json:"sha256,omitempty"`
	Index     int     `json:"index"`
	Partial   int     `json:"partial,omitempty"`
	Spooled   bool    `json:"spooled,omitempty"`
	NoPicture bool    `json:"no_picture,omitempty"` // a page, a program or unknown bytes came instead
	Sidecar   string  `json:"sidecar,omitempty"`
	Source    string  `json:"source,omitempty"` // the file that a compressed copy was made of
}

// Cost is money in US dollars. Micros is nil when the price is unknown, which is never shown as 0.
type Cost struct {
	Micros  *int64
	Basis   string // "reported", "estimated" or "unknown"
	Assumed bool   // the price table was borrowed from another model
	Why     string // why it is unknown
}

// The bases of a cost.
const (
	BasisReported  = "reported"
	BasisEstimated = "estimated"
	BasisUnknown   = "unknown"
)

// MarshalJSON writes the amount as a decimal number of dollars, or null.
func (c Cost) MarshalJSON() ([]byte, error) {
	out := struct {
		Amount   *json.Number `json:"amount"`
		Currency string       `json:"currency"`
		Basis    string       `json:"basis"`
		Assumed  bool         `json:"assumed,omitempty"`
		Why      string       `json:"why,omitempty"`
	}{Currency: "USD", Basis: c.Basis, Assumed: c.Assumed, Why: c.Why}
	if out.Basis == "" {
		out.Basis = BasisUnknown
	}
	if c.Micros != nil {
		n := json.Number(Dollars(*c.Micros))
		out.Amount = &n
	}
	return json.Marshal(out)
}

// String shows the cost to a person: "$0.0401 (reported)", "~$0.04 (estimated)", "unknown".
func (c Cost) String() string {
	if c.Micros == nil {
		return BasisUnknown
	}
	return fmt.Sprintf("%s (%s)", c.amount(), c.Basis)
}

// amount is a known cost without its basis.
func (c Cost) amount() string {
	if c.Assumed {
		return "~$" + Dollars(*c.Micros)
	}
	return "$" + Dollars(*c.Micros)
}

// Dollars writes micro-dollars as a decimal number with at least two and at most six places.
func Dollars(micros int64) string {
	sign, amount := "", uint64(micros) //nolint:gosec // made positive below
	if micros < 0 {
		sign, amount = "-", -amount // wraps to the magnitude, that of the smallest number too
	}
	text := fmt.Sprintf("%s%d.%06d", sign, amount/1_000_000, amount%1_000_000)
	for places := 6; places > 2 && text[len(text)-1] == '0'; places-- {
		text = text[:len(text)-1]
	}
	return text
}

// Plan is what --dry-run shows: the resolved request, where the files would go and what it is estimated to cost.
type Plan struct {
	Op           string   `json:"op"`
	Provider     string   `json:"provider"`
	Endpoint     string   `json:"endpoint"`
	Model        string   `json:"model"`
	N            int      `json:"n"`
	Size         string   `json:"size,omitempty"`
	Quality      string   `json:"quality,omitempty"`
	OutputFormat string   `json:"output_format,omitempty"`
	Paths        []string `json:"paths"`
	Estimate     Cost     `json:"estimate"`
	UpperBound   bool     `json:"upper_bound,omitempty"`
	Source       string   `json:"price_source,omitempty"`
	AsOf         string   `json:"price_as_of,omitempty"`
	RequestKey   string   `json:"request_key"`
	DryRun       bool     `json:"dry_run"`
}

// EventKind names what happened.
type EventKind string

// The events of a paid call, in the order in which they come.
const (
	EventSent     EventKind = "sent"     // the request is on its way
	EventRetrying EventKind = "retrying" // the server did not take it; it goes again after a pause
	EventPartial  EventKind = "partial"  // a partial picture was saved
	EventSaved    EventKind = "saved"    // a picture is at its final name
	EventReceived EventKind = "received" // bytes of a picture arrived
	EventWarning  EventKind = "warning"

	EventCompressing EventKind = "compressing" // so many pictures (Total) are about to be compressed
	EventCompressed  EventKind = "compressed"  // one more (Index) has ended, well or not
)

// Event is one step that a door may show.
type Event struct {
	Kind    EventKind
	Index   int           // picture, 0-based
	Total   int           // pictures asked for
	Bytes   int64         // of this picture so far
	Pause   time.Duration // before the next attempt
	Path    string
	Message string
}

// Progress receives events while a call runs. Calls come from one goroutine at a time; a nil Progress is fine.
type Progress interface {
	Event(e Event)
}
