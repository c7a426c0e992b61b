package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process starts this test binary as the program.
func (h *home) process(args ...string) (cmd *exec.Cmd, errOut *lockedBuffer) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	h.t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir = h.work
	cmd.Env = append([]string{"APP_TEST_MAIN=1"}, h.env...)
	errOut = &lockedBuffer{}
	cmd.Stderr = errOut
	return cmd, errOut
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return exit.ExitCode() // -1 when a signal killed it
}

// TestMainSignals sends real signals to a real process that waits for its prompt.
func TestMainSignals(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals are POSIX")
	}
	for sig, want := range map[os.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 143} {
		h := newHome(t)
		cmd, errOut := h.process("images", "generate", "--provider", "emulator", "-v", "--json", "-")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stdin.Close() })
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return strings.Contains(errOut.String(), "directories opened") }, errOut)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if got := exitCode(t, cmd.Wait()); got != want || !strings.Contains(out.String(), `"exit":`) {
			t.Errorf("%s: exit %d, want %d: %s%s", sig, got, want, &out, errOut)
		}
	}
}

// TestSignalWhilePictureIsRead does not wait for the other end of a pipe that never speaks, and neither does a time limit.
func TestSignalWhilePictureIsRead(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"", "1s"} {
		h := newHome(t, "MEDIA_GEN_TIMEOUT="+limit)
		cmd, errOut := h.process("images", "edit", "--provider", "emulator", "-v", "-i", "-", "x")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stdin.Close() })
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		want := 1
		if limit == "" {
			waitFor(t, func() bool { return strings.Contains(errOut.String(), "directories opened") }, errOut)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			want = 130
		}
		if got := exitCode(t, cmd.Wait()); got != want || !strings.Contains(errOut.String(), "stdin") {
			t.Errorf("limit %q: exit %d, want %d: %s", limit, got, want, errOut)
		}
	}
}

// waitFor polls another process.
func waitFor(t *testing.T, done func() bool, errOut *lockedBuffer) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited for 30 s; stderr: %s", errOut)
		}
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // polls another process
	}
}

// TestMainIgnoredSignal stays ignored, as under nohup.
func TestMainIgnoredSignal(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	h := newHome(t)
	cmd, errOut := h.process()
	cmd.Path, cmd.Args = sh, []string{"sh", "-c", `trap "" HUP INT; exec "$0" images generate --provider emulator -v -`, os.Args[0]}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(errOut.String(), "directories opened") }, errOut)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(stdin, "a prompt"); err != nil {
		t.Fatal(err)
	}
	_ = stdin.Close()
	if got := exitCode(t, cmd.Wait()); got != 0 {
		t.Errorf("exit %d, want 0: %s", got, errOut)
	}
}

// TestMainClosedPipe pays, finds nobody at the other end of stdout, and says where the pictures are.
func TestMainClosedPipe(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SIGPIPE is POSIX")
	}
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"-o", "out/"}, "saved all the same: "},
		{[]string{"-o", "out/", "--json"}, "saved all the same: "},
		{[]string{"-o", "-"}, "safe at "},
	} {
		h := newHome(t)
		cmd, errOut := h.process(append([]string{"images", "generate", "--provider", "emulator", "x"}, tc.args...)...)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		cmd.Stdout = w
		err = cmd.Run()
		_ = w.Close()
		if got := exitCode(t, err); got != 1 || !strings.Contains(errOut.String(), tc.says) {
			t.Errorf("%v: exit %d, want 1 and %q: %s", tc.args, got, tc.says, errOut)
		}
		pictures, _ := filepath.Glob(filepath.Join(h.work, "out", "*.png"))
		spooled, _ := filepath.Glob(filepath.Join(h.dir, ".local/state/mediagen/spool", "*"))
		if len(pictures)+len(spooled) != 1 {
			t.Errorf("%v: %d pictures, %d in the spool", tc.args, len(pictures), len(spooled))
		}
		if len(spooled) == 1 {
			id := h.jq(".items[0].id", "jobs", "list")
			if r := h.wants(0, "", "jobs", "resume", id, "-o", "back"); !strings.HasPrefix(r.out, "back/") {
				t.Errorf("resume: %q", r.out)
			}
		}
	}
}

// TestInterruptedRun lets a paid request run to its end after the first signal, and cuts it off with the second.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		select {
		case <-release:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"late","code":"x"}}`))
	})
	defer close(release)
	h := newHome(t, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+s.URL+"/v1")
	cmd, errOut := h.process("images", "generate", "--json", "x")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	for _, says := range []string{"runs to its end", ""} {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return strings.Contains(errOut.String(), says) }, errOut)
	}
	if got := exitCode(t, cmd.Wait()); got != 130 {
		t.Errorf("exit %d, want 130: %s", got, errOut)
	}
	for _, part := range []string{`"kind":"unknown_outcome"`, `"exit":130`, `"billed":"maybe"`} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %s in: %s", part, &out)
		}
	}
	if got := h.jq(".items[0].state", "jobs", "list"); got != "unknown" {
		t.Errorf("journal says %s", got)
	}
}
