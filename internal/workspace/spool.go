package workspace

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"mediagen/internal/fault"
)

// The places for bytes, best first.
const (
	levelTarget = iota // a temporary file beside the final name
	levelSpool         // the spool in the state directory
	levelTemp          // a private directory below the system's temporary one
	levelMemory
)

const tempSpoolPrefix = "mediagen-spool-"

// memoryLimit bounds the bytes of one output that no disk takes.
const memoryLimit = 64 << 20

// errMemory is the end of the last place.
var errMemory = errors.New("no disk takes the bytes, and memory holds no more of them")

// errUnreadable marks a failure to read bytes back, which no other place can mend.
var errUnreadable = errors.New("unreadable")

// sink is the place where the bytes of one output are at the moment.
type sink struct {
	level int
	dir   *folder
	f     *os.File
	name  string // of f in dir
	mem   []byte
}

// openSink opens a place; memory never fails.
func (f *Temp) openSink(level int) (*sink, error) {
	switch level {
	case levelTarget:
		file, name, err := f.t.dir.sibling(f.t.names.name(f.index, f.partial, ""), f.mark())
		return &sink{level: level, dir: f.t.dir, f: file, name: name}, err
	case levelSpool, levelTemp:
		dir, err := f.t.w.spool(level)
		if err != nil {
			return nil, err
		}
		name := strconv.FormatInt(f.t.w.cfg.Now().Unix(), 10) + "-" + f.mark() + rand.Text() + ".part"
		file, err := dir.h.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, dir.perm)
		return &sink{level: level, dir: dir, f: file, name: name}, err
	}
	return &sink{level: levelMemory}, nil
}

// Write appends p.
func (s *sink) Write(p []byte) (int, error) {
	if s.level == levelMemory {
		if len(s.mem)+len(p) > memoryLimit {
			return 0, errMemory
		}
		s.mem = append(s.mem, p...)
		return len(p), nil
	}
	return s.dir.ops.write(s.f, p)
}

// ReadAt reads what was written.
func (s *sink) ReadAt(p []byte, off int64) (int, error) {
	if s.level == levelMemory {
		return bytes.NewReader(s.mem).ReadAt(p, off)
	}
	return s.f.ReadAt(p, off)
}

// take copies the first size bytes of from.
func (s *sink) take(from *sink, size int64) error {
	buf := make([]byte, min(size, 256<<10))
	for off := int64(0); off < size; {
		n := int(min(size-off, int64(len(buf))))
		got, err := from.ReadAt(buf[:n], off)
		if got < n { // at the end too: a file that somebody cut does not hold what was paid for
			return errors.Join(errUnreadable, cmp.Or(err, io.ErrUnexpectedEOF))
		}
		if _, err := s.Write(buf[:n]); err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}

func (s *sink) discard() {
	if s.level == levelMemory {
		s.mem = nil
		return
	}
	s.dir.discard(s.f, s.name)
}

func (s *sink) path() string { return filepath.Join(s.dir.abs, filepath.FromSlash(s.name)) }

// settle makes the file durable under a name that says what it is, and closes it.
func (s *sink) settle(base string) (string, error) {
	if err := s.dir.ops.sync(s.f); err != nil {
		return "", err
	}
	prefix, _, _ := strings.Cut(path.Base(s.name), ".part")
	prefix += "-"
	if s.level == levelTarget {
		prefix = keptPrefix + rand.Text() + "-"
	}
	base = path.Base(base)
	base = base[max(0, len(base)+len(prefix)-maxSegment):] // the end has the number and the extension
	name := path.Join(path.Dir(s.name), prefix+strings.ToValidUTF8(base, ""))
	if err := s.dir.h.Rename(s.name, name); err != nil {
		return "", err
	}
	s.name = name
	err := s.dir.syncDir(path.Dir(name))
	if cerr := s.f.Close(); err == nil {
		err = cerr
	}
	return s.path(), err
}

func (w *Workspace) spoolPath() string { return filepath.Join(w.cfg.StateDir, "spool") }

// spool opens the spool, or its stand-in, when it is first needed.
func (w *Workspace) spool(level int) (*folder, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := level - levelSpool
	if w.kept[i] != nil {
		return w.kept[i], nil
	}
	dir, err := w.makeSpool(level)
	if err != nil {
		return nil, err
	}
	h, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w.kept[i] = &folder{h: h, abs: dir, perm: 0o600, ops: &w.ops}
	return w.kept[i], nil
}

func (w *Workspace) makeSpool(level int) (string, error) {
	if level == levelTemp {
		dir, err := os.MkdirTemp("", tempSpoolPrefix) // 0700, and a name that nobody can have made before
		w.tempDir = dir
		return dir, err
	}
	if w.cfg.StateDir == "" {
		return "", fault.New(fault.ConfigInvalid, "there is no state directory for the spool")
	}
	return w.spoolPath(), os.MkdirAll(w.spoolPath(), 0o700)
}

// MoveSpooled brings a file that Commit had to spool to finalPath, which obeys the policy for writes, and removes it
// from the spool once it is safe there. If anything fails the spool file stays. finalPath keeps its extension.
func (w *Workspace) MoveSpooled(spoolPath, finalPath string, overwrite bool) (Saved, error) {
	in, err := w.OpenSpooled(spoolPath)
	if err != nil {
		return Saved{}, err
	}
	defer func() { _ = in.Close() }() // read only
	saved, err := w.saveAs(finalPath, in, overwrite)
	if err != nil {
		return Saved{}, err
	}
	if err := w.DropSpooled(spoolPath); err != nil {
		return saved, fault.New(fault.IOFailed, "the file was saved, but its copy in the spool cannot be removed: %w", err)
	}
	return saved, nil
}

// OpenSpooled opens a file of the spool for reading, and nothing else: a path that is not in the spool is path_denied.
func (w *Workspace) OpenSpooled(spoolPath string) (*File, error) {
	h, name, err := w.openSpoolOf(spoolPath)
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close() }() // a directory handle has nothing to flush
	f, err := h.OpenFile(name, readFlags, 0)
	if err != nil {
		return nil, pathError(quote(spoolPath), err)
	}
	err = firm(h, name, f.Stat) // the spool has no links
	if err == nil {
		var file *File
		if file, err = newFile(f, spoolPath, spoolPath, 0); err == nil {
			return file, nil
		}
	}
	_ = f.Close() // err is the reason
	return nil, pathError(quote(spoolPath), err)
}

// DropSpooled removes a file from the spool after its bytes were delivered elsewhere.
func (w *Workspace) DropSpooled(spoolPath string) error {
	h, name, err := w.openSpoolOf(spoolPath)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }() // a directory handle has nothing to flush
	if err := h.Remove(name); err != nil {
		return pathError(quote(spoolPath), err)
	}
	return nil
}

// openSpoolOf opens the directory of a spooled file and returns the file's name in it.
func (w *Workspace) openSpoolOf(spoolPath string) (*os.Root, string, error) {
	dir, name := filepath.Dir(spoolPath), filepath.Base(spoolPath)
	if !w.isSpool(dir) {
		return nil, "", fault.New(fault.PathDenied, "%s is not in the spool", quote(spoolPath))
	}
	h, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", pathError(quote(spoolPath), err)
	}
	return h, name, nil
}

// isSpool reports the directories that Commit spools to, those of earlier processes included.
func (w *Workspace) isSpool(dir string) bool {
	if w.cfg.StateDir != "" && dir == w.spoolPath() {
		return true
	}
	if filepath.Dir(dir) != filepath.Clean(os.TempDir()) || !strings.HasPrefix(filepath.Base(dir), tempSpoolPrefix) {
		return false
	}
	info, err := os.Lstat(dir) // others can make such a name there too
	return err == nil && info.IsDir() && ownedByUs(info)
}

// saveAs saves all of r at exactly finalPath.
func (w *Workspace) saveAs(finalPath string, r io.Reader, overwrite bool) (Saved, error) {
	return w.saveMode(finalPath, r, overwrite, 0o666)
}

// saveMode is saveAs with permissions, under the umask.
func (w *Workspace) saveMode(finalPath string, r io.Reader, overwrite bool, perm fs.FileMode) (Saved, error) {
	s, err := w.resolve(finalPath, Write)
	if err != nil {
		return Saved{}, err
	}
	place, name := s.parent(), filepath.Base(s.abs)
	if err := place.makeDir(); err != nil {
		return Saved{}, dirError(quote(finalPath), err)
	}
	d, err := w.openFolder(place)
	if err != nil {
		return Saved{}, writeError(quote(finalPath), err)
	}
	defer func() { _ = d.h.Close() }() // a directory handle has nothing to flush
	if err := s.vacant(d, name, overwrite); err != nil {
		return Saved{}, err
	}
	d.perm = perm
	size, sum, err := d.copyIn(name, r, overwrite)
	if err != nil {
		return Saved{}, writeError(quote(finalPath), err)
	}
	return Saved{Path: s.abs, Bytes: size, SHA256: sum}, nil
}

// WriteSidecar writes v as JSON, indented by two spaces, beside a media file as NAME.EXT.json, and returns its path.
func (w *Workspace) WriteSidecar(mediaPath string, v any, overwrite bool) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "", fault.Caused(fault.InvalidArgument, err, "the sidecar's content cannot be written as JSON")
	}
	saved, err := w.saveAs(mediaPath+".json", &b, overwrite)
	return saved.Path, err
}
