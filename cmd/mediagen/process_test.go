package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // reads the journal that was killed

	"mediagen/internal/emulator"
	"mediagen/internal/sniff"
)

// program is mediagen in a home of its own, run as a process that can be signalled and killed.
type program struct {
	t    testing.TB
	dir  string
	env  []string
	log  *syncBuffer
	root string
}

// newProgram serves an emulator with the given faults and returns mediagen pointed at it.
func newProgram(t testing.TB, faults ...string) *program {
	t.Helper()
	p := &program{t: t, dir: t.TempDir(), log: &syncBuffer{}}
	o := emulator.Options{Log: p.log}
	for _, spec := range faults {
		f, err := emulator.ParseFault(spec)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	h, err := emulator.NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	p.env = []string{
		"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=" + canaryKey, "OPENAI_BASE_URL=" + srv.URL + "/v1",
		"XDG_STATE_HOME=" + filepath.Join(p.dir, "state"), "TMPDIR=" + t.TempDir(),
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	p.root = path
	return p
}

// built is the real program, built once: the test binary would start the tests of a killed child.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mediagen-test-")
	if err != nil {
		return "", err
	}
	builtDir.Store(&dir)
	path := filepath.Join(dir, "mediagen")
	args := []string{"build", "-o", path}
	if tags := buildTags(); tags != "" {
		args = append(args, "-tags="+tags)
	}
	out, err := exec.Command("go", append(args, ".")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// builtDir is where it lies, for TestMain to remove.
var builtDir atomic.Pointer[string]

// buildTags are the tags of this very test binary, so that the program has the same imaging engine.
func buildTags() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return s.Value
		}
	}
	return ""
}

func (p *program) command(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	p.t.Helper()
	cmd := exec.Command(p.root, args...) // signalled and killed by hand
	cmd.Dir, cmd.Env = p.dir, p.env
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	return cmd, &out, &errOut
}

// run runs to the end and returns the exit code.
func (p *program) run(args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	cmd, out, errOut := p.command(args...)
	return exitOf(p.t, cmd.Run()), out.String(), errOut.String()
}

func exitOf(t testing.TB, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	ee, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return ee.ExitCode()
}

// states returns the states in the journal, newest first.
func (p *program) states() []string {
	p.t.Helper()
	code, out, errOut := p.run("jobs", "list", "--json")
	if code != 0 {
		p.t.Fatalf("jobs list: exit %d: %s", code, errOut)
	}
	var env struct {
		Items []struct {
			State string `json:"state"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(out), &env); err != nil {
		p.t.Fatal(err)
	}
	var states []string
	for _, it := range env.Items {
		states = append(states, it.State)
	}
	return states
}

// waitForRequest waits until the journal has a row that was sent.
func (p *program) waitForSent() {
	p.t.Helper()
	path := filepath.Join(p.dir, "state", "mediagen", "journal.db")
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		if sent(path) {
			return
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // polls another process
	}
	p.t.Fatal("no job was sent within 20 s")
}

func sent(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return false
	}
	defer func() { _ = db.Close() }()
	var n int
	err = db.QueryRowContext(context.Background(), "SELECT count(*) FROM jobs WHERE state = 'sent'").Scan(&n)
	return err == nil && n > 0
}

func TestSignals(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("signals are POSIX")
	}
	tests := []struct {
		name      string
		slow      string
		signals   []os.Signal // with a pause between two, but not between the last of three
		wantCode  int
		wantState string
		wantFiles int
	}{
		{"SIGINT once: the paid request runs to its end", "slow-headers:2s", []os.Signal{os.Interrupt}, 130, "landed", 1},
		{"SIGTERM once: the paid request runs to its end", "slow-headers:2s", []os.Signal{syscall.SIGTERM}, 143, "landed", 1},
		{"SIGINT twice: leaves at once", "slow-headers:60s", []os.Signal{os.Interrupt, os.Interrupt}, 130, "unknown", 0},
		{"SIGTERM twice: leaves at once", "slow-headers:60s", []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, 143, "unknown", 0},
		{
			"three signals: still notes and answers", "slow-headers:60s",
			[]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP},
			130, "unknown", 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t, tt.slow)
			cmd, out, errOut := p.command("images", "generate", "--json", "-o", "out/", "x")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			p.waitForSent()
			start := time.Now()
			for i, sig := range tt.signals {
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				if i == 1 && len(tt.signals) == 3 {
					continue
				}
				time.Sleep(200 * time.Millisecond) //nolint:forbidigo // two signals at once would be one
			}
			if code := exitOf(t, cmd.Wait()); code != tt.wantCode {
				t.Errorf("exit %d, want %d: %s", code, tt.wantCode, errOut)
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("leaving took %s", took)
			}
			if !strings.Contains(errOut.String(), "runs to its end") {
				t.Errorf("the first signal was not explained: %s", errOut)
			}
			if !strings.Contains(out.String(), `"schema":"mediagen/1"`) {
				t.Errorf("no object on stdout: %s", out)
			}
			if got := p.states(); len(got) != 1 || got[0] != tt.wantState {
				t.Errorf("journal %v, want [%s]", got, tt.wantState)
			}
			if got := files(t, filepath.Join(p.dir, "out")); len(got) != tt.wantFiles {
				t.Errorf("files %v, want %d", got, tt.wantFiles)
			}
		})
	}
}

// TestKill kills generate at random moments. Whatever the moment: the journal opens, each row tells the truth, and no
// final name holds half a file.
func TestKill(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SIGKILL is POSIX")
	}
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	p := newProgram(t, "slow:150ms")
	args := []string{"images", "generate", "-n", "2", "--size", "1024x1024", "--quality", "low", "-o", "out/", "x"}
	start := time.Now()
	if code, _, errOut := p.run(args...); code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	whole := time.Since(start)       // of a run on this machine under this load: the moments spread over all of it
	r := rand.New(rand.NewPCG(1, 2)) // repeatable moments
	for range rounds {
		cmd, _, _ := p.command(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.Int64N(int64(whole) * 5 / 4))) //nolint:forbidigo // a random moment is the point
		_ = cmd.Process.Kill()                                    // it may have ended already
		_ = cmd.Wait()                                            // killed: the error is expected
	}
	p.checkTruth(filepath.Join(p.dir, "out"))
}

// checkTruth holds every row against what is on disk.
func (p *program) checkTruth(out string) {
	p.t.Helper()
	code, list, errOut := p.run("jobs", "list", "--limit", "0", "--json")
	if code != 0 {
		p.t.Fatalf("the journal does not open: %s", errOut)
	}
	var env struct {
		Items []struct {
			ID, State string
			Sent      *time.Time
			Orphaned  bool
			Assets    []struct {
				Path, SHA256 string
				Bytes        int64
			}
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(list), &env); err != nil {
		p.t.Fatal(err)
	}
	counts := map[string]int{}
	var unknown []string
	for _, j := range env.Items {
		counts[j.State]++
		switch j.State {
		case "cancelled":
			if j.Sent != nil || j.Orphaned {
				p.t.Errorf("job %s is cancelled, but sent %v, orphaned %v", j.ID, j.Sent, j.Orphaned)
			}
		case "unknown":
			if j.Sent == nil || j.Orphaned {
				p.t.Errorf("job %s is unknown, but sent %v, orphaned %v", j.ID, j.Sent, j.Orphaned)
			}
			unknown = append(unknown, j.ID)
		case "landed":
			if len(j.Assets) != 2 || j.Orphaned {
				p.t.Errorf("job %s landed with %d assets", j.ID, len(j.Assets))
			}
		default:
			p.t.Errorf("job %s is %s after a kill", j.ID, j.State)
		}
		for _, a := range j.Assets {
			info, err := os.Stat(a.Path)
			if err != nil || info.Size() != a.Bytes {
				p.t.Errorf("job %s names %s with %d bytes: %v", j.ID, a.Path, a.Bytes, err)
			}
		}
	}
	p.t.Logf("%d rows: %v", len(env.Items), counts)
	for _, id := range unknown {
		if code, _, errOut := p.run("jobs", "resume", id); code != 0 && code != 8 {
			p.t.Errorf("resume %s: exit %d: %s", id, code, errOut)
		}
	}
	for _, path := range files(p.t, out) {
		err := whole(path)
		if hidden := strings.HasPrefix(filepath.Base(path), "."); hidden && err == nil {
			p.t.Errorf("%s is whole and was not resumed", path)
		} else if !hidden && err != nil {
			p.t.Errorf("%s is not whole: %v", path, err)
		}
	}
}

// whole reports whether a PNG has its beginning and its end.
func whole(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if t := sniff.Detect(data); t.MIME != "image/png" {
		return fmt.Errorf("it is %q", t.MIME)
	}
	if !bytes.HasSuffix(data, []byte("IEND\xaeB`\x82")) {
		return errors.New("it has no end")
	}
	return nil
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
