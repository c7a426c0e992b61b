package openai_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fetch"
	"mediagen/internal/provider/openai"
)

// TestLimitsAndStops ends a call before, while and after its request is sent.
func TestLimitsAndStops(t *testing.T) {
	t.Parallel()
	stopped := outcome{engine.KindInterrupted, "interrupted", engine.BilledNo}
	late := outcome{engine.KindUnavailable, "timeout", engine.BilledNo}
	const size = 64 << 20
	tests := []struct {
		name     string
		deadline bool // else a cancellation
		when     string
		want     outcome
		message  string
	}{
		{"stopped before", false, "before", stopped, "stopped before the request was sent; nothing was billed"},
		{"too late before", true, "before", late, "the time limit ended before the request was sent; nothing was billed"},
		{"stopped while sending", false, "sending", stopped, "stopped before the request was sent; nothing was billed"},
		{
			"too late while sending", true, "sending", late,
			"the time limit ended before the request was sent; nothing was billed",
		},
		{
			"stopped after", false, "after", unknownOutcome,
			"the wait was broken off after the request was sent; it may have been billed",
		},
		{
			"too late after", true, "after", unknownOutcome,
			"no complete answer came within the time limit; it may have been billed",
		},
		{
			"stopped in the reply", false, "reply", unknownOutcome,
			"the wait was broken off after the request was sent; it may have been billed",
		},
		{
			"too late in the reply", true, "reply", unknownOutcome,
			"no complete answer came within the time limit; it may have been billed",
		},
		{
			"too late in an error reply", true, "error",
			outcome{"invalid_request", "http_400", "no"},
			"answered 400 Bad Request",
		},
		{
			"stopped in an error reply", false, "error",
			outcome{"invalid_request", "http_400", "no"},
			"answered 400 Bad Request",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, end := ending(t, tt.deadline)
			defer end()
			over := make(chan struct{})
			srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tt.when == "sending" {
					<-over // the body stays unread, so the server would not notice the client's end
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if tt.when == "error" {
					w.WriteHeader(http.StatusBadRequest)
				}
				if tt.when == "after" {
					end()
				} else {
					_, _ = io.WriteString(w, `{"data":[{"b64_json":"`+b1+`"},{"b64_json":"AAEC`)
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			}))
			in := &tracked{data: io.LimitReader(zeros{}, size)}
			if tt.when == "sending" {
				in.onRead = func(n int64) {
					if n > 1<<20 { // no connection buffers the rest
						end()
					}
				}
			}
			if tt.when == "before" {
				end()
			}
			out := newSink()
			var to engine.ImageSink = out
			if tt.when == "reply" {
				ended := make(chan struct{})
				to = &signals{out, ended}
				go func() { <-ended; end() }()
			}
			c := client(t, srv.URL, func(c *openai.Config) {
				if tt.when == "error" {
					c.HTTPClient.Transport = &onBody{c.HTTPClient.Transport, end}
				}
			})
			_, err := edit(ctx, c, to, in.input("a.png", size))
			close(over)
			in.end(t)
			e, got := told(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
			if e.Message != tt.message || out.open > 0 || len(out.pauses) > 0 {
				t.Errorf("message %q, %d open, pauses %v", e.Message, out.open, out.pauses)
			}
			if posts, _ := srv.counts(); posts > 1 || tt.when == "before" && posts > 0 {
				t.Errorf("%d requests", posts)
			}
			if tt.when == "reply" && len(out.final()) != 1 {
				t.Errorf("%d pictures are safe, want the one that came whole", len(out.final()))
			}
		})
	}
}

// onBody calls a function when a reply's body is first read.
type onBody struct {
	http.RoundTripper
	do func()
}

func (o *onBody) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := o.RoundTripper.RoundTrip(r)
	if err == nil {
		body := res.Body
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(readFunc(func([]byte) (int, error) { o.do(); return 0, io.EOF }), body), body}
	}
	return res, err
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// ending returns a context that ends when end is called: by cancellation, or as a deadline does.
func ending(t *testing.T, deadline bool) (ctx context.Context, end func()) {
	t.Helper()
	if !deadline {
		return context.WithCancel(t.Context())
	}
	c := &expiring{Context: t.Context(), done: make(chan struct{})}
	return c, sync.OnceFunc(func() { close(c.done) })
}

// expiring is a context whose deadline a test brings about.
type expiring struct {
	context.Context
	done chan struct{}
}

func (e *expiring) Done() <-chan struct{} { return e.done }

func (e *expiring) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return e.Context.Err()
	}
}

// TestAServerThatNeverAnswers runs into the client's own limit for the first byte.
func TestAServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	srv := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	c := client(t, srv.URL, func(c *openai.Config) {
		c.HTTPClient = fetch.NewProviderClient(fetch.ProviderConfig{ResponseHeaderTimeout: 50 * time.Millisecond})
	})
	_, err := generate(t, c, newSink())
	e, got := told(t, err)
	if got != unknownOutcome || !strings.HasPrefix(e.Message, "no complete answer came within the time limit") {
		t.Errorf("%v %v", got, err)
	}
}
