package engine_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	one, two := journal.Asset{Path: "/a.png"}, journal.Asset{Index: 1, Path: "/b.png"}
	spooled := journal.Asset{Index: 1, Path: "/b.png", SpoolPath: "/spool/b.png"}
	for model, assets := range map[string][]journal.Asset{
		"planned": nil, "sent": nil, "half": {one, {Index: 1, Partial: 1, Path: "/p.png"}}, "whole": {one, two}, "spooled": {one, spooled},
	} {
		job := &journal.Job{Op: "images generate", Provider: "openai", Model: model, Params: []byte(`{"n":2}`)}
		must(t, j.Create(t.Context(), job))
		if model != "planned" {
			must(t, j.Update(t.Context(), job.ID, journal.Update{Sent: true, Assets: assets}))
		}
	}
	must(t, j.Close())
}

// TestOrphans are rows of a process that died before it noted an outcome. A look into the journal gives them the state
// that is true.
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
	unknown, err := r.ListJobs(t.Context(), engine.JobFilter{States: []string{"unknown"}})
	must(t, err)
	if len(unknown) != 2 {
		t.Errorf("the filter for unknown finds %d jobs, want 2", len(unknown))
	}
	jobs, err := r.ListJobs(t.Context(), engine.JobFilter{})
	must(t, err)
	got := map[string]string{}
	for _, j := range jobs {
		got[j.Model] = j.State
		if j.Orphaned {
			t.Errorf("%s is still an orphan", j.Model)
		}
		if unknown := j.State == "unknown"; unknown != (j.Error != nil && j.Error.Billed == "maybe") {
			t.Errorf("%s is %s with the error %+v", j.Model, j.State, j.Error)
		}
	}
	want := map[string]string{
		"planned": "cancelled", "sent": "unknown", "half": "unknown", "whole": "landed", "spooled": "succeeded",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, j := range jobs {
		res, err := r.ResumeJob(t.Context(), j.ID, "", false)
		switch j.Model {
		case "planned":
			contains(t, wantError(t, err, engine.KindInvalidRequest, fault.InvalidRequest, engine.BilledNo).Message, "cancelled")
		case "sent", "half":
			wantError(t, err, engine.KindUnknownOutcome, "no_answer", engine.BilledMaybe)
		case "whole":
			must(t, err)
		}
		if res == nil || res.Job.ID != j.ID {
			t.Errorf("result %+v", res)
		}
	}
}

// TestAdopt saves what a killed process had received: a whole temporary file, one that has its final name too, one that
// has nothing but its final name, and nothing that is cut short or older than the request.
func TestAdopt(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	targets := make([]string, 5)
	for i := range targets {
		targets[i] = r.in("p" + strconv.Itoa(i) + ".png")
	}
	jr := r.journal
	job := &journal.Job{Op: "images generate", Provider: "openai", Model: "m", Params: []byte(`{"n":5}`), Targets: targets}
	must(t, jr.Create(t.Context(), job))
	must(t, jr.Update(t.Context(), job.ID, journal.Update{Sent: true}))
	must(t, jr.Update(t.Context(), job.ID, journal.Update{State: journal.StateUnknown}))
	temp := func(i int, data []byte) string {
		name := ".mediagen-tmp-~" + job.ID + "." + strconv.Itoa(i) + "~ABC"
		r.write(name, data)
		return r.in(name)
	}
	png := tinyPNG()
	temp(0, png)
	must(t, os.Link(temp(1, png), targets[1]))
	r.write("p2.png", png)
	later := today().Add(time.Hour)
	must(t, os.Chtimes(targets[2], later, later))
	cut := temp(3, png[:len(png)-3])
	r.write("p4.png", png)
	must(t, os.Chtimes(targets[4], time.Unix(1, 0), time.Unix(1, 0)))

	res, err := r.ResumeJob(t.Context(), job.ID, "", false)
	must(t, err)
	var got []string
	for _, a := range res.Assets {
		got = append(got, filepath.Base(a.Path)+" "+a.MediaType)
		if a.Bytes != int64(len(png)) || len(a.SHA256) != 64 || a.Width == 0 {
			t.Errorf("asset %+v", a)
		}
	}
	if diff := cmp.Diff([]string{"p0.png image/png", "p1.png image/png", "p2.png image/png"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(cut); err != nil {
		t.Errorf("what is cut short was taken away: %v", err)
	}
	if n := len(r.files()); n != 5 { // p0, p1, p2, p4 and the cut one
		t.Errorf("files %v", r.files())
	}
	row := r.rows()[0]
	if row.State != "landed" || len(row.Assets) != 3 {
		t.Errorf("row %+v", row)
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
