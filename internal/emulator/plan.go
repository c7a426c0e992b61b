package emulator

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of what a fault may ask for.
const (
	maxFaultPause = 10 * time.Minute
	maxPadMB      = 1024
)

// plan says how the reply to one request goes wrong. The zero value is a correct reply.
type plan struct {
	instead func(*exchange) // answers in place of the pictures

	headerPause time.Duration // wait before the status line
	drip        time.Duration // the body takes this long

	asURL      urlKind // pictures as addresses instead of base64
	foreignAt  string  // origin of urlForeign; empty = the emulator's own second origin
	dataPrefix bool    // base64 begins with "data:image/...;base64,"
	badBase64  bool    // base64 has characters that do not belong
	escape     bool    // every / in base64 is written as \/
	truncate   cut     // the JSON ends within the base64 of the second picture
	padMB      int     // pictures are padded to this many megabytes (1,000,000 bytes)
	otherType  bool    // another picture format than was asked for
	fewer      bool    // one picture less than was asked for
	empty      bool    // no picture at all

	jsonForStream bool // plain JSON although a stream was asked for
	cutStream     cut  // the stream ends after a partial, without completed
	streamError   bool // the stream ends with an error event
}

// urlKind says what kind of address data[].url carries.
type urlKind int

const (
	urlNone urlKind = iota
	urlSameOrigin
	urlRelative
	urlForeign
)

// cut says how a reply ends too early.
type cut int

const (
	cutNone  cut = iota
	cutClean     // HTTP says that the reply is complete
	cutReset     // the connection ends
)

// faultDef is one row of the fault table. set changes a plan as the argument asks, or says what the argument may be.
type faultDef struct {
	name     string
	aliases  []string
	usage    string
	early    bool // happens before the body is read, so a prompt cannot ask for it
	anyRoute bool // hits every API route, not only those that make pictures
	set      func(p *plan, arg string) error
}

// faultTable is every fault that there is, in the order of the help.
//
//nolint:gochecknoglobals // table
var faultTable = []faultDef{
	{
		name:  "moderation",
		usage: "400 moderation_blocked with moderation_details; ARG is the stage: input (default), output or unknown",
		set:   setModeration,
	},
	{name: "bad-key", aliases: []string{"401"}, usage: "401 invalid_api_key", anyRoute: true, set: refuse(newAPIError(
		http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "", "incorrect API key provided"))},
	{name: "unverified", aliases: []string{"403"}, usage: "403, the organization is not verified", set: refuse(newAPIError(
		http.StatusForbidden, "invalid_request_error", "", "",
		"your organization must be verified to use this model; after verifying, access can take up to 30 minutes"))},
	{name: "model-not-found", aliases: []string{"404"}, usage: "404 model_not_found", set: refuse(newAPIError(
		http.StatusNotFound, "invalid_request_error", "model_not_found", "model",
		"the model does not exist or you have no access to it"))},
	{
		name: "rate-limit", aliases: []string{"429"}, anyRoute: true,
		usage: "429 rate_limit_exceeded; ARG is the Retry-After in seconds, fractions allowed (default: no such header)",
		set:   setRateLimit,
	},
	{name: "quota", usage: "429 insufficient_quota", set: refuse(newAPIError(
		http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota", "", "you exceeded your current quota"))},
	{name: "server-error", aliases: []string{"500"}, usage: "500 server_error", anyRoute: true, set: refuse(newAPIError(
		http.StatusInternalServerError, "server_error", "server_error", "", "the server had an error"))},
	{
		name: "bad-gateway-html", aliases: []string{"502"}, usage: "502 with an HTML page", anyRoute: true,
		set: page(http.StatusBadGateway, "text/html; charset=utf-8", "<html><body><h1>502 Bad Gateway</h1></body></html>\n"),
	},
	{
		name: "unavailable", aliases: []string{"503"}, anyRoute: true,
		usage: "503 server_is_overloaded",
		set: refuse(newAPIError(http.StatusServiceUnavailable,
			"service_unavailable_error", "server_is_overloaded", "", "the server is overloaded")),
	},
	{
		name: "cut-before-body", usage: "TCP reset after the headers, before the body is read", early: true, anyRoute: true,
		set: instead((*exchange).reset),
	},
	{
		name:  "cut-after-body",
		usage: "TCP reset after the whole body was read, before any reply",
		set:   instead((*exchange).reset),
	},
	{
		name: "html", usage: "200 with an HTML page", anyRoute: true,
		set: page(http.StatusOK, "text/html; charset=utf-8", "<html><body><p>Welcome to the portal</p></body></html>\n"),
	},
	{name: "422-detail", aliases: []string{"422"}, usage: `422 {"detail":[...]}`, set: page(
		http.StatusUnprocessableEntity, "application/json",
		`{"detail":[{"loc":["body","prompt"],"msg":"field cannot be used","type":"value_error"}]}`)},
	{name: "400-object", usage: `400 {"object":"error",...} with a numeric code`, set: page(
		http.StatusBadRequest, "application/json",
		`{"object":"error","message":"the request cannot be used","type":"BadRequestError","param":null,"code":400}`)},
	{name: "empty", usage: "200 with an empty data list", set: flag(func(p *plan) { p.empty = true })},
	{name: "fewer", usage: "one picture less than was asked for", set: flag(func(p *plan) { p.fewer = true })},
	{
		name:  "wrong-type",
		usage: "a jpeg where png was asked for, else a png",
		set:   flag(func(p *plan) { p.otherType = true }),
	},
	{
		name: "url-same-origin", usage: "data[].url at the emulator instead of base64",
		set: flag(func(p *plan) { p.asURL = urlSameOrigin }),
	},
	{
		name:  "url-relative",
		usage: "data[].url without scheme and host",
		set:   flag(func(p *plan) { p.asURL = urlRelative }),
	},
	{
		name:  "url-foreign",
		usage: "data[].url at another origin: ARG, for example https://pictures.invalid, else a second loopback port",
		set:   setForeign,
	},
	{
		name:  "data-prefix",
		usage: "b64_json that begins with data:...;base64,",
		set:   flag(func(p *plan) { p.dataPrefix = true }),
	},
	{
		name:  "bad-base64",
		usage: "b64_json with characters that do not belong",
		set:   flag(func(p *plan) { p.badBase64 = true }),
	},
	{
		name:  "escaped-slashes",
		usage: `b64_json with \/ for /, which is legal JSON`,
		set:   flag(func(p *plan) { p.escape = true }),
	},
	{
		name:  "truncated-json",
		usage: "the reply ends within the second picture; ARG is clean (default) or reset",
		set:   setCut(func(p *plan, c cut) { p.truncate = c }),
	},
	{name: "big", usage: "pads each picture to ARG megabytes (1 to 1024)", set: setBig},
	{
		name:  "slow",
		usage: "spreads the body over ARG, for example 2s",
		set:   setPause(func(p *plan, d time.Duration) { p.drip = d }),
	},
	{
		name: "slow-headers", usage: "waits ARG before the status line",
		set: setPause(func(p *plan, d time.Duration) { p.headerPause = d }),
	},
	{
		name: "json-for-stream", usage: "plain JSON although a stream was asked for",
		set: flag(func(p *plan) { p.jsonForStream = true }),
	},
	{
		name:  "cut-stream",
		usage: "the stream ends after a partial, without completed; ARG is clean (default) or reset",
		set:   setCut(func(p *plan, c cut) { p.cutStream = c }),
	},
	{
		name:  "stream-error",
		usage: "the stream ends with an error event",
		set:   flag(func(p *plan) { p.streamError = true }),
	},
}

var errNoArg = errors.New("takes no argument")

// flag makes a setter for a fault without argument.
func flag(set func(*plan)) func(*plan, string) error {
	return func(p *plan, arg string) error {
		if arg != "" {
			return errNoArg
		}
		set(p)
		return nil
	}
}

// instead makes a setter for a fault that answers in place of the pictures.
func instead(answer func(*exchange)) func(*plan, string) error {
	return flag(func(p *plan) { p.instead = answer })
}

// refuse makes a setter for a fault that answers with an error object.
func refuse(e *apiError) func(*plan, string) error {
	return instead(func(x *exchange) { x.fail(e) })
}

// page makes a setter for a fault that answers with a fixed body.
func page(status int, contentType, body string) func(*plan, string) error {
	return instead(func(x *exchange) { x.send(status, contentType, []byte(body)) })
}

func setModeration(p *plan, arg string) error {
	stage := arg
	if stage == "" {
		stage = "input"
	}
	if !slices.Contains([]string{"input", "output", "unknown"}, stage) {
		return errors.New("argument must be input, output or unknown")
	}
	e := badRequest("", "moderation_blocked", "the safety system refused this request")
	e.Type = "image_generation_user_error"
	e.Moderation = &moderationDetails{Stage: stage, Categories: []string{"emulated"}}
	p.instead = func(x *exchange) { x.fail(e) }
	return nil
}

func setRateLimit(p *plan, arg string) error {
	e := newAPIError(http.StatusTooManyRequests, "requests", "rate_limit_exceeded", "", "rate limit reached")
	e.header = map[string]string{
		"X-Ratelimit-Limit-Requests": "5", "X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "12s",
	}
	if arg != "" {
		if s, err := strconv.ParseFloat(arg, 64); err != nil || math.IsNaN(s) || s < 0 || s > 86_400 {
			return errors.New("argument must be seconds from 0 to 86400, for example 2 or 0.01")
		}
		e.header["Retry-After"] = arg
	}
	p.instead = func(x *exchange) { x.fail(e) }
	return nil
}

func setForeign(p *plan, arg string) error {
	if arg != "" {
		u, err := url.Parse(arg)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
			return errors.New("argument must be an origin such as https://pictures.invalid")
		}
	}
	p.asURL, p.foreignAt = urlForeign, strings.TrimRight(arg, "/")
	return nil
}

func setBig(p *plan, arg string) error {
	mb, err := strconv.Atoi(arg)
	if err != nil || mb < 1 || mb > maxPadMB {
		return fmt.Errorf("argument must be megabytes from 1 to %d, for example big:3", maxPadMB)
	}
	p.padMB = mb
	return nil
}

// setPause makes a setter for a fault whose argument is a bounded duration.
func setPause(set func(*plan, time.Duration)) func(*plan, string) error {
	return func(p *plan, arg string) error {
		d, err := time.ParseDuration(arg)
		if err != nil || d <= 0 || d > maxFaultPause {
			return fmt.Errorf("argument must be a duration up to %s, for example 500ms or 2s", maxFaultPause)
		}
		set(p, d)
		return nil
	}
}

// setCut makes a setter for a fault that ends a reply too early.
func setCut(set func(*plan, cut)) func(*plan, string) error {
	return func(p *plan, arg string) error {
		switch arg {
		case "", "clean":
			set(p, cutClean)
		case "reset":
			set(p, cutReset)
		default:
			return errors.New("argument must be clean or reset")
		}
		return nil
	}
}
