package workspace

import (
	"io"
	"os"
	"path/filepath"

	"mediagen/internal/fault"
)

// File is a regular file that was opened for reading. It ends where it ended when it was opened, however much it grows,
// so that a check of Size bounds every later read through it.
type File struct {
	*os.File
	Path string // absolute
	Name string // the last name of Path
	Size int64  // bytes when it was opened
	body *io.SectionReader
}

// Read reads at most Size bytes in all.
func (f *File) Read(p []byte) (int, error) { return f.body.Read(p) }

// ReadAt reads within the first Size bytes.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.body.ReadAt(p, off) }

// Seek moves within the first Size bytes.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.body.Seek(offset, whence) }

// WriteTo copies the rest of the first Size bytes.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{f.body})
}

// Open opens a file for reading. path may be relative or a file: URL. maxBytes bounds its size; 0 or less means no
// bound. The errors are path_invalid, path_denied, not_found, not_regular, item_too_large and io_failed.
func (w *Workspace) Open(path string, maxBytes int64) (*File, error) {
	s, err := w.resolve(path, Read)
	if err != nil {
		return nil, err
	}
	// The look before the opening spares a FIFO's writer and a device the side effects of being opened. It decides
	// nothing: only what the open handle says counts.
	if info, err := s.stat(); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(quote(path), info.Mode())
	}
	f, err := s.open()
	if err != nil {
		return nil, pathError(quote(path), err)
	}
	file, err := newFile(f, path, s.abs, maxBytes)
	if err != nil {
		_ = f.Close() // err is the reason
		return nil, pathError(quote(path), err)
	}
	return file, nil
}

// newFile checks what the open handle says.
func newFile(f *os.File, given, abs string, maxBytes int64) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if !info.Mode().IsRegular() {
		return nil, notRegular(quote(given), info.Mode())
	}
	if maxBytes > 0 && size > maxBytes {
		return nil, fault.New(fault.ItemTooLarge, "%s has %d bytes, at most %d are allowed", quote(given), size, maxBytes)
	}
	return &File{File: f, Path: abs, Name: filepath.Base(abs), Size: size, body: io.NewSectionReader(f, 0, size)}, nil
}
