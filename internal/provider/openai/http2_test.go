package openai_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"mediagen/internal/engine"
	"mediagen/internal/provider/openai"
)

// overHTTP2 runs a handler behind TLS and HTTP/2, which OpenAI speaks, and returns a client for it.
func overHTTP2(t *testing.T, h http.HandlerFunc) *openai.Client {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("the request came over %s", r.Proto)
		}
		h(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return client(t, srv.URL, func(c *openai.Config) { c.HTTPClient = srv.Client() })
}

func TestOverHTTP2(t *testing.T) {
	t.Parallel()
	const size = 24 << 20
	reply := `{"data":[{"b64_json":"` + b1 + `"},{"b64_json":"` + b2 + `"}]}`
	readAll := func(r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n != r.ContentLength {
			t.Errorf("%d bytes of %d: %v", n, r.ContentLength, err)
		}
	}
	tests := []struct {
		name     string
		handle   http.HandlerFunc
		want     outcome
		pictures int
		requests int32
		data     int64 // bytes that the input has; 0 means all of them
	}{
		{
			"success", func(w http.ResponseWriter, r *http.Request) { readAll(r); _, _ = io.WriteString(w, reply) },
			outcome{},
			2, 1, 0,
		},
		{
			"an answer before the end of the form", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(413) },
			outcome{"invalid_request", "http_413", "no"},
			0, 1, 0,
		},
		{
			"503", func(w http.ResponseWriter, r *http.Request) { readAll(r); w.WriteHeader(503) },
			outcome{"unavailable", "http_503", "no"},
			0, 3, 0,
		},
		{
			"a stream that is reset after the form",
			func(_ http.ResponseWriter, r *http.Request) { readAll(r); panic(http.ErrAbortHandler) }, unknownOutcome, 0, 1, 0,
		},
		{
			"a stream that is reset within the form", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			broken, 0, 1, 0,
		},
		{
			"a stream that is reset in the reply", func(w http.ResponseWriter, r *http.Request) {
				readAll(r)
				_, _ = io.WriteString(w, reply[:len(reply)-20])
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}, unknownOutcome, 1, 1, 0,
		},
		{
			"an input that is shorter", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) },
			local, 0, 1, size / 2,
		},
		{
			"a redirect that keeps the method", func(w http.ResponseWriter, r *http.Request) {
				readAll(r)
				w.Header().Set("Location", "https://elsewhere.invalid/")
				w.WriteHeader(http.StatusTemporaryRedirect)
			}, outcome{engine.KindUnavailable, "redirected", engine.BilledNo}, 0, 1, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			c := overHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				tt.handle(w, r)
			})
			have := tt.data
			if have == 0 {
				have = size
			}
			in := &tracked{}
			part := in.input("a.png", size)
			open := part.Open
			part.Open = func() (io.ReadCloser, error) {
				in.mu.Lock()
				in.data = io.LimitReader(zeros{}, have)
				in.mu.Unlock()
				return open()
			}
			out := newSink()
			_, err := edit(t.Context(), c, out, part)
			in.end(t)
			if tt.want == (outcome{}) {
				if err != nil {
					t.Error(err)
				}
			} else if _, got := told(t, err); got != tt.want {
				t.Errorf("%v %v", got, err)
			}
			if n := requests.Load(); n != tt.requests || len(out.saved) != tt.pictures {
				t.Errorf("%d requests, want %d; %d pictures, want %d", n, tt.requests, len(out.saved), tt.pictures)
			}
		})
	}
}

// resetting speaks HTTP/2 by hand: it takes each request whole and then ends its stream with a code.
func resetting(t *testing.T, code http2.ErrCode) (origin string, whole *atomic.Int32) {
	t.Helper()
	whole = &atomic.Int32{}
	origin, _ = raw(t, func(_ int, c *net.TCPConn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		fr := http2.NewFramer(c, c)
		if err := fr.WriteSettings(); err != nil {
			t.Error(err)
		}
		for {
			f, err := fr.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.SettingsFrame:
				if !f.IsAck() {
					_ = fr.WriteSettingsAck()
				}
			case *http2.DataFrame:
				if f.StreamEnded() {
					whole.Add(1)
					_ = fr.WriteRSTStream(f.StreamID, code)
				}
			}
		}
	})
	return origin, whole
}

// TestNetHTTPSendsNothingAgain resets streams with the codes after which net/http would send a request again by itself.
func TestNetHTTPSendsNothingAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []http2.ErrCode{
		http2.ErrCodeProtocol, http2.ErrCodeRefusedStream, http2.ErrCodeInternal,
		http2.ErrCodeCancel,
	} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			origin, whole := resetting(t, code)
			c := client(t, origin, func(c *openai.Config) {
				transport := &http.Transport{Protocols: &http.Protocols{}}
				transport.Protocols.SetUnencryptedHTTP2(true)
				t.Cleanup(transport.CloseIdleConnections)
				c.HTTPClient = &http.Client{Transport: transport}
			})
			_, err := generate(t, c, newSink())
			if _, got := told(t, err); got != unknownOutcome {
				t.Errorf("%v %v", got, err)
			}
			in := &tracked{data: bytes.NewReader(one)}
			_, err = edit(t.Context(), c, newSink(), in.input("a.png", int64(len(one))))
			in.end(t)
			if _, got := told(t, err); got != unknownOutcome {
				t.Errorf("%v %v", got, err)
			}
			if n := whole.Load(); n != 2 {
				t.Errorf("%d whole requests reached the server, want 2", n)
			}
		})
	}
}

// TestAReplyWhoseEndIsNotSaid is whole, although its stream is reset behind it.
func TestAReplyWhoseEndIsNotSaid(t *testing.T) {
	t.Parallel()
	origin, _ := raw(t, func(_ int, c *net.TCPConn) {
		_, _ = io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
		fr := http2.NewFramer(c, c)
		_ = fr.WriteSettings()
		for {
			f, err := fr.ReadFrame()
			if err != nil {
				return
			}
			data, ok := f.(*http2.DataFrame)
			if !ok || !data.StreamEnded() {
				continue
			}
			var block bytes.Buffer
			_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: data.StreamID, BlockFragment: block.Bytes(), EndHeaders: true})
			for _, piece := range strings.SplitAfter(`{"data":[{"b64_json":"`+b1+`"}]}`, "b64") {
				_ = fr.WriteData(data.StreamID, false, []byte(piece))
			}
			_ = fr.WriteRSTStream(data.StreamID, http2.ErrCodeNo) // the reply was whole; only its end was not said
		}
	})
	c := client(t, origin, func(c *openai.Config) {
		transport := &http.Transport{Protocols: &http.Protocols{}}
		transport.Protocols.SetUnencryptedHTTP2(true)
		t.Cleanup(transport.CloseIdleConnections)
		c.HTTPClient = &http.Client{Transport: transport}
	})
	out := newSink()
	if _, err := generate(t, c, out); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([][]byte{one}, out.final()); diff != "" {
		t.Error(diff)
	}
}

// leaving speaks HTTP/2 by hand: after the frames that when picks it says with a GOAWAY that it took no stream at all.
// It counts the heads of requests.
func leaving(t *testing.T, when func(http2.Frame) bool) (origin string, heads *atomic.Int32) {
	t.Helper()
	heads = &atomic.Int32{}
	origin, _ = raw(t, func(_ int, c *net.TCPConn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		fr := http2.NewFramer(c, c)
		_ = fr.WriteSettings()
		for {
			f, err := fr.ReadFrame()
			if err != nil {
				return
			}
			if _, head := f.(*http2.HeadersFrame); head {
				heads.Add(1)
			}
			if when(f) {
				_ = fr.WriteGoAway(0, http2.ErrCodeNo, nil)
				_ = c.SetReadDeadline(time.Now().Add(time.Second)) // the client may leave the connection open
			}
		}
	})
	return origin, heads
}

// TestAServerThatAlwaysLeaves is not asked for ever, as net/http alone would do it: a request that a GOAWAY refuses is
// safe to send again, and nothing says when to stop.
func TestAServerThatAlwaysLeaves(t *testing.T) {
	t.Parallel()
	const size = 8 << 20
	tests := []struct {
		name string
		when func(http2.Frame) bool
	}{
		{"at the head", func(f http2.Frame) bool { _, ok := f.(*http2.HeadersFrame); return ok }},
		{"before it", func(f http2.Frame) bool { _, ok := f.(*http2.SettingsFrame); return ok }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			origin, heads := leaving(t, tt.when)
			c := client(t, origin, func(c *openai.Config) {
				transport := &http.Transport{Protocols: &http.Protocols{}}
				transport.Protocols.SetUnencryptedHTTP2(true)
				t.Cleanup(transport.CloseIdleConnections)
				c.HTTPClient = &http.Client{Transport: transport}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			in := &tracked{data: io.LimitReader(zeros{}, size)}
			_, err := edit(ctx, c, newSink(), in.input("a.png", size))
			in.end(t)
			if _, got := told(t, err); got != broken {
				t.Errorf("%v %v", got, err)
			}
			if n := heads.Load(); n > 3 {
				t.Errorf("%d heads reached the server, want at most 3", n)
			}
		})
	}
}
