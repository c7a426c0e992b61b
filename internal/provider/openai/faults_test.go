package openai_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/emulator"
	"mediagen/internal/engine"
	"mediagen/internal/provider/openai"
)

// faultCase is what one fault of the emulator comes to when three pictures are asked for.
type faultCase struct {
	spec     string
	want     outcome // zero: the call succeeds
	saved    int     // final pictures that are safe
	requests int     // creates that reached the server
	message  string  // a part of it
	after    time.Duration
	noID     bool // no reply, so no request id
}

var (
	unknownOutcome = outcome{engine.KindUnknownOutcome, "no_answer", engine.BilledMaybe}
	unusable       = outcome{engine.KindUnknownOutcome, "unusable_reply", engine.BilledMaybe}
)

// faultCases has a row for each fault of the emulator.
var faultCases = []faultCase{
	{
		spec: "moderation", want: outcome{"blocked", "moderation_blocked", "no"}, requests: 1,
		message: "blocked at the input stage",
	},
	{
		spec: "moderation:output", want: outcome{"blocked", "moderation_blocked", "maybe"}, requests: 1,
		message: "output stage",
	},
	{
		spec: "bad-key", want: outcome{"auth", "invalid_api_key", "no"}, requests: 1,
		message: "401 Unauthorized: the key was refused",
	},
	{spec: "unverified", want: outcome{"auth", "organization_unverified", "no"}, requests: 1, message: "must be verified"},
	{
		spec: "model-not-found", want: outcome{"not_found", "model_not_found", "no"}, requests: 1,
		message: "(parameter model)",
	},
	{spec: "rate-limit", want: outcome{"rate_limited", "rate_limit_exceeded", "no"}, requests: 3},
	{
		spec: "rate-limit:0.25", want: outcome{"rate_limited", "rate_limit_exceeded", "no"}, requests: 3,
		after: 250 * time.Millisecond,
	},
	{
		spec: "rate-limit:61", want: outcome{"rate_limited", "rate_limit_exceeded", "no"}, requests: 1,
		after: 61 * time.Second,
	},
	{spec: "rate-limit:times=2", saved: 3, requests: 3},
	{spec: "quota", want: outcome{"quota", "insufficient_quota", "no"}, requests: 1},
	{spec: "server-error", want: outcome{"unavailable", "server_error", "maybe"}, requests: 1},
	{
		spec: "bad-gateway-html", want: outcome{"unavailable", "http_502", "maybe"}, requests: 1,
		message: "answered 502 Bad Gateway",
	},
	{spec: "unavailable", want: outcome{"unavailable", "server_is_overloaded", "no"}, requests: 3},
	{spec: "unavailable:times=1", saved: 3, requests: 2},
	{
		spec: "cut-after-body", want: unknownOutcome, requests: 1,
		message: "the connection was lost after the request was sent", noID: true,
	},
	{spec: "html", want: unusable, requests: 1, message: "web page"},
	{
		spec: "422-detail", want: outcome{"invalid_request", "http_422", "no"}, requests: 1,
		message: "body.prompt: field cannot be used",
	},
	{
		spec: "400-object", want: outcome{"invalid_request", "http_400", "no"}, requests: 1,
		message: "the request cannot be used",
	},
	{spec: "empty", want: unusable, requests: 1, message: "the reply holds no picture"},
	{spec: "fewer", saved: 2, requests: 1},
	{spec: "wrong-type", saved: 3, requests: 1},
	{spec: "url-same-origin", saved: 3, requests: 1},
	{spec: "url-relative", saved: 3, requests: 1},
	{
		spec: "url-foreign", want: outcome{"unknown_outcome", "url_not_allowed", "yes"}, requests: 1,
		message: "another origin",
	},
	{spec: "data-prefix", saved: 3, requests: 1},
	{spec: "bad-base64", want: unusable, requests: 1, message: "cannot be decoded"},
	{spec: "escaped-slashes", saved: 3, requests: 1},
	{spec: "truncated-json", want: unknownOutcome, saved: 1, requests: 1, message: "broke off before it was complete"},
	{
		spec: "truncated-json:reset", want: unknownOutcome, saved: 1, requests: 1,
		message: "broke off before it was complete",
	},
	{spec: "big:1", saved: 3, requests: 1},
	{spec: "slow:20ms", saved: 3, requests: 1},
	{spec: "slow-headers:20ms", saved: 3, requests: 1},
	// Faults of streams; a reply that is no stream does not show them.
	{spec: "json-for-stream", saved: 3, requests: 1},
	{spec: "cut-stream", saved: 3, requests: 1},
	{spec: "stream-error", saved: 3, requests: 1},
}

func (tt faultCase) check(t *testing.T, srv *server, out *sink, reply engine.ImageReply, err error) {
	t.Helper()
	if posts, _ := srv.counts(); posts != tt.requests {
		t.Errorf("%d requests, want %d", posts, tt.requests)
	}
	if len(out.final()) != tt.saved || reply.Pictures != tt.saved || out.open != 0 {
		t.Errorf("%d pictures saved, %d reported, %d left open, want %d", len(out.final()), reply.Pictures, out.open,
			tt.saved)
	}
	if (reply.RequestID == "") != tt.noID {
		t.Errorf("request id of the reply = %q", reply.RequestID)
	}
	if tt.want == (outcome{}) {
		if err != nil {
			t.Errorf("error: %v", err)
		}
		return
	}
	e, got := told(t, err)
	if diff := cmp.Diff(tt.want, got); diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
	if !strings.Contains(e.Message, tt.message) || e.RetryAfter != tt.after || e.RequestID != reply.RequestID {
		t.Errorf("message %q, retry after %s, request id %q, want %q, %s, %q",
			e.Message, e.RetryAfter, e.RequestID, tt.message, tt.after, reply.RequestID)
	}
	if e.Billed == engine.BilledMaybe && strings.Contains(e.Message+e.Hint, "nothing was billed") {
		t.Errorf("it may have been billed, and the message says it was not: %s", e.Message)
	}
}

func TestFaultsOfTheEmulator(t *testing.T) {
	t.Parallel()
	small := engine.ImageCall{Prompt: "a fox", Model: "m", Size: "32x32", N: 3}
	covered := map[string]bool{"cut-before-body": true} // TestAConnectionThatBreaksWhileSending
	for _, tt := range faultCases {
		covered[strings.SplitN(tt.spec, ":", 2)[0]] = true
		t.Run("generate/"+tt.spec, func(t *testing.T) {
			t.Parallel()
			srv, out := emulated(t, tt.spec), newSink()
			reply, err := client(t, srv.URL).GenerateImages(t.Context(), small, out)
			tt.check(t, srv, out, reply, err)
		})
		t.Run("edit/"+tt.spec, func(t *testing.T) {
			t.Parallel()
			srv, out := emulated(t, tt.spec), newSink()
			call := small
			call.Images = []engine.Input{input("a.png", "image/png", pngOf(t, 32, 32, false))}
			reply, err := client(t, srv.URL).EditImages(t.Context(), call, out)
			tt.check(t, srv, out, reply, err)
		})
	}
	for _, name := range emulator.FaultNames() {
		if !covered[name] {
			t.Errorf("fault %s has no row", name)
		}
	}
}

func TestFaultsOfStreams(t *testing.T) {
	t.Parallel()
	call := engine.ImageCall{Prompt: "a fox", Model: "m", Size: "32x32", N: 2, Partials: 2}
	partial := func(n int) (slots []engine.Slot) {
		for k := range n {
			slots = append(slots, engine.Slot{Partial: k + 1})
		}
		return slots
	}
	both := []engine.Slot{
		{Index: 0},
		{Index: 0, Partial: 1},
		{Index: 0, Partial: 2},
		{Index: 1},
		{Index: 1, Partial: 1},
		{Index: 1, Partial: 2},
	}
	tests := []struct {
		faultCase
		slots []engine.Slot
	}{
		{faultCase{spec: "fewer", saved: 1, requests: 1}, both[:3]},
		{faultCase{spec: "slow:20ms", saved: 2, requests: 1}, both},
		{faultCase{spec: "escaped-slashes", saved: 2, requests: 1}, both},
		{faultCase{spec: "data-prefix", saved: 2, requests: 1}, both},
		{faultCase{spec: "json-for-stream", saved: 2, requests: 1}, []engine.Slot{{Index: 0}, {Index: 1}}},
		{
			faultCase{spec: "cut-stream", want: unknownOutcome, requests: 1, message: "broke off before it was complete"},
			partial(2),
		},
		{faultCase{spec: "cut-stream:reset", want: unknownOutcome, requests: 1, message: "broke off"}, partial(2)},
		{
			faultCase{
				spec: "stream-error", requests: 1, message: "while it drew the picture",
				want: outcome{"unknown_outcome", "server_error", "maybe"},
			}, partial(2),
		},
		{faultCase{spec: "bad-base64", want: unusable, requests: 1, message: "cannot be decoded"}, nil},
		{faultCase{spec: "empty", want: unusable, requests: 1, message: "the reply is empty"}, nil},
		{faultCase{spec: "quota", want: outcome{"quota", "insufficient_quota", "no"}, requests: 1}, nil},
		{faultCase{spec: "rate-limit:times=1", saved: 2, requests: 2}, both},
	}
	for _, tt := range tests {
		t.Run(tt.spec, func(t *testing.T) {
			t.Parallel()
			srv, out := emulated(t, tt.spec), newSink()
			reply, err := client(t, srv.URL).GenerateImages(t.Context(), call, out)
			tt.check(t, srv, out, reply, err)
			want := map[engine.Slot]bool{}
			for _, s := range tt.slots {
				want[s] = true
			}
			got := map[engine.Slot]bool{}
			for s := range out.saved {
				got[s] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("slots: %s", diff)
			}
		})
	}
}

// TestASuccessIsReportedWhole checks what a reply says beside its pictures.
func TestASuccessIsReportedWhole(t *testing.T) {
	t.Parallel()
	for _, partials := range []int{0, 1} {
		srv, out := emulated(t), newSink()
		call := engine.ImageCall{
			Prompt: "a fox", Model: "m", Size: "64x48", N: 2, Quality: "low", Background: "opaque", OutputFormat: "jpeg",
			Partials: partials,
		}
		reply, err := client(t, srv.URL).GenerateImages(t.Context(), call, out)
		if err != nil {
			t.Fatal(err)
		}
		if reply.RequestID != "req_emulated_00000001" || !reply.Usage.Reported || reply.Usage.OutputTokens == 0 ||
			reply.Usage.InputTextTokens == 0 || reply.Usage.TotalTokens != reply.Usage.InputTokens+reply.Usage.OutputTokens {
			t.Errorf("reply = %+v", reply)
		}
		reply.RequestID, reply.Usage = "", engine.Usage{}
		want := engine.ImageReply{
			Created: clock().UTC(), Size: "64x48", Quality: "low", Background: "opaque", OutputFormat: "jpeg", Pictures: 2,
		}
		if diff := cmp.Diff(want, reply); diff != "" {
			t.Error(diff)
		}
		for _, b := range out.final() {
			if !bytes.HasPrefix(b, []byte("\xff\xd8\xff")) {
				t.Errorf("picture begins with %x", b[:4])
			}
		}
		if len(out.warnings)+len(out.pauses)+len(out.links) > 0 {
			t.Errorf("the sink was told %v %v %v", out.warnings, out.pauses, out.links)
		}
	}
}

func TestForeignLinksComeWithTheirSignature(t *testing.T) {
	t.Parallel()
	srv, out := emulated(t, "url-foreign:https://pictures.invalid"), newSink()
	_, err := client(t, srv.URL).GenerateImages(t.Context(),
		engine.ImageCall{Prompt: "x", Model: "m", Size: "32x32", N: 2}, out)
	_, _ = told(t, err)
	if len(out.links) != 2 || strings.Contains(err.Error(), "sig=") {
		t.Errorf("links %v, error %v", out.links, err)
	}
	for i, link := range out.links {
		if !strings.HasPrefix(link, "https://pictures.invalid/emulator/pictures/") ||
			!strings.HasSuffix(link, "?sig=emulated") {
			t.Errorf("link %d = %q", i, link)
		}
	}
}

func TestRetriesArePausedAsAsked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		spec   string
		retry  openai.Retry
		limit  time.Duration // of the context
		slept  []time.Duration
		within bool // pauses may be up to a quarter shorter
		posts  int
	}{
		{
			name: "as the server asks", spec: "rate-limit:7.5",
			slept: []time.Duration{7500 * time.Millisecond, 7500 * time.Millisecond}, posts: 3,
		},
		{
			name: "doubling without Retry-After", spec: "unavailable", slept: []time.Duration{time.Second, 2 * time.Second},
			within: true, posts: 3,
		},
		{
			name: "more attempts", spec: "unavailable", retry: openai.Retry{Attempts: 5, Base: time.Minute, MaxPause: time.Hour},
			slept: []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute}, within: true, posts: 5,
		},
		{name: "no longer than the cap", spec: "rate-limit:60.5", posts: 1},
		{name: "the cap itself", spec: "rate-limit:60", slept: []time.Duration{time.Minute, time.Minute}, posts: 3},
		{name: "not beyond the time limit", spec: "rate-limit:30", limit: 20 * time.Second, posts: 1},
		{name: "one attempt", spec: "unavailable", retry: openai.Retry{Attempts: 1}, posts: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, out, n := emulated(t, tt.spec), newSink(), &naps{}
			c := client(t, srv.URL, func(c *openai.Config) {
				c.Retry = tt.retry
				c.Retry.Sleep = n.sleep
			})
			ctx := t.Context()
			if tt.limit > 0 {
				var cancel func()
				ctx, cancel = context.WithTimeout(ctx, tt.limit)
				defer cancel()
			}
			_, err := c.GenerateImages(ctx, engine.ImageCall{Prompt: "x", Model: "m"}, out)
			_, _ = told(t, err)
			if posts, _ := srv.counts(); posts != tt.posts {
				t.Errorf("%d requests, want %d", posts, tt.posts)
			}
			if diff := cmp.Diff(n.slept, out.pauses); diff != "" {
				t.Errorf("the sink was told other pauses: %s", diff)
			}
			if len(n.slept) != len(tt.slept) {
				t.Fatalf("slept %v, want %v", n.slept, tt.slept)
			}
			for i, d := range n.slept {
				low := tt.slept[i]
				if tt.within {
					low = low * 3 / 4
				}
				if d < low || d > tt.slept[i] {
					t.Errorf("pause %d is %s, want %s to %s", i+1, d, low, tt.slept[i])
				}
			}
		})
	}
}

func TestAPauseThatIsBrokenOff(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(parent context.Context) (context.Context, func())
		want outcome
	}{
		"by the caller": {
			func(p context.Context) (context.Context, func()) {
				ctx, stop := context.WithCancel(p)
				return ctx, stop
			},
			outcome{engine.KindInterrupted, "interrupted", engine.BilledNo},
		},
		"by the time limit": {
			func(p context.Context) (context.Context, func()) {
				ctx, stop := context.WithTimeout(p, time.Second)
				return ctx, func() { <-ctx.Done(); stop() }
			},
			outcome{engine.KindUnavailable, "server_is_overloaded", engine.BilledNo},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := emulated(t, "unavailable")
			ctx, stop := tt.end(t.Context())
			defer stop()
			c := client(t, srv.URL, func(c *openai.Config) {
				c.Retry = openai.Retry{Base: time.Millisecond, Sleep: func(ctx context.Context, _ time.Duration) error {
					stop()
					return ctx.Err()
				}}
			})
			_, err := c.GenerateImages(ctx, engine.ImageCall{Prompt: "x", Model: "m"}, newSink())
			_, got := told(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if posts, _ := srv.counts(); posts != 1 {
				t.Errorf("%d requests, want 1", posts)
			}
		})
	}
}
