package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mediagen/internal/fault"
)

// Save puts all of r at exactly path, which obeys the policy for writes; missing directories are made. The name is
// whole or absent, and an existing file is replaced only with overwrite. The permissions are those of mode for reading
// and writing, under the umask. Nothing is spooled when it fails: it is for bytes that can be made again. The errors
// are those of Plan.
func (w *Workspace) Save(path string, r io.Reader, overwrite bool, mode fs.FileMode) (Saved, error) {
	return w.saveMode(path, r, overwrite, mode.Perm()&0o666)
}

// Replace puts all of r in the place of the file that was seen as was, in one step and with its permissions. A link,
// and a file that is not the same any more, stay as they are: not_regular and io_failed. The other errors are those of
// Plan.
func (w *Workspace) Replace(path string, was fs.FileInfo, r io.Reader) (Saved, error) {
	s, err := w.resolve(path, Write)
	if err != nil {
		return Saved{}, err
	}
	d, err := w.openFolder(s.parent())
	if err != nil {
		return Saved{}, writeError(quote(path), err)
	}
	defer func() { _ = d.h.Close() }() // a directory handle has nothing to flush
	saved, err := d.swap(filepath.Base(s.abs), was, r)
	if err != nil {
		return Saved{}, writeError(quote(path), err)
	}
	saved.Path = s.abs
	return saved, nil
}

// swap writes a temporary sibling of name and renames it over name.
func (d *folder) swap(name string, was fs.FileInfo, r io.Reader) (Saved, error) {
	if err := d.unchanged(name, was); err != nil {
		return Saved{}, err
	}
	f, tmp, err := d.sibling(name, "")
	if err != nil {
		return Saved{}, err
	}
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(fileWriter{d.ops, f}, h), r)
	if err == nil {
		err = f.Chmod(was.Mode().Perm())
	}
	if err == nil {
		err = d.unchanged(name, was) // somebody may have saved it meanwhile
	}
	if err == nil {
		err = d.publish(f, tmp, name, true)
	}
	if err != nil {
		d.discard(f, tmp)
		return Saved{}, err
	}
	return Saved{Bytes: size, SHA256: hex.EncodeToString(h.Sum(nil))}, f.Close()
}

// unchanged makes sure that name is still the file that was looked at, by itself and not through a link.
func (d *folder) unchanged(name string, was fs.FileInfo) error {
	now, err := d.h.Lstat(name)
	switch {
	case err != nil:
		return err
	case now.Mode()&fs.ModeSymlink != 0:
		return fault.New(fault.NotRegular, "%s is a symbolic link; name the file that it leads to", quote(name))
	case !os.SameFile(now, was), now.Size() != was.Size(), !now.ModTime().Equal(was.ModTime()):
		return fault.New(fault.IOFailed, "%s was changed by someone else meanwhile; it stays as it is", quote(name))
	}
	return nil
}

// IsDir reports whether path is a directory that the policy lets be read.
func (w *Workspace) IsDir(path string) bool {
	s, err := w.resolve(path, Read)
	if err != nil {
		return false
	}
	info, err := s.stat()
	return err == nil && info.IsDir()
}

// IsFile reports whether path leads to the file that was seen as is.
func (w *Workspace) IsFile(path string, is fs.FileInfo) bool {
	s, err := w.resolve(path, Read)
	if err != nil {
		return false
	}
	info, err := s.stat()
	return err == nil && os.SameFile(info, is)
}

// Entries returns the names of the regular files directly in a directory, sorted. Links, hidden files and names that
// the policy does not open are left out, and directories below are not entered. The errors are path_invalid,
// path_denied, not_found and io_failed.
func (w *Workspace) Entries(dir string) ([]string, error) {
	s, err := w.resolve(dir, Read)
	if err != nil {
		return nil, err
	}
	d, err := w.openFolder(s)
	if err != nil {
		return nil, pathError(quote(dir), err)
	}
	defer func() { _ = d.h.Close() }() // read only
	list, err := d.list(".")
	if err != nil {
		return nil, pathError(quote(dir), err)
	}
	var names []string
	for _, e := range list {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if _, err := w.resolve(filepath.Join(s.abs, e.Name()), Read); err == nil {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
