package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"mediagen/internal/fault"
)

// Preview resolves a plan without touching the disk, for a dry run: no directory, no probe file, no sweep. It finds
// what Plan would find that can be seen without writing: policy, naming, existing targets, a parent that is a file or
// may not be written to, and missing space. Nothing can be created in the Target it returns.
func (w *Workspace) Preview(s OutputSpec) (*Target, error) {
	t, err := w.draft(s)
	if err != nil {
		return nil, err
	}
	for _, dir := range t.dirs() {
		if err := t.previewDir(dir, s.NeedBytes); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// previewDir looks at the planned directory, or at the nearest one above that exists.
func (t *Target) previewDir(dir string, need int64) error {
	s := t.place.join(dir)
	info, err := s.stat()
	missing := errors.Is(err, fs.ErrNotExist)
	for errors.Is(err, fs.ErrNotExist) && !s.top() {
		if s.root != nil && !s.root.matches(s.rel) {
			return s.notOpened()
		}
		s = s.parent()
		info, err = s.stat()
	}
	if err != nil {
		return writeError(t.shown(), err)
	}
	if !info.IsDir() {
		return fault.New(fault.PathInvalid, "a part of %s is a file where a directory is needed", t.shown())
	}
	d, err := t.w.openFolder(s)
	if err != nil {
		return writeError(t.shown(), err)
	}
	defer func() { _ = d.h.Close() }() // a directory handle has nothing to flush
	if !missing {
		for i := range t.count {
			name := t.names.name(i, -1, "")
			if path.Dir(name) != dir {
				continue
			}
			if err := t.place.join(name).vacant(d, path.Base(name), t.overwrite); err != nil {
				return err
			}
		}
	}
	return t.previewWrite(d, need)
}

func (t *Target) previewWrite(d *folder, need int64) error {
	dir, err := d.h.Open(".")
	if err != nil {
		return writeError(t.shown(), err)
	}
	defer func() { _ = dir.Close() }() // read only
	if err := mayWrite(dir); err != nil {
		return writeError(t.shown(), &os.PathError{Op: "access", Path: dir.Name(), Err: err})
	}
	return t.enough(d, ".", need)
}

// top reports that s has no parent that may be looked at.
func (s spot) top() bool {
	if s.root != nil {
		return s.rel == "."
	}
	return s.parent().abs == s.abs
}

// PlanSpool plans outputs that go straight to the spool, for bytes that are piped to standard output: they are safe
// there until the other end has them. Dest, Template and Overwrite of s are not used; NeedBytes is. Commit of such an
// output answers Saved.Spooled without an error, Paths is empty, and DropSpooled removes the file afterwards.
func (w *Workspace) PlanSpool(s OutputSpec) (*Target, error) {
	s.Template = ""
	names, err := newNamer(s, "", w.cfg.Now())
	if err != nil {
		return nil, err
	}
	t := &Target{w: w, names: names, spool: true}
	var first error
	for _, level := range []int{levelSpool, levelTemp} {
		d, err := w.spool(level)
		if err == nil {
			err = d.probe("probe")
		}
		if err == nil {
			err = t.enough(d, ".", s.NeedBytes)
		}
		if err == nil {
			return t, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, writeError(t.shown(), first)
}
