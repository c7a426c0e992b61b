package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// Leftover is an output that a process received whole and was killed before it could save.
type Leftover struct {
	Index int // of the output, as in Create
	Type  sniff.Type

	dir, name string // where it is: the directory's absolute path and the file's name in it
	spool     bool
}

// markEnds stand around the id and the index in the name of a temporary file. Ids have neither.
const markEnds = "~"

// mark is the part of a temporary file's name that says which output of which job it holds.
func (f *Temp) mark() string {
	if f.t.tag == "" || f.partial >= 0 {
		return ""
	}
	return markEnds + f.t.tag + "." + strconv.Itoa(f.index) + markEnds
}

// readMark is the reverse of mark.
func readMark(name string) (id string, index int, ok bool) {
	_, rest, _ := strings.Cut(name, markEnds)
	marked, _, found := strings.Cut(rest, markEnds)
	id, number, split := strings.Cut(marked, ".")
	index, err := strconv.Atoi(number)
	return id, index, found && split && err == nil && index >= 0
}

// Leftovers returns the outputs of a job that a killed process left behind in the directories of its targets, which
// obey the policy for writes, and in the spool. Only pictures that sniff.Whole calls whole are among them, the most
// recent one of each index, in the order of the indices.
func (w *Workspace) Leftovers(id string, targets []string) ([]Leftover, error) {
	var found []Leftover
	var dirs []string
	for _, target := range targets {
		if dir := filepath.Dir(target); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		s, err := w.resolve(dir, Write)
		if err != nil {
			return nil, err
		}
		if d, err := w.openFolder(s); err == nil { // one that is gone has nothing left
			found = append(found, d.leftovers(id, false)...)
			_ = d.h.Close() // a directory handle has nothing to flush
		}
	}
	if h, err := os.OpenRoot(w.spoolPath()); err == nil {
		d := &folder{h: h, abs: w.spoolPath(), ops: &w.ops}
		found = append(found, d.leftovers(id, true)...)
		_ = h.Close() // a directory handle has nothing to flush
	}
	slices.SortStableFunc(found, func(a, b Leftover) int { return a.Index - b.Index })
	return slices.CompactFunc(found, func(a, b Leftover) bool { return a.Index == b.Index }), nil
}

// leftovers are those of one directory, the most recent first.
func (d *folder) leftovers(id string, spool bool) []Leftover {
	entries, err := d.list(".")
	if err != nil {
		return nil
	}
	type dated struct {
		Leftover
		at int64
	}
	var found []dated
	for _, e := range entries {
		marked, index, ok := readMark(e.Name())
		if !ok || marked != id || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if t, whole := d.whole(e.Name()); err == nil && whole {
			found = append(found, dated{Leftover{index, t, d.abs, e.Name(), spool}, info.ModTime().UnixNano()})
		}
	}
	slices.SortStableFunc(found, func(a, b dated) int { return int(b.at - a.at) })
	out := make([]Leftover, len(found))
	for i, f := range found {
		out[i] = f.Leftover
	}
	return out
}

// paidFor reports whether a temporary file holds a whole output of a job.
func (d *folder) paidFor(name string) bool {
	if _, _, ok := readMark(path.Base(name)); !ok {
		return false
	}
	_, whole := d.whole(name)
	return whole
}

// whole looks at a file's bytes.
func (d *folder) whole(name string) (sniff.Type, bool) {
	f, err := d.h.OpenFile(name, readFlags, 0)
	if err != nil {
		return sniff.Type{}, false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return sniff.Type{}, false
	}
	return sniff.Whole(f, info.Size())
}

// Adopt brings a leftover to finalPath, which obeys the policy for writes, and removes it once it is safe there. A
// process that was killed between the two names of its file has put it there already.
func (w *Workspace) Adopt(l Leftover, finalPath string, overwrite bool) (Saved, error) {
	h, err := os.OpenRoot(l.dir)
	if err != nil {
		return Saved{}, pathError(quote(l.name), err)
	}
	defer func() { _ = h.Close() }() // a directory handle has nothing to flush
	f, err := h.OpenFile(l.name, readFlags, 0)
	if err != nil {
		return Saved{}, pathError(quote(l.name), err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	saved, err := w.saveAs(finalPath, f, overwrite)
	if fault.CodeOf(err) == fault.Exists {
		saved, err = w.sameFile(finalPath, f, err)
	}
	if err != nil {
		return Saved{}, err
	}
	_ = h.Remove(l.name) // a second copy harms nobody
	return saved, nil
}

// sameFile describes the file at finalPath if it is f under another name, else returns the reason why not.
func (w *Workspace) sameFile(finalPath string, f *os.File, reason error) (Saved, error) {
	there, err := w.Open(finalPath, 0)
	if err != nil {
		return Saved{}, reason
	}
	defer func() { _ = there.Close() }() // opened for reading only
	a, err := there.Stat()
	if err != nil {
		return Saved{}, reason
	}
	if b, err := f.Stat(); err != nil || !os.SameFile(a, b) {
		return Saved{}, reason
	}
	h := sha256.New()
	if _, err := io.Copy(h, there); err != nil {
		return Saved{}, reason
	}
	return Saved{Path: there.Path, Bytes: there.Size, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}
