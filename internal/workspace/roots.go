package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/text/unicode/norm"

	"mediagen/internal/fault"
)

// The bounds on a configured list of directories.
const (
	maxEntries     = 64
	maxEntryBytes  = 1024
	maxDoubleStars = 8
)

// root is an allowed directory that is held open.
type root struct {
	entry   string   // as configured
	texts   []string // absolute spellings that select it: as configured first, then resolved, then merged ones
	real    string   // resolved
	pattern string   // escaped for doublestar, relative; "" = everything below
	held    atomic.Pointer[held]
}

// held is an open directory with its identity.
type held struct {
	h    *os.Root
	info fs.FileInfo
}

func (r *root) h() *os.Root { return r.held.Load().h }

func (r *root) same(info fs.FileInfo) bool { return os.SameFile(r.held.Load().info, info) }

func (r *root) glob() bool { return r.pattern != "" }

// openEntries opens the entries of MEDIA_GEN_DIRS.
func (w *Workspace) openEntries() error {
	entries := slices.DeleteFunc(slices.Clone(w.cfg.Dirs), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(entries) == 0 {
		return fault.New(fault.PolicyInvalid, "MEDIA_GEN_DIRS is set but names no directory")
	}
	if len(entries) > maxEntries {
		return fault.New(fault.PolicyInvalid, "MEDIA_GEN_DIRS has %d entries, at most %d are allowed",
			len(entries), maxEntries)
	}
	for _, e := range entries {
		e = strings.TrimSpace(e)
		p, err := parseEntry(e, w.cfg.WorkDir)
		if err == nil {
			err = w.openEntry(e, p)
		}
		if err != nil {
			return fault.New(codeOr(err, fault.PolicyInvalid), "MEDIA_GEN_DIRS entry %s: %w", quote(e), err)
		}
	}
	return nil
}

// openEntry opens one parsed entry, unless it is a directory that is open already.
func (w *Workspace) openEntry(entry string, p entryParts) error {
	r, err := openRoot(entry, p)
	if err != nil {
		return err
	}
	if err := w.checkPlace(r); err != nil {
		_ = r.h().Close() // err is the reason
		return err
	}
	if same := w.sameRoot(r); same != nil {
		same.texts = append(same.texts, r.texts...)
		return r.h().Close()
	}
	w.roots = append(w.roots, r)
	w.warnEntry(r)
	return nil
}

func openRoot(entry string, p entryParts) (*root, error) {
	real, err := filepath.EvalSymlinks(p.base)
	if err != nil {
		return nil, missingDir(err)
	}
	h, err := os.OpenRoot(real)
	if err != nil {
		return nil, missingDir(err)
	}
	info, err := h.Stat(".")
	if err != nil {
		_ = h.Close() // err is the reason
		return nil, missingDir(err)
	}
	texts := []string{p.base}
	if real != p.base {
		texts = append(texts, real)
	}
	r := &root{entry: entry, texts: texts, real: real, pattern: p.pattern}
	r.held.Store(&held{h: h, info: info})
	return r, nil
}

func missingDir(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Caused(fault.PolicyInvalid, err, "the directory does not exist; create it first (mkdir -p)")
	}
	return fault.New(fault.PolicyInvalid, "the directory cannot be opened: %w", bare(err))
}

// checkPlace refuses directories that are too much to give away.
func (w *Workspace) checkPlace(r *root) error {
	if filepath.Dir(r.real) == r.real {
		return fault.New(fault.PolicyInvalid, "the whole file system cannot be allowed; name a directory below it")
	}
	for _, special := range []string{"/dev", "/proc", "/sys"} {
		if _, in := below(special, r.real); in {
			return fault.New(fault.PolicyInvalid, "%s and what is below it cannot be allowed; name a data directory", special)
		}
	}
	if r.glob() && r.pattern != "**" {
		return nil
	}
	if r.real == w.homeReal() {
		return fault.New(fault.PolicyInvalid, "a whole home directory cannot be allowed; name a directory below it")
	}
	return nil
}

func (w *Workspace) homeReal() string {
	if w.cfg.HomeDir == "" {
		return ""
	}
	home, err := filepath.EvalSymlinks(w.cfg.HomeDir)
	if err != nil {
		return "" // a home that is not there cannot be given away
	}
	return home
}

// sameRoot finds an open root that is the same directory with the same pattern, by identity and not by name.
func (w *Workspace) sameRoot(r *root) *root {
	for _, have := range w.roots {
		if have.pattern == r.pattern && have.same(r.held.Load().info) {
			return have
		}
	}
	return nil
}

func (w *Workspace) warn(entry, text string) {
	w.warnings = append(w.warnings, "allowed directory "+quote(entry)+": "+text)
}

func (w *Workspace) warnEntry(r *root) {
	if r.glob() && r == w.roots[0] {
		w.warn(r.entry, "the first entry is a pattern, so outputs have no directory: reads work, writes are refused")
	}
	if _, in := below(r.real, w.homeReal()); in && !r.glob() {
		w.warn(r.entry, "it holds a whole home directory; name a directory that holds nothing but media")
	}
	if strings.HasSuffix(r.entry, "*") {
		w.warn(r.entry, "a wildcard at the end opens every name there; end with a directory name or a slash to be exact")
	}
	if writableByOthers(r.held.Load().info) {
		w.warn(r.entry, "other users can write here and remove each other's files (set the sticky bit or narrow the mode)")
	}
}

// openWorkDir binds a shell without MEDIA_GEN_DIRS to the directory it was started in.
func (w *Workspace) openWorkDir() error {
	r, err := openRoot(".", entryParts{base: w.cfg.WorkDir})
	if err != nil {
		return fault.New(codeOr(err, fault.PolicyInvalid), "working directory: %w", err)
	}
	w.roots = append(w.roots, r)
	if err := w.checkPlace(r); err != nil {
		if r.real != w.homeReal() {
			return fault.New(fault.PolicyInvalid, "strict mode is bound to the working directory: %w", err)
		}
		w.warn(".", "strict mode is bound to the working directory, which is a whole home directory")
	}
	return nil
}

// openTempRoot opens the MCP server's default directory.
func (w *Workspace) openTempRoot() error {
	r, err := w.makeTempRoot()
	if err != nil {
		return err
	}
	w.roots = append(w.roots, r)
	w.warnEntry(r)
	return nil
}

// revive makes the default directory again when it was removed while the server ran, as cleaners of temporary
// directories do. What was opened from the old one stays usable.
func (w *Workspace) revive() error {
	if w.policy != policyDefault {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := os.Lstat(w.cfg.TempRoot); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r, err := w.makeTempRoot()
	if err != nil {
		return err
	}
	w.roots[0].held.Store(r.held.Load())
	return nil
}

// makeTempRoot creates the default directory if need be. In a shared temporary directory another user may have made the
// name first, so it must belong to us.
func (w *Workspace) makeTempRoot() (*root, error) {
	if !filepath.IsAbs(w.cfg.TempRoot) {
		return nil, fault.New(fault.PolicyInvalid, "the default directory %s must be an absolute path", quote(w.cfg.TempRoot))
	}
	dir := filepath.Clean(w.cfg.TempRoot)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.New(fault.PolicyInvalid, "the default directory %s cannot be created: %w; set MEDIA_GEN_DIRS",
			quote(dir), bare(err))
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, fault.New(fault.PolicyInvalid, "the default directory %s cannot be read: %w", quote(dir), bare(err))
	}
	if !ownedByUs(info) {
		return nil, fault.New(fault.PolicyInvalid, "the default directory %s belongs to another user; set MEDIA_GEN_DIRS",
			quote(dir))
	}
	r, err := openRoot(dir, entryParts{base: dir})
	if err != nil {
		return nil, fault.New(codeOr(err, fault.PolicyInvalid), "default directory %s: %w", quote(dir), err)
	}
	if err := w.checkPlace(r); err != nil {
		_ = r.h().Close() // err is the reason
		return nil, fault.New(fault.PolicyInvalid, "default directory %s: %w", quote(dir), err)
	}
	return r, nil
}

// find returns the root that holds abs, and the slash-separated name below it. Text only selects a root: the open
// handle decides what is reached.
func (w *Workspace) find(abs string) (*root, string, bool) {
	var best *root
	var bestRel string
	longest := -1
	for _, r := range w.roots {
		for _, text := range r.texts {
			rel, in := below(text, abs)
			if in && len(text) > longest && r.matches(rel) {
				best, bestRel, longest = r, rel, len(text)
			}
		}
	}
	if best != nil {
		return best, bestRel, true
	}
	return w.findFolded(abs)
}

// findFolded is for disks that ignore case or Unicode form: a spelling that differs only in those counts when the disk
// says that it is the same directory.
func (w *Workspace) findFolded(abs string) (*root, string, bool) {
	for _, r := range w.roots {
		for _, text := range r.texts {
			head, rel, in := belowFolded(text, abs)
			if !in || !r.matches(rel) {
				continue
			}
			if info, err := os.Stat(head); err == nil && r.same(info) {
				return r, rel, true
			}
		}
	}
	return nil, "", false
}

// below reports whether the clean path p is dir or below it, with the slash-separated rest.
func below(dir, p string) (string, bool) {
	if p == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	return filepath.ToSlash(rest), ok
}

// belowFolded is below without regard to case and Unicode form; head is dir as p spells it.
func belowFolded(dir, p string) (head, rel string, ok bool) {
	sep := string(filepath.Separator)
	want, have := strings.Split(dir, sep), strings.Split(p, sep)
	if len(have) < len(want) {
		return "", "", false
	}
	for i, s := range want {
		if !strings.EqualFold(norm.NFC.String(s), norm.NFC.String(have[i])) {
			return "", "", false
		}
	}
	rel = path.Join(have[len(want):]...)
	if rel == "" {
		rel = "."
	}
	return strings.Join(have[:len(want)], sep), rel, true
}
