package journal

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// legal reads the table that state_test.go holds in words.
func legal() map[[2]State]bool {
	lines := strings.Split(strings.TrimSpace(wantMoves), "\n")
	columns := strings.Fields(lines[0])
	table := map[[2]State]bool{}
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		for i, to := range columns {
			table[[2]State{State(fields[0]), State(to)}] = fields[i+1] == "x"
		}
	}
	return table
}

func randomUpdate(r *rand.Rand) Update {
	var u Update
	switch r.IntN(4) {
	case 0:
		u.Sent = true
	case 1: // keeps the state
	default:
		u.State = States()[r.IntN(len(States()))]
	}
	if r.IntN(3) == 0 {
		u.CostMicros = new(r.Int64N(1e6))
	}
	if r.IntN(3) == 0 {
		u.Err = &JobError{Kind: "failure", Code: "c", Message: "m", Billed: "maybe"}
	}
	for range r.IntN(3) {
		u.Assets = append(u.Assets, Asset{Index: r.IntN(3), Partial: r.IntN(2), Bytes: r.Int64N(1e9)})
	}
	return u
}

// apply is what Update must do, written down a second time.
func apply(job Job, u Update, table map[[2]State]bool) (Job, bool) {
	from, to := job.State, u.State
	if u.Sent {
		to = StateSent
	}
	if to != "" {
		if !table[[2]State{from, to}] {
			return job, false
		}
		job.State = to
	}
	if u.CostMicros != nil {
		job.CostMicros = u.CostMicros
	}
	onward := to == StateQueued || to == StateRunning || to == StateSucceeded || to == StateLanded
	if onward && from != to {
		job.ErrorKind, job.ErrorCode, job.ErrorMessage, job.Billed = "", "", "", ""
	}
	if e := u.Err; e != nil {
		job.ErrorKind, job.ErrorCode, job.ErrorMessage, job.Billed = e.Kind, e.Code, e.Message, e.Billed
	}
	byPlace := map[[2]int]Asset{}
	for _, a := range slices.Concat(job.Assets, u.Assets) {
		byPlace[[2]int{a.Index, a.Partial}] = a
	}
	job.Assets = nil
	for index := range 3 {
		for partial := range 2 {
			if a, ok := byPlace[[2]int{index, partial}]; ok {
				job.Assets = append(job.Assets, a)
			}
		}
	}
	return job, true
}

// Whatever is asked in whatever order, the journal does what the table allows and nothing else.
func TestRandomUpdatesFollowTheTable(t *testing.T) {
	t.Parallel()
	table := legal()
	j := openTest(t, Options{})
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 0)) // repeatable
		want := create(t, j, Job{})
		for step := range 25 {
			u := randomUpdate(r)
			next, ok := apply(want, u, table)
			err := j.Update(t.Context(), want.ID, u)
			if ok != (err == nil) || err != nil && !errors.Is(err, ErrIllegalMove) {
				t.Fatalf("seed %d, step %d: %+v on a job that is %s: %v", seed, step, u, want.State, err)
			}
			got := get(t, j, want.ID)
			if got.Updated.Before(want.Updated) || got.SentAt.IsZero() && got.State != StatePlanned && !Final(got.State) {
				t.Fatalf("seed %d, step %d: updated %v, sent %v", seed, step, got.Updated, got.SentAt)
			}
			next.Updated, next.SentAt = got.Updated, got.SentAt
			if diff := cmp.Diff(next, got); diff != "" {
				t.Fatalf("seed %d, step %d, %+v (-want +got):\n%s", seed, step, u, diff)
			}
			want = got
		}
	}
}

// The same from many hands at once: a trigger of the database itself writes down each change of state.
func TestConcurrentUpdatesFollowTheTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	handles := []*Journal{openAt(t, path, Options{}), openAt(t, path, Options{})}
	const record = `CREATE TABLE history (job, old, new);
	CREATE TRIGGER record AFTER UPDATE OF state ON jobs WHEN old.state <> new.state
	BEGIN INSERT INTO history VALUES (old.id, old.state, new.state); END`
	if _, err := handles[0].db.ExecContext(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	var jobs []Job
	for range 6 {
		jobs = append(jobs, create(t, handles[0], Job{}))
	}
	var wg sync.WaitGroup
	for worker := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 1)) // repeatable
			for range 40 {
				u := randomUpdate(r)
				err := handles[worker%2].Update(t.Context(), jobs[r.IntN(len(jobs))].ID, u)
				if err != nil && !errors.Is(err, ErrIllegalMove) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	rows, err := handles[1].db.QueryContext(t.Context(), "SELECT job, old, new FROM history ORDER BY rowid")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	table := legal()
	at := map[string]State{}
	for rows.Next() {
		var id string
		var from, to State
		if err := rows.Scan(&id, &from, &to); err != nil {
			t.Fatal(err)
		}
		if before, seen := at[id]; seen && before != from || !seen && from != StatePlanned || !table[[2]State{from, to}] {
			t.Errorf("job %s went from %s (last seen %s) to %s", id, from, at[id], to)
		}
		at[id] = to
	}
	if err := rows.Err(); err != nil || len(at) == 0 {
		t.Errorf("%d jobs have a history, %v", len(at), err)
	}
}
