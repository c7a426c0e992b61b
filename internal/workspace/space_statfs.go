//go:build linux || darwin || freebsd || dragonfly

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// freeSpace returns the bytes that this user may still write to the disk of an open directory; false means unknown.
func freeSpace(dir *os.File) (int64, bool) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &st); err != nil {
		return 0, false
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:gosec,unconvert // the field types differ between systems
	if st.Blocks == 0 || free < 0 {            // network and user-space file systems that do not count blocks
		return 0, false
	}
	return free, true
}
