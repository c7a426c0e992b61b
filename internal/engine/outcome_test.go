package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// outcome is what a call comes to: for the caller, on disk and in the journal.
type outcome struct {
	kind   engine.Kind // empty: success
	code   fault.Code
	billed engine.Billed
	state  string
	finals int // pictures at their place
	parts  int // partial pictures at their place
}

// TestOutcomes runs the real client against the real server's faults.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	unknown := func(code fault.Code) outcome {
		return outcome{engine.KindUnknownOutcome, code, engine.BilledMaybe, "unknown", 0, 0}
	}
	failed := func(kind engine.Kind, code fault.Code, billed engine.Billed) outcome {
		return outcome{kind, code, billed, "failed", 0, 0}
	}
	tests := []struct {
		name     string
		fault    string
		n, parts int
		requests int64
		want     outcome
		says     string
	}{
		{name: "success", n: 1, want: outcome{state: "landed", finals: 1}},
		{name: "three", n: 3, want: outcome{state: "landed", finals: 3}},
		{name: "partials", n: 1, parts: 2, want: outcome{state: "landed", finals: 1, parts: 2}},
		{name: "two with partials", n: 2, parts: 1, want: outcome{state: "landed", finals: 2, parts: 2}},
		{name: "links of the same origin", fault: "url-same-origin", n: 2, requests: 3, want: outcome{state: "landed", finals: 2}},
		{name: "sent again after 429", fault: "rate-limit:0.01:times=1", n: 1, requests: 2, want: outcome{state: "landed", finals: 1}},
		{name: "fewer", fault: "fewer", n: 3, want: outcome{engine.KindPartial, "partial", engine.BilledYes, "landed", 2, 0}, says: "sent 2 of 3"},
		{name: "cut after the first picture", fault: "truncated-json", n: 3, want: outcome{engine.KindPartial, "no_answer", engine.BilledYes, "unknown", 1, 0}, says: "1 of 3 pictures were saved, then: "},
		{name: "reset after the first picture", fault: "truncated-json:reset", n: 2, want: outcome{engine.KindPartial, "no_answer", engine.BilledYes, "unknown", 1, 0}, says: "1 of 2"},
		{name: "blocked", fault: "moderation", n: 1, want: outcome{engine.KindBlocked, "moderation_blocked", engine.BilledNo, "blocked", 0, 0}},
		{name: "blocked after it was made", fault: "moderation:output", n: 1, want: outcome{engine.KindBlocked, "moderation_blocked", engine.BilledMaybe, "blocked", 0, 0}},
		{name: "401", fault: "401", n: 1, want: failed(engine.KindAuth, "invalid_api_key", engine.BilledNo)},
		{name: "403", fault: "403", n: 1, want: failed(engine.KindAuth, "organization_unverified", engine.BilledNo)},
		{name: "404", fault: "404", n: 1, want: failed(engine.KindNotFound, "model_not_found", engine.BilledNo)},
		{name: "quota", fault: "quota", n: 1, want: failed(engine.KindQuota, "insufficient_quota", engine.BilledNo)},
		{name: "429 for ever", fault: "rate-limit:0.01", n: 1, requests: 3, want: failed(engine.KindRateLimited, "rate_limit_exceeded", engine.BilledNo)},
		{name: "500", fault: "500", n: 1, want: failed(engine.KindUnavailable, "server_error", engine.BilledMaybe)},
		{name: "cut before any reply", fault: "cut-after-body", n: 1, want: unknown("no_answer"), says: "may have been billed"},
		{name: "web page", fault: "html", n: 1, want: unknown("unusable_reply"), says: "web page"},
		{name: "empty", fault: "empty", n: 1, want: unknown("unusable_reply"), says: "no picture"},
		{name: "bad base64", fault: "bad-base64", n: 1, want: unknown("unusable_reply")},
		{name: "stream cut before completed", fault: "cut-stream", n: 1, parts: 2, want: outcome{engine.KindUnknownOutcome, "no_answer", engine.BilledMaybe, "unknown", 0, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var faults []string
			if tt.fault != "" {
				faults = []string{tt.fault}
			}
			p, s := emulate(t, "openai", faults...)
			r := newRig(t, options{providers: []engine.ImageProvider{p}})
			req := small()
			req.N, req.Partials = tt.n, tt.parts
			res, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
			check(t, r, res, err, tt.want, tt.says)
			if got := s.requests.Load(); got != max(tt.requests, 1) {
				t.Errorf("%d requests", got)
			}
		})
	}
}

// check compares a result with what is on disk and in the journal.
func check(t *testing.T, r *rig, res *engine.Result, err error, want outcome, says string) {
	t.Helper()
	row := r.row()
	if want.kind == "" {
		must(t, err)
		if row.ErrorKind != "" {
			t.Errorf("the row has an error: %s", row.ErrorMessage)
		}
	} else {
		e := wantError(t, err, want.kind, want.code, want.billed)
		contains(t, e.Message, says)
		if e.Kind == engine.KindUnknownOutcome && !strings.Contains(e.Hint, "mediagen jobs show "+row.ID) {
			t.Errorf("an outcome that is not known has no next step: %q", e.Hint)
		}
		if strings.Contains(strings.ToLower(e.Error()+e.Hint), "try again") {
			t.Errorf("wording that buys twice: %s; %s", e.Error(), e.Hint)
		}
		got := []string{row.ErrorKind, row.ErrorCode, row.Billed, row.ErrorMessage, row.RequestID}
		if diff := cmp.Diff([]string{string(e.Kind), string(e.Code), string(e.Billed), e.Error(), e.RequestID}, got); diff != "" {
			t.Errorf("row and error differ: %s", diff)
		}
		if row.RequestID == "" && e.Kind != engine.KindUnavailable && want.code != "no_answer" && want.code != "no_picture" {
			t.Error("no request id")
		}
	}
	if res == nil {
		t.Fatal("no result after the request was sent")
	}
	if string(row.State) != want.state || res.Job.State != want.state || res.Job.ID != row.ID {
		t.Errorf("row %s is %s, the result says %s %s, want %s", row.ID, row.State, res.Job.ID, res.Job.State, want.state)
	}
	if row.SentAt.IsZero() || row.Prompt != secretPrompt || row.RequestKey == "" {
		t.Errorf("row %+v", row)
	}
	finals, parts := 0, 0
	for i, a := range res.Assets {
		if a.Path == "" {
			continue
		}
		if a.Partial > 0 {
			parts++
			contains(t, filepath.Base(a.Path), ".partial-")
		} else {
			finals++
		}
		data := read(t, a.Path)
		sum := sha256.Sum256(data)
		if a.SHA256 != hex.EncodeToString(sum[:]) || a.Bytes != int64(len(data)) || a.Width != 96 && a.Width != 8 {
			t.Errorf("asset %+v", a)
		}
		ja := row.Assets[i]
		if ja.Path != a.Path || ja.SHA256 != a.SHA256 || ja.Index != a.Index || ja.Partial != a.Partial || ja.Bytes != a.Bytes ||
			ja.Width != a.Width || ja.Height != a.Height || ja.MIME != a.MediaType {
			t.Errorf("the journal has %+v for %+v", ja, a)
		}
	}
	if finals != want.finals || parts != want.parts || len(r.files()) != want.finals+want.parts {
		t.Errorf("%d pictures, %d partials, files %v, want %d, %d", finals, parts, r.files(), want.finals, want.parts)
	}
}

// TestNobodyListens is known not to be billed.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	r := newRig(t, options{providers: []engine.ImageProvider{client(t, "openai", s.URL)}})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	check(t, r, res, err, outcome{engine.KindUnavailable, "connection_failed", engine.BilledNo, "failed", 0, 0}, "nothing was billed")
}

// TestForeignLink keeps the address of a picture that was made, in the journal and in the result, but in no message.
func TestForeignLink(t *testing.T) {
	t.Parallel()
	for _, withJournal := range []bool{true, false} {
		p, _ := emulate(t, "openai", "url-foreign:https://pictures.invalid")
		r := newRig(t, options{providers: []engine.ImageProvider{p}, noJournal: !withJournal})
		res, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
		e := wantError(t, err, engine.KindUnknownOutcome, fault.URLNotAllowed, engine.BilledYes)
		if strings.Contains(e.Error(), "sig=") {
			t.Errorf("the message has a signed address: %s", e.Error())
		}
		if len(res.Assets) != 1 || !strings.HasPrefix(res.Assets[0].URL, "https://pictures.invalid/") || res.Assets[0].Path != "" {
			t.Errorf("assets %+v", res.Assets)
		}
		if !withJournal {
			continue
		}
		check(t, r, res, err, outcome{engine.KindUnknownOutcome, fault.URLNotAllowed, engine.BilledYes, "unknown", 0, 0}, "")
		if got := r.row().Assets; len(got) != 1 || got[0].URL != res.Assets[0].URL {
			t.Errorf("the row has %+v", got)
		}
		res, err = r.ResumeJob(t.Context(), res.Job.ID, "", false)
		e = wantError(t, err, engine.KindUnknownOutcome, fault.URLNotAllowed, engine.BilledYes)
		contains(t, e.Hint, "mediagen jobs show "+res.Job.ID)
		if strings.Contains(e.Error()+e.Hint, "sig=") || res.Assets[0].URL == "" {
			t.Errorf("message %s, assets %+v", e.Error(), res.Assets)
		}
	}
}

// TestMoments are outcomes that only a provider of our own can time.
func TestMoments(t *testing.T) {
	t.Parallel()
	png := tinyPNG()
	cut := engine.Errorf(engine.KindUnknownOutcome, "no_answer", "the reply broke off").Bill(engine.BilledMaybe)
	blocked := engine.Errorf(engine.KindBlocked, "moderation_blocked", "blocked").Bill(engine.BilledNo)
	stopped := engine.Errorf(engine.KindInterrupted, "interrupted", "stopped").Bill(engine.BilledNo)
	tests := []struct {
		name string
		n    int
		do   doFunc
		want outcome
		says string
		warn string
	}{
		{name: "all pictures, then an error", n: 2, do: thenFail(cut, png, png), want: outcome{state: "landed", finals: 2}, warn: "all pictures arrived, but the call did not end well: the reply broke off"},
		{name: "no picture and no error", n: 1, do: answer(), want: outcome{engine.KindUnknownOutcome, "no_picture", engine.BilledMaybe, "unknown", 0, 0}, says: "no picture"},
		{name: "more than asked for", n: 1, do: answer(png, png, png), want: outcome{state: "landed", finals: 3}},
		{name: "blocked after the first", n: 2, do: thenFail(blocked, png), want: outcome{engine.KindPartial, "moderation_blocked", engine.BilledYes, "landed", 1, 0}, says: "1 of 2 pictures were saved, then: blocked"},
		{name: "one at another origin", n: 2, do: func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
			sink.Link(1, "https://pictures.invalid/b.png?sig=x")
			return engine.ImageReply{RequestID: "req_1"}, put(sink, engine.Slot{}, png)
		}, want: outcome{engine.KindPartial, fault.URLNotAllowed, engine.BilledYes, "unknown", 1, 0}, says: "1 of 2 pictures were saved, then: openai: a picture lies at another origin"},
		{name: "all at another origin, no error", n: 1, do: func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
			sink.Link(0, "https://pictures.invalid/a.png")
			return engine.ImageReply{RequestID: "req_1"}, nil
		}, want: outcome{engine.KindUnknownOutcome, fault.URLNotAllowed, engine.BilledYes, "unknown", 0, 0}},
		{name: "stopped before it was sent", n: 1, do: thenFail(stopped), want: outcome{engine.KindInterrupted, "interrupted", engine.BilledNo, "cancelled", 0, 0}},
		{name: "an error of no kind", n: 1, do: thenFail(context.DeadlineExceeded), want: outcome{engine.KindFailure, "failed", engine.BilledNo, "failed", 0, 0}},
		{name: "a picture given up", n: 2, do: func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
			w, err := sink.Picture(engine.Slot{})
			must(t, err)
			_, err = w.Write(png[:10])
			must(t, err)
			w.Abort()
			return engine.ImageReply{RequestID: "req_1"}, put(sink, engine.Slot{Index: 1}, png)
		}, want: outcome{engine.KindPartial, "partial", engine.BilledYes, "landed", 1, 0}},
		{name: "partials of several", n: 2, do: func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
			for i := range 2 {
				must(t, put(sink, engine.Slot{Index: i, Partial: 1}, png))
				must(t, put(sink, engine.Slot{Index: i}, png))
			}
			return engine.ImageReply{}, nil
		}, want: outcome{state: "landed", finals: 2, parts: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, options{providers: []engine.ImageProvider{&fake{do: tt.do}}})
			req := small()
			req.N = tt.n
			res, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
			check(t, r, res, err, tt.want, tt.says)
			contains(t, strings.Join(res.Warnings, "\n"), tt.warn)
		})
	}
}

// TestPromptInAReply: a server that repeats the prompt does not get it into the error or the journal.
func TestPromptInAReply(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusOK} {
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"error":{"code":"odd","message":"cannot draw ` + secretPrompt + ` today"}}`))
		}))
		r := newRig(t, options{providers: []engine.ImageProvider{client(t, "openai", s.URL)}})
		_, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
		e := engine.AsError(err)
		if e == nil || e.Code != "odd" {
			t.Fatalf("got %v", err)
		}
		noPrompt(t, e)
		if text := r.row().ErrorMessage; strings.Contains(text, secretPrompt) || !strings.Contains(text, "today") {
			t.Errorf("the row says %q", text)
		}
	}
}

// TestRequestIDOfTheReply is told when an error came without one.
func TestRequestIDOfTheReply(t *testing.T) {
	t.Parallel()
	f := &fake{do: func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		return engine.ImageReply{RequestID: "req_9"}, put(sink, engine.Slot{}, tinyPNG())
	}}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	req := small()
	req.N = 2
	_, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
	if e := engine.AsError(err); e.RequestID != "req_9" || r.row().RequestID != "req_9" || e.Op != "images generate" {
		t.Errorf("request id %q, row %q, op %q", e.RequestID, r.row().RequestID, e.Op)
	}
}

// TestEvents come in order and never count beyond their total.
func TestEvents(t *testing.T) {
	t.Parallel()
	p := &record{}
	f := &fake{do: func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		sink.Warn("careful")
		sink.Warn("careful")
		must(t, put(sink, engine.Slot{Partial: 1}, tinyPNG()))
		must(t, put(sink, engine.Slot{}, tinyPNG()))
		return engine.ImageReply{}, put(sink, engine.Slot{Index: 1}, tinyPNG())
	}}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{}, p)
	must(t, err)
	want := []engine.EventKind{
		engine.EventSent, engine.EventWarning, engine.EventReceived, engine.EventPartial, engine.EventReceived, engine.EventSaved,
		engine.EventReceived, engine.EventSaved,
	}
	if diff := cmp.Diff(want, p.kinds()); diff != "" {
		t.Error(diff)
	}
	for _, e := range p.events {
		if e.Kind != engine.EventWarning && (e.Total < 1 || e.Index >= e.Total) {
			t.Errorf("picture %d of %d", e.Index+1, e.Total)
		}
		if e.Kind == engine.EventReceived && e.Bytes != int64(len(tinyPNG())) {
			t.Errorf("%d bytes", e.Bytes)
		}
	}
	if n := strings.Count(jsonOf(t, res.Warnings), "careful"); n != 1 {
		t.Errorf("the warning is told %d times", n)
	}
}

// TestNames uses every variable of a template.
func TestNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}})
	req := small()
	req.Prompt = "A Red-Bicycle,  at dawn: 2nd try (of many) more words"
	req.N, req.Quality = 2, "hd"
	out := engine.Output{Dest: "o/", Template: "{provider}/{model}_{size}_{quality}_{slug}_{tool}-{index}"}
	res, err := r.GenerateImages(t.Context(), req, out, nil)
	must(t, err)
	want := []string{
		"o/openai/test-model_96x64_hd_a-red-bicycle-at-dawn-2nd_openai-images-generate-1.png",
		"o/openai/test-model_96x64_hd_a-red-bicycle-at-dawn-2nd_openai-images-generate-2.png",
	}
	if diff := cmp.Diff(want, r.files()); diff != "" {
		t.Error(diff)
	}
	req.Prompt = "!!!"
	out = engine.Output{Template: "{slug}-{index}", Tool: "other-tool"}
	_, err = r.GenerateImages(t.Context(), req, out, nil)
	must(t, err)
	if _, err = r.GenerateImages(t.Context(), small(), engine.Output{Tool: "other-tool"}, nil); err != nil {
		t.Fatal(err)
	}
	names := strings.Join(r.files(), "\n")
	contains(t, names, "picture-1.png", "picture-2.png", "_media-gen__other-tool_")
	if r.rows()[0].Tool != "other-tool" || res.Job.Model != "test-model" {
		t.Errorf("rows %+v", r.rows()[0])
	}
}

// TestSidecars stand beside the pictures that made it.
func TestSidecars(t *testing.T) {
	t.Parallel()
	f := &fake{do: func(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		must(t, put(sink, engine.Slot{Partial: 1}, tinyPNG())) // a preview gets none
		return answer(tinyPNG(), tinyPNG())(ctx, call, sink)
	}}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	req := small()
	req.N = 3
	out := engine.Output{Dest: "a.png", Sidecar: true}
	res, err := r.GenerateImages(t.Context(), req, out, nil)
	wantError(t, err, engine.KindPartial, "partial", engine.BilledYes)
	if diff := cmp.Diff([]string{"a_1.partial-1.png", "a_1.png", "a_1.png.json", "a_2.png", "a_2.png.json"}, r.files()); diff != "" {
		t.Error(diff)
	}
	if res.Assets[0].Sidecar != r.in("a_1.png.json") {
		t.Errorf("asset %+v", res.Assets[0])
	}
	text := string(read(t, r.in("a_1.png.json")))
	contains(t, text, `"schema": "mediagen-sidecar/1"`, `"prompt": "`+secretPrompt, `"size": "96x64"`, res.Assets[0].SHA256,
		res.Job.ID, `"request_id": "req_1"`, `"amount": null`, `"made": "2026-11-20T09:30:00Z"`)

	// A sidecar that cannot be written costs a warning.
	r.write("b_1.png.json", []byte("precious"))
	out.Dest = "b.png"
	res, err = r.GenerateImages(t.Context(), req, out, nil)
	wantError(t, err, engine.KindPartial, "partial", engine.BilledYes)
	contains(t, jsonOf(t, res.Warnings), "the sidecar could not be written")
	if string(read(t, r.in("b_1.png.json"))) != "precious" || res.Assets[0].Sidecar != "" || res.Assets[2].Sidecar == "" {
		t.Errorf("assets %+v", res.Assets)
	}
	out.Overwrite = true
	_, err = r.GenerateImages(t.Context(), req, out, nil)
	wantError(t, err, engine.KindPartial, "partial", engine.BilledYes)
	if string(read(t, r.in("b_1.png.json"))) == "precious" {
		t.Error("the sidecar was not replaced")
	}
}
