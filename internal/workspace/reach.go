package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"mediagen/internal/fault"
)

// step is a handle with a name below it.
type step struct {
	h    *os.Root
	name string
	own  bool // h is to be closed
	firm bool // name must not be a link
}

func (p step) close() {
	if p.own {
		_ = p.h.Close() // a directory handle has nothing to flush
	}
}

// reach returns the handle from which s may be opened. For a plain root that is the root: os.Root keeps links inside.
//
// A pattern opens only some of what its root holds, so there a link that stays inside the root could still lead to a
// closed name. Links are therefore not followed in the part of the name that the pattern decides; below a directory
// that it opens whole they work again, and stay below that directory.
func (s spot) reach() (step, error) {
	p := step{h: s.root.h(), name: s.rel}
	if !s.root.glob() {
		return p, nil
	}
	for at := ""; !s.root.opensBelow(at); {
		seg, rest, more := strings.Cut(p.name, "/")
		p.name = seg
		if !more {
			p.firm = seg != "."
			return p, nil
		}
		h, err := enter(p.h, seg)
		if err == nil {
			err = firm(p.h, seg, func() (fs.FileInfo, error) { return h.Stat(".") })
		}
		p.close()
		if err != nil {
			if h != nil {
				_ = h.Close() // err is the reason
			}
			return step{}, err
		}
		p, at = step{h: h, name: rest, own: true}, path.Join(at, seg)
	}
	return p, nil
}

// enter opens a directory below h. os calls a file in its place by no system error, so that is looked for first.
func enter(h *os.Root, name string) (*os.Root, error) {
	if info, err := h.Stat(name); err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	return h.OpenRoot(name)
}

// opensBelow reports whether every name below dir is open.
func (r *root) opensBelow(dir string) bool {
	last := r.pattern[strings.LastIndexByte(r.pattern, '/')+1:]
	return last == "**" && (r.pattern == "**" || dir != "" && r.matches(dir))
}

// firm makes sure that what was opened as name was no link: the name itself and the open file are one, which a link and
// its target never are. A swap between the two looks makes them differ too.
func firm(h *os.Root, name string, opened func() (fs.FileInfo, error)) error {
	info, err := h.Lstat(name)
	if err != nil {
		return err
	}
	got, err := opened()
	if err != nil {
		return err
	}
	if !os.SameFile(info, got) {
		return errLink()
	}
	return nil
}

func errLink() error {
	return fault.New(fault.PathDenied, "the path has a symbolic link where none is followed: in the spool, or in the "+
		"part of a name that a pattern of MEDIA_GEN_DIRS matches")
}

// stat follows links where they may be followed, and else refuses them.
func (s spot) stat() (fs.FileInfo, error) {
	if s.root == nil {
		return os.Stat(s.abs)
	}
	p, err := s.reach()
	if err != nil {
		return nil, err
	}
	defer p.close()
	if !p.firm {
		return p.h.Stat(p.name)
	}
	info, err := p.h.Lstat(p.name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink()
	}
	return info, err
}

// open opens s for reading without waiting for anything.
func (s spot) open() (*os.File, error) {
	if s.root == nil {
		return os.OpenFile(s.abs, readFlags, 0)
	}
	p, err := s.reach()
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, err := p.h.OpenFile(p.name, readFlags, 0)
	if err != nil || !p.firm {
		return f, err
	}
	if err := firm(p.h, p.name, f.Stat); err != nil {
		_ = f.Close() // err is the reason
		return nil, err
	}
	return f, nil
}

// openDir opens the directory s as a handle of its own.
func (s spot) openDir() (*os.Root, error) {
	if s.root == nil {
		return os.OpenRoot(s.abs)
	}
	p, err := s.reach()
	if err != nil {
		return nil, err
	}
	defer p.close()
	h, err := enter(p.h, p.name)
	if err != nil || !p.firm {
		return h, err
	}
	if err := firm(p.h, p.name, func() (fs.FileInfo, error) { return h.Stat(".") }); err != nil {
		_ = h.Close() // err is the reason
		return nil, err
	}
	return h, nil
}

// makeDir creates the directory s with its parents. Below a pattern only directories that the pattern opens are made.
func (s spot) makeDir() error {
	if s.root == nil {
		return os.MkdirAll(s.abs, 0o777) //nolint:gosec // media directories follow the umask, as other programs' do
	}
	if !s.root.glob() {
		return s.root.h().MkdirAll(s.rel, 0o777)
	}
	for i := range len(s.rel) + 1 {
		if i < len(s.rel) && s.rel[i] != '/' {
			continue
		}
		dir := s
		dir.rel = s.rel[:i]
		if err := dir.makeOne(); err != nil {
			return err
		}
	}
	return nil
}

// makeOne creates one directory below a pattern unless it is there.
func (s spot) makeOne() error {
	_, err := s.stat()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !s.root.matches(s.rel) {
		return s.notOpened()
	}
	p, err := s.reach()
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.h.Mkdir(p.name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (s spot) notOpened() error {
	return fault.New(fault.PathDenied, "a directory of %s does not exist, and its entry of MEDIA_GEN_DIRS is a pattern "+
		"that does not open it", quote(s.given))
}
