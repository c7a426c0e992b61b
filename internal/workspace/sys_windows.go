//go:build windows

package workspace

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// readFlags needs nothing special: Windows has no FIFOs in directories.
const readFlags = os.O_RDONLY

func isDiskFull(err syscall.Errno) bool {
	switch err {
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED:
		return true
	}
	return err == syscall.ENOSPC
}

// ownedByUs is true: the temporary directory of Windows belongs to one user.
func ownedByUs(fs.FileInfo) bool { return true }

// writableByOthers is false: mode bits say nothing on Windows, where access lists decide.
func writableByOthers(fs.FileInfo) bool { return false }

// syncDir does nothing: Windows has no way to flush a directory, and NTFS journals names by itself.
func syncDir(*os.File) error { return nil }

// freeSpace returns the bytes that this user may still write to the disk of an open directory.
func freeSpace(dir *os.File) (int64, bool) {
	name, err := windows.UTF16PtrFromString(dir.Name())
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(min(free, 1<<62)), true
}

// mayWrite is left to the real attempt: access lists cannot be judged from outside.
func mayWrite(*os.File) error { return nil }
