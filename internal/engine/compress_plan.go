package engine

import (
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// compressor is one run of CompressImages.
type compressor struct {
	Compression

	e        *Engine
	out      CompressOutput
	toDir    bool // Dest is a directory
	tasks    []*compressTask
	progress Progress

	mu   sync.Mutex // guards what follows
	done int
}

// compressTask is one source on its way.
type compressTask struct {
	index int    // in the order of the sources
	ref   string // as messages name it
	path  string // absolute; "" for stdin
	data  []byte // of stdin
	info  imaging.Info
	was   fs.FileInfo // of the file when it was looked at
	place place
	own   string // the path of the copy that would take the place of the source, "" when none does
	row   Compressed
	asset *Asset
	err   error
}

// place is where a copy goes; its extension follows the bytes.
type place struct{ stem, spelt string }

func placeOf(path string) place {
	ext := filepath.Ext(path)
	return place{strings.TrimSuffix(path, ext), strings.TrimPrefix(ext, ".")}
}

// path is the place's name for a format. The person's own spelling of the extension stays when it means the same.
func (p place) path(format string) string {
	spelt, _ := sniff.ByExt(p.spelt)
	if want, _ := sniff.ByExt(format); p.spelt != "" && spelt.MIME == want.MIME {
		return p.stem + "." + p.spelt
	}
	return p.stem + "." + format
}

// prepare finds the sources and fixes the targets. Its error is about the request; that of one source waits in its
// task.
func (c *compressor) prepare(refs []string) error {
	if err := c.checkRequest(refs); err != nil {
		return err
	}
	if err := c.destFormat(); err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	for _, ref := range refs {
		c.find(ref)
	}
	if n := len(c.tasks); n > 1 && c.out.Stdout != nil {
		return fault.New(fault.InvalidArgument, "-o - takes one picture, not %d; name a directory instead", n)
	} else if n > 1 && c.out.Dest != "" && !c.toDir {
		return fault.New(fault.InvalidArgument, "-o %s is one file, and there are %d pictures; name a directory with a / at "+
			"its end", c.out.Dest, n)
	}
	return c.aim()
}

// checkRequest finds contradictions before anything is opened.
func (c *compressor) checkRequest(refs []string) error {
	c.toDir = strings.HasSuffix(filepath.ToSlash(c.out.Dest), "/") || c.e.cfg.Workspace.IsDir(c.out.Dest)
	if err := checkFiles(refs, "picture"); err != nil {
		return err
	}
	switch {
	case c.out.Jobs < 0:
		return fault.New(fault.InvalidArgument, "jobs must be at least 1, not %d", c.out.Jobs)
	case c.out.InPlace && (c.out.Dest != "" || c.out.Stdout != nil):
		return fault.New(fault.InvalidArgument, "--in-place and -o are two places; use one")
	case c.out.InPlace && strings.EqualFold(c.Format, imaging.Auto):
		return fault.New(fault.InvalidArgument, "--in-place keeps the name, and with --format auto the format may change; "+
			"name a --format, or a place with -o")
	case slices.Contains(refs, "-") && c.out.Stdout == nil && (c.out.Dest == "" || c.toDir):
		return fault.New(fault.InvalidArgument, "a picture from stdin has no name; use -o FILE, or -o - for stdout")
	}
	return nil
}

// checkFiles refuses a list of files in which stdin stands twice, for the second would be empty.
func checkFiles(refs []string, thing string) error {
	stdins := 0
	for _, ref := range refs {
		if ref == "" {
			return fault.New(fault.InvalidArgument, "the name of a %s is empty", thing)
		}
		if ref == "-" {
			stdins++
		}
	}
	switch {
	case len(refs) == 0:
		return fault.New(fault.InvalidArgument, "name at least one %s", thing)
	case stdins > 1:
		return fault.New(fault.InvalidArgument, "- (stdin) can stand for one %s only", thing)
	}
	return nil
}

// destFormat takes the format from the ending of a file named with -o.
func (c *compressor) destFormat() error {
	ext := c.e.destExt(Output{Dest: c.out.Dest})
	if c.toDir || ext == "" {
		return nil
	}
	t, ok := sniff.ByExt(ext)
	if !ok || !slices.Contains(compressFormats(), t.Ext) {
		return fault.New(fault.InvalidArgument, "-o ends in .%s, and compressing makes jpeg, png, webp and avif", ext)
	}
	if want := strings.ToLower(c.Format); want != "" && want != t.Ext && (want != "jpg" || t.Ext != "jpeg") {
		return fault.New(fault.InvalidArgument, "-o ends in .%s, but the format is %s; make both the same", ext, want)
	}
	c.Format = t.Ext
	return nil
}

// find adds the task of a source, or one for each picture of a directory.
func (c *compressor) find(ref string) {
	if ref == "-" || !c.e.cfg.Workspace.IsDir(ref) {
		c.add(ref)
		return
	}
	names, err := c.e.cfg.Workspace.Entries(ref)
	found := false
	for _, name := range names {
		if path := filepath.Join(ref, name); !isCopy(name) && c.isPicture(path) {
			found = true
			c.add(path)
		}
	}
	if err == nil && !found {
		err = fault.New(fault.InvalidArgument, "%s is a directory without pictures", ref)
	}
	if err != nil {
		c.tasks = append(c.tasks, &compressTask{ref: ref, err: err, row: Compressed{Source: ref, Notes: []string{}}})
	}
}

// copyMark stands before the extension of a copy.
const copyMark = ".compressed"

// isCopy reports whether a name is one that an earlier run made.
func isCopy(name string) bool {
	return filepath.Ext(strings.TrimSuffix(name, filepath.Ext(name))) == copyMark
}

// isPicture looks at the first bytes of a file. One that cannot be read is a picture when its name says so: the failure
// to read it has to be told.
func (c *compressor) isPicture(path string) bool {
	f, err := c.e.cfg.Workspace.Open(path, 0)
	if err != nil {
		t, ok := sniff.ByExt(filepath.Ext(path))
		return ok && isReadable(t)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	t, err := sniff.DetectReader(f)
	return err == nil && isReadable(t)
}

// isReadable leaves out icons, which are no format of package imaging.
func isReadable(t sniff.Type) bool { return t.Kind == sniff.KindImage && t.Ext != "ico" }

// add makes the task of one source and looks at its header.
func (c *compressor) add(ref string) {
	t := &compressTask{index: len(c.tasks), ref: ref, row: Compressed{Source: ref, Notes: []string{}}}
	c.tasks = append(c.tasks, t)
	if ref == "-" {
		t.err = c.lookStdin(t)
		return
	}
	if err := c.lookFile(t); err != nil {
		t.err = err
	}
}

func (c *compressor) lookStdin(t *compressTask) error {
	var err error
	if t.data, err = c.e.readStdin(c.e.cfg.Bounds.SaveImage); err != nil {
		return err
	}
	return c.look(t, newBytes(t.data), int64(len(t.data)), "stdin")
}

func (c *compressor) lookFile(t *compressTask) error {
	if hasURLScheme(t.ref) {
		return fault.New(fault.UnsupportedOperation, "a URL cannot be a source yet; download the file and give its path")
	}
	f, err := c.e.cfg.Workspace.Open(t.ref, c.e.cfg.Bounds.SaveImage)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	t.path, t.row.Source = f.Path, f.Path
	if t.was, err = f.Stat(); err != nil {
		return fault.Caused(fault.IOFailed, err, "%s cannot be read", t.ref)
	}
	return c.look(t, f, f.Size, t.ref)
}

func (c *compressor) look(t *compressTask, r io.ReaderAt, size int64, name string) error {
	info, err := imaging.Probe(r, size, c.spec(c.e.cfg.Bounds).Bounds)
	if err != nil {
		return named(name, err)
	}
	t.info, t.row.Before = info, factsOf(info, size)
	return nil
}

// aim fixes where each copy goes, and refuses what is taken.
func (c *compressor) aim() error {
	if c.out.Stdout != nil {
		return nil
	}
	sources, taken := map[string]string{}, map[string]string{}
	for _, t := range c.tasks {
		if t.err == nil && t.path != "" {
			sources[t.path] = t.ref
		}
	}
	for _, t := range c.tasks {
		if t.err != nil {
			continue
		}
		paths, err := c.target(t)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if other, twice := taken[path]; twice {
				return fault.New(fault.InvalidArgument, "%s and %s would both be saved as %s; name different places", other,
					t.ref, filepath.Base(path))
			}
			if other, is := sources[path]; is && path != t.path {
				return fault.New(fault.InvalidArgument, "the copy of %s would replace %s, which is a source too", t.ref, other)
			}
			taken[path] = t.ref
		}
	}
	return nil
}

// target fixes the place of one copy and returns the paths that it may get.
func (c *compressor) target(t *compressTask) ([]string, error) {
	formats := []string{c.formatOf(t)}
	if c.Format == imaging.Auto {
		formats = slices.DeleteFunc(compressFormats(), func(f string) bool { return canWrite(f) != nil || f == imaging.Auto })
	}
	switch {
	case c.out.InPlace:
		return c.ownPlace(t)
	case c.out.Dest == "":
		t.place = placeOf(t.path)
		t.place.stem += copyMark
	case c.toDir:
		t.place = placeOf(filepath.Join(c.out.Dest, filepath.Base(t.path)))
	default:
		if err := c.noDevice(); err != nil {
			return nil, err
		}
		t.place = placeOf(c.out.Dest)
	}
	var paths []string
	for _, format := range formats {
		path, err := c.vacant(t, t.place.path(format), format)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// noDevice refuses a Dest that is there and no file, such as /dev/null: with an ending added it would become one.
func (c *compressor) noDevice() error {
	target, err := c.e.cfg.Workspace.Preview(workspace.OutputSpec{Dest: c.out.Dest, Ext: "png", Overwrite: true})
	if err != nil {
		return err
	}
	return target.Close()
}

// formatOf is the format that a copy will have; auto decides later.
func (c *compressor) formatOf(t *compressTask) string {
	switch {
	case c.Format != "":
		return c.Format
	case slices.Contains(compressFormats(), t.info.Format):
		return t.info.Format
	}
	return "png"
}

// ownPlace is that of a copy that replaces its source: the name stays, so the format has to.
func (c *compressor) ownPlace(t *compressTask) ([]string, error) {
	if format := c.formatOf(t); format != t.info.Format {
		return nil, fault.New(fault.InvalidArgument, "%s is %s and would become %s under its old name; use --format %s, or "+
			"another place with -o", t.ref, t.info.Format, format, t.info.Format)
	}
	if d := c.e.cfg.Workspace.Check(t.path, workspace.Write); d.Err != nil {
		return nil, d.Err
	}
	t.own = t.path
	return []string{t.path}, nil
}

// vacant makes sure that a path may be written and is free.
func (c *compressor) vacant(t *compressTask, path, format string) (string, error) {
	ws := c.e.cfg.Workspace
	if ws.IsDir(path) {
		return "", fault.New(fault.NotRegular, "%s is a directory; the copy needs another name", path)
	}
	if t.was != nil && ws.IsFile(path, t.was) {
		if !c.out.Overwrite {
			return "", fault.New(fault.Exists, "the copy of %s would replace it; use --in-place, --overwrite or another name",
				t.ref)
		}
		t.own = path
	}
	target, err := ws.Preview(workspace.OutputSpec{Dest: path, Ext: format, Overwrite: c.out.Overwrite})
	if err != nil {
		return "", err
	}
	defer func() { _ = target.Close() }() // a preview holds nothing open
	return target.Paths()[0], nil
}
