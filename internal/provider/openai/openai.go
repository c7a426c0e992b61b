// Package openai speaks the OpenAI images API through the vendor's SDK: to OpenAI itself, to Azure deployments and to
// any server that keeps the same wire shape.
//
// It does not validate what the catalog knows, choose models, save files or decide about money. It never resends a
// request that the server may have taken, follows no redirect of a request, and reads no environment variable.
package openai

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/redact"
)

// DefaultBaseURL is OpenAI's own API root.
const DefaultBaseURL = "https://api.openai.com/v1/"

// nativeHost is the host where the catalog's retirement dates bind.
const nativeHost = "api.openai.com"

// Azure names a deployment on Azure OpenAI. Requests go to ENDPOINT/openai/deployments/DEPLOYMENT/... with the key in
// the api-key header, or to ENDPOINT itself when it already ends in /openai/v1 (the surface without api-version).
type Azure struct {
	Endpoint   string
	APIVersion string
	Deployment string // empty: the model's name is the deployment
}

// Config is what the composition root gives a client.
type Config struct {
	Name       string        // as results print it: "openai", "azure", "emulator"
	BaseURL    string        // empty means DefaultBaseURL; ignored with Azure
	APIKey     redact.Secret // sent only to the configured origin
	OrgID      string
	ProjectID  string
	Azure      *Azure
	ActsNative bool         // the catalog's dates bind as on the vendor's own host: the emulator rehearses OpenAI
	HTTPClient *http.Client // required, from fetch.NewProviderClient
	Retry      Retry
	Scrub      func(string) string // last filter for foreign words and logs; the key is taken out without it, too
	Log        *slog.Logger        // nil logs nothing
	LogBodies  bool                // --log-requests: prompts and parameters, never inputs or keys
	LogScrub   func(string) string // in the place of Scrub for what LogBodies logs; nil means Scrub
}

// Client is one endpoint. It is safe for concurrent use.
type Client struct {
	cfg   Config
	base  *url.URL
	http  *http.Client
	sdk   sdk.Client
	clean func(string) string // takes keys, base64 and signed queries out of foreign words
	spell func(string) string // takes keys out of what the user said, for the log; base64 too, unless it was asked for

	patience time.Duration // with the body of an error reply
}

var _ engine.ImageProvider = (*Client)(nil)

// New returns a client for the endpoint that cfg names. It opens no connection. A base URL that cannot be used, or no
// HTTP client, is a config_invalid fault.
func New(cfg Config) (*Client, error) {
	raw := cfg.BaseURL
	if raw == "" {
		raw = DefaultBaseURL
	}
	if cfg.Azure != nil {
		raw = cfg.Azure.Endpoint
	}
	base, err := parseBase(raw)
	if err != nil {
		return nil, err
	}
	if cfg.HTTPClient == nil {
		return nil, fault.New(fault.ConfigInvalid, "provider %s has no HTTP client", cfg.Name)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Retry = cfg.Retry.withDefaults()
	own := redact.NewScrubber(cfg.APIKey)
	c := &Client{cfg: cfg, base: base, clean: cleaner(own, cfg.Scrub), patience: errorBodyTime}
	if c.spell = c.clean; cfg.LogScrub != nil {
		c.spell = cleaner(own.WithMedia(), cfg.LogScrub)
	}
	// The promise about redirects holds whatever client comes in.
	client := *cfg.HTTPClient
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &client
	// A bare Client value: NewClient would read OPENAI_* variables and hand the user's key to any base URL.
	c.sdk = sdk.Client{Options: c.options()}
	return c, nil
}

// cleaner joins the configured filter with one that knows this client's key.
func cleaner(own *redact.Scrubber, scrub func(string) string) func(string) string {
	if scrub == nil {
		return own.String
	}
	return func(text string) string { return scrub(own.String(text)) }
}

// parseBase reads an API root and gives it the trailing slash that relative paths need.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Hostname() == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fault.New(fault.ConfigInvalid, "base URL %s is not usable: want http(s)://host/path", redact.URL(raw))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fault.New(fault.ConfigInvalid,
			"base URL %s must not carry a user, a query or a fragment", redact.URL(raw))
	}
	if strings.HasSuffix(u.Path, "/") {
		return u, nil
	}
	return u.JoinPath("/"), nil
}

// options are the request options that every call shares.
func (c *Client) options() []option.RequestOption {
	opts := []option.RequestOption{
		option.WithHTTPClient(c.http),
		option.WithMaxRetries(0),
		option.WithBaseURL(c.base.String()),
	}
	if c.cfg.Azure != nil {
		if c.cfg.Azure.APIVersion != "" && !c.azureV1() {
			opts = append(opts, option.WithQuery("api-version", c.cfg.Azure.APIVersion))
		}
		if c.cfg.APIKey.IsSet() {
			opts = append(opts, option.WithHeader("Api-Key", c.cfg.APIKey.Reveal()))
		}
		return opts
	}
	if c.cfg.APIKey.IsSet() {
		opts = append(opts, option.WithAPIKey(c.cfg.APIKey.Reveal()))
	}
	if c.cfg.OrgID != "" {
		opts = append(opts, option.WithOrganization(c.cfg.OrgID))
	}
	if c.cfg.ProjectID != "" {
		opts = append(opts, option.WithProject(c.cfg.ProjectID))
	}
	return opts
}

// Name returns the provider's name as results print it.
func (c *Client) Name() string { return c.cfg.Name }

// Endpoint returns the API root without user, query or fragment.
func (c *Client) Endpoint() string { return c.base.String() }

// Native reports whether requests go to OpenAI's own host, or to something that acts as if.
func (c *Client) Native() bool {
	return c.cfg.ActsNative || c.cfg.Azure == nil && strings.EqualFold(c.base.Hostname(), nativeHost)
}

// azureV1 reports whether the Azure endpoint is the newer surface that takes OpenAI's own paths.
func (c *Client) azureV1() bool { return strings.HasSuffix(c.base.Path, "/openai/v1/") }

// path returns the request path of one images operation, relative to the base URL.
func (c *Client) path(op, model string) string {
	if c.cfg.Azure == nil || c.azureV1() {
		return "images/" + op
	}
	return "openai/deployments/" + segment(c.deployment(model)) + "/images/" + op
}

// deployment returns what a model is called at Azure, and the model itself elsewhere.
func (c *Client) deployment(model string) string {
	if c.cfg.Azure == nil || c.cfg.Azure.Deployment == "" {
		return model
	}
	return c.cfg.Azure.Deployment
}

// segment escapes a name as one segment of a path: a model's name may hold a slash, and dots alone would climb.
func segment(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}
