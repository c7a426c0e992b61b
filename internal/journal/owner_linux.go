package journal

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// mark is "boot id/PID namespace/start time in clock ticks since boot", from proc(5). It is empty where /proc does not
// answer.
func mark(pid int) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	start, _, err := procStat(pid)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + space + "/" + start
}

func gone(pid int, bootID string) bool {
	here := strings.Split(mark(os.Getpid()), "/")
	there := strings.Split(bootID, "/")
	if len(here) != 3 || len(there) != 3 {
		return vanished(pid)
	}
	if here[0] != there[0] {
		return true
	}
	if here[1] != there[1] { // its PID means nothing here
		return false
	}
	if vanished(pid) {
		return true
	}
	start, dead, err := procStat(pid)
	if err != nil { // hidden, as with hidepid, or just gone: the signal decides
		return vanished(pid)
	}
	return dead || start != there[2]
}

// vanished asks with signal 0, which delivers nothing. EPERM means that the process lives and is another user's.
func vanished(pid int) bool {
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// procStat reads the start time (field 22 of proc(5)'s stat) and whether the process is dead but not yet reaped.
func procStat(pid int) (start string, dead bool, err error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false, err
	}
	// The name in field 2 may hold spaces and parentheses; after its last one the fields are plain.
	_, rest, _ := cutLast(string(stat), ") ")
	fields := strings.Fields(rest)
	const state, starttime = 0, 22 - 3 // fields holds 3 and following
	if len(fields) <= starttime {
		return "", false, errors.New("unexpected format of /proc/PID/stat")
	}
	return fields[starttime], strings.ContainsAny(fields[state], "ZXx"), nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
