package workspace

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"mediagen/internal/fault"
)

// Names of our own in directories of others. Both are hidden, so that no caller can name them.
const (
	tempPrefix = ".mediagen-tmp-"  // swept when older than staleAfter
	keptPrefix = ".mediagen-kept-" // paid bytes that no other place could take: never swept
	staleAfter = 24 * time.Hour
)

// ops are the calls that tests replace to inject faults. Outside tests they are the system's.
type ops struct {
	write   func(f *os.File, p []byte) (int, error)
	sync    func(f *os.File) error
	syncDir func(dir *os.File) error
	link    func(h *os.Root, from, to string) error
	space   func(dir *os.File) (int64, bool)
}

func systemOps() ops {
	return ops{
		write: (*os.File).Write, sync: (*os.File).Sync, syncDir: syncDir, link: (*os.Root).Link, space: freeSpace,
	}
}

// folder is a directory that is written into. It is held open, so that nobody can swap it for another one. Names below
// it are slash-separated and may have directories.
type folder struct {
	h    *os.Root
	abs  string
	perm fs.FileMode // of new files, under the umask
	ops  *ops
}

// sibling creates a temporary file beside name. mark tells what it is for, "" for nothing that outlives a crash.
func (d *folder) sibling(name, mark string) (*os.File, string, error) {
	tmp := path.Join(path.Dir(name), tempPrefix+mark+rand.Text())
	f, err := d.h.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, d.perm)
	return f, tmp, err
}

// discard closes and removes a temporary file. What cannot be removed now is swept later.
func (d *folder) discard(f *os.File, tmp string) {
	_ = f.Close()
	_ = d.h.Remove(tmp)
}

// publish makes the temporary file tmp, open as f, durable under its final name. Without overwrite an existing name,
// even a dangling link, is an error and stays as it is; with it the name is replaced and a link is not followed.
func (d *folder) publish(f *os.File, tmp, name string, overwrite bool) error {
	if err := d.ops.sync(f); err != nil {
		return err
	}
	want, err := f.Stat()
	if err != nil {
		return err
	}
	if overwrite {
		err = d.h.Rename(tmp, name)
	} else {
		err = d.renameNew(tmp, name)
	}
	if err != nil {
		return err
	}
	if err := d.syncDir(path.Dir(name)); err != nil {
		return err
	}
	return d.verify(name, want)
}

// renameNew renames without replacing. A link fails when the name exists, so there is no moment in which two writers
// both win. Where the file system has no links, the name is reserved with an empty file first and then renamed over:
// unlike a copy this never shows half a file.
func (d *folder) renameNew(tmp, name string) error {
	err := d.ops.link(d.h, tmp, name)
	if err == nil {
		_ = d.h.Remove(tmp) // a second name of the same file, which the sweep takes
		return nil
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	mark, err := d.h.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, d.perm)
	if err != nil {
		return err
	}
	err = mark.Close()
	if err == nil {
		err = d.h.Rename(tmp, name)
	}
	if err != nil {
		_ = d.h.Remove(name) // our own empty file
	}
	return err
}

func (d *folder) syncDir(sub string) error {
	dir, err := d.h.Open(sub)
	if err != nil {
		return err
	}
	err = d.ops.syncDir(dir)
	if cerr := dir.Close(); err == nil {
		err = cerr
	}
	return err
}

// verify makes sure that the file can be found whole where the caller will be told it is, by its absolute path: the
// directory may have been moved since it was opened, and another writer may have taken the name.
func (d *folder) verify(name string, want fs.FileInfo) error {
	got, err := os.Lstat(filepath.Join(d.abs, filepath.FromSlash(name)))
	switch {
	case errors.Is(err, fs.ErrNotExist) || (err == nil && !os.SameFile(got, want)):
		return fault.New(fault.IOFailed, "%s or its directory was moved or replaced while it was saved", quote(name))
	case err != nil:
		return err
	case got.Size() != want.Size():
		return fault.New(fault.IOFailed, "%s was changed by someone else while it was saved", quote(name))
	}
	return nil
}

// copyIn saves all of r under name: temporary sibling, copy, publish.
func (d *folder) copyIn(name string, r io.Reader, overwrite bool) (size int64, sum string, err error) {
	f, tmp, err := d.sibling(name, "")
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(fileWriter{d.ops, f}, h), r)
	if err == nil {
		err = d.publish(f, tmp, name, overwrite)
	}
	if err != nil {
		d.discard(f, tmp)
		return 0, "", err
	}
	return size, hex.EncodeToString(h.Sum(nil)), f.Close()
}

// fileWriter writes through the seam.
type fileWriter struct {
	ops *ops
	f   *os.File
}

func (w fileWriter) Write(p []byte) (int, error) { return w.ops.write(w.f, p) }

// vacant refuses a name that is taken. With overwrite only a regular file or a link may be there.
func (d *folder) vacant(name string, overwrite bool) error {
	info, err := d.h.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if overwrite {
			return nil
		}
		return d.noTwin(name)
	}
	if err != nil {
		return pathError(quote(name), err)
	}
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return notRegular(quote(name), info.Mode())
	}
	if overwrite {
		return nil
	}
	return pathError(quote(name), fs.ErrExist)
}

// noTwin refuses a name that is already there in another Unicode form: people and some disks see one file.
func (d *folder) noTwin(name string) error {
	base := path.Base(name)
	if strings.IndexFunc(base, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return nil
	}
	want := norm.NFC.String(base)
	entries, err := d.list(path.Dir(name))
	if err != nil {
		return pathError(quote(name), err)
	}
	for _, e := range entries {
		if norm.NFC.String(e.Name()) == want {
			return pathError(quote(name), fs.ErrExist)
		}
	}
	return nil
}

func (d *folder) list(sub string) ([]fs.DirEntry, error) {
	dir, err := d.h.Open(sub)
	if err != nil {
		return nil, err
	}
	entries, err := dir.ReadDir(-1)
	if cerr := dir.Close(); err == nil {
		err = cerr
	}
	return entries, err
}

// probe makes sure that a block can be written beside name, by writing one.
func (d *folder) probe(name string) error {
	f, tmp, err := d.sibling(name, "")
	if err != nil {
		return err
	}
	_, err = d.ops.write(f, make([]byte, 4096))
	d.discard(f, tmp)
	return err
}

// free returns the free bytes of the disk that sub is on; false means unknown.
func (d *folder) free(sub string) (int64, bool) {
	dir, err := d.h.Open(sub)
	if err != nil {
		return 0, false
	}
	n, ok := d.ops.space(dir)
	_ = dir.Close()
	return n, ok
}

// sweep removes temporary files of ours that a crash left behind, except whole pictures of a job, which were paid for
// and which `jobs resume` can still save. It is a courtesy: what it cannot remove stays.
func (d *folder) sweep(sub string, before time.Time) {
	entries, err := d.list(sub)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err != nil || !info.ModTime().Before(before) {
			continue
		}
		if name := path.Join(sub, e.Name()); !d.paidFor(name) {
			_ = d.h.Remove(name)
		}
	}
}
