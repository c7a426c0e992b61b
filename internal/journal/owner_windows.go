package journal

import (
	"errors"
	"strconv"
	"syscall"
)

const (
	processQueryLimited   = 0x1000 // PROCESS_QUERY_LIMITED_INFORMATION
	errorInvalidParameter = syscall.Errno(87)
)

// mark is the time at which the process started, in 100 ns since 1601: unique over reboots too.
func mark(pid int) string {
	start, _, err := procStart(pid)
	if err != nil {
		return ""
	}
	return start
}

func gone(pid int, bootID string) bool {
	start, dead, err := procStart(pid)
	if errors.Is(err, errorInvalidParameter) { // no such process
		return true
	}
	if err != nil { // it lives and is another user's
		return false
	}
	return dead || bootID != "" && start != bootID
}

func procStart(pid int) (start string, dead bool, err error) {
	h, err := syscall.OpenProcess(processQueryLimited|syscall.SYNCHRONIZE, false, uint32(pid)) //nolint:gosec // Windows gives out 32 bits
	if err != nil {
		return "", false, err
	}
	defer syscall.CloseHandle(h) //nolint:errcheck // a handle that was only read
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return "", false, err
	}
	event, err := syscall.WaitForSingleObject(h, 0)
	if err != nil {
		return "", false, err
	}
	ticks := uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	return strconv.FormatUint(ticks, 10), event == syscall.WAIT_OBJECT_0, nil
}
