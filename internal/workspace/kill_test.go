//go:build unix

package workspace

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killDir names, in the environment of a child, the sandbox that it saves in until it is killed.
const killDir = "MEDIAGEN_TEST_KILL_DIR"

// whole is the text of a file that the child saves: its size and hash tell whether it is whole.
var whole = strings.Repeat("whole or absent ", 16<<10)

// TestKilledChild is not a test of its own: it is the child of TestKill.
func TestKilledChild(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("runs as the child of TestKill")
	}
	w, err := Open(Config{Dirs: []string{dir}, WorkDir: dir, StateDir: filepath.Join(dir, "..", "state")})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		p := spec()
		p.Dest, p.Overwrite = strconv.Itoa(i%3)+".png", true
		if i%2 == 0 {
			p.Dest, p.Overwrite = strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i)+".png", false
		}
		target, err := w.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		f, err := target.Create(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(whole)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Commit("png"); err != nil {
			t.Fatal(err)
		}
		if err := target.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stdout.WriteString("saved\n"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKill kills a process in the middle of saves, with and without overwriting: each final name is whole or absent.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	s := newSandbox(t)
	for range rounds {
		killOne(t, s)
	}
	var kept, temps int
	for _, name := range files(t, s.media) {
		if strings.HasPrefix(name, tempPrefix) {
			temps++ // what the sweep is for
			continue
		}
		kept++
		if read(t, s.in(name)) != whole {
			t.Errorf("%s is not whole", name)
		}
	}
	t.Logf("%d kills: %d whole files, %d temporary ones left for the sweep", rounds, kept, temps)
	if kept == 0 {
		t.Error("nothing was saved before the kills")
	}
}

func killOne(t *testing.T, s sandbox) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledChild$")
	c.Env = append(os.Environ(), killDir+"="+s.media)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "saved" {
		t.Log(lines.Text())
	}
	<-time.After(time.Duration(rand.IntN(20_000)) * time.Microsecond)
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		continue
	}
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != -1 {
		t.Errorf("the child ended by itself: %v", err)
	}
}
