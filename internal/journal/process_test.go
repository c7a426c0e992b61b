package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mediagen/internal/fault"
)

// helperMark as first argument makes the test binary one of the processes below instead of a test run.
const helperMark = "journal-helper"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == helperMark {
		if err := runHelper(os.Args[2], os.Args[3:]); err != nil {
			panic(err) // exit code 2 and the reason on stderr
		}
		return
	}
	m.Run()
}

func runHelper(verb string, args []string) error {
	ctx := context.Background()
	switch verb {
	case "open":
		return helpOpen(ctx, args[0])
	case "create":
		return helpCreate(ctx, args[0], args[1])
	case "send":
		return helpSend(ctx, args[0], args[1])
	case "work":
		return helpWork(ctx, args[0])
	case "own":
		return helpOwn(ctx, args[0])
	}
	return runSystemHelper(ctx, verb, args)
}

// helpOpen prints the code of Open's error, or "ok".
func helpOpen(ctx context.Context, path string) error {
	j, err := Open(ctx, path, Options{})
	if err != nil {
		fmt.Println(fault.CodeOf(err), err)
		return nil
	}
	fmt.Println("ok")
	return j.Close()
}

// helpCreate makes n jobs at once and prints their ids. Its clock stands still, the hardest case for ids.
func helpCreate(ctx context.Context, path, n string) error {
	count, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	j, err := Open(ctx, path, Options{Now: func() time.Time { return noon }})
	if err != nil {
		return err
	}
	jobs := make([]Job, count)
	errs := make([]error, count)
	var wg sync.WaitGroup
	for i := range jobs {
		wg.Go(func() { errs[i] = j.Create(ctx, &jobs[i]) })
	}
	wg.Wait()
	for _, job := range jobs {
		fmt.Println(job.ID)
	}
	return errors.Join(append(errs, j.Close())...)
}

// helpSend tries to send a job and prints who won.
func helpSend(ctx context.Context, path, id string) error {
	j, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	err = j.Update(ctx, id, Update{Sent: true, ProviderJob: new(strconv.Itoa(os.Getpid()))})
	switch {
	case err == nil:
		fmt.Println("won", os.Getpid())
	case errors.Is(err, ErrIllegalMove):
		fmt.Println("lost")
	default:
		return err
	}
	return j.Close()
}

// helpWork lives jobs on four goroutines until it is killed and prints each step once the journal has it.
func helpWork(ctx context.Context, path string) error {
	j, err := Open(ctx, path, Options{KeepPrompts: true})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for range 4 {
		go func() {
			for {
				if err := liveJob(ctx, j); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// liveJob takes one job from planned to landed. The assets and the cost come with the last step, and only with it.
func liveJob(ctx context.Context, j *Journal) error {
	job := Job{Provider: "openai", Prompt: strings.Repeat("a lighthouse ", 500)}
	if err := j.Create(ctx, &job); err != nil {
		return err
	}
	fmt.Println(job.ID, job.State)
	for _, u := range []Update{
		{State: StateSent},
		{State: StateRunning, ProviderJob: new("p-" + job.ID)},
		{State: StateLanded, CostMicros: new(int64(5)), Assets: []Asset{{Path: job.ID}, {Index: 1, Path: job.ID}}},
	} {
		if err := j.Update(ctx, job.ID, u); err != nil {
			return err
		}
		fmt.Println(job.ID, u.State)
	}
	return nil
}

// helpOwn makes a planned, a sent and a landed job, prints their ids and lives until its stdin ends.
func helpOwn(ctx context.Context, path string) error {
	j, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	for _, way := range [][]State{{}, {StateSent}, {StateSent, StateLanded}} {
		var job Job
		if err := j.Create(ctx, &job); err != nil {
			return err
		}
		for _, state := range way {
			if err := j.Update(ctx, job.ID, Update{State: state}); err != nil {
				return err
			}
		}
		fmt.Println(job.ID)
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, j.Close())
}

func helper(t *testing.T, verb string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{helperMark, verb}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// runAll runs n helpers at once and returns the lines that they printed.
func runAll(t *testing.T, n int, verb string, args ...string) []string {
	t.Helper()
	outs := make([]bytes.Buffer, n)
	var cmds []*exec.Cmd
	for i := range n {
		cmd := helper(t, verb, args...)
		cmd.Stdout = &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	var lines []string
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("helper %d: %v", i, err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(outs[i].String()), "\n")...)
	}
	return lines
}

// Eight processes that start at once on a file that is not there: one makes it, all can use it.
func TestManyProcessesMakeOneJournal(t *testing.T) {
	t.Parallel()
	for range 3 {
		path := filepath.Join(t.TempDir(), "new", "journal.db")
		for _, line := range runAll(t, 8, "open", path) {
			if line != "ok" {
				t.Errorf("a process met a journal in the making: %s", line)
			}
		}
		create(t, openAt(t, path, Options{}), Job{})
		leftovers, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".journal-*"))
		if err != nil || len(leftovers) > 0 {
			t.Errorf("left behind: %v, %v", leftovers, err)
		}
	}
}

func TestTwoThousandParallelCreates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	const processes, each = 4, 500
	made := runAll(t, processes, "create", path, strconv.Itoa(each))
	slices.Sort(made)
	if len(made) != processes*each || len(slices.Compact(slices.Clone(made))) != len(made) {
		t.Errorf("%d ids, %d different; want %d", len(made), len(slices.Compact(slices.Clone(made))), processes*each)
	}
	stored := ids(list(t, openAt(t, path, Options{}), Filter{}))
	slices.Sort(stored)
	if !slices.Equal(stored, made) {
		t.Errorf("the journal holds %d jobs, the processes made %d others or more", len(stored), len(made))
	}
}

// Of many processes that want to send one job exactly one may.
func TestOneProcessSendsAJob(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openAt(t, path, Options{})
	job := create(t, j, Job{})
	lines := runAll(t, 6, "send", path, job.ID)
	won := slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return s == "lost" })
	if len(won) != 1 || len(lines) != 6 {
		t.Fatalf("the processes say %q, want one that won", lines)
	}
	got := get(t, j, job.ID)
	if got.State != StateSent || won[0] != "won "+got.ProviderJob {
		t.Errorf("the job is %s by %s, but %q", got.State, got.ProviderJob, won[0])
	}
}

// A writer is killed a hundred times. The journal opens each time, what was acknowledged is there, and no row is half
// of a step.
func TestKilledWritersLoseNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	kills := 100
	if testing.Short() {
		kills = 10
	}
	acknowledged := map[string]State{}
	for i := range kills {
		killWriter(t, path, 1+i%23, acknowledged)
		j, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
		checkRows(t, j, acknowledged)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("after kill %d", i)
		}
	}
	if len(acknowledged) < kills {
		t.Errorf("only %d jobs in %d lives of a writer", len(acknowledged), kills)
	}
}

// killWriter kills a writer after it has acknowledged this many steps, in the middle of others, and records all that it
// acknowledged.
func killWriter(t *testing.T, path string, steps int, acknowledged map[string]State) {
	t.Helper()
	cmd := helper(t, "work", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 1; lines.Scan(); n++ {
		id, state, whole := strings.Cut(lines.Text(), " ")
		if whole && slices.Contains(States(), State(state)) {
			acknowledged[id] = State(state)
		}
		if n == steps {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
}

func checkRows(t *testing.T, j *Journal, acknowledged map[string]State) {
	t.Helper()
	var verdict string
	if err := j.db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity check: %s, %v", verdict, err)
	}
	stored := map[string]State{}
	for _, job := range list(t, j, Filter{}) {
		stored[job.ID] = job.State
		landed := job.State == StateLanded
		if (len(job.Assets) == 2) != landed || (job.CostMicros != nil) != landed || !landed && len(job.Assets) != 0 {
			t.Errorf("job %s is %s with %d assets and cost %v", job.ID, job.State, len(job.Assets), job.CostMicros)
		}
		if job.SentAt.IsZero() != (job.State == StatePlanned) {
			t.Errorf("job %s is %s and was sent at %v", job.ID, job.State, job.SentAt)
		}
	}
	order := []State{StatePlanned, StateSent, StateRunning, StateLanded}
	for id, state := range acknowledged {
		if slices.Index(order, stored[id]) < slices.Index(order, state) {
			t.Errorf("job %s was acknowledged as %s, the journal says %q", id, state, stored[id])
		}
	}
}
