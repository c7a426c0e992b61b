package journal

import (
	"encoding/json"
	"time"
)

// The bases of a cost, as Job.CostBasis and Update.CostBasis name them (design.md §7).
const (
	CostReported  = "reported"  // computed from usage that the provider reported
	CostEstimated = "estimated" // taken from the price table
	CostUnknown   = "unknown"   // never to be read as 0
)

// Job is the record of one paid call.
type Job struct {
	ID         string // 12 lower-case Crockford base32 characters; sorts by time of creation
	RequestKey string // sha256 over the canonical request, as the engine computes it
	Tool       string
	Op         string
	Provider   string
	Model      string
	Endpoint   string
	Project    string
	State      State

	ProviderJob string // the provider's id of the job, operation or interaction
	RequestID   string // the provider's id of the HTTP request

	Prompt    string          // empty when prompts are not kept
	PromptLen int             // bytes of the prompt; kept always
	PromptSHA string          // the first 16 hex digits of the prompt's sha256; kept always; empty without a prompt
	Params    json.RawMessage // the request's parameters without the prompt
	Targets   []string        // planned final paths

	Created time.Time // UTC, microseconds
	Updated time.Time // UTC, microseconds
	SentAt  time.Time // zero while the request provably never left

	EstimateMicros *int64 // micro-dollars; nil = unknown
	CostMicros     *int64 // micro-dollars; nil = unknown
	CostBasis      string // CostReported, CostEstimated, CostUnknown, or empty before anything is known
	Usage          json.RawMessage

	ErrorKind    string
	ErrorCode    string
	ErrorMessage string
	Billed       string // "no", "maybe", "yes", or empty

	PID    int    // the process that created the row
	BootID string // tells that process from a later one with the same PID; see Owner

	Assets []Asset // ordered by Index, then Partial
}

// Asset is one picture, video or other file of a job. Index and Partial identify it within the job.
type Asset struct {
	Index     int // 0-based position in the reply
	Partial   int // 0 for the final asset; 1.. for the k-th partial
	Path      string
	MIME      string
	SHA256    string // hex
	URL       string
	SpoolPath string // set while the paid bytes lie in the spool instead of at Path
	Bytes     int64
	Width     int
	Height    int
	DurationS float64 // seconds
}

// JobError is the failure that a job ended with, in words that are safe to print.
type JobError struct{ Kind, Code, Message, Billed string }

// Update is a change to a job. Zero fields keep what is there.
type Update struct {
	// State is the state to move to; "" keeps the current one.
	State State
	// Sent says that the request is about to leave. It is short for State StateSent and goes with no other: the job
	// must be planned, becomes sent and gets its SentAt. So a job is sent once, by one process, and a job that was
	// cancelled meanwhile is not sent at all.
	Sent        bool
	RequestID   *string
	ProviderJob *string
	CostMicros  *int64 // micro-dollars
	CostBasis   *string
	Usage       json.RawMessage
	Err         *JobError
	Assets      []Asset // inserted or replaced by Index and Partial
}

// Filter selects jobs. Zero fields select everything.
type Filter struct {
	States   []State
	Provider string
	Model    string
	Since    time.Time // created at or after
	Until    time.Time // created before
	Limit    int       // 0 = all
	After    string    // id of the last job of the page before
}

// Options are the settings of Open.
type Options struct {
	Now         func() time.Time // nil = time.Now
	BusyTimeout time.Duration    // how long to wait for another process's write; 0 = 1 min
	KeepPrompts bool             // false: only length and hash of a prompt are stored
}
