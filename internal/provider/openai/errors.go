package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// Codes of requests that were sent and did not end well.
const (
	codeNoAnswer fault.Code = "no_answer"      // no reply, or only a part of one
	codeUnusable fault.Code = "unusable_reply" // a reply that is none
)

// failure is a failed attempt: what to tell, and whether the server provably did not take the request.
type failure struct {
	err   *engine.Error
	again bool
}

func (c *Client) errorf(kind engine.Kind, code fault.Code, format string, args ...any) *engine.Error {
	e := engine.Errorf(kind, code, format, args...)
	e.Provider = c.cfg.Name
	return e
}

// unbuilt is a call that cannot be put on the wire.
func (c *Client) unbuilt(cause error) *engine.Error {
	return c.errorf(engine.KindInvalidRequest, fault.InvalidRequest,
		"the request cannot be written: an extra parameter is not JSON, or a file's name or type is not usable").
		WithCause(cause)
}

// classify turns what one attempt came to into our terms.
func (c *Client) classify(ctx context.Context, err error, d *delivery, call engine.ImageCall) failure {
	switch {
	case d.answer != nil:
		return inTime(ctx, c.refused(d.answer, call))
	case d.written.Load():
		return failure{err: c.unknown(ctx, err)}
	}
	return c.undelivered(ctx, err, d)
}

// inTime adds to a refusal that the time limit of ctx ends before the pause that the server asked for. Nothing is sent
// again then.
func inTime(ctx context.Context, f failure) failure {
	end, limited := ctx.Deadline()
	if !f.again || !limited || f.err.RetryAfter == 0 || time.Until(end) > f.err.RetryAfter {
		return f
	}
	e := *f.err
	e.Message += "; it may be sent again in " + e.RetryAfter.String() + ", after the time limit"
	return failure{err: &e}
}

// unknown is a request that was sent whole and got no usable answer.
func (c *Client) unknown(ctx context.Context, cause error) *engine.Error {
	what := "the connection was lost after the request was sent"
	switch {
	case timedOut(ctx.Err()), ctx.Err() == nil && timedOut(cause):
		what = "no complete answer came within the time limit"
	case ctx.Err() != nil:
		what = "the wait was broken off after the request was sent"
	}
	return c.errorf(engine.KindUnknownOutcome, codeNoAnswer, "%s; it may have been billed", what).
		WithCause(cause).Bill(engine.BilledMaybe)
}

// timedOut reports whether err is the end of a time limit: the caller's or the HTTP client's.
func timedOut(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	n, ok := errors.AsType[net.Error](err)
	return ok && n.Timeout()
}

// stopped is a call that the caller ended while no request was under way.
func (c *Client) stopped(cause error) *engine.Error {
	return c.errorf(engine.KindInterrupted, "interrupted", "stopped before the request was sent; nothing was billed").
		WithCause(cause)
}

// undelivered is a request that did not leave whole, so no server can have acted on it.
func (c *Client) undelivered(ctx context.Context, cause error, d *delivery) failure {
	in, local := errors.AsType[*inputError](cause)
	switch {
	case timedOut(ctx.Err()):
		return failure{err: c.errorf(engine.KindUnavailable, "timeout",
			"the time limit ended before the request was sent; nothing was billed").WithCause(cause)}
	case ctx.Err() != nil:
		return failure{err: c.stopped(cause)}
	case local:
		e := engine.Errorf(engine.KindFailure, fault.IOFailed, "%s; nothing was billed", in.Error())
		return failure{err: e.WithCause(cause)}
	case !d.dialed.Load():
		return failure{err: c.unbuilt(cause)}
	}
	what, again := "the connection broke before the request was sent whole", false
	if !d.connected.Load() {
		what, again = unreachable(cause)
		what = "cannot connect to " + c.base.Host + ": " + what
	}
	e := c.errorf(engine.KindUnavailable, "connection_failed", "%s; nothing was billed", what).WithCause(cause).
		WithHint("check the network, the proxy settings and the base URL %s", c.Endpoint())
	return failure{err: e, again: again}
}

// unreachable says why there is no connection, and whether another attempt makes sense: after a refusal it does, for a
// server may be starting; a wrong name or certificate stays wrong, and a time limit has been long enough.
func unreachable(err error) (why string, again bool) {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted", false
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok && name.IsNotFound {
		return "there is no such host", false
	}
	if timedOut(err) {
		return "no connection within the time limit", false
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return "no server answers there", true
	}
	return "no connection could be set up", false
}

// codeOr returns a server's code if it can stand in our errors, else other: a number says no more than the status, and
// free words may repeat anything.
func (c *Client) codeOr(code string, other fault.Code) fault.Code {
	if code == "" || '0' <= code[0] && code[0] <= '9' || !isName(code, 64, "_.-") || c.clean(code) != code {
		return other
	}
	return fault.Code(code)
}

// isName reports whether text is 1 to limit letters, digits and characters of punctuation.
func isName(text string, limit int, punctuation string) bool {
	for _, r := range text {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z' // in ASCII, this bit tells the cases apart
		if !letter && (r < '0' || r > '9') && !strings.ContainsRune(punctuation, r) {
			return false
		}
	}
	return text != "" && len(text) <= limit
}

// refused turns an error reply into our terms.
func (c *Client) refused(a *answer, call engine.ImageCall) failure {
	said := listen(a.body, a.header)
	rule := ruleFor(a.status, said, c.cfg.APIKey.IsSet())
	code := c.codeOr(said.code, fault.Code("http_"+strconv.Itoa(a.status)))
	if strings.Contains(strings.ToLower(said.message), "must be verified") {
		code = "organization_unverified"
	}
	e := c.errorf(rule.kind, code, "%s", c.statusMessage(a.status, said, call)).WithCause(a).Bill(rule.billed)
	e.RequestID = c.requestID(a.header)
	e.RetryAfter = retryAfter(a.header, time.Now())
	if rule.hint != "" {
		e = e.WithHint("%s", rule.hint)
	}
	// OpenAI's servers say false when they know that waiting is no use; true never makes us send a paid request again.
	return failure{err: e, again: rule.again && a.header.Get("X-Should-Retry") != "false"}
}

func statusLine(status int) string {
	return strings.TrimSpace("answered " + strconv.Itoa(status) + " " + http.StatusText(status))
}

// statusMessage says what the server answered. Its own words are cut, scrubbed, and lose the prompt if they repeat it.
func (c *Client) statusMessage(status int, said said, call engine.ImageCall) string {
	head := statusLine(status)
	switch {
	case status == http.StatusUnauthorized && !c.cfg.APIKey.IsSet():
		return head + ": no key was sent"
	case status == http.StatusUnauthorized:
		return head + ": the key was refused" // the server's words repeat a part of the key
	case said.message == "":
		return head
	}
	text := head + ": " + c.foreign(said.message, call)
	if said.param != "" {
		text += " (parameter " + c.foreign(said.param, call) + ")"
	}
	if said.stage != "" && said.stage != "unknown" {
		text += " (blocked at the " + c.foreign(said.stage, call) + " stage)"
	}
	return text
}

// requestID returns the id by which the provider finds the request, "" if it sent none.
func (c *Client) requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Apim-Request-Id", "Request-Id"} {
		if id := h.Get(name); isName(id, 128, "._:/+=-") && c.clean(id) == id {
			return id
		}
	}
	return ""
}
