package workspace

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mediagen/internal/fault"
)

// The ids that are looked for in any name. Others are only found in default names, where the place of the id is known.
// They are compiled when they are first used: most runs look for nothing.
//
//nolint:gochecknoglobals // constants
var (
	uuidShape = lazy(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	jobShape  = lazy(`^[a-z2-7]{12}$`)
	idShape   = lazy(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,254}$`)
	// default names: output_<seconds>_media-gen__<tool>_<id and perhaps a suffix>
	defaultShape = lazy(`^output_[0-9]+_media-gen__[A-Za-z0-9.-]+_(.+)$`)
	partialShape = lazy(`\.partial-[0-9]+$`)
	suffixShape  = lazy(`^(.*)_([0-9]+|video|thumbnail|spritesheet)$`)
)

func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// FindByID returns the files of the primary directory's top level that belong to the ids, in the order of the ids and
// then of their numbers. exts are extensions with or without dot, in any case; none means all. Only whole ids match:
// a default name by the id at its place, any other name by the token _ID of a UUID or a job id. Previews are left out.
// An id that finds nothing is no error.
func (w *Workspace) FindByID(ids []string, exts []string) ([]string, error) {
	for _, id := range ids {
		if !idShape().MatchString(id) {
			return nil, fault.New(fault.InvalidArgument, "%s is not an id; ids have letters, digits, dots, dashes, underscores "+
				"and, from Google, slashes", quote(id))
		}
	}
	files, dir, err := w.media(exts)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
	})
	var paths []string
	taken := map[string]bool{}
	for _, id := range ids {
		for _, f := range files {
			if !taken[f.name] && f.belongsTo(id) {
				taken[f.name] = true
				paths = append(paths, filepath.Join(dir, f.name))
			}
		}
	}
	return paths, nil
}

// Latest returns the n files of the primary directory's top level that were changed last, newest first. exts as in
// FindByID.
func (w *Workspace) Latest(n int, exts []string) ([]string, error) {
	if n < 1 {
		return nil, fault.New(fault.InvalidArgument, "the number of files must be at least 1, got %d", n)
	}
	files, dir, err := w.media(exts)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b found) int {
		return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(a.name, b.name))
	})
	var paths []string
	for _, f := range files[:min(n, len(files))] {
		paths = append(paths, filepath.Join(dir, f.name))
	}
	return paths, nil
}

// found is a file of the primary directory.
type found struct {
	name    string
	stem    string // without extension
	base    string // without number, for sorting
	number  int
	changed time.Time
}

// media lists the regular files, never links, with one of the extensions. Hidden files and previews are left out.
func (w *Workspace) media(exts []string) (files []found, dir string, err error) {
	place, _, err := w.primary(Read)
	if err != nil {
		return nil, "", err
	}
	d, err := w.openFolder(place)
	if err != nil {
		return nil, "", pathError(theOutputs, err)
	}
	defer func() { _ = d.h.Close() }() // read only
	entries, err := d.list(".")
	if err != nil {
		return nil, "", pathError(theOutputs, err)
	}
	exts = trimDots(exts)
	for _, e := range entries {
		if f, ok := mediaFile(e, exts); ok {
			files = append(files, f)
		}
	}
	return files, place.abs, nil
}

func mediaFile(e fs.DirEntry, exts []string) (found, bool) {
	name := e.Name()
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if !e.Type().IsRegular() || strings.HasPrefix(name, ".") || partialShape().MatchString(stem) {
		return found{}, false
	}
	if len(exts) > 0 && !slices.Contains(exts, strings.ToLower(strings.TrimPrefix(ext, "."))) {
		return found{}, false
	}
	info, err := e.Info()
	if err != nil {
		return found{}, false // removed while we looked
	}
	f := found{name: name, stem: stem, base: stem, changed: info.ModTime()}
	if m := suffixShape().FindStringSubmatch(stem); m != nil {
		if n, err := strconv.Atoi(m[2]); err == nil {
			f.base, f.number = m[1], n
		}
	}
	return f, true
}

// belongsTo reports whether the file's name carries the whole id.
func (f found) belongsTo(id string) bool {
	want := sanitize(strings.ReplaceAll(id, "/", "_"))
	if m := defaultShape().FindStringSubmatch(f.stem); m != nil {
		if m[1] == want {
			return true
		}
		if s := suffixShape().FindStringSubmatch(m[1]); s != nil && s[1] == want {
			return true
		}
	}
	if !uuidShape().MatchString(id) && !jobShape().MatchString(id) {
		return false
	}
	return hasToken(f.stem, want)
}

// hasToken reports whether _id stands in stem, followed by "_", "." or the end.
func hasToken(stem, id string) bool {
	for rest := stem; ; {
		_, after, ok := strings.Cut(rest, "_"+id)
		if !ok {
			return false
		}
		if after == "" || after[0] == '_' || after[0] == '.' {
			return true
		}
		rest = after
	}
}

// trimDots brings extensions to the form that file names are compared in: lower case, without dot.
func trimDots(exts []string) []string {
	out := make([]string, len(exts))
	for i, e := range exts {
		out[i] = strings.ToLower(strings.TrimPrefix(e, "."))
	}
	return out
}
