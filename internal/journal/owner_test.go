package journal

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestOwnerIsThisProcessAndStays(t *testing.T) {
	t.Parallel()
	pid, boot := Owner()
	if pid != os.Getpid() {
		t.Errorf("Owner is %d, want %d", pid, os.Getpid())
	}
	if _, again := Owner(); again != boot {
		t.Errorf("Owner says %q, then %q", boot, again)
	}
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
		if boot == "" {
			t.Error("this system tells boot or start time, but Owner does not")
		}
	}
}

func TestOrphanedAsksOnlyForStatesThatNeedTheirOwner(t *testing.T) {
	t.Parallel()
	_, boot := Owner()
	for _, state := range States() {
		want := state == StatePlanned || state == StateSent
		// No system gives out this PID.
		if got := Orphaned(Job{State: state, PID: 1<<31 - 2, BootID: boot}); got != want {
			t.Errorf("Orphaned of a dead process's job that is %s is %v, want %v", state, got, want)
		}
	}
}

func TestOwnJobsAreNoOrphans(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{})
	job := create(t, j, Job{})
	if Orphaned(job) || Orphaned(get(t, j, job.ID)) {
		t.Error("a job of this process counts as orphaned")
	}
	if Orphaned(Job{State: StateSent}) {
		t.Error("a job without owner counts as orphaned")
	}
	if Orphaned(Job{State: StateSent, PID: os.Getpid()}) {
		t.Error("a job of a living process without mark counts as orphaned")
	}
}

// The jobs of a process that is killed are orphans at once, before and after its parent has asked for its end.
func TestAKilledProcessLeavesOrphans(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	cmd := helper(t, "own", path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close() //nolint:errcheck // its reader is dead by then
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	j := openAt(t, path, Options{})
	lines := bufio.NewScanner(stdout)
	var jobs []Job
	for len(jobs) < 3 && lines.Scan() {
		jobs = append(jobs, get(t, j, lines.Text()))
	}
	if len(jobs) != 3 {
		t.Fatalf("the owner made %d jobs", len(jobs))
	}
	for _, job := range jobs {
		if job.PID != cmd.Process.Pid || Orphaned(job) {
			t.Errorf("a job of living process %d, by %d, counts as orphaned", cmd.Process.Pid, job.PID)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until the dead process's end of the pipe is closed
		t.Logf("unexpected line %q", lines.Text())
	}
	check := func(when string) {
		for i, want := range []bool{true, true, false} { // planned, sent, landed
			if got := Orphaned(jobs[i]); got != want {
				t.Errorf("%s: Orphaned of a job that is %s is %v, want %v", when, jobs[i].State, got, want)
			}
		}
	}
	if runtime.GOOS == "linux" {
		waitForZombie(t, cmd.Process.Pid)
		check("as a zombie")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the owner ended by itself")
	}
	check("after its end")
}
