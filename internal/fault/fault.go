// Package fault gives the leaf packages one error type with a stable code, so that the engine can translate every
// failure into its own error kinds with one table.
//
// It knows codes, messages and hints. It does not know exit codes, HTTP statuses or MCP results: the engine and the two
// doors own those. A message must be safe to print: no secret, no base64, no prompt, no URL query.
package fault

import (
	"errors"
	"fmt"
)

// Code is a stable, machine-readable name of a failure. Codes never change their meaning once released.
type Code string

// The codes that leaf packages raise.
const (
	InvalidURL           Code = "invalid_url"
	UnsupportedURLScheme Code = "unsupported_url_scheme"
	URLNotAllowed        Code = "url_not_allowed"
	SSRFDenied           Code = "ssrf_denied"
	PortDenied           Code = "port_denied"
	DNSFailed            Code = "dns_failed"
	RedirectDenied       Code = "redirect_denied"
	FetchTimeout         Code = "fetch_timeout"
	FetchFailed          Code = "fetch_failed"
	FetchTruncated       Code = "fetch_truncated"
	EncodingDenied       Code = "encoding_denied"
	ItemTooLarge         Code = "item_too_large"
	RequestTooLarge      Code = "request_too_large"
	TooManyItems         Code = "too_many_items"
	AudioTooLong         Code = "audio_too_long"
	PixelsExceeded       Code = "pixels_exceeded"
	FramesExceeded       Code = "frames_exceeded"
	MIMEDenied           Code = "mime_denied"
	MIMEMismatch         Code = "mime_mismatch"
	InvalidImage         Code = "invalid_image"
	InvalidBase64        Code = "invalid_base64"
	ConstraintUnmet      Code = "constraint_unmet" // a byte budget or a floor of quality that no encoding reaches
	PathDenied           Code = "path_denied"
	PathInvalid          Code = "path_invalid"
	NotRegular           Code = "not_regular"
	NotFound             Code = "not_found"
	Exists               Code = "exists"
	ReadOnly             Code = "read_only"
	DiskFull             Code = "disk_full"
	IOFailed             Code = "io_failed"
	PolicyInvalid        Code = "policy_invalid"
	ConfigInvalid        Code = "config_invalid"
	UnsupportedModality  Code = "unsupported_modality"
	UnsupportedOperation Code = "unsupported_operation"
	JobNotFound          Code = "job_not_found"
	JournalBroken        Code = "journal_broken"
	InvalidArgument      Code = "invalid_argument"
	InvalidRequest       Code = "invalid_request"
	TextOnlyTool         Code = "text_only_tool"
)

// Error is a failure with a stable code. Message says what is wrong and what would be right, in lower case without a
// full stop; Hint names the next step, if there is one.
type Error struct {
	Code    Code
	Message string
	Hint    string
	cause   error
}

// New returns an *Error with a formatted message. A %w verb keeps the cause for errors.Is and errors.As.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Caused returns an *Error whose message does not repeat the cause's text, for causes that may carry foreign words.
func Caused(code Code, cause error, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), cause: cause}
}

// WithHint returns a copy of e that carries a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of the first *Error in err's chain, or "" when there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
