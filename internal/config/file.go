package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"mediagen/internal/param"
)

// maxFile bounds every file that is read here. Settings and keys are far smaller.
const maxFile = 256 << 10

// facts are what the file system says about who else can change or read a file or directory. Where modes mean nothing
// (Windows) they are all false.
type facts struct {
	symlink  bool // the name is a symbolic link
	foreign  bool // owned neither by this user nor by root
	writable bool // others can change it: its owner is foreign, or everybody may write
	readable bool // group or others have any right to it
}

// IsDescriptor reports whether a path names a file that the process was given open: /dev/stderr, or /dev/fd/63 in the
// place of a process substitution. A pipe among them has somebody at its other end; one that lies in a directory may
// have nobody, and whoever opens it waits.
func IsDescriptor(path string) bool {
	dir, name := filepath.Split(filepath.Clean(path))
	switch dir {
	case "/dev/":
		return name == "stdin" || name == "stdout" || name == "stderr"
	case "/dev/fd/", "/proc/self/fd/":
		return true
	}
	return false
}

// readFile reads path and looks at the file that it opened, not at the name. With pipe, a pipe that the process was
// given is read, for that is how a key store hands out secrets; nothing else that is not a regular file is.
func readFile(path string, pipe bool) ([]byte, facts, error) {
	f, symlink, err := openNoFollow(path)
	if err != nil {
		return nil, facts{}, withoutPath(err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, facts{}, withoutPath(err)
	}
	if pipe && info.Mode()&fs.ModeNamedPipe != 0 && IsDescriptor(path) {
		data, err := readBounded(f)
		return data, facts{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, facts{}, errors.New("is not a regular file")
	}
	data, err := readBounded(f)
	found := look(info)
	found.symlink = symlink
	return data, found, err
}

func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, withoutPath(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("is larger than %s bytes; settings and keys fit into less", param.FormatSize(maxFile))
	}
	return data, nil
}

// look reads the owner and mode of an open file or of a directory.
func look(info fs.FileInfo) facts {
	owner, known := ownerOf(info)
	if !known {
		return facts{}
	}
	mode := info.Mode().Perm()
	foreign := owner != os.Geteuid() && owner != 0
	return facts{foreign: foreign, writable: foreign || mode&0o002 != 0, readable: mode&0o077 != 0}
}

// strangersDir says why dir is no place to take settings from, "" when it is one.
func strangersDir(dir string) string {
	if dir == filepath.Dir(dir) {
		return "the working directory is the root of the file system"
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "the working directory cannot be looked at"
	}
	if look(info).writable {
		return "others can write to the working directory"
	}
	return ""
}

// withoutPath drops the path of an error, for the message around it names the file already. Below a file there is
// nothing: a home directory /dev/null is how services say that they have none.
func withoutPath(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fs.ErrNotExist
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
