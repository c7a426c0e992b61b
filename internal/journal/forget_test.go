package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// inState makes a job and leads it to state by the shortest legal way.
func inState(t *testing.T, j *Journal, state State) Job {
	t.Helper()
	job := create(t, j, Job{Assets: []Asset{{Path: "/a.png"}}})
	way := map[State][]State{
		StatePlanned: {}, StateSent: {StateSent}, StateCancelled: {StateCancelled},
		StateQueued: {StateSent, StateQueued}, StateRunning: {StateSent, StateRunning},
		StateSucceeded: {StateSent, StateSucceeded}, StateLanded: {StateSent, StateLanded},
		StateFailed: {StateSent, StateFailed}, StateBlocked: {StateSent, StateBlocked},
		StateExpired: {StateSent, StateExpired}, StateUnknown: {StateSent, StateUnknown},
	}
	for _, step := range way[state] {
		update(t, j, job.ID, Update{State: step})
	}
	return get(t, j, job.ID)
}

func TestForgetTakesFinalJobsOnly(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	for _, state := range States() {
		job := inState(t, j, state)
		n, err := j.Forget(t.Context(), job.ID)
		if Final(state) {
			if n != 1 || err != nil {
				t.Errorf("Forget of a job that is %s: %d, %v; want 1", state, n, err)
			}
			_, err := j.Get(t.Context(), job.ID)
			wantCode(t, err, fault.JobNotFound)
			continue
		}
		wantCode(t, err, fault.InvalidRequest)
		if diff := cmp.Diff(job, get(t, j, job.ID)); n != 0 || diff != "" {
			t.Errorf("Forget of a job that is %s removed %d; job (-want +got):\n%s", state, n, diff)
		}
		if n, err := j.ForgetAny(t.Context(), job.ID); n != 1 || err != nil {
			t.Errorf("ForgetAny of a job that is %s: %d, %v; want 1", state, n, err)
		}
	}
	var jobs, assets int
	row := j.db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM assets)")
	if err := row.Scan(&jobs, &assets); err != nil || jobs+assets != 0 {
		t.Errorf("%d jobs and %d assets are left, %v", jobs, assets, err)
	}
}

func TestForgetIsAllOrNothing(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	landed, sent := inState(t, j, StateLanded), inState(t, j, StateSent)
	n, err := j.Forget(t.Context(), landed.ID, sent.ID)
	wantCode(t, err, fault.InvalidRequest)
	if n != 0 || len(list(t, j, Filter{})) != 2 {
		t.Errorf("a refused Forget removed %d jobs", n)
	}
	n, err = j.Forget(t.Context(), landed.ID, landed.ID, "zzzzzzzzzzzz", "", "'")
	if n != 1 || err != nil {
		t.Errorf("Forget of one job, twice, and unknown ones: %d, %v; want 1", n, err)
	}
	if n, err := j.Forget(t.Context()); n != 0 || err != nil {
		t.Errorf("Forget of nothing: %d, %v", n, err)
	}
	if diff := cmp.Diff([]string{sent.ID}, ids(list(t, j, Filter{}))); diff != "" {
		t.Errorf("jobs left (-want +got):\n%s", diff)
	}
}

func TestForgetRefusesPaidBytesInTheSpool(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	job := inState(t, j, StateFailed)
	update(t, j, job.ID, Update{Assets: []Asset{{Index: 3, SpoolPath: "/spool/x"}}})
	_, err := j.Forget(t.Context(), job.ID)
	wantCode(t, err, fault.InvalidRequest)
	update(t, j, job.ID, Update{Assets: []Asset{{Index: 3, Path: "/x.png"}}})
	if n, err := j.Forget(t.Context(), job.ID); n != 1 || err != nil {
		t.Errorf("Forget after the bytes were moved: %d, %v; want 1", n, err)
	}
}

func TestForgetTakesManyAtOnce(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	fill(t, j, 500)
	all := ids(list(t, j, Filter{States: []State{StateLanded, StateFailed}}))
	n, err := j.Forget(t.Context(), all...)
	if n != len(all) || err != nil || n < 400 {
		t.Errorf("Forget of %d: %d, %v", len(all), n, err)
	}
	if left := len(list(t, j, Filter{})); left != 500-len(all) {
		t.Errorf("%d jobs are left, want %d", left, 500-len(all))
	}
}

// What was forgotten must not be found in the file by who reads its bytes.
func TestForgetOverwritesTheText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "j.db")
	secret := []byte("the secret lighthouse of number 7")
	j, err := Open(t.Context(), path, Options{KeepPrompts: true})
	if err != nil {
		t.Fatal(err)
	}
	job := create(t, j, Job{Prompt: string(slices.Repeat(secret, 500)), ErrorMessage: string(secret)})
	create(t, j, Job{Prompt: "another"})
	// found counts it in all files of the journal while it is closed.
	found := func() (n int) {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			n += bytes.Count(data, secret)
		}
		return n
	}
	if found() == 0 {
		t.Fatal("the prompt is not in the file, so this test proves nothing")
	}
	if j, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := j.ForgetAny(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	if n := found(); n != 0 {
		t.Errorf("the prompt is still in the file %d times", n)
	}
}
