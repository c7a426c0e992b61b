package engine_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/journal"
)

// TestJobs lists, shows and forgets what calls have left.
func TestJobs(t *testing.T) {
	t.Parallel()
	p, _ := emulate(t, "openai")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	ctx := t.Context()
	first, err := r.GenerateImages(ctx, priced(), engine.Output{}, nil)
	must(t, err)
	req := small()
	req.Prompt = "[[fault:moderation]] x"
	second, err := r.GenerateImages(ctx, req, engine.Output{}, nil)
	wantError(t, err, engine.KindBlocked, "moderation_blocked", engine.BilledNo)

	jobs, err := r.ListJobs(ctx, engine.JobFilter{})
	must(t, err)
	if len(jobs) != 2 || jobs[0].ID != second.Job.ID || jobs[1].ID != first.Job.ID {
		t.Fatalf("jobs %+v", jobs)
	}
	for name, f := range map[string]engine.JobFilter{
		"state": {States: []string{"blocked", "unknown"}}, "model": {Model: "test-model"}, "limit": {Limit: 1},
	} {
		got, err := r.ListJobs(ctx, f)
		must(t, err)
		if len(got) != 1 || got[0].ID != second.Job.ID {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, f := range map[string]engine.JobFilter{
		"provider": {Provider: "azure"}, "since": {Since: today().Add(time.Second)},
	} {
		if got, err := r.ListJobs(ctx, f); err != nil || got == nil || len(got) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, err = r.ListJobs(ctx, engine.JobFilter{States: []string{"nonsense"}})
	contains(t, wantError(t, err, engine.KindInvalidRequest, fault.InvalidArgument, engine.BilledNo).Message, "nonsense", "landed")

	job, err := r.ShowJob(ctx, strings.ToUpper(first.Job.ID[:8]))
	if engine.AsError(err) != nil { // both may share the first characters
		job, err = r.ShowJob(ctx, first.Job.ID)
		must(t, err)
	}
	if job.Prompt != secretPrompt || job.State != "landed" || job.Orphaned || job.Error != nil || len(job.Assets) != 1 {
		t.Errorf("job %+v", job)
	}
	if job.Cost.Basis != engine.BasisReported || *job.Cost.Micros != *first.Cost.Micros || *job.Estimate.Micros != pricedMicros {
		t.Errorf("cost %s, estimate %s", job.Cost, job.Estimate)
	}
	if diff := cmp.Diff(first.Assets, job.Assets); diff != "" {
		t.Error(diff)
	}
	job, err = r.ShowJob(ctx, second.Job.ID)
	must(t, err)
	if e := job.Error; e == nil || e.Kind != "blocked" || e.Billed != "no" || job.Cost.Basis != engine.BasisUnknown {
		t.Errorf("job %+v", job)
	}
	_, err = r.ShowJob(ctx, "zzzzzzzzzzzz")
	wantError(t, err, engine.KindNotFound, fault.JobNotFound, engine.BilledNo)

	n, err := r.ForgetJobs(ctx, []string{first.Job.ID, second.Job.ID}, false)
	if err != nil || n != 2 || len(r.rows()) != 0 || len(r.files()) != 1 {
		t.Errorf("forgot %d, %v, %d rows, files %v", n, err, len(r.rows()), r.files())
	}
	_, err = r.ForgetJobs(ctx, []string{first.Job.ID}, false)
	wantError(t, err, engine.KindNotFound, fault.JobNotFound, engine.BilledNo)
}

// TestForgetKeepsOpenJobs unless it is forced: the row is the only trace of money.
func TestForgetKeepsOpenJobs(t *testing.T) {
	t.Parallel()
	p, _ := emulate(t, "openai", "cut-after-body")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	wantError(t, err, engine.KindUnknownOutcome, "no_answer", engine.BilledMaybe)
	_, err = r.ForgetJobs(t.Context(), []string{res.Job.ID}, false)
	if err == nil || len(r.rows()) != 1 {
		t.Errorf("%v, %d rows", err, len(r.rows()))
	}
	if n, err := r.ForgetJobs(t.Context(), []string{res.Job.ID}, true); err != nil || n != 1 || len(r.rows()) != 0 {
		t.Errorf("%d, %v", n, err)
	}
}

// childEnv tells the test binary to be the process that dies.
const childEnv = "MEDIAGEN_TEST_ORPHANS"

// TestChildThatDies is not a test of its own: TestOrphans runs it in another process.
func TestChildThatDies(t *testing.T) {
	path := os.Getenv(childEnv)
	if path == "" {
		t.Skip("runs in a process of its own")
	}
	j, err := journal.Open(t.Context(), path, journal.Options{})
	must(t, err)
	for _, sent := range []bool{false, true} {
		job := &journal.Job{Op: "images generate", Provider: "openai", Model: map[bool]string{false: "planned", true: "sent"}[sent]}
		must(t, j.Create(t.Context(), job))
		if sent {
			must(t, j.Update(t.Context(), job.ID, journal.Update{Sent: true}))
		}
	}
	must(t, j.Close())
}

// TestOrphans are rows of a process that died before it noted an outcome.
func TestOrphans(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestChildThatDies$")
	cmd.Env = append(os.Environ(), childEnv+"="+filepath.Join(r.state, "jobs.db"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	jobs, err := r.ListJobs(t.Context(), engine.JobFilter{})
	must(t, err)
	if len(jobs) != 2 {
		t.Fatalf("jobs %+v", jobs)
	}
	for _, j := range jobs {
		shown, err := r.ShowJob(t.Context(), j.ID)
		must(t, err)
		if !j.Orphaned || !shown.Orphaned {
			t.Errorf("%s is not called an orphan", j.State)
		}
		res, err := r.ResumeJob(t.Context(), j.ID, "", false)
		if j.Model == "planned" {
			contains(t, wantError(t, err, engine.KindInvalidRequest, fault.InvalidRequest, engine.BilledNo).Message, "never sent")
		} else {
			wantError(t, err, engine.KindUnknownOutcome, "no_answer", engine.BilledMaybe)
		}
		if res == nil || res.Job.ID != j.ID {
			t.Errorf("result %+v", res)
		}
	}
}

// TestResumeOfAJobUnderWay waits for nothing and blames nobody.
func TestResumeOfAJobUnderWay(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = during(func() {
		job, err := r.ShowJob(t.Context(), r.row().ID)
		must(t, err)
		if job.State != "sent" || job.Orphaned || job.Sent == nil || job.Cost.Basis != engine.BasisUnknown {
			t.Errorf("job %+v", job)
		}
		_, err = r.ResumeJob(t.Context(), job.ID, "", false)
		contains(t, wantError(t, err, engine.KindInvalidRequest, fault.InvalidRequest, engine.BilledNo).Message, "still under way")
	})
	_, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	must(t, err)
}

// TestResumeWithNothingToDo says why.
func TestResumeWithNothingToDo(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]outcome{
		"moderation":     {kind: engine.KindInvalidRequest, code: fault.InvalidRequest, billed: engine.BilledNo},
		"401":            {kind: engine.KindInvalidRequest, code: fault.InvalidRequest, billed: engine.BilledNo},
		"cut-after-body": {kind: engine.KindUnknownOutcome, code: "no_answer", billed: engine.BilledMaybe},
	} {
		p, _ := emulate(t, "openai", spec)
		r := newRig(t, options{providers: []engine.ImageProvider{p}})
		res, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
		if err == nil {
			t.Fatal("no failure")
		}
		_, err = r.ResumeJob(t.Context(), res.Job.ID, "", false)
		wantError(t, err, want.kind, want.code, want.billed)
	}
	r := newRig(t, options{})
	_, err := r.ResumeJob(t.Context(), "abcdabcdabcd", "", false)
	wantError(t, err, engine.KindNotFound, fault.JobNotFound, engine.BilledNo)
}

func TestJobStates(t *testing.T) {
	t.Parallel()
	want := []string{
		"planned", "sent", "queued", "running", "succeeded", "landed", "failed", "blocked", "cancelled", "expired", "unknown",
	}
	if diff := cmp.Diff(want, engine.JobStates()); diff != "" {
		t.Error(diff)
	}
}

// TestJobsCancelled: a broken-off look at the journal is no failure of the disk.
func TestJobsCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.ListJobs(ctx, engine.JobFilter{})
	wantError(t, err, engine.KindInterrupted, "interrupted", engine.BilledNo)
}
