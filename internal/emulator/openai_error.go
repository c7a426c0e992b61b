package emulator

import (
	"fmt"
	"net/http"
)

// apiError is OpenAI's error object, {"error":{"message","type","param","code"}}, with the status and headers that go
// with it.
type apiError struct {
	status int
	header map[string]string

	Message    string             `json:"message"`
	Type       string             `json:"type"`
	Param      *string            `json:"param"`
	Code       *string            `json:"code"`
	Moderation *moderationDetails `json:"moderation_details,omitempty"`
}

// moderationDetails says at which stage and for what the safety system refused.
type moderationDetails struct {
	Stage      string   `json:"moderation_stage"` // input, output or unknown
	Categories []string `json:"categories"`
}

// newAPIError returns an error object; an empty code or param is sent as null, as OpenAI does.
func newAPIError(status int, kind, code, param, format string, args ...any) *apiError {
	return &apiError{
		status: status, Message: fmt.Sprintf(format, args...), Type: kind,
		Code: orNull(code), Param: orNull(param),
	}
}

// badRequest returns a 400 of type invalid_request_error.
func badRequest(param, code, format string, args ...any) *apiError {
	return newAPIError(http.StatusBadRequest, "invalid_request_error", code, param, format, args...)
}

// at returns the same error under another status.
func (e *apiError) at(status int) *apiError {
	e.status = status
	return e
}

func missingKey() *apiError {
	return newAPIError(http.StatusUnauthorized, "invalid_request_error", "", "",
		"no API key came with this request: send an Authorization header with Bearer and any key, or an api-key header")
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// fail answers with an error object.
func (x *exchange) fail(e *apiError) {
	for k, v := range e.header {
		x.w.Header().Set(k, v)
	}
	x.sendJSON(e.status, map[string]any{"error": e})
}

// unknownRoute answers for every path and method that the route table does not have.
func unknownRoute(x *exchange) {
	x.fail(newAPIError(http.StatusNotFound, "invalid_request_error", "", "",
		"invalid URL (%s %s)", clip(x.r.Method, 20), clip(x.r.URL.Path, 200)))
}
