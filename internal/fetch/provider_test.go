package fetch_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mediagen/internal/fetch"
)

// send makes one request and returns the status and the body.
func send(t *testing.T, c *http.Client, method, rawURL, body string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, rawURL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key")
	return exchange(t, c, r)
}

// exchange sends a request and returns the status and the body.
func exchange(t *testing.T, c *http.Client, r *http.Request) (int, string, error) {
	t.Helper()
	res, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer shut(t, res.Body)
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// reply writes an answer. A client that has left notices by itself.
func reply(w io.Writer, parts ...any) { _, _ = fmt.Fprint(w, parts...) }

func shut(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, target := range []string{other.URL + "/elsewhere", "/same-origin"} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1" {
					reached.Add(1)
				}
				w.Header().Set("Location", target)
				w.WriteHeader(status)
				reply(w, "moved")
			}))
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				got, body, err := send(t, fetch.NewProviderClient(fetch.ProviderConfig{}), method, srv.URL+"/v1", "")
				if err != nil || got != status || body != "moved" {
					t.Errorf("%s %d: status %d, body %q, error %v", method, status, got, body, err)
				}
			}
			srv.Close()
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestUserAgent(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply(w, r.UserAgent(), "|", r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	for _, tt := range []struct{ config, sdk, want string }{
		{"mediagen/1.2.3", "", "mediagen/1.2.3|"},
		{"mediagen/1.2.3", "OpenAI/Go 3.99.0", "mediagen/1.2.3 OpenAI/Go 3.99.0|"},
		{"", "OpenAI/Go 3.99.0", "OpenAI/Go 3.99.0|"},
		{"", "", "Go-http-client/1.1|"},
	} {
		c := fetch.NewProviderClient(fetch.ProviderConfig{UserAgent: tt.config})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if tt.sdk != "" {
			r.Header.Set("User-Agent", tt.sdk)
		}
		if _, body, err := exchange(t, c, r); err != nil || body != tt.want {
			t.Errorf("%+v: server saw %q, error %v", tt, body, err)
		}
		if got := r.Header.Get("User-Agent"); got != tt.sdk {
			t.Errorf("the caller's request was changed: %q", got)
		}
		c.CloseIdleConnections()
	}
}

func TestUserAgentOfARequestWithoutHeaders(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reply(w, r.UserAgent()) }))
	defer srv.Close()
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.NewProviderClient(fetch.ProviderConfig{UserAgent: "mediagen/1"})
	res, err := c.Transport.RoundTrip((&http.Request{URL: u, Method: http.MethodGet}).WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, res.Body)
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "mediagen/1" {
		t.Errorf("server saw %q, error %v", body, err)
	}
}

func TestResponseHeaderTimeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow-body" {
			reply(w, "begin ")
			w.(http.Flusher).Flush()
		}
		<-release
		reply(w, "end")
	}))
	defer srv.Close()
	c := fetch.NewProviderClient(fetch.ProviderConfig{ResponseHeaderTimeout: 50 * time.Millisecond})
	_, _, err := send(t, c, http.MethodPost, srv.URL+"/silent", "{}")
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() || !strings.Contains(err.Error(), "awaiting response headers") {
		t.Errorf("silent server: %v, want a timeout of the response headers", err)
	}
	// The body may take longer than the headers.
	go func() {
		<-time.After(150 * time.Millisecond)
		close(release)
	}()
	if _, body, err := send(t, c, http.MethodPost, srv.URL+"/slow-body", "{}"); err != nil || body != "begin end" {
		t.Errorf("slow body: %q, %v", body, err)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := fetch.NewProviderClient(fetch.ProviderConfig{})
	if c.Timeout != 0 || c.Jar != nil {
		t.Errorf("overall timeout %v, cookie jar %v; want none", c.Timeout, c.Jar)
	}
	tr, ok := c.Transport.(*http.Transport)
	if !ok {
		t.Fatalf("transport is a %T", c.Transport)
	}
	if tr.ResponseHeaderTimeout != 10*time.Minute || tr.TLSHandshakeTimeout != 10*time.Second {
		t.Errorf("response headers %v, TLS %v", tr.ResponseHeaderTimeout, tr.TLSHandshakeTimeout)
	}
	if other := fetch.NewProviderClient(fetch.ProviderConfig{}).Transport; other == c.Transport {
		t.Error("two clients share a transport")
	}
}

func TestHTTP2(t *testing.T) {
	t.Parallel()
	proto := func(w http.ResponseWriter, r *http.Request) { reply(w, r.Proto) }
	srv := httptest.NewUnstartedServer(http.HandlerFunc(proto))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo) // it reports the handshake that must fail
	srv.StartTLS()
	defer srv.Close()
	c := fetch.NewProviderClient(fetch.ProviderConfig{})
	if _, _, err := send(t, c, http.MethodGet, srv.URL, ""); err == nil {
		t.Error("a certificate of nobody was trusted")
	}
	tr, ok := c.Transport.(*http.Transport)
	if !ok {
		t.Fatalf("transport is a %T", c.Transport)
	}
	trusted, ok := srv.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatalf("test transport is a %T", srv.Client().Transport)
	}
	tr.TLSClientConfig = trusted.TLSClientConfig.Clone()
	tr.TLSClientConfig.NextProtos = nil
	fresh := &http.Client{Transport: tr.Clone()}
	if _, body, err := send(t, fresh, http.MethodGet, srv.URL, ""); err != nil || body != "HTTP/2.0" {
		t.Errorf("protocol %q, error %v", body, err)
	}
}

// A provider that takes a paid request and drops the connection must not get it twice, also on a connection that was
// used before, where net/http retries some requests by itself.
func TestPostIsSentOnce(t *testing.T) {
	t.Parallel()
	var posts atomic.Int32
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, listener)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerUntilPost(conn, &posts)
		}
	}()
	c := fetch.NewProviderClient(fetch.ProviderConfig{UserAgent: "mediagen/1"})
	base := "http://" + listener.Addr().String()
	for range 20 {
		if status, _, err := send(t, c, http.MethodGet, base+"/warm", ""); err != nil || status != http.StatusOK {
			t.Fatalf("warming up: %d, %v", status, err)
		}
		before := posts.Load()
		if _, _, err := send(t, c, http.MethodPost, base+"/v1/images", `{"prompt":"p"}`); err == nil {
			t.Fatal("a dropped connection gave no error")
		}
		if n := posts.Load() - before; n != 1 {
			t.Fatalf("the POST arrived %d times", n)
		}
	}
}

// answerUntilPost answers GET requests and drops the connection once a POST has been read.
func answerUntilPost(conn net.Conn, posts *atomic.Int32) {
	defer func() { _ = conn.Close() }() // dropping it is the point
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.Method == http.MethodPost {
			posts.Add(1)
			return
		}
		reply(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
}

// proxyServer answers every request as a proxy would and counts them.
func proxyServer(t *testing.T) (rawURL string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		reply(w, "proxied ", r.URL)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func TestLoopbackIsNeverProxied(t *testing.T) {
	t.Parallel()
	proxy, asked := proxyServer(t)
	proxyURL, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.NewProviderClient(fetch.ProviderConfig{Proxy: http.ProxyURL(proxyURL), UserAgent: "mediagen/1"})
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, "direct") }))
	defer direct.Close()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(direct.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "LocalHost", "[::ffff:127.0.0.1]"} {
		if _, body, err := send(t, c, http.MethodGet, "http://"+host+":"+port, ""); err != nil || body != "direct" {
			t.Errorf("%s: %q, %v", host, body, err)
		}
	}
	// No server listens at these, so the dial must fail without the proxy's help.
	for _, host := range []string{"127.9.8.7", "[::1]", "api.localhost", "localhost."} {
		if _, body, err := send(t, c, http.MethodGet, "http://"+host+":1/", ""); err == nil {
			t.Errorf("%s: %q, want a refused connection", host, body)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
	for _, host := range []string{"provider.example", "127.0.0.1.example", "notlocalhost", "10.0.0.1", "[2001:db8::1]"} {
		target := "http://" + host + "/v1"
		if _, body, err := send(t, c, http.MethodGet, target, ""); err != nil || body != "proxied "+target {
			t.Errorf("%s: %q, %v", host, body, err)
		}
	}
}

func TestNoProxyConfigured(t *testing.T) {
	t.Parallel()
	c := fetch.NewProviderClient(fetch.ProviderConfig{Proxy: noProxy})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://provider.example/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := exchange(t, c, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// The environment is read once a process, so this test runs itself again with the variables set.
func TestProxyFromEnvironment(t *testing.T) {
	t.Parallel()
	const role = "MEDIAGEN_TEST_PROXY_CHILD"
	if target := os.Getenv(role); target != "" {
		status, body, err := send(t, fetch.NewProviderClient(fetch.ProviderConfig{}), http.MethodGet, target, "")
		fmt.Fprintln(os.Stderr, "child:", status, body, err)
		return
	}
	proxy, asked := proxyServer(t)
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, "direct") }))
	defer direct.Close()
	for _, tt := range []struct {
		target, noProxy, want string
		asked                 int32
	}{
		{"http://provider.example/v1", "", "child: 200 proxied http://provider.example/v1 <nil>", 1},
		{direct.URL, "", "child: 200 direct <nil>", 0},
		{"http://127.0.0.2:1/", "127.0.0.2", "child: 0", 0},
	} {
		before := asked.Load()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyFromEnvironment$")
		child.Env = []string{role + "=" + tt.target, "HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "NO_PROXY=" + tt.noProxy}
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v, want %q in\n%s", tt.target, err, tt.want, out)
		}
		if n := asked.Load() - before; n != tt.asked {
			t.Errorf("%s: the proxy was asked %d times, want %d", tt.target, n, tt.asked)
		}
	}
}
