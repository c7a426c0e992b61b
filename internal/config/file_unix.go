//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openNoFollow opens path for reading without waiting for the other end of a pipe. The first try refuses a symbolic
// link, so that the answer and the open file belong together; only then is the link followed.
func openNoFollow(path string) (f *os.File, symlink bool, err error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	f, err = os.OpenFile(path, flags|syscall.O_NOFOLLOW, 0) //nolint:gosec // the person names the file
	// FreeBSD answers EMLINK where the others say ELOOP.
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) {
		f, err = os.OpenFile(path, flags, 0) //nolint:gosec // the person names the file
		return f, true, err
	}
	return f, false, err
}

func ownerOf(info fs.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
