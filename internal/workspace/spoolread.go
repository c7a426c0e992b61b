package workspace

import (
	"io"
	"path/filepath"
)

// OpenSpooled opens a file of the spool for reading, and nothing else: a path that is not in the spool is path_denied.
func (w *Workspace) OpenSpooled(spoolPath string) (*File, error) {
	h, name, err := w.openSpoolOf(spoolPath)
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close() }() // a directory handle has nothing to flush
	f, err := h.Open(name)
	if err != nil {
		return nil, pathError(spoolPath, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // read only
		return nil, pathError(spoolPath, err)
	}
	return &File{
		File: f, Path: spoolPath, Name: filepath.Base(spoolPath), Size: info.Size(), body: io.NewSectionReader(f, 0, info.Size()),
	}, nil
}
