package openai_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/provider/openai"
)

// tracked is an input that knows how it was used.
type tracked struct {
	mu                        sync.Mutex
	data                      io.Reader
	opened, closed, readAfter int
	over                      bool // the call has returned
	readErr                   error
	onRead                    func(n int64)
	read                      int64
}

func (tr *tracked) input(name string, size int64) engine.Input {
	return engine.Input{Name: name, MIME: "image/png", Size: size, Open: func() (io.ReadCloser, error) {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		tr.opened++
		return tr, nil
	}}
}

func (tr *tracked) Read(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.over {
		tr.readAfter++
	}
	n, err := tr.data.Read(p)
	tr.read += int64(n)
	if tr.onRead != nil {
		tr.onRead(tr.read)
	}
	if errors.Is(err, io.EOF) && tr.readErr != nil {
		err = tr.readErr
	}
	return n, err
}

func (tr *tracked) Close() error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.closed++
	return nil
}

// end says that the call has returned, and checks that the input is closed.
func (tr *tracked) end(t *testing.T) {
	t.Helper()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.over = true
	if tr.opened != tr.closed {
		t.Errorf("the input was opened %d times and closed %d times", tr.opened, tr.closed)
	}
}

// zeros reads without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestInputsThatFail is our own failure: the server never gets a whole request.
func TestInputsThatFail(t *testing.T) {
	t.Parallel()
	gone := errors.New("stale handle")
	good := func(n int64) *tracked { return &tracked{data: io.LimitReader(zeros{}, n)} }
	openFails := engine.Input{
		Name: "b.png", MIME: "image/png", Size: 5,
		Open: func() (io.ReadCloser, error) { return nil, gone },
	}
	tests := []struct {
		name    string
		in      *tracked
		size    int64
		other   *engine.Input
		message string
		cause   error
	}{
		{
			"reading fails", &tracked{data: io.LimitReader(zeros{}, 1<<20), readErr: gone}, 2 << 20, nil,
			"input a.png cannot be read; nothing was billed", gone,
		},
		{
			"reading fails as the engine marks it",
			&tracked{data: io.LimitReader(zeros{}, 10), readErr: fmt.Errorf("%w: %w", engine.ErrInput, gone)},
			2 << 20, nil, "input a.png cannot be read; nothing was billed", gone,
		},
		{"it is shorter", good(1 << 20), 1<<20 + 1, nil, "input a.png changed while it was sent; nothing was billed", nil},
		{"it is empty", good(0), 7, nil, "input a.png changed while it was sent; nothing was billed", nil},
		{
			"it is longer by a byte", good(1<<20 + 1), 1 << 20, nil,
			"input a.png changed while it was sent; nothing was billed", nil,
		},
		{
			"it is longer by a lot", good(8 << 20), 1 << 20, nil, "input a.png changed while it was sent; nothing was billed",
			nil,
		},
		{"the second cannot be opened", good(100), 100, &openFails, "input b.png cannot be opened; nothing was billed", gone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var whole atomic.Int32
			srv := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err == nil {
					whole.Add(1)
				}
			}))
			inputs := []engine.Input{tt.in.input("a.png", tt.size)}
			if tt.other != nil {
				inputs = append(inputs, *tt.other)
			}
			out := newSink()
			_, err := edit(t.Context(), client(t, srv.URL), out, inputs...)
			tt.in.end(t)
			e, got := told(t, err)
			if diff := cmp.Diff(local, got); diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
			if e.Message != tt.message || !errors.Is(err, engine.ErrInput) || !errors.Is(err, tt.cause) && tt.cause != nil ||
				e.Provider != "" {
				t.Errorf("message %q of provider %q, error chain %v", e.Message, e.Provider, err)
			}
			srv.Close() // waits for the handler
			if posts, _ := srv.counts(); posts > 1 || whole.Load() > 0 || len(out.pauses) > 0 {
				t.Errorf("%d requests, %d of them whole", posts, whole.Load())
			}
		})
	}
}

// TestAFormIsSentAgainFromItsStart sends the same bytes after a 503.
func TestAFormIsSentAgainFromItsStart(t *testing.T) {
	t.Parallel()
	var bodies [][]byte
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies = append(bodies, b)
		if len(bodies) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"b64_json":"AAEC"}]}`)
	}))
	mask := input("m.png", "image/png", two)
	call := engine.ImageCall{
		Prompt: "p", Model: "m", Images: []engine.Input{input("a.png", "image/png", one)},
		Mask: &mask,
	}
	if _, err := client(t, srv.URL).EditImages(t.Context(), call, newSink()); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 3 || !bytes.Equal(bodies[0], bodies[1]) || !bytes.Equal(bodies[1], bodies[2]) ||
		!bytes.Contains(bodies[2], two) {
		t.Errorf("%d bodies, which differ", len(bodies))
	}
}

// rewinding is a transport that finds its first connection dead, as net/http's does when a kept connection was closed
// by the server before a byte was written.
type rewinding struct{ next http.RoundTripper }

func (r rewinding) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.GetBody == nil {
		return nil, errors.New("the body cannot be had again")
	}
	if _, err := io.CopyN(io.Discard, req.Body, 3); err != nil {
		return nil, err
	}
	if err := req.Body.Close(); err != nil {
		return nil, err
	}
	again := req.Clone(req.Context())
	var err error
	if again.Body, err = req.GetBody(); err != nil {
		return nil, err
	}
	return r.next.RoundTrip(again)
}

func TestADeadConnectionCostsNothing(t *testing.T) {
	t.Parallel()
	srv := emulated(t)
	c := client(t, srv.URL, func(c *openai.Config) {
		transport := &http.Transport{DisableKeepAlives: true}
		c.HTTPClient = &http.Client{Transport: rewinding{transport}}
	})
	png := pngOf(t, 32, 32, false)
	call := engine.ImageCall{
		Prompt: "p", Model: "m", Size: "32x32",
		Images: []engine.Input{input("a.png", "image/png", png)},
	}
	if _, err := c.GenerateImages(t.Context(), call, newSink()); err != nil {
		t.Error(err)
	}
	if _, err := c.EditImages(t.Context(), call, newSink()); err != nil {
		t.Error(err)
	}
}
