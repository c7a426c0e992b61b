// Package fetch owns every outbound connection of the program. It will hold the guarded client for foreign URLs, which
// checks addresses at dial time on every hop; today only the clients of the providers are built here.
//
// A provider client talks to a base URL that the operator configured, so it checks no addresses. It must never be given
// a URL that came from a reply, a prompt or a tool call. It does not retry, log or read credentials.
package fetch

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Limits of the connections to a provider: setting up must be quick, the answer to a
// paid request may take its time.
const (
	dialTimeout           = 30 * time.Second
	tlsTimeout            = 10 * time.Second
	keepAlive             = 30 * time.Second
	idleTimeout           = 90 * time.Second
	defaultHeaderTimeout  = 10 * time.Minute
	idleConnectionsAHost  = 8
	maxHeaderBytes        = 1 << 20
	headerUserAgent       = "User-Agent"
	expectContinueTimeout = time.Second
)

// ProviderConfig sets up the client for one provider.
type ProviderConfig struct {
	// UserAgent goes in front of what an SDK sends; "" leaves the header alone.
	UserAgent string
	// ResponseHeaderTimeout bounds the wait from the end of the request to the first byte of the answer; 0 means 10
	// minutes, for the slowest pictures take minutes and the providers send nothing meanwhile.
	ResponseHeaderTimeout time.Duration
	// Proxy names the proxy of a request; nil means http.ProxyFromEnvironment. It is never asked about loopback.
	Proxy func(*http.Request) (*url.URL, error)
}

// NewProviderClient returns a client for the configured base URL of a provider. It has no overall timeout, so callers
// bound a call with its context. It follows no redirect, so that no key crosses to another origin: the 3xx answer is
// returned as it is. It does not resend a POST whose bytes may have left.
func NewProviderClient(cfg ProviderConfig) *http.Client {
	headerTimeout := cfg.ResponseHeaderTimeout
	if headerTimeout == 0 {
		headerTimeout = defaultHeaderTimeout
	}
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}
	var transport http.RoundTripper = &http.Transport{
		Proxy:                  exceptLoopback(cfg.Proxy),
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		ExpectContinueTimeout:  expectContinueTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    idleConnectionsAHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if cfg.UserAgent != "" {
		transport = &agent{name: cfg.UserAgent, next: transport}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// exceptLoopback keeps requests to this machine away from any proxy, which could not reach it anyway.
func exceptLoopback(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	return func(r *http.Request) (*url.URL, error) {
		if isLoopback(r.URL.Hostname()) {
			return nil, nil // nil is the documented answer for "no proxy"
		}
		return proxy(r)
	}
}

// isLoopback reports whether host names this machine: localhost and below (RFC 6761 section 6.3), 127.0.0.0/8 and ::1.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// agent puts the program's name in front of the User-Agent that an SDK sends.
type agent struct {
	name string
	next http.RoundTripper
}

// RoundTrip sends a copy of r, for a RoundTripper must not change its request.
func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	named := r.WithContext(r.Context())
	named.Header = r.Header.Clone()
	if named.Header == nil {
		named.Header = http.Header{}
	}
	value := a.name
	if sdk := r.Header.Get(headerUserAgent); sdk != "" {
		value += " " + sdk
	}
	named.Header.Set(headerUserAgent, value)
	return a.next.RoundTrip(named)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (a *agent) CloseIdleConnections() {
	if c, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
