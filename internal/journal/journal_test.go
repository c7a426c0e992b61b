package journal

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// clock ticks a second with each look, from a fixed start.
func clock() func() time.Time {
	var n atomic.Int64
	start := time.Date(2026, 11, 30, 12, 0, 0, 123_456_789, time.FixedZone("somewhere", 3600))
	return func() time.Time { return start.Add(time.Duration(n.Add(1)) * time.Second) }
}

// tick is the n-th answer of clock as the journal keeps it.
func tick(n int) time.Time {
	return time.Date(2026, 11, 30, 11, 0, n, 123_456_000, time.UTC)
}

func openTest(tb testing.TB, o Options) *Journal {
	tb.Helper()
	return openAt(tb, filepath.Join(tb.TempDir(), "state", "journal.db"), o)
}

func openAt(tb testing.TB, path string, o Options) *Journal {
	tb.Helper()
	j, err := Open(tb.Context(), path, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := j.Close(); err != nil {
			tb.Error(err)
		}
	})
	return j
}

func create(tb testing.TB, j *Journal, job Job) Job {
	tb.Helper()
	if err := j.Create(tb.Context(), &job); err != nil {
		tb.Fatal(err)
	}
	return job
}

func update(tb testing.TB, j *Journal, id string, u Update) {
	tb.Helper()
	if err := j.Update(tb.Context(), id, u); err != nil {
		tb.Fatal(err)
	}
}

func get(tb testing.TB, j *Journal, id string) Job {
	tb.Helper()
	job, err := j.Get(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	return job
}

func wantCode(tb testing.TB, err error, code fault.Code) {
	tb.Helper()
	if fault.CodeOf(err) != code {
		tb.Errorf("error is %v (%s), want %s", err, fault.CodeOf(err), code)
	}
}

// fullJob has a value, some of them awkward, in every field that a caller may give.
func fullJob() Job {
	return Job{
		RequestKey: strings.Repeat("ab", 32), Tool: "openai-images-edit", Op: "images edit", Provider: "openai",
		Model: "gpt-image-2.6-sunburst", Endpoint: "https://api.example.com/v1", Project: "größe 💡",
		ProviderJob: "video_1", RequestID: "req_1",
		Prompt: "a 'fox'; DROP TABLE jobs;--\x00\r\n\xff \"äöü\" 💡", Params: json.RawMessage(`{"n": 2, "size":"auto"}`),
		Targets:        []string{"/tmp/a b.png", "C:\\x\\y.png", "/tmp/\n.png"},
		EstimateMicros: new(int64(80_000)), CostMicros: new(int64(0)), CostBasis: CostEstimated,
		Usage:     json.RawMessage(`{"total_tokens":9007199254740993}`),
		ErrorKind: "unavailable", ErrorCode: "fetch_failed", ErrorMessage: "first try refused", Billed: "no",
		Assets: []Asset{
			{
				Index: 0, Partial: 1, Path: "/tmp/a.partial-1.png", MIME: "image/png", SHA256: "00ff",
				Bytes: 1 << 40, Width: 3, Height: 4,
			},
			{Index: 1, URL: "https://cdn.example.com/x", SpoolPath: "/state/spool/x", DurationS: 12.25},
		},
	}
}

func TestCreateGetKeepsEveryField(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{Now: clock(), KeepPrompts: true})
	job := create(t, j, fullJob())

	want := fullJob()
	want.ID, want.State, want.Created, want.Updated = job.ID, StatePlanned, tick(1), tick(1)
	want.PID, want.BootID = Owner()
	want.PromptLen, want.PromptSHA = len(want.Prompt), job.PromptSHA
	if len(job.PromptSHA) != 16 {
		t.Errorf("PromptSHA is %q, want 16 hex digits", job.PromptSHA)
	}
	if diff := cmp.Diff(want, job); diff != "" {
		t.Errorf("job after Create (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, get(t, j, job.ID)); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}
}

func TestCreateKeepsTheSparsestJobToo(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{Now: clock()})
	job := create(t, j, Job{})
	pid, boot := Owner()
	want := Job{ID: job.ID, State: StatePlanned, Created: tick(1), Updated: tick(1), PID: pid, BootID: boot}
	if diff := cmp.Diff(want, get(t, j, job.ID)); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}
}

func TestCreateTakesGivenIDAndTime(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	at := time.Date(2025, 5, 5, 5, 5, 5, 5_999, time.UTC)
	job := create(t, j, Job{ID: "0123456789ab", Created: at})
	if want := at.Truncate(time.Microsecond); job.ID != "0123456789ab" || !job.Created.Equal(want) {
		t.Errorf("Create made %s at %v, want 0123456789ab at %v", job.ID, job.Created, want)
	}
	err := j.Create(t.Context(), &Job{ID: "0123456789ab"})
	wantCode(t, err, fault.InvalidArgument)
}

func TestCreateDrawsAgainWhenAnIDIsTaken(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	draws := 0
	j.newID = func(time.Time) string {
		draws++
		return []string{"aaaaaaaaaaaa", "aaaaaaaaaaaa", "bbbbbbbbbbbb"}[min(draws, 3)-1]
	}
	if first := create(t, j, Job{}); first.ID != "aaaaaaaaaaaa" {
		t.Errorf("first id is %s", first.ID)
	}
	if second := create(t, j, Job{}); second.ID != "bbbbbbbbbbbb" || draws != 3 {
		t.Errorf("second id is %s after %d draws, want bbbbbbbbbbbb after 3", second.ID, draws)
	}
	job := Job{}
	wantCode(t, j.Create(t.Context(), &job), fault.InvalidArgument)
	if job.ID != "" || draws != 3+idAttempts {
		t.Errorf("without a free id the job is %q after %d draws, want none after %d", job.ID, draws, 3+idAttempts)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	for name, job := range map[string]Job{
		"state":      {State: StateSent},
		"short id":   {ID: "abc"},
		"foreign id": {ID: "0123456789AB"},
		"basis":      {CostBasis: "guessed"},
		"params":     {Params: json.RawMessage(`{"n":`)},
		"usage":      {Usage: json.RawMessage(`nope`)},
	} {
		before := job
		wantCode(t, j.Create(t.Context(), &job), fault.InvalidArgument)
		if diff := cmp.Diff(before, job); diff != "" {
			t.Errorf("%s: Create changed the job that it refused:\n%s", name, diff)
		}
	}
	jobs, err := j.List(t.Context(), Filter{})
	if err != nil || len(jobs) != 0 {
		t.Errorf("after refusals the journal holds %v, %v; want nothing", jobs, err)
	}
}

func TestUpdateChangesWhatItNamesAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{Now: clock(), KeepPrompts: true})
	job := create(t, j, fullJob())

	update(t, j, job.ID, Update{Sent: true})
	want := job
	want.State, want.Updated, want.SentAt = StateSent, tick(2), tick(2)
	if diff := cmp.Diff(want, get(t, j, job.ID)); diff != "" {
		t.Errorf("after Sent (-want +got):\n%s", diff)
	}

	update(t, j, job.ID, Update{})
	want.Updated = tick(3)
	if diff := cmp.Diff(want, get(t, j, job.ID)); diff != "" {
		t.Errorf("after an empty update (-want +got):\n%s", diff)
	}

	changed := Asset{Index: 1, Path: "/tmp/b.mp4", MIME: "video/mp4", SHA256: "11", Bytes: 7, DurationS: 8}
	added := Asset{Index: 0, Path: "/tmp/a.png", MIME: "image/png", SHA256: "22", Bytes: 8, Width: 1, Height: 2}
	update(t, j, job.ID, Update{
		State: StateLanded, RequestID: new("req_2"), ProviderJob: new(""), CostMicros: new(int64(81_000)),
		CostBasis: new(CostReported), Usage: json.RawMessage(`{}`), Err: &JobError{"partial", "c", "m", "yes"},
		Assets: []Asset{changed, added},
	})
	want.State, want.Updated = StateLanded, tick(4)
	want.RequestID, want.ProviderJob, want.CostMicros, want.CostBasis = "req_2", "", new(int64(81_000)), CostReported
	want.Usage = json.RawMessage(`{}`)
	want.ErrorKind, want.ErrorCode, want.ErrorMessage, want.Billed = "partial", "c", "m", "yes"
	want.Assets = []Asset{added, job.Assets[0], changed}
	if diff := cmp.Diff(want, get(t, j, job.ID)); diff != "" {
		t.Errorf("after landing (-want +got):\n%s", diff)
	}
}

func TestUpdateClearsAnErrorOnTheWayOn(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	lost := &JobError{"unknown_outcome", "c", "no answer", "maybe"}
	for _, to := range []State{StateQueued, StateRunning, StateSucceeded, StateLanded} {
		job := create(t, j, Job{})
		update(t, j, job.ID, Update{Sent: true})
		update(t, j, job.ID, Update{State: StateUnknown, Err: lost})
		if got := get(t, j, job.ID); got.ErrorKind != lost.Kind || got.Billed != lost.Billed {
			t.Fatalf("the error was not kept: %+v", got)
		}
		update(t, j, job.ID, Update{RequestID: new("late")})
		if got := get(t, j, job.ID); got.ErrorMessage != lost.Message {
			t.Errorf("an update in place lost the error: %+v", got)
		}
		update(t, j, job.ID, Update{State: to})
		if got := get(t, j, job.ID); got.ErrorKind+got.ErrorCode+got.ErrorMessage+got.Billed != "" {
			t.Errorf("a job that is %s still shows %q", to, got.ErrorMessage)
		}
	}
	job := create(t, j, Job{})
	update(t, j, job.ID, Update{Sent: true})
	update(t, j, job.ID, Update{State: StateUnknown, Err: lost})
	update(t, j, job.ID, Update{State: StateFailed})
	if got := get(t, j, job.ID); got.ErrorMessage != lost.Message {
		t.Errorf("a failed job lost its error: %+v", got)
	}
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	job := create(t, j, Job{})
	for name, u := range map[string]Update{
		"state":         {State: "done"},
		"basis":         {CostBasis: new("guessed")},
		"usage":         {Usage: json.RawMessage(`{`)},
		"sent and more": {Sent: true, State: StateRunning},
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, j.Update(t.Context(), job.ID, u), fault.InvalidArgument) })
	}
	wantCode(t, j.Update(t.Context(), "zzzzzzzzzzzz", Update{Sent: true}), fault.JobNotFound)
	wantCode(t, j.Update(t.Context(), job.ID[:8], Update{Sent: true}), fault.JobNotFound)

	landed := Update{State: StateLanded, CostMicros: new(int64(1)), Assets: []Asset{{Path: "/x"}}}
	err := j.Update(t.Context(), job.ID, landed)
	wantCode(t, err, fault.InvalidRequest)
	if !errors.Is(err, ErrIllegalMove) {
		t.Errorf("%v is not ErrIllegalMove", err)
	}
	if diff := cmp.Diff(job, get(t, j, job.ID)); diff != "" {
		t.Errorf("a refused update changed the job (-want +got):\n%s", diff)
	}
}

func TestAJobIsSentOnceAndNeverAfterItEnded(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	for _, u := range []Update{{Sent: true}, {State: StateSent}, {State: StateSent, Sent: true}} {
		sent := create(t, j, Job{})
		update(t, j, sent.ID, u)
		if got := get(t, j, sent.ID); got.State != StateSent || got.SentAt.IsZero() {
			t.Errorf("%+v made it %s, sent at %v", u, got.State, got.SentAt)
		}
		if err := j.Update(t.Context(), sent.ID, u); !errors.Is(err, ErrIllegalMove) {
			t.Errorf("sending again: %v, want ErrIllegalMove", err)
		}
		for _, end := range []State{StateCancelled, StateFailed} {
			ended := create(t, j, Job{})
			update(t, j, ended.ID, Update{State: end})
			if err := j.Update(t.Context(), ended.ID, u); !errors.Is(err, ErrIllegalMove) {
				t.Errorf("sending a job that is %s: %v, want ErrIllegalMove", end, err)
			}
			if got := get(t, j, ended.ID); !got.SentAt.IsZero() {
				t.Errorf("a job that is %s counts as sent at %v", end, got.SentAt)
			}
		}
	}
}

func TestPromptIsKeptOnlyOnDemand(t *testing.T) {
	t.Parallel()
	const prompt = "a very private lighthouse"
	job := create(t, openTest(t, Options{}), Job{Prompt: prompt})
	if job.Prompt != prompt {
		t.Errorf("Create took the caller's prompt: %q", job.Prompt)
	}
	j := openTest(t, Options{})
	job = create(t, j, Job{Prompt: prompt})
	got := get(t, j, job.ID)
	if got.Prompt != "" || got.PromptLen != len(prompt) || got.PromptSHA != job.PromptSHA || len(got.PromptSHA) != 16 {
		t.Errorf("stored prompt %q, %d bytes, %q; want none, %d, %q",
			got.Prompt, got.PromptLen, got.PromptSHA, len(prompt), job.PromptSHA)
	}
	other := create(t, j, Job{Prompt: prompt + "s"})
	if other.PromptSHA == job.PromptSHA {
		t.Error("two prompts have one PromptSHA")
	}
}

func TestGetByPrefix(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	for _, id := range []string{"0abc00000000", "0abc0000000z", "0abz10000000", "zzzzzzzzzzzz"} {
		create(t, j, Job{ID: id})
	}
	for typed, want := range map[string]string{
		"0abc0000000z": "0abc0000000z", "0abz": "0abz10000000", "0ABZ1": "0abz10000000", "oabzl": "0abz10000000",
		"zzzz": "zzzzzzzzzzzz", "0abc00000000": "0abc00000000",
	} {
		job, err := j.Get(t.Context(), typed)
		if err != nil || job.ID != want {
			t.Errorf("Get(%q) = %q, %v; want %q", typed, job.ID, err, want)
		}
	}
	for typed, want := range map[string]fault.Code{
		"0abc": fault.InvalidArgument, "0abc0000000": fault.InvalidArgument, "0ab": fault.InvalidArgument,
		"": fault.InvalidArgument, "%%%%": fault.InvalidArgument, "0abc00000000z": fault.InvalidArgument,
		"1111": fault.JobNotFound, "0abc0000000y": fault.JobNotFound,
	} {
		_, err := j.Get(t.Context(), typed)
		wantCode(t, err, want)
	}
	_, err := j.Get(t.Context(), "0abc")
	if err == nil || !strings.Contains(err.Error(), "0abc00000000") || !strings.Contains(err.Error(), "0abc0000000z") {
		t.Errorf("an ambiguous prefix answers %v, want both ids named", err)
	}
}

func TestACancelledContextWritesNothingAndBreaksNothing(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	job := create(t, j, Job{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := j.Update(ctx, job.ID, Update{Sent: true})
	if !errors.Is(err, context.Canceled) || fault.CodeOf(err) != fault.IOFailed {
		t.Errorf("Update under a cancelled context: %v (%s), want context.Canceled as io_failed", err, fault.CodeOf(err))
	}
	if err := j.Create(ctx, &Job{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Create: %v, want context.Canceled", err)
	}
	if _, err := j.List(ctx, Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("List: %v, want context.Canceled", err)
	}
	if diff := cmp.Diff(job, get(t, j, job.ID)); diff != "" {
		t.Errorf("the job changed (-want +got):\n%s", diff)
	}
	update(t, j, job.ID, Update{Sent: true})
}

func TestEveryConnectionSyncsItsCommits(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	for range 2 {
		var level int
		if err := j.db.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&level); err != nil || level != 2 {
			t.Errorf("synchronous is %d, %v; want 2 (FULL)", level, err)
		}
		j.db.SetMaxIdleConns(-1) // the next call opens another connection
	}
}

func TestAfterCloseEverythingSaysSo(t *testing.T) {
	t.Parallel()
	j, err := Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	wantCode(t, j.Create(t.Context(), &Job{}), fault.JournalBroken)
	wantCode(t, j.Update(t.Context(), "0123456789ab", Update{}), fault.JournalBroken)
	_, err = j.List(t.Context(), Filter{})
	wantCode(t, err, fault.JournalBroken)
	_, err = j.Forget(t.Context(), "0123456789ab")
	wantCode(t, err, fault.JournalBroken)
}
