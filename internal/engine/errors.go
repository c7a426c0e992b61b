package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"mediagen/internal/fault"
)

// Kind says what a failure means to the caller. Each door translates it once: the command line into an exit code,
// the MCP server into a result.
type Kind string

// The kinds of failure, as design.md §9 lists them.
const (
	KindFailure        Kind = "failure"         // local I/O, full disk, job failed or expired at the provider
	KindInvalidRequest Kind = "invalid_request" // the request can never work as it stands
	KindUnsupported    Kind = "unsupported"     // valid, but this model, provider or build cannot do it
	KindNotFound       Kind = "not_found"       // a job, file or model that is not there
	KindExists         Kind = "exists"          // the target exists and --overwrite was not given
	KindAuth           Kind = "auth"            // missing, wrong or unverified credentials
	KindConfig         Kind = "config"          // a setting that cannot be used
	KindPolicyDenied   Kind = "policy_denied"   // path, URL, media type or bound
	KindBlocked        Kind = "blocked"         // the provider's safety system said no
	KindRateLimited    Kind = "rate_limited"    // too many requests just now
	KindQuota          Kind = "quota"           // quota, credit or billing limit
	KindUnavailable    Kind = "unavailable"     // provider or network down
	KindUnknownOutcome Kind = "unknown_outcome" // the request was sent and no usable answer came
	KindConstraint     Kind = "constraint"      // byte budget or exact size cannot be met
	KindModelRetired   Kind = "model_retired"   // the vendor ended the model
	KindOverBudget     Kind = "over_budget"     // the estimate exceeds the cap
	KindPartial        Kind = "partial"         // some items made it
	KindWaitTimeout    Kind = "wait_timeout"    // the wait ended, the job goes on
	KindInterrupted    Kind = "interrupted"     // SIGINT
	KindTerminated     Kind = "terminated"      // SIGTERM
)

// ErrInput marks a failure to read a local input while a request was being sent.
var ErrInput = errors.New("input cannot be read")

// Billed says whether a failed call may have cost money.
type Billed string

// The three answers that an error gives about money.
const (
	BilledNo    Billed = "no"
	BilledMaybe Billed = "maybe"
	BilledYes   Billed = "yes"
)

// Error is a failure as both doors show it. Message and Hint are safe to print: no key, base64, prompt or signed URL.
type Error struct {
	Kind       Kind
	Code       fault.Code    // stable name; provider codes such as "moderation_blocked" pass through
	Op         string        // "images generate"
	Provider   string        // "openai", "azure", "emulator"; empty for local failures
	Message    string        // what is wrong and what would be right
	Hint       string        // the next step
	RequestID  string        // the provider's id of the request, if it sent one
	RetryAfter time.Duration // what the provider asked for; 0 when unknown
	Billed     Billed        // empty counts as BilledNo
	cause      error
}

// Errorf returns an *Error of the given kind and code; %w keeps a cause.
func Errorf(kind Kind, code fault.Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// WithHint returns a copy of e that carries a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithCause returns a copy of e that unwraps to cause without repeating its text.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Bill returns a copy of e that says whether the call may have cost money.
func (e *Error) Bill(b Billed) *Error {
	c := *e
	c.Billed = b
	return &c
}

// Error returns the message, led by the provider where one spoke.
func (e *Error) Error() string {
	if e.Provider == "" || strings.HasPrefix(e.Message, e.Provider) {
		return e.Message
	}
	return e.Provider + ": " + e.Message
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }
