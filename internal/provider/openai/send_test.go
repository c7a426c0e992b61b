package openai_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fetch"
	"mediagen/internal/provider/openai"
)

// raw serves TCP connections one after another and counts them.
func raw(t testing.TB, serveConn func(n int, c *net.TCPConn)) (origin string, count *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	count = &atomic.Int32{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(count.Add(1))
			tcp, ok := c.(*net.TCPConn)
			if !ok {
				t.Errorf("a connection is a %T", c)
				return
			}
			wg.Go(func() {
				defer func() { _ = tcp.Close() }()
				serveConn(n, tcp)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String(), count
}

// reset ends a connection with a TCP reset.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

func edit(
	ctx context.Context, c *openai.Client, s engine.ImageSink, inputs ...engine.Input,
) (engine.ImageReply, error) {
	return c.EditImages(ctx, engine.ImageCall{Prompt: "a fox in the snow", Model: "m", N: 2, Images: inputs}, s)
}

var (
	broken = outcome{engine.KindUnavailable, "connection_failed", engine.BilledNo}
	local  = outcome{engine.KindFailure, "io_failed", engine.BilledNo}
)

// TestAConnectionThatBreaksWhileSending is neither billed nor sent again.
func TestAConnectionThatBreaksWhileSending(t *testing.T) {
	t.Parallel()
	for name, cutAfter := range map[string]int64{"at once": 0, "after the headers": 600, "in the middle": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, count := raw(t, func(_ int, c *net.TCPConn) {
				_, _ = io.CopyN(io.Discard, c, cutAfter)
				reset(c)
			})
			const size = 64 << 20
			in := &tracked{data: io.LimitReader(zeros{}, size)}
			out := newSink()
			_, err := edit(t.Context(), client(t, origin), out, in.input("big.png", size))
			in.end(t)
			e, got := told(t, err)
			if diff := cmp.Diff(broken, got); diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
			if e.Message != "the connection broke before the request was sent whole; nothing was billed" {
				t.Errorf("message = %q", e.Message)
			}
			// A reset can also come before connect(2) has returned: then nothing can have been sent.
			if n := int(count.Load()); n != 1+len(out.pauses) || cutAfter > 0 && n != 1 {
				t.Errorf("%d connections, %d pauses, want one connection", n, len(out.pauses))
			}
		})
	}
}

// TestTheEmulatorCutsBeforeTheBody is the same through the emulator's fault.
func TestTheEmulatorCutsBeforeTheBody(t *testing.T) {
	t.Parallel()
	srv := emulated(t, "cut-before-body")
	const size = 32 << 20
	in := &tracked{data: io.LimitReader(zeros{}, size)}
	_, err := edit(t.Context(), client(t, srv.URL), newSink(), in.input("a.png", size))
	in.end(t)
	if _, got := told(t, err); got != broken {
		t.Errorf("%v %v", got, err)
	}
	if posts, _ := srv.counts(); posts != 1 {
		t.Errorf("%d requests", posts)
	}
}

// TestAConnectionThatBreaksAfterwards may have been billed, whatever comes instead of a reply.
func TestAConnectionThatBreaksAfterwards(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing": "", "half a status line": "HTTP/1.1 2", "no HTTP": "220 mail.example ESMTP\r\n",
		"half of the headers":   "HTTP/1.1 200 OK\r\nContent-Type: app",
		"a length that is none": "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, count := raw(t, func(_ int, c *net.TCPConn) {
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, answer)
			})
			c := client(t, origin)
			for range 20 { // the request and its end race in net/http
				_, err := generate(t, c, newSink())
				if _, got := told(t, err); got != unknownOutcome {
					t.Fatalf("%v %v", got, err)
				}
			}
			_, err := edit(t.Context(), c, newSink(), input("a.png", "image/png", one))
			if _, got := told(t, err); got != unknownOutcome {
				t.Errorf("%v %v", got, err)
			}
			if n := count.Load(); n != 21 {
				t.Errorf("%d connections, want 21", n)
			}
		})
	}
}

// TestAnEarlyAnswer is one that comes while the form is still being sent.
func TestAnEarlyAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		want         outcome
		posts        int32
	}{
		{
			"413", "HTTP/1.1 413 Request Entity Too Large\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\ntoo big",
			outcome{"invalid_request", "http_413", "no"},
			1,
		},
		{
			"401 without a body", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
			outcome{"auth", "http_401", "no"},
			1,
		},
		{
			"503 is sent again", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
			outcome{"unavailable", "http_503", "no"},
			3,
		},
		{"200", "HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\n" + `{"data":[{"b64_json":"AAEC"}]}  `, outcome{}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			origin, count := raw(t, func(_ int, c *net.TCPConn) {
				_, _ = io.CopyN(io.Discard, c, 2000)
				_, _ = io.WriteString(c, tt.answer)
				_, _ = io.Copy(io.Discard, c)
			})
			const size = 64 << 20
			in := &tracked{data: io.MultiReader(io.LimitReader(zeros{}, size), io.LimitReader(zeros{}, 2*size))}
			part := in.input("a.png", size)
			open := part.Open
			part.Open = func() (io.ReadCloser, error) {
				rc, err := open()
				in.data = io.LimitReader(zeros{}, size)
				return rc, err
			}
			out := newSink()
			_, err := edit(t.Context(), client(t, origin), out, part)
			in.end(t)
			if tt.want == (outcome{}) {
				if err != nil || len(out.final()) != 1 {
					t.Errorf("%v, %d pictures", err, len(out.final()))
				}
			} else if _, got := told(t, err); got != tt.want {
				t.Errorf("%v %v", got, err)
			}
			if n := count.Load(); n != tt.posts {
				t.Errorf("%d requests, want %d", n, tt.posts)
			}
			in.mu.Lock()
			defer in.mu.Unlock()
			if in.readAfter > 0 {
				t.Error("the input was read after the call had returned")
			}
		})
	}
}

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
