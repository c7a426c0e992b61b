package openai

import (
	"net/http"
	"strings"

	"mediagen/internal/engine"
)

// rule says what an error reply means. Codes, where a provider sends one, decide before the status does.
type rule struct {
	kind   engine.Kind
	billed engine.Billed
	again  bool // the server did not take the request
	hint   string
}

const (
	blockedHint = "this is final for this prompt and these inputs; change them before sending anything again"
	keyHint     = "the server does not take this key; mediagen doctor names the file or variable that it comes from"
	noKeyHint   = "no key was sent; set OPENAI_API_KEY"
	accessHint  = "the key has no access; use another project, or verify the organisation (which takes up to 30 minutes)"
	quotaHint   = "check the plan and the billing limits of the account"
	modelHint   = "see the models with: mediagen models list"
)

// ruleFor finds the rule of an error reply to a request that was sent with or without a key.
func ruleFor(status int, said said, keyed bool) rule {
	r, ok := said.rule()
	if !ok {
		r = byStatus(status)
	}
	if r.kind == engine.KindAuth && !keyed {
		r.hint = noKeyHint
	}
	return r
}

// rule maps what a server said in an error to its meaning (provider-facts §8.1), whatever the status.
func (s said) rule() (rule, bool) {
	for _, word := range []string{s.code, s.kind} { // a type can say it when the code is newer than we are
		switch strings.ToLower(word) {
		case "moderation_blocked", "content_policy_violation", "content_filter", "contentfilter", "safety_violation",
			"responsibleaipolicyviolation":
			r := rule{kind: engine.KindBlocked, billed: engine.BilledNo, hint: blockedHint}
			if s.stage == "output" {
				r.billed = engine.BilledMaybe // the picture was made before it was held back
			}
			return r, true
		case "insufficient_quota", "billing_hard_limit_reached", "credit_balance_exhausted", "billing_not_active":
			return rule{kind: engine.KindQuota, billed: engine.BilledNo, hint: quotaHint}, true
		case "model_not_found":
			return rule{kind: engine.KindNotFound, billed: engine.BilledNo, hint: modelHint}, true
		}
	}
	if strings.Contains(strings.ToLower(s.message), "billing hard limit") {
		return rule{kind: engine.KindQuota, billed: engine.BilledNo, hint: quotaHint}, true
	}
	return rule{}, false
}

// byStatus maps what is left (provider-facts §8). Only 429 and 503 say that a request was not taken and may be taken
// later; 408, 409 and 425 also cost nothing, but design.md §8 does not list them for resending.
func byStatus(status int) rule {
	switch status {
	case http.StatusUnauthorized:
		return rule{kind: engine.KindAuth, billed: engine.BilledNo, hint: keyHint}
	case http.StatusForbidden:
		return rule{kind: engine.KindAuth, billed: engine.BilledNo, hint: accessHint}
	case http.StatusPaymentRequired:
		return rule{kind: engine.KindQuota, billed: engine.BilledNo, hint: quotaHint}
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		return rule{kind: engine.KindNotFound, billed: engine.BilledNo, hint: "check the model and the base URL"}
	case http.StatusNotImplemented:
		return rule{kind: engine.KindUnsupported, billed: engine.BilledNo, hint: "check the model and the base URL"}
	case http.StatusTooManyRequests:
		return rule{kind: engine.KindRateLimited, billed: engine.BilledNo, again: true}
	case http.StatusServiceUnavailable:
		return rule{kind: engine.KindUnavailable, billed: engine.BilledNo, again: true}
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return rule{kind: engine.KindUnavailable, billed: engine.BilledNo}
	}
	if status >= http.StatusInternalServerError {
		return rule{kind: engine.KindUnavailable, billed: engine.BilledMaybe}
	}
	return rule{kind: engine.KindInvalidRequest, billed: engine.BilledNo}
}
