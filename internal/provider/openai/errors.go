package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

const (
	maxErrorBody    = 1 << 20 // bytes of an error reply that are read
	maxErrorMessage = 300     // runes of a provider's own words that are shown
)

// failure is a failed attempt: what to tell, and whether the server provably did not take the request.
type failure struct {
	err   *engine.Error
	again bool
}

// boundErrorBody keeps a huge error page out of memory: the SDK reads error replies whole.
func boundErrorBody(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxErrorBody), res.Body}
	}
	return res, err
}

// classify turns what the SDK returned for one attempt into our terms.
func (c *Client) classify(ctx context.Context, err error, d *delivery, call engine.ImageCall) failure {
	if api, ok := errors.AsType[*sdk.Error](err); ok {
		return c.classifyStatus(api, call)
	}
	if d.written.Load() {
		return failure{err: c.unknown(ctx, err)}
	}
	return c.undelivered(ctx, err, d)
}

// unknown is a request that was sent whole and got no usable answer.
func (c *Client) unknown(ctx context.Context, cause error) *engine.Error {
	what := "the connection was lost after the request was sent"
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		what = "no complete answer came within the time limit"
	case ctx.Err() != nil:
		what = "the wait was broken off after the request was sent"
	}
	return c.errorf(engine.KindUnknownOutcome, "no_answer", "%s; it may have been billed", what).
		WithCause(cause).Bill(engine.BilledMaybe)
}

// undelivered is a request that did not leave whole, so no server can have acted on it.
func (c *Client) undelivered(ctx context.Context, cause error, d *delivery) failure {
	connected := d.connected.Load()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e := c.errorf(engine.KindUnavailable, "timeout", "the time limit ended before the request was sent; nothing was billed")
		return failure{err: e.WithCause(cause)}
	}
	if ctx.Err() != nil {
		e := c.errorf(engine.KindInterrupted, "interrupted", "stopped before the request was sent; nothing was billed")
		return failure{err: e.WithCause(cause)}
	}
	if errors.Is(cause, engine.ErrInput) {
		return failure{err: c.errorf(engine.KindFailure, fault.IOFailed, "an input could not be read while it was sent").WithCause(cause)}
	}
	what := "cannot connect to " + c.base.Host
	if connected {
		what = "the connection broke before the request was sent whole"
	}
	e := c.errorf(engine.KindUnavailable, "connection_failed", "%s; nothing was billed", what).WithCause(cause).
		WithHint("check the network, the proxy settings and the base URL %s", c.Endpoint())
	// Once connected, bytes may have reached the server: then the request is not sent again.
	return failure{err: e, again: !connected}
}

// statusRule maps an HTTP status to our terms. Codes, where a provider sends one, decide before the status does.
type statusRule struct {
	kind   engine.Kind
	billed engine.Billed
	again  bool
	hint   string
}

// byCode maps OpenAI's and Azure's error codes (provider-facts §8.1).
func byCode(code string) (statusRule, bool) {
	switch strings.ToLower(code) {
	case "moderation_blocked", "content_policy_violation", "content_filter", "contentfilter", "safety_violation":
		return statusRule{kind: engine.KindBlocked, billed: engine.BilledNo, hint: blockedHint}, true
	case "insufficient_quota", "billing_hard_limit_reached", "credit_balance_exhausted", "billing_not_active":
		return statusRule{kind: engine.KindQuota, billed: engine.BilledNo,
			hint: "check the plan and the billing limits of the account"}, true
	case "model_not_found":
		return statusRule{kind: engine.KindNotFound, billed: engine.BilledNo,
			hint: "see the models with: mediagen models list"}, true
	}
	return statusRule{}, false
}

const (
	blockedHint = "this is final for this prompt and these inputs; change them before sending anything again"
	keyHint     = "check the key with: mediagen doctor"
)

// byStatus maps what is left (provider-facts §8).
func byStatus(status int) statusRule {
	switch status {
	case http.StatusUnauthorized:
		return statusRule{kind: engine.KindAuth, billed: engine.BilledNo, hint: keyHint}
	case http.StatusForbidden:
		return statusRule{kind: engine.KindAuth, billed: engine.BilledNo,
			hint: "the key has no access; verify the organisation (it takes up to 30 minutes to count) or use another project"}
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return statusRule{kind: engine.KindNotFound, billed: engine.BilledNo, hint: "check the model and the base URL"}
	case http.StatusTooManyRequests:
		return statusRule{kind: engine.KindRateLimited, billed: engine.BilledNo, again: true}
	case http.StatusServiceUnavailable:
		return statusRule{kind: engine.KindUnavailable, billed: engine.BilledNo, again: true}
	case http.StatusRequestTimeout:
		return statusRule{kind: engine.KindUnavailable, billed: engine.BilledNo}
	}
	if status >= http.StatusInternalServerError {
		return statusRule{kind: engine.KindUnavailable, billed: engine.BilledMaybe}
	}
	return statusRule{kind: engine.KindInvalidRequest, billed: engine.BilledNo}
}

// spoken is what an error reply says, whatever its shape.
type spoken struct {
	code, message, param, stage string
}

func (c *Client) classifyStatus(api *sdk.Error, call engine.ImageCall) failure {
	said := read(api)
	rule, ok := byCode(said.code)
	if !ok {
		rule = byStatus(api.StatusCode)
	}
	if strings.Contains(strings.ToLower(said.message), "must be verified") {
		said.code = "organization_unverified"
	}
	if rule.kind == engine.KindBlocked && said.stage == "output" {
		rule.billed = engine.BilledMaybe // the picture was made before it was held back
	}
	code := fault.Code(said.code)
	if code == "" {
		code = fault.Code(fmt.Sprintf("http_%d", api.StatusCode))
	}
	e := c.errorf(rule.kind, code, "%s", c.statusMessage(api.StatusCode, said, call)).WithCause(api).Bill(rule.billed)
	e.RequestID = requestID(api.Response)
	if api.Response != nil {
		e.RetryAfter = retryAfter(api.Response.Header, time.Now())
	}
	if rule.hint != "" {
		e = e.WithHint("%s", rule.hint)
	}
	return failure{err: e, again: rule.again && e.Kind != engine.KindQuota}
}

// statusMessage says what the server answered. Its own words are cut, scrubbed, and lose the prompt if they repeat it.
func (c *Client) statusMessage(status int, said spoken, call engine.ImageCall) string {
	head := fmt.Sprintf("answered %d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusUnauthorized:
		return head + ": the key was refused" // the server's words repeat a part of the key
	case said.message == "":
		return head
	}
	text := head + ": " + c.foreign(said.message, call)
	if said.param != "" {
		text += " (parameter " + c.foreign(said.param, call) + ")"
	}
	if said.stage != "" {
		text += " (blocked at the " + c.foreign(said.stage, call) + " stage)"
	}
	return text
}

// foreign makes a provider's words fit to print.
func (c *Client) foreign(text string, call engine.ImageCall) string {
	if prompt := strings.TrimSpace(call.Prompt); len(prompt) > 3 {
		text = strings.ReplaceAll(text, prompt, "[prompt]")
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	text = c.cfg.Scrub(text)
	if utf8.RuneCountInString(text) <= maxErrorMessage {
		return text
	}
	return string([]rune(text)[:maxErrorMessage]) + "..."
}

// read digs the error out of OpenAI's object, FastAPI's detail, or a bare message; an HTML page says nothing.
func read(api *sdk.Error) spoken {
	said := spoken{code: api.Code, message: api.Message, param: api.Param}
	if field, ok := api.JSON.ExtraFields["moderation_details"]; ok {
		said.stage = stageOf([]byte(field.Raw()))
	}
	if said.message != "" || api.Response == nil || api.Response.Body == nil {
		return said
	}
	body, err := io.ReadAll(io.LimitReader(api.Response.Body, maxErrorBody))
	if err != nil {
		return said
	}
	var other struct {
		Detail  json.RawMessage `json:"detail"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(bytes.TrimSpace(body), &other) != nil {
		return said
	}
	said.message = other.Message
	if said.message == "" {
		said.message = detailText(other.Detail)
	}
	return said
}

func stageOf(raw []byte) string {
	var details struct {
		Stage string `json:"moderation_stage"`
	}
	if json.Unmarshal(raw, &details) != nil {
		return ""
	}
	return details.Stage
}

// detailText reads FastAPI's detail: a sentence, or a list of {loc, msg}.
func detailText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var items []struct {
		Msg string `json:"msg"`
		Loc []any  `json:"loc"`
	}
	if json.Unmarshal(raw, &items) != nil {
		return ""
	}
	parts := make([]string, 0, len(items))
	for _, it := range items {
		parts = append(parts, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(it.Loc...)), ".")+": "+it.Msg, ": "))
	}
	return strings.Join(parts, "; ")
}

func (c *Client) errorf(kind engine.Kind, code fault.Code, format string, args ...any) *engine.Error {
	e := engine.Errorf(kind, code, format, args...)
	e.Provider = c.cfg.Name
	return e
}

func requestID(res *http.Response) string {
	if res == nil {
		return ""
	}
	for _, name := range []string{"X-Request-Id", "Apim-Request-Id", "Request-Id"} {
		if id := res.Header.Get(name); id != "" && len(id) <= 128 {
			return id
		}
	}
	return ""
}
