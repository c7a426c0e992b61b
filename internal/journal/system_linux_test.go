package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mediagen/internal/fault"
)

// waitForZombie returns once a killed child is dead; its parent has not asked for its end.
func waitForZombie(t *testing.T, pid int) {
	t.Helper()
	for {
		_, dead, err := procStat(pid)
		if err != nil {
			t.Fatal(err)
		}
		if dead {
			return
		}
	}
}

func TestOrphanedTellsProcessesOfOnePIDApart(t *testing.T) {
	t.Parallel()
	pid, own := Owner()
	part := strings.Split(own, "/")
	if len(part) != 3 {
		t.Fatalf("Owner's mark is %q, want boot, namespace and start", own)
	}
	for name, c := range map[string]struct {
		mark string
		want bool
	}{
		"same":              {own, false},
		"PID given anew":    {part[0] + "/" + part[1] + "/1", true},
		"other boot":        {"00000000-0000-0000-0000-000000000000/" + part[1] + "/" + part[2], true},
		"other container":   {part[0] + "/pid:[1]/" + part[2], false},
		"another format":    {"something", false},
		"nothing":           {"", false},
		"too many segments": {own + "/more", false},
	} {
		if got := Orphaned(Job{State: StateSent, PID: pid, BootID: c.mark}); got != c.want {
			t.Errorf("%s: Orphaned is %v, want %v", name, got, c.want)
		}
	}
	if Orphaned(Job{State: StateSent, PID: 1, BootID: ""}) {
		t.Error("process 1 counts as dead")
	}
}

func TestProcStatReadsAwkwardNames(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "a) Z (b")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), link, helperMark, "own", filepath.Join(t.TempDir(), "j.db"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	start, dead, err := procStat(cmd.Process.Pid)
	if err != nil || dead || strings.Trim(start, "0123456789") != "" || start == "" {
		t.Errorf("procStat = %q, %v, %v; want a number and a living process", start, dead, err)
	}
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// runSystemHelper is the part of runHelper that needs mounts.
func runSystemHelper(ctx context.Context, verb string, args []string) error {
	if verb != "mount" {
		return fmt.Errorf("unknown helper %q", verb)
	}
	dir := args[1]
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return noMount(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		return noMount(err)
	}
	switch args[0] {
	case "full":
		return helpFull(ctx, dir)
	case "read-only":
		return helpReadOnly(ctx, dir)
	}
	return fmt.Errorf("unknown scene %q", args[0])
}

// noMount tells the test that this machine lets nobody mount. Below a changed root "/" is no mount point, and that is
// EINVAL.
func noMount(err error) error {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) {
		fmt.Println("no mounts here")
		return nil
	}
	return err
}

// helpFull fills a small disk with jobs, then with a file, and empties it again.
func helpFull(ctx context.Context, dir string) error {
	path := filepath.Join(dir, "journal.db")
	j, err := Open(ctx, path, Options{KeepPrompts: true})
	if err != nil {
		return err
	}
	made := 0
	for err == nil && made < 10_000 {
		if err = j.Create(ctx, &Job{Prompt: strings.Repeat("x", 20_000)}); err == nil {
			made++
		}
	}
	fmt.Println("create:", fault.CodeOf(err))
	jobs, err := j.List(ctx, Filter{})
	fmt.Println("kept all:", len(jobs) == made && made > 3, err)
	if err := j.Close(); err != nil {
		fmt.Println("close:", fault.CodeOf(err))
	}

	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk is not full: %w", err)
	}
	if j, err = Open(ctx, path, Options{KeepPrompts: true}); err != nil {
		return err
	}
	jobs, err = j.List(ctx, Filter{})
	fmt.Println("can be read:", len(jobs) == made, err)
	// A small row may still find room in the log that lies there.
	err = j.Create(ctx, &Job{Prompt: strings.Repeat("x", 2<<20)})
	fmt.Println("create:", fault.CodeOf(err))
	if err := j.Close(); err != nil {
		return err
	}
	_, err = Open(ctx, filepath.Join(dir, "other", "journal.db"), Options{})
	fmt.Println("open new:", fault.CodeOf(err))

	if err := os.Remove(ballast); err != nil {
		return err
	}
	j, err = Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	jobs, err = j.List(ctx, Filter{})
	fmt.Println("kept all:", len(jobs) == made, err)
	return j.Close()
}

// helpReadOnly makes a journal and opens it again on a read-only disk, as a read-only file and for the first time.
func helpReadOnly(ctx context.Context, dir string) error {
	path := filepath.Join(dir, "journal.db")
	j, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	if err := syscall.Mount(path, path, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	if err := syscall.Mount("", path, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	_, err = Open(ctx, path, Options{})
	fmt.Println("file:", fault.CodeOf(err))
	if err := syscall.Unmount(path, 0); err != nil {
		return err
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	_, err = Open(ctx, path, Options{})
	fmt.Println("disk:", fault.CodeOf(err))
	_, err = Open(ctx, filepath.Join(dir, "new.db"), Options{})
	fmt.Println("new:", fault.CodeOf(err))
	_, err = Open(ctx, filepath.Join(dir, "sub", "new.db"), Options{})
	fmt.Println("new directory:", fault.CodeOf(err))
	return nil
}

// onOwnDisk runs a scene in a mount namespace of its own, as the user that runs the test if root, else as the root of a
// user namespace.
func onOwnDisk(t *testing.T, scene string) string {
	t.Helper()
	cmd := helper(t, "mount", scene, t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSPC) ||
		strings.HasPrefix(out.String(), "no mounts") {
		t.Skip("this machine lets nobody mount a file system")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

func TestAFullFileSystem(t *testing.T) {
	t.Parallel()
	want := "create: disk_full\nkept all: true <nil>\ncan be read: true <nil>\n" +
		"create: disk_full\nopen new: disk_full\nkept all: true <nil>\n"
	if got := onOwnDisk(t, "full"); got != want {
		t.Errorf("on a full disk:\n%s\nwant\n%s", got, want)
	}
}

func TestAReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	want := "file: journal_broken\ndisk: journal_broken\nnew: journal_broken\nnew directory: journal_broken\n"
	if got := onOwnDisk(t, "read-only"); got != want {
		t.Errorf("on a read-only disk:\n%s\nwant\n%s", got, want)
	}
}

// Root is not bound by mode bits, so as root the opening is done by a process of user 65534.
func TestOpenWithoutPermission(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir, path string) error{
		"read-only file":      func(_, path string) error { return os.Chmod(path, 0o400) },
		"read-only directory": func(dir, _ string) error { return os.Chmod(dir, 0o500) },
		"unreadable file":     func(_, path string) error { return os.Chmod(path, 0) },
		"closed directory":    func(dir, _ string) error { return os.Chmod(dir, 0) },
		"no directory":        func(dir, path string) error { return errors.Join(os.Remove(path), os.Chmod(dir, 0o500)) },
		"open to others":      func(_, path string) error { return os.Chmod(path, 0o444) },
	} {
		t.Run(name, func(t *testing.T) {
			path := closedJournal(t, 1)
			dir := filepath.Dir(path)
			cmd := helper(t, "open", path)
			if os.Geteuid() == 0 {
				cmd = asNobody(t, cmd, dir, path)
			}
			if err := spoil(dir, path); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(dir, 0o700) }) //nolint:errcheck // lets the directory be removed
			out, err := cmd.Output()
			if err != nil || !strings.HasPrefix(string(out), string(fault.JournalBroken)+" ") {
				t.Errorf("Open: %s, %v; want %s", out, err, fault.JournalBroken)
			}
		})
	}
}

// asNobody gives the files to user 65534 and makes cmd run as it. The binary may lie in a directory that is closed to
// others, but each process can run itself.
func asNobody(t *testing.T, cmd *exec.Cmd, dir, path string) *exec.Cmd {
	t.Helper()
	const nobody = 65534
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, path} {
		if err := os.Chown(name, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Path = "/proc/self/exe"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}
