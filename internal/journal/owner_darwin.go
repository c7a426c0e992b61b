package journal

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB of <sys/proc.h>

// mark is "boot session UUID/start time in microseconds", from sysctl(3). It is empty where that does not answer.
func mark(pid int) string {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	start, _, err := procStart(pid)
	if err != nil {
		return ""
	}
	return boot + "/" + start
}

func gone(pid int, bootID string) bool {
	here := strings.Split(mark(os.Getpid()), "/")
	there := strings.Split(bootID, "/")
	if len(here) != 2 || len(there) != 2 {
		return vanished(pid)
	}
	if here[0] != there[0] || vanished(pid) {
		return true
	}
	start, dead, err := procStart(pid)
	if err != nil { // just gone, or not readable: the signal decides
		return vanished(pid)
	}
	return dead || start != there[1]
}

// vanished asks with signal 0, which delivers nothing. EPERM means that the process lives and is another user's.
func vanished(pid int) bool {
	return errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

func procStart(pid int) (start string, dead bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", false, err
	}
	t := info.Proc.P_starttime
	return fmt.Sprint(t.Sec*1_000_000 + int64(t.Usec)), info.Proc.P_stat == zombie, nil
}
