//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// readFlags opens without waiting for the other end of a FIFO. os adds O_CLOEXEC.
const readFlags = os.O_RDONLY | syscall.O_NONBLOCK

// isDiskFull covers full disks and used-up quotas.
func isDiskFull(err syscall.Errno) bool { return err == syscall.ENOSPC || err == syscall.EDQUOT }

// ownedByUs reports whether the file belongs to this process's user, or to root, who could do anything anyway.
func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int64(st.Uid) == int64(os.Geteuid()))
}

// writableByOthers reports a directory in which any user may replace any file.
func writableByOthers(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0
}

// syncDir makes the entries of an open directory durable. Some file systems cannot do that and say so; there is then
// nothing more to do.
func syncDir(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// mayWrite asks the system whether files can be made in an open directory.
func mayWrite(dir *os.File) error {
	return unix.Faccessat(int(dir.Fd()), ".", unix.W_OK|unix.X_OK, 0)
}
