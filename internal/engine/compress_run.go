package engine

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"math"
	"runtime"
	"sync"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/workspace"
)

// newBytes reads from memory.
func newBytes(data []byte) *bytes.Reader { return bytes.NewReader(data) }

// work runs the tasks side by side. It returns when all have ended.
func (c *compressor) work(ctx context.Context) {
	send(c.progress, Event{Kind: EventCompressing, Total: len(c.tasks)})
	next := make(chan *compressTask)
	var wg sync.WaitGroup
	for range min(c.jobs(), len(c.tasks)) {
		wg.Go(func() {
			for t := range next {
				if t.err == nil {
					t.err = c.one(ctx, t)
				}
				c.tell(t)
			}
		})
	}
	for _, t := range c.tasks {
		next <- t
	}
	close(next)
	wg.Wait()
}

func (c *compressor) jobs() int {
	if c.out.Jobs > 0 {
		return c.out.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// tell reports a task that has ended.
func (c *compressor) tell(t *compressTask) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	send(c.progress, Event{Kind: EventCompressed, Index: c.done - 1, Total: len(c.tasks), Path: t.row.Path})
}

// one compresses one picture and saves the copy.
func (c *compressor) one(ctx context.Context, t *compressTask) error {
	if err := ctx.Err(); err != nil {
		return c.explain(ctx, t, err)
	}
	data, err := c.read(t)
	if err != nil {
		return err
	}
	spec := c.spec(c.e.cfg.Bounds)
	spec.Measure = c.out.Measure
	res, err := imaging.Convert(ctx, data, spec)
	if err != nil {
		return c.explain(ctx, t, err)
	}
	t.row.Encodes, t.row.Notes = res.Encodes, append(t.row.Notes, res.Notes...)
	if res.Untouched {
		return c.keep(t, data, res.Info)
	}
	if err := c.credentials(t, data, c.pathOf(t, res.Info.Format) == t.own); err != nil {
		return err
	}
	t.row.Status, t.row.Quality, t.row.Missed = Smaller, &res.Quality, res.Missed
	if res.SSIM > 0 {
		t.row.SSIM = new(math.Round(res.SSIM*1e4) / 1e4)
	}
	return c.save(t, res.Data, res.Info)
}

// read returns the bytes of a source, bounded as when it was looked at.
func (c *compressor) read(t *compressTask) ([]byte, error) {
	if t.path == "" {
		return t.data, nil
	}
	f, err := c.e.cfg.Workspace.Open(t.path, c.e.cfg.Bounds.SaveImage)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fault.Caused(fault.IOFailed, err, "%s cannot be read", t.ref)
	}
	return data, nil
}

// explain names the picture that failed and what would help.
func (c *compressor) explain(ctx context.Context, t *compressTask, err error) error {
	if cut := AsError(cutShort(ctx, err)); cut.Code == "timeout" || cut.Kind == KindInterrupted {
		cut.Message = t.ref + ": " + cut.Message
		return cut
	}
	f := named(t.ref, err)
	switch {
	case f.Code == fault.ConstraintUnmet && !c.BestEffort:
		return f.WithHint("--best-effort saves what comes nearest")
	case f.Code == fault.UnsupportedOperation && t.info.Frames > 1 && !c.FirstFrame:
		return f.WithHint("--first-frame takes the first frame")
	case f.Code == fault.PixelsExceeded:
		return f.WithHint("--max-input-pixels and --max-input-side raise the limits")
	}
	return f
}

// credentials says what re-encoding costs a signed file, and refuses to put a copy in its place.
func (c *compressor) credentials(t *compressTask, data []byte, replaces bool) error {
	from, err := imaging.FindProvenance(newBytes(data), int64(len(data)))
	if err != nil {
		return named(t.ref, err)
	}
	switch {
	case !from.C2PA:
		return nil
	case replaces && t.own != "":
		return fault.New(fault.UnsupportedOperation, "%s carries content credentials (C2PA), which a re-encoded copy loses; "+
			"it is not replaced", t.ref).WithHint("save the copy elsewhere with -o")
	}
	note := "the copy loses the content credentials (C2PA) that the original carries"
	if t.path != "" { // what came on stdin is not ours to speak of
		note += "; the original stays"
	}
	t.row.Notes = append(t.row.Notes, note)
	return nil
}

// keep leaves a source as it is, or copies it byte for byte where a place was named.
func (c *compressor) keep(t *compressTask, data []byte, info imaging.Info) error {
	t.row.Status, t.row.Untouched = Untouched, true
	if c.out.Stdout == nil && (c.out.Dest == "" || c.pathOf(t, info.Format) == t.own) {
		t.row.After, t.row.Path = factsOf(info, int64(len(data))), t.path
		return nil
	}
	return c.save(t, data, info)
}

// pathOf is where a copy of a format goes.
func (c *compressor) pathOf(t *compressTask, format string) string {
	if c.out.InPlace {
		return t.path
	}
	return t.place.path(format)
}

// save writes the copy to its place.
func (c *compressor) save(t *compressTask, data []byte, info imaging.Info) error {
	after := factsOf(info, int64(len(data)))
	if c.out.Stdout != nil {
		if _, err := c.out.Stdout.Write(data); err != nil {
			return fault.Caused(fault.IOFailed, err, "the picture could not be written to stdout")
		}
		t.row.After, t.row.Path = after, stdoutPath
		return nil
	}
	saved, err := c.put(t, c.pathOf(t, info.Format), data)
	if err != nil {
		return err
	}
	t.row.After, t.row.Path = after, saved.Path
	t.asset = &Asset{
		Path: saved.Path, MediaType: info.MIME, Bytes: saved.Bytes, Width: after.Width, Height: after.Height,
		SHA256: saved.SHA256, Index: t.index, Source: t.row.Source,
	}
	return nil
}

func (c *compressor) put(t *compressTask, path string, data []byte) (workspace.Saved, error) {
	if path == t.own {
		return c.e.cfg.Workspace.Replace(path, t.was, newBytes(data))
	}
	mode := fs.FileMode(0o666)
	if t.was != nil {
		mode = t.was.Mode() // the copy of a private picture is private
	}
	return c.e.cfg.Workspace.Save(path, newBytes(data), c.out.Overwrite, mode)
}
