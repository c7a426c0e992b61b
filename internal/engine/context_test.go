package engine_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/fetch"
	"mediagen/internal/journal"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
)

// ticks calls on at the n-th look at the clock. The journal looks once for each row that it writes.
func ticks(n int64, on func()) func() time.Time {
	var seen atomic.Int64
	return func() time.Time {
		if seen.Add(1) == n {
			on()
		}
		return today()
	}
}

// TestCancelledBeforeSending: whenever it happens, nothing is sent, and no row stays planned.
func TestCancelledBeforeSending(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "while the journal opens", "while the row is written", "while the row is marked sent"} {
		for _, late := range []bool{false, true} { // a cancel, or a time limit
			t.Run(when, func(t *testing.T) {
				t.Parallel()
				ctx := &ending{Context: t.Context(), done: make(chan struct{}), with: context.Canceled}
				if late {
					ctx.with = context.DeadlineExceeded
				}
				end := func() { close(ctx.done) }
				f := &fake{}
				o := options{providers: []engine.ImageProvider{f}}
				switch when {
				case "while the row is written":
					o.journalNow = ticks(1, end)
				case "while the row is marked sent":
					o.journalNow = ticks(2, end)
				case "while the journal opens":
					o.change = func(c *engine.Config) {
						open := c.Journal
						c.Journal = func(ctx context.Context) (*journal.Journal, error) { end(); return open(ctx) }
					}
				}
				r := newRig(t, o)
				if when == "before" {
					end()
				}
				res, err := r.GenerateImages(ctx, small(), engine.Output{Dest: "out/"}, nil)
				kind, code, state := engine.KindInterrupted, fault.Code("interrupted"), "cancelled"
				if late {
					kind, code, state = engine.KindUnavailable, "timeout", "failed"
				}
				e := wantError(t, err, kind, code, engine.BilledNo)
				contains(t, e.Message, "nothing was billed")
				if res != nil || f.count() != 0 || len(r.files()) != 0 {
					t.Errorf("result %v, %d requests, files %v", res, f.count(), r.files())
				}
				if _, err := os.Stat(r.in("out")); when == "before" && err == nil {
					t.Error("a directory was made")
				}
				rows := r.rows()
				if when != "while the row is marked sent" {
					if len(rows) != 0 {
						t.Errorf("%d rows", len(rows))
					}
					return
				}
				if len(rows) != 1 || string(rows[0].State) != state || !rows[0].SentAt.IsZero() || rows[0].Billed != "no" {
					t.Errorf("rows %+v", rows)
				}
			})
		}
	}
}

// ending is a context that ends when and as the test wants.
type ending struct {
	context.Context //nolint:containedctx // it is one

	done chan struct{}
	with error
}

func (c *ending) Done() <-chan struct{} { return c.done }

func (c *ending) Err() error {
	select {
	case <-c.done:
		return c.with
	default:
		return nil
	}
}

// TestCancelledAfterTheRow: the row was marked sent when the caller gave up, but the request had not left.
func TestCancelledAfterTheRow(t *testing.T) {
	t.Parallel()
	for _, noJournal := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := &fake{}
		r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: noJournal})
		// A context whose end shows when the engine asks for it the second time: after the row was written.
		_, err := r.GenerateImages(&second{Context: ctx, cancel: cancel}, small(), engine.Output{}, nil)
		wantError(t, err, engine.KindInterrupted, "interrupted", engine.BilledNo)
		if f.count() != 0 {
			t.Error("it was sent")
		}
		if !noJournal && r.row().State != "cancelled" {
			t.Errorf("state %s", r.row().State)
		}
	}
}

// second is cancelled when the engine looks for the second time; others may look as often as they like.
type second struct {
	context.Context //nolint:containedctx // it is one

	cancel context.CancelFunc
	asked  atomic.Int64
}

// Err tells who asks by its caller: package database/sql does so from goroutines of its own.
func (c *second) Err() error {
	pc, _, _, _ := runtime.Caller(1)
	if strings.HasSuffix(runtime.FuncForPC(pc).Name(), "engine.stopped") && c.asked.Add(1) == 2 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestCancelledAfterSending: the request is paid for, so it runs to its end, and the picture lands.
func TestCancelledAfterSending(t *testing.T) {
	t.Parallel()
	p, s := emulate(t, "openai", "slow-headers:200ms")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := r.GenerateImages(ctx, small(), engine.Output{}, &record{on: func(e engine.Event) {
		if e.Kind == engine.EventSent {
			cancel()
		}
	}})
	check(t, r, res, err, outcome{state: "landed", finals: 1}, "")
	if s.requests.Load() != 1 {
		t.Errorf("%d requests", s.requests.Load())
	}
}

// TestDeadlineAfterSending does end the request: what became of it is not known.
func TestDeadlineAfterSending(t *testing.T) {
	t.Parallel()
	p, _ := emulate(t, "openai", "slow-headers:1m")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	res, err := r.GenerateImages(ctx, small(), engine.Output{}, nil)
	check(t, r, res, err, outcome{engine.KindUnknownOutcome, "no_answer", engine.BilledMaybe, "unknown", 0, 0}, "time limit")
}

// arrived is a server that takes requests and never answers; on is called when one has come whole.
func arrived(t *testing.T, on func()) *server {
	t.Helper()
	return serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		on()
		<-r.Context().Done()
	}))
}

// TestAbort is the second Ctrl-C: the request is given up at once and its outcome is unknown.
func TestAbort(t *testing.T) {
	t.Parallel()
	abort, second := context.WithCancel(context.Background())
	defer second()
	s := arrived(t, second)
	r := newRig(t, options{
		providers: []engine.ImageProvider{client(t, "openai", s.URL)},
		change:    func(c *engine.Config) { c.Abort = abort },
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // ends a call that the abort did not
	defer cancel()
	res, err := r.GenerateImages(ctx, small(), engine.Output{}, nil)
	check(t, r, res, err, outcome{engine.KindUnknownOutcome, "no_answer", engine.BilledMaybe, "unknown", 0, 0}, "broken off")

	// Aborted before the request left.
	res, err = r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	wantError(t, err, engine.KindInterrupted, "interrupted", engine.BilledNo)
	if res.Job.State != "cancelled" || s.requests.Load() != 1 {
		t.Errorf("state %s, %d requests", res.Job.State, s.requests.Load())
	}
}

// patient is a client that really waits before it sends again.
func patient(t *testing.T, origin string) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{
		Name: "openai", BaseURL: origin + "/v1", APIKey: redact.NewSecret("sk-test"),
		HTTPClient: fetch.NewProviderClient(fetch.ProviderConfig{}),
	})
	must(t, err)
	return c
}

// TestCancelledWhileWaitingToSendAgain: the server has not taken the request, so the cancel still saves the money.
func TestCancelledWhileWaitingToSendAgain(t *testing.T) {
	t.Parallel()
	_, s := emulate(t, "openai", "rate-limit:5")
	r := newRig(t, options{providers: []engine.ImageProvider{patient(t, s.URL)}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := r.GenerateImages(ctx, small(), engine.Output{}, &record{on: func(e engine.Event) {
		if e.Kind == engine.EventRetrying {
			cancel()
		}
	}})
	wantError(t, err, engine.KindInterrupted, "interrupted", engine.BilledNo)
	if s.requests.Load() != 1 || r.row().State != "cancelled" || res.Job.State != "cancelled" {
		t.Errorf("%d requests, state %s", s.requests.Load(), r.row().State)
	}
}

// TestCancelledAfterSendingAgain: the second request is at the provider, so it runs to its end.
func TestCancelledAfterSendingAgain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, inner := emulate(t, "openai", "rate-limit:0.01:times=1", "slow-headers:200ms")
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if inner.requests.Load() == 1 {
			cancel()
		}
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	r := newRig(t, options{providers: []engine.ImageProvider{patient(t, s.URL)}})
	res, err := r.GenerateImages(ctx, small(), engine.Output{}, nil)
	check(t, r, res, err, outcome{state: "landed", finals: 1}, "")
	if s.requests.Load() != 2 {
		t.Errorf("%d requests", s.requests.Load())
	}
}

// TestWithdrawal: the caller's cancel counts during the pause alone, and an outcome that is not known stays unknown.
func TestWithdrawal(t *testing.T) {
	t.Parallel()
	limited := engine.Errorf(engine.KindRateLimited, "rate_limit_exceeded", "slow down").Bill(engine.BilledNo)
	cut := engine.Errorf(engine.KindUnknownOutcome, "no_answer", "the connection was lost").Bill(engine.BilledMaybe)
	tests := []struct {
		name  string
		pause time.Duration
		ends  bool
		err   error
		kind  engine.Kind
		state journal.State
	}{
		{"in the pause", time.Hour, true, limited, engine.KindInterrupted, "cancelled"},
		{"in the pause, but it was sent", time.Hour, true, cut, engine.KindUnknownOutcome, "unknown"},
		{"after the pause", 0, false, limited, engine.KindRateLimited, "failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f := &fake{do: func(paid context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
				sink.Retrying(1, tt.pause, limited)
				cancel()
				if tt.ends {
					<-paid.Done()
				} else if paid.Err() != nil {
					t.Error("the request was given up although it was at the provider")
				}
				return engine.ImageReply{}, tt.err
			}}
			r := newRig(t, options{providers: []engine.ImageProvider{f}})
			_, err := r.GenerateImages(ctx, small(), engine.Output{}, nil)
			if e := engine.AsError(err); e == nil || e.Kind != tt.kind || r.row().State != tt.state {
				t.Errorf("%v, state %s", err, r.row().State)
			}
		})
	}
}

// TestPaidLimit: a call without a time limit of its own gets the ten minutes that a paid request may take; one that has
// a limit keeps it.
func TestPaidLimit(t *testing.T) {
	t.Parallel()
	var got time.Duration
	f := &fake{do: func(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		end, _ := ctx.Deadline()
		got = time.Until(end).Round(time.Minute)
		return draw(call, sink)
	}}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	for limit, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, 3 * time.Minute: 3 * time.Minute, time.Hour: time.Hour} {
		ctx, cancel := t.Context(), context.CancelFunc(func() {})
		if limit > 0 {
			ctx, cancel = context.WithTimeout(t.Context(), limit)
		}
		_, err := r.GenerateImages(ctx, small(), engine.Output{}, nil)
		cancel()
		must(t, err)
		if got != want {
			t.Errorf("limit %s: the request may take %s, want %s", limit, got, want)
		}
	}
}
