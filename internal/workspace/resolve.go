package workspace

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"mediagen/internal/fault"
)

// Decision is the answer of Check.
type Decision struct {
	Allow bool
	Path  string // absolute and clean; empty when the path could not be read at all
	Rule  string // what decided, for people
	Err   error  // why not; a *fault.Error
}

// Check says whether the policy allows path, which may be relative or a file: URL and need not exist. Links and devices
// are looked at where the path exists. The answer is for people and early refusals: Open and Plan decide again.
func (w *Workspace) Check(path string, a Access) Decision {
	s, err := w.resolve(path, a)
	if err == nil {
		err = s.look(a)
	}
	d := Decision{Allow: err == nil, Path: s.abs, Rule: s.rule, Err: err}
	if err != nil && d.Rule == "" {
		d.Rule = err.Error()
	}
	return d
}

// spot is where a path leads: a name below an open root, or any path under the person's own authority.
type spot struct {
	root  *root  // nil under own authority
	rel   string // clean, slash-separated, below root
	abs   string // absolute and clean
	given string // as the caller wrote it, for messages
	rule  string // what allowed it, or empty
}

// resolve applies the rules that need no look at the disk.
func (w *Workspace) resolve(given string, a Access) (spot, error) {
	p := given
	if isFileURL(p) {
		var err error
		if p, err = fromFileURL(p); err != nil {
			return spot{}, err
		}
	}
	if w.policy == policyOwn {
		return w.resolveOwn(p, given, a)
	}
	return w.resolveRoot(p, given, a)
}

func (w *Workspace) resolveOwn(p, given string, a Access) (spot, error) {
	if err := checkText(p); err != nil {
		return spot{}, err
	}
	if a == Write && !utf8.ValidString(p) {
		return spot{}, fault.New(fault.PathInvalid, "%s is not valid UTF-8, so its name could not be reported", quote(p))
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(w.cfg.WorkDir, p)
	}
	return spot{abs: filepath.Clean(p), given: given, rule: "the person's own authority (MEDIA_GEN_DIRS is not set)"}, nil
}

func (w *Workspace) resolveRoot(p, given string, a Access) (spot, error) {
	if err := checkNames(p); err != nil {
		return spot{}, err
	}
	abs := p
	switch {
	case filepath.IsAbs(p):
	case strings.HasPrefix(p, "/"): // Windows: rooted on the current drive
		return spot{}, fault.New(fault.PathDenied, "%s depends on the current drive; give an absolute path", quote(given))
	case w.cfg.Shell:
		abs = filepath.Join(w.cfg.WorkDir, p)
	default:
		abs = filepath.Join(w.roots[0].texts[0], p)
	}
	abs = filepath.Clean(abs)
	r, rel, ok := w.find(abs)
	if !ok {
		return spot{abs: abs}, w.outside(given)
	}
	s := spot{root: r, rel: rel, abs: abs, given: given}
	if err := w.allows(s, a); err != nil {
		return spot{abs: abs}, err
	}
	s.rule = w.ruleOf(r)
	return s, nil
}

// allows applies the rules on names below a root.
func (w *Workspace) allows(s spot, a Access) error {
	if err := checkHidden(s.rel); err != nil {
		return err
	}
	if a == Write && w.readOnly(s.root) {
		return fault.New(fault.PathDenied, "%s: the first entry of MEDIA_GEN_DIRS is a pattern and cannot be written to; "+
			"put a directory without * first", quote(s.given))
	}
	return nil
}

func (w *Workspace) outside(given string) error {
	where := "the allowed directories (MEDIA_GEN_DIRS)"
	switch {
	case w.policy == policyDefault:
		where = "the default directory; MEDIA_GEN_DIRS opens others"
	case len(w.cfg.Dirs) == 0:
		where = "the working directory, to which strict mode is bound"
	}
	return fault.New(fault.PathDenied, "%s is outside %s", quote(given), where).
		WithHint("mediagen policy test shows which paths are allowed, and why")
}

func (w *Workspace) ruleOf(r *root) string {
	switch {
	case w.policy == policyDefault:
		return "the default directory " + r.texts[0]
	case len(w.cfg.Dirs) == 0:
		return "strict mode: the working directory " + r.texts[0]
	default:
		return "MEDIA_GEN_DIRS entry " + strconv.Quote(r.entry)
	}
}

// parent is the directory that holds s.
func (s spot) parent() spot {
	p := s
	p.abs = filepath.Dir(s.abs)
	if s.root != nil {
		p.rel = path.Dir(s.rel)
	}
	return p
}

// join is the slash-separated name below s.
func (s spot) join(name string) spot {
	p := s
	p.abs = filepath.Join(s.abs, filepath.FromSlash(name))
	if s.root != nil {
		p.rel = path.Join(s.rel, name)
	}
	return p
}

// look refuses what the disk shows to be no place for a: a link that leaves the root, a device, a FIFO, a socket. What
// is not there, or may not be looked at, is left to Open and Plan.
func (s spot) look(a Access) error {
	if a == Write {
		if err := s.lookAbove(); err != nil {
			return err
		}
	}
	info, err := s.stat()
	switch {
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		return notRegular(quote(s.given), info.Mode())
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return nil
	}
	return pathError(quote(s.given), err)
}

func (s spot) lookAbove() error {
	if s.root != nil && s.rel == "." {
		return nil
	}
	info, err := s.parent().stat()
	switch {
	case err == nil && !info.IsDir():
		return fault.New(fault.PathInvalid, "the parent of %s is not a directory", quote(s.given))
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return nil
	}
	return pathError(quote(s.given), err)
}

func notRegular(what string, mode fs.FileMode) error {
	kind := "a special file"
	switch {
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return fault.New(fault.NotRegular, "%s is %s; give a regular file", what, kind)
}

// pathError translates a failure of the operating system or of os.Root about a path. The message names it by what,
// which is the path as the caller wrote it, quoted, or its role; it never says where the path led.
func pathError(what string, err error) *fault.Error {
	if fe, ok := errors.AsType[*fault.Error](err); ok {
		return fe
	}
	errno, isErrno := errors.AsType[syscall.Errno](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Caused(fault.NotFound, err, "%s does not exist", what)
	case errors.Is(err, fs.ErrExist):
		return fault.Caused(fault.Exists, err, "%s exists already; use --overwrite or another name", what)
	case errors.Is(err, fs.ErrClosed):
		return fault.Caused(fault.IOFailed, err, "%s: the workspace is closed", what)
	case !isErrno: // os.Root's own verdicts carry no system error
		return fault.Caused(fault.PathDenied, err, "%s leaves its directory through a symbolic link", what)
	case errno == syscall.ELOOP:
		return fault.Caused(fault.PathDenied, err, "%s is a loop of symbolic links", what)
	case errno == syscall.ENAMETOOLONG:
		return fault.Caused(fault.PathInvalid, err, "%s is too long a name here", what)
	case errno == syscall.ENOTDIR:
		return fault.Caused(fault.PathInvalid, err, "a part of %s is a file where a directory is needed", what)
	case isDiskFull(errno):
		return fault.Caused(fault.DiskFull, err, "no space is left for %s", what)
	case errno == syscall.EROFS:
		return fault.Caused(fault.ReadOnly, err, "%s is on a read-only file system", what)
	case errors.Is(err, fs.ErrPermission):
		return fault.Caused(fault.IOFailed, err, "%s: permission denied", what)
	}
	return fault.Caused(fault.IOFailed, err, "%s: %s", what, errno.Error())
}

// bare strips the operation and the path that the system wraps around an error.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

func codeOr(err error, other fault.Code) fault.Code {
	if c := fault.CodeOf(err); c != "" {
		return c
	}
	return other
}
