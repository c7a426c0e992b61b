package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"mediagen/internal/fault"
)

// OutputSpec says what is going to be written.
type OutputSpec struct {
	// Dest is where the person or the agent wants it: empty for the primary directory; a directory when it exists or
	// ends in a slash (created if need be); otherwise a file.
	Dest string
	// Template names outputs in a directory, such as "{date}-{slug}-{index}.{ext}"; it may have directories. Empty means
	// output_{unix}_media-gen__{tool}_{id}.{ext}. Placeholders are index (from 1), ext, tool, id, date, time, unix and
	// the keys of Vars. "{ext}" or a media extension at the end follows the bytes; without either the extension is added.
	Template  string
	Tool, ID  string            // for the default name; a tool has no underscore, or its files are found by UUID only
	Vars      map[string]string // values for the template; characters that paths give a meaning to are replaced
	Count     int               // planned outputs, 0 means 1; more than one without {index} get _1, _2 and so on
	Ext       string            // planned extension, lower case, without dot ("png", "jpeg")
	Overwrite bool              // an existing regular file is replaced
	NeedBytes int64             // free space wanted, 0 to skip that
}

// Target is where the outputs of one call will go. Its directory exists, was written to once, and is held open.
type Target struct {
	w         *Workspace
	place     spot
	dir       *folder // nil for a preview and for the spool
	names     namer
	count     int // 0 for the spool
	overwrite bool
	spool     bool
	tag       string // what the temporary files of the outputs are called by
}

// Tag gives the temporary files of the outputs the id of their job, so that Leftovers finds them should this process be
// killed. It is called before the first Create.
func (t *Target) Tag(id string) { t.tag = id }

// Plan does everything that can fail before money is spent: it applies the policy to every planned name, creates the
// directories, makes sure that they can be written to, that no output exists (unless Overwrite) and that NeedBytes are
// free, and removes temporary files that a crash left there more than 24 hours ago.
//
// The errors are path_denied, path_invalid, not_regular, exists, read_only, disk_full, io_failed and, for naming,
// invalid_argument.
func (w *Workspace) Plan(s OutputSpec) (*Target, error) {
	if err := w.revive(); err != nil {
		return nil, err
	}
	t, err := w.draft(s)
	if err != nil {
		return nil, err
	}
	if err := t.prepare(s.NeedBytes); err != nil {
		_ = t.Close() // err is the reason
		return nil, err
	}
	return t, nil
}

// draft applies the rules that need no disk.
func (w *Workspace) draft(s OutputSpec) (*Target, error) {
	if s.Count < 0 {
		return nil, fault.New(fault.InvalidArgument, "the number of outputs must not be negative, got %d", s.Count)
	}
	place, file, err := w.destination(s.Dest)
	if err != nil {
		return nil, err
	}
	names, err := newNamer(s, file, w.cfg.Now())
	if err != nil {
		return nil, err
	}
	t := &Target{w: w, place: place, names: names, count: max(s.Count, 1), overwrite: s.Overwrite}
	for i := range t.count {
		if err := t.allows(t.names.name(i, -1, "")); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// dirs are the directories of the planned names, relative to the place; a template can make several.
func (t *Target) dirs() []string {
	var dirs []string
	for i := range t.count {
		if dir := path.Dir(t.names.name(i, -1, "")); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// destination splits Dest into a directory and, if it is a file, its name.
func (w *Workspace) destination(dest string) (place spot, file string, err error) {
	if dest == "" {
		return w.primary(Write)
	}
	s, err := w.resolve(dest, Write)
	if err != nil {
		return spot{}, "", err
	}
	if os.IsPathSeparator(dest[len(dest)-1]) {
		return s, "", nil
	}
	if info, err := s.stat(); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return s, "", nil
		}
		return spot{}, "", notRegular(quote(dest), info.Mode())
	}
	return s.parent(), filepath.Base(s.abs), nil
}

// primary is the directory that outputs go to by default and that lookups search.
func (w *Workspace) primary(a Access) (place spot, file string, err error) {
	if w.policy == policyOwn {
		return spot{abs: w.cfg.WorkDir}, "", nil
	}
	r := w.roots[0]
	s := spot{root: r, rel: ".", abs: r.texts[0]}
	if r.glob() {
		return spot{}, "", fault.New(fault.PathDenied, "the first entry of MEDIA_GEN_DIRS is a pattern and names no "+
			"directory for outputs; put a directory without * first")
	}
	return s, "", w.allows(s, a)
}

// prepare checks and creates what the planned names need.
func (t *Target) prepare(need int64) error {
	dirs := t.dirs()
	for _, dir := range dirs {
		if err := t.place.join(dir).makeDir(); err != nil {
			return dirError(t.shown(), err)
		}
	}
	var err error
	if t.dir, err = t.w.openFolder(t.place); err != nil {
		return writeError(t.shown(), err)
	}
	for i := range t.count {
		name := t.names.name(i, -1, "")
		if err := t.place.join(name).vacant(t.dir, name, t.overwrite); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		if err := t.ready(dir, need); err != nil {
			return err
		}
	}
	return nil
}

// vacant refuses the output s, which is name in d, when it is taken. A link that leads out of the root is named as what
// it is, because replacing it is all that could be done with it.
func (s spot) vacant(d *folder, name string, overwrite bool) error {
	if s.root != nil && !overwrite {
		_, err := s.stat()
		gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
		if err != nil && !gone {
			return pathError(quote(name), err)
		}
	}
	return d.vacant(name, overwrite)
}

// first is the best place for the target's bytes.
func (t *Target) first() int {
	if t.spool {
		return levelSpool
	}
	return levelTarget
}

// ready makes sure that dir takes files.
func (t *Target) ready(dir string, need int64) error {
	if t.w.firstVisit(path.Join(t.dir.abs, dir)) {
		t.dir.sweep(dir, t.w.cfg.Now().Add(-staleAfter))
	}
	if err := t.dir.probe(path.Join(dir, "probe")); err != nil {
		return writeError(t.shown(), err)
	}
	return t.enough(t.dir, dir, need)
}

// enough compares the free space with what is needed, where the system can tell.
func (t *Target) enough(d *folder, dir string, need int64) error {
	if free, ok := d.free(dir); ok && free < need {
		return fault.New(fault.DiskFull, "%s has %d bytes free, %d are needed", t.shown(), free, need)
	}
	return nil
}

// theOutputs names a root's primary directory, whose path is not the caller's business.
const theOutputs = "the output directory"

// shown is the target's directory as messages may name it: what the caller wrote, else the person's own directory whole
// and a root's by its role.
func (t *Target) shown() string {
	switch {
	case t.spool:
		return "the spool"
	case t.place.given != "":
		return quote(t.place.given)
	case t.place.root == nil:
		return quote(t.place.abs)
	}
	return theOutputs
}

// firstVisit reports whether a directory was not swept yet by this process.
func (w *Workspace) firstVisit(dir string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.swept[dir]
	w.swept[dir] = true
	return !seen
}

// allows applies the policy to an output name, which may differ from the planned one by its extension.
func (t *Target) allows(name string) error {
	s := t.place.join(name)
	s.given = name
	if s.root == nil {
		return checkText(name)
	}
	if err := checkNames(name); err != nil {
		return err
	}
	if !s.root.matches(s.rel) {
		return fault.New(fault.PathDenied, "%s does not match its entry of MEDIA_GEN_DIRS", quote(name))
	}
	return t.w.allows(s, Write)
}

func (w *Workspace) openFolder(s spot) (*folder, error) {
	h, err := s.openDir()
	if err != nil {
		return nil, err
	}
	return &folder{h: h, abs: s.abs, perm: 0o666, ops: &w.ops}, nil
}

// writeError is pathError for places that are written to: there a missing permission means read-only.
func writeError(what string, err error) error {
	if fault.CodeOf(err) == "" && errors.Is(err, fs.ErrPermission) {
		return fault.Caused(fault.ReadOnly, err, "%s cannot be written to: permission denied", what)
	}
	return pathError(what, err)
}

// dirError is writeError for directories, where something that exists is a file in the way.
func dirError(what string, err error) error {
	if fault.CodeOf(err) == "" && (errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR)) {
		return fault.Caused(fault.PathInvalid, err, "a part of %s is a file where a directory is needed", what)
	}
	return writeError(what, err)
}

// Paths returns the planned absolute paths; none for the spool. A path changes when the bytes are of another type.
func (t *Target) Paths() []string {
	paths := make([]string, t.count)
	for i := range paths {
		paths[i] = t.path(t.names.name(i, -1, ""))
	}
	return paths
}

func (t *Target) path(name string) string {
	return filepath.Join(t.place.abs, filepath.FromSlash(name))
}

// Dir returns the absolute path of the directory that the outputs go to, empty for the spool.
func (t *Target) Dir() string { return t.place.abs }

// Close lets go of the directory. Temps that are still open must be committed or aborted before.
func (t *Target) Close() error {
	if t.dir == nil {
		return nil
	}
	return t.dir.h.Close()
}

// Create starts output index, counted from 0 as in Paths; an index beyond the plan gets the next number, because a
// provider may send more than was asked for and those bytes are paid as well. The bytes go to a temporary file beside
// the final name, or to the spool if that fails.
func (t *Target) Create(index int) (*Temp, error) { return t.create(index, -1) }

// CreatePartial starts preview number partial of output index, which is saved as NAME.partial-K.ext.
func (t *Target) CreatePartial(index, partial int) (*Temp, error) {
	if partial < 0 {
		return nil, fault.New(fault.InvalidArgument, "the number of a preview must not be negative, got %d", partial)
	}
	return t.create(index, partial)
}

func (t *Target) create(index, partial int) (*Temp, error) {
	if index < 0 {
		return nil, fault.New(fault.InvalidArgument, "the index of an output must not be negative, got %d", index)
	}
	if t.dir == nil && !t.spool {
		return nil, fault.New(fault.InvalidArgument, "a preview of a plan takes no outputs")
	}
	f := &Temp{t: t, index: index, partial: partial}
	f.restart()
	f.sink = f.firstSink()
	return f, nil
}
