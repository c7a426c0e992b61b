package openai_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"mediagen/internal/engine"
	"mediagen/internal/fetch"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
)

// strays returns the stacks of goroutines that belong to a client: its connections and what reads inputs for them.
func strays() []string {
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var found []string
	for i, stack := range strings.Split(string(buf), "\n\n") {
		if i == 0 || strings.Contains(stack, "testing.(*T).Parallel(") { // this one, and tests that wait
			continue
		}
		if strings.Contains(stack, "provider/openai.") || strings.Contains(stack, "net/http.(*persistConn)") ||
			strings.Contains(stack, "net/http.(*Transport)") || strings.Contains(stack, "net/http.setRequestCancel") {
			found = append(found, stack)
		}
	}
	return found
}

// settle waits until no such goroutine is left.
func settle(t *testing.T, what string) {
	t.Helper()
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-limit.C:
			t.Fatalf("%s: goroutines are left:\n%s", what, strings.Join(strays(), "\n\n"))
		case <-tick.C:
			if len(strays()) == 0 {
				return
			}
		}
	}
}

// TestNoGoroutineStays runs each kind of failure and counts goroutines. It cannot run beside other tests.
func TestNoGoroutineStays(t *testing.T) {
	const size = 8 << 20
	settle(t, "before")
	handlers := map[string]http.HandlerFunc{
		"success": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{"b64_json":"AAEC"}]}`)
		},
		"early 400":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) },
		"503 each time": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"redirect": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/x")
			w.WriteHeader(302)
		},
		"web page": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"bad base64": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{"b64_json":"*"}]}`)
		},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"x":"`+strings.Repeat("x", 6<<20))
		},
		"a link": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{"url":"/a"}]}`)
		},
		"cut":   func(w http.ResponseWriter, _ *http.Request) { hijacked(w, `{"data":[{"b64_json":"AA`) },
		"reset": func(w http.ResponseWriter, _ *http.Request) { resetHTTP(w) },
		"never answers": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"reset at last":  func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); resetHTTP(w) },
		"stream cut off": func(w http.ResponseWriter, _ *http.Request) { hijacked(w, "data: {\"type\":\"partial_image\"") },
	}
	for name, h := range handlers {
		for how, in := range map[string]*tracked{
			"whole input": {data: io.LimitReader(zeros{}, size)}, "short input": {data: io.LimitReader(zeros{}, size/2)},
			"broken input": {data: io.LimitReader(zeros{}, size/4), readErr: errors.New("broken")},
		} {
			srv := httptest.NewServer(h)
			transport := fetch.NewProviderClient(fetch.ProviderConfig{})
			c, err := openai.New(openai.Config{
				Name: "n", BaseURL: srv.URL, APIKey: redact.NewSecret(testKey), HTTPClient: transport,
				Retry: openai.Retry{Sleep: (&naps{}).sleep},
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if name == "never answers" {
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
			}
			_, err = edit(ctx, c, newSink(), in.input("a.png", size))
			// A server that answers early has not seen that an input is broken.
			if err == nil && name != "success" || err != nil && name == "success" && how == "whole input" {
				t.Errorf("%s, %s: error %v", name, how, err)
			}
			in.end(t)
			if _, err := c.GenerateImages(ctx, engine.ImageCall{Prompt: "p"}, newSink()); (err == nil) != (name == "success") {
				t.Errorf("%s: generate: %v", name, err)
			}
			cancel()
			transport.CloseIdleConnections()
			settle(t, name+", "+how)
			srv.CloseClientConnections()
			srv.Close()
			if in.mu.Lock(); in.readAfter > 0 {
				t.Errorf("%s, %s: the input was read after the call had returned", name, how)
			}
			in.mu.Unlock()
		}
	}
}

// resetHTTP ends a connection with a TCP reset.
func resetHTTP(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		reset(tcp)
	}
}
