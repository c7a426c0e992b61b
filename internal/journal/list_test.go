package journal

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mediagen/internal/fault"
)

func ids(jobs []Job) []string {
	var out []string
	for _, job := range jobs {
		out = append(out, job.ID)
	}
	return out
}

// sampled returns a journal of n jobs of mixed kinds and the jobs, newest first.
func sampled(t *testing.T, n int) (*Journal, []Job) {
	t.Helper()
	j := openTest(t, Options{KeepPrompts: true})
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2)) // repeatable
	var jobs []Job
	err := j.write(t.Context(), func(tx *sql.Tx) error {
		for i := range n {
			job := sampleJob(i, start)
			job.State = States()[random.IntN(len(States()))]
			job.Created = start.Add(time.Duration(random.IntN(20)) * time.Minute) // ties
			job.Updated = job.Created
			job.Assets = job.Assets[:random.IntN(2)]
			if err := j.insertTx(t.Context(), tx, &job); err != nil {
				return err
			}
			jobs = append(jobs, job)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(jobs) // of two jobs of one instant the later one comes first
	slices.SortStableFunc(jobs, func(a, b Job) int { return b.Created.Compare(a.Created) })
	return j, jobs
}

func list(tb testing.TB, j *Journal, f Filter) []Job {
	tb.Helper()
	jobs, err := j.List(tb.Context(), f)
	if err != nil {
		tb.Fatal(err)
	}
	return jobs
}

func TestListAll(t *testing.T) {
	t.Parallel()
	j, want := sampled(t, 120)
	if diff := cmp.Diff(want, list(t, j, Filter{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

// Each filter is compared with the same choice made in Go.
func TestListFilters(t *testing.T) {
	t.Parallel()
	j, all := sampled(t, 120)
	mid := all[60].Created
	cases := map[string]struct {
		f    Filter
		keep func(Job) bool
	}{
		"one state": {Filter{States: []State{StateUnknown}}, func(x Job) bool { return x.State == StateUnknown }},
		"two states": {
			Filter{States: []State{StateSent, StateLanded}},
			func(x Job) bool { return x.State == StateSent || x.State == StateLanded },
		},
		"provider": {Filter{Provider: "google"}, func(x Job) bool { return x.Provider == "google" }},
		"model":    {Filter{Model: "model-3"}, func(x Job) bool { return x.Model == "model-3" }},
		"none":     {Filter{Model: "' OR 1=1 --"}, func(Job) bool { return false }},
		"since":    {Filter{Since: mid}, func(x Job) bool { return !x.Created.Before(mid) }},
		"since, a nanosecond later": {
			Filter{Since: mid.Add(1)}, func(x Job) bool { return x.Created.After(mid) },
		},
		"until": {Filter{Until: mid}, func(x Job) bool { return x.Created.Before(mid) }},
		"until, a nanosecond later": {
			Filter{Until: mid.Add(1)}, func(x Job) bool { return !x.Created.After(mid) },
		},
		"everything at once": {
			Filter{States: []State{StateLanded}, Provider: "openai", Model: "model-2", Since: mid},
			func(x Job) bool {
				return x.State == StateLanded && x.Provider == "openai" && x.Model == "model-2" && !x.Created.Before(mid)
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(slices.Clone(all), func(x Job) bool { return !c.keep(x) })
			if diff := cmp.Diff(ids(want), ids(list(t, j, c.f))); diff != "" {
				t.Errorf("List(%+v) (-want +got):\n%s", c.f, diff)
			}
			c.f.Limit = 5
			want = want[:min(5, len(want))]
			if diff := cmp.Diff(want, list(t, j, c.f), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("List(%+v) (-want +got):\n%s", c.f, diff)
			}
		})
	}
}

// Pages put together are the whole, also where jobs of one instant lie on two pages.
func TestListPages(t *testing.T) {
	t.Parallel()
	j, all := sampled(t, 120)
	for _, size := range []int{1, 7, 60, 120, 121} {
		f := Filter{Limit: size}
		var got []string
		for {
			page := list(t, j, f)
			if len(page) == 0 {
				break
			}
			got = append(got, ids(page)...)
			f.After = strings.ToUpper(page[len(page)-1].ID)
		}
		if diff := cmp.Diff(ids(all), got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
	_, err := j.List(t.Context(), Filter{After: "zzzzzzzzzzzz"})
	wantCode(t, err, fault.JobNotFound)
}

// The page that jobs list shows must come from an index, never from a sort of everything.
func TestListPlans(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	filtered := selection{limit: 50}
	filtered.states([]State{StateRunning, StateSent})
	filtered.and("provider = ?", "openai")
	byKey := selection{where: []string{"request_key = ?"}, args: []any{"x"}}
	for name, c := range map[string]struct {
		s     selection
		index string
		sorts bool
	}{
		"page":     {selection{limit: 100}, "jobs_by_age", false},
		"filtered": {filtered, "jobs_by_age", false},
		"key":      {byKey, "jobs_by_request", false},
	} {
		text, args := c.s.query()
		rows, err := j.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(plan, "\n")
		if !strings.Contains(all, c.index) || strings.Contains(all, "TEMP B-TREE") != c.sorts {
			t.Errorf("%s: plan is\n%s\nwant index %s and no sort", name, all, c.index)
		}
	}
}

func TestFindByRequestKey(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{Now: clock()})
	first := create(t, j, Job{RequestKey: "k1"})
	create(t, j, Job{RequestKey: "k2"})
	second := create(t, j, Job{RequestKey: "k1", Assets: []Asset{{Path: "/a.png"}}})
	update(t, j, first.ID, Update{Sent: true})
	for _, c := range []struct {
		key    string
		states []State
		want   []string
	}{
		{"k1", nil, []string{second.ID, first.ID}},
		{"k1", []State{StateSent}, []string{first.ID}},
		{"k1", []State{StateSent, StatePlanned}, []string{second.ID, first.ID}},
		{"k1", []State{StateLanded}, nil},
		{"k", nil, nil},
		{"", nil, nil},
	} {
		jobs, err := j.FindByRequestKey(t.Context(), c.key, c.states...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, ids(jobs)); diff != "" {
			t.Errorf("FindByRequestKey(%q, %v) (-want +got):\n%s", c.key, c.states, diff)
		}
	}
	jobs, err := j.FindByRequestKey(t.Context(), "k1", StatePlanned)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Job{second}, jobs); diff != "" {
		t.Errorf("the job found (-want +got):\n%s", diff)
	}
}

func TestSpooled(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{Now: clock()})
	create(t, j, Job{Assets: []Asset{{Path: "/a.png"}}})
	var want []Job
	for i := range 3 {
		job := create(t, j, Job{Assets: []Asset{{Path: "/b.png"}, {Index: 1, SpoolPath: fmt.Sprint("/spool/", i)}}})
		want = slices.Insert(want, 0, job)
	}
	got, err := j.Spooled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Spooled (-want +got):\n%s", diff)
	}
	update(t, j, want[0].ID, Update{Assets: []Asset{{Index: 1, Path: "/c.png"}}})
	got, err = j.Spooled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ids(want[1:]), ids(got)); diff != "" {
		t.Errorf("Spooled after one was moved (-want +got):\n%s", diff)
	}
}
