package engine

import (
	"context"
	"path/filepath"
	"strings"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// copier is the compressor of the copies that a paid call makes of its pictures, or nil. It finds what can never work
// before anything is paid.
func (e *Engine) copier(d *draft) (*compressor, error) {
	if d.out.Compress == nil {
		return nil, nil //nolint:nilnil // no copies were asked for
	}
	c := &compressor{e: e, Compression: *d.out.Compress, out: CompressOutput{Overwrite: d.out.Overwrite}}
	if ext := d.ext(); ext == "svg" {
		return nil, fault.New(fault.InvalidArgument, "an svg cannot be compressed; leave out compress, or ask for png")
	}
	return c, c.check()
}

// aimCopies makes sure that the names of the copies are free. The formats are those that are planned: what comes in
// another one is looked at again when it is saved.
func (c *compressor) aimCopies(paths []string, ext string) error {
	if c == nil {
		return nil
	}
	planned, _ := sniff.ByExt(ext)
	for _, path := range paths {
		t := &compressTask{ref: path, path: path}
		t.info.Format = planned.Ext
		if _, err := c.target(t); err != nil {
			return err
		}
	}
	return nil
}

// copies makes the copies of the pictures that were saved, which stay as they are. One that cannot be made is a
// warning, and makes a call that went well partial: no picture is lost by it.
func (c *compressor) copies(ctx context.Context, op operation, res *Result, callErr error) (*Result, error) {
	if c == nil || res == nil {
		return res, callErr
	}
	var of []Asset
	for _, a := range res.Assets {
		if a.Partial == 0 && !a.Spooled && a.Path != "" {
			of = append(of, a)
			c.add(a.Path)
		}
	}
	for _, t := range c.tasks {
		if t.err == nil {
			_, t.err = c.target(t)
		}
	}
	c.work(ctx)
	var first error
	failed := 0
	for i, t := range c.tasks {
		if t.err != nil {
			failed, first = failed+1, either(first, t.err)
			res.Warnings = append(res.Warnings, "a compressed copy was not saved: "+hinted(t.err))
			continue
		}
		for _, note := range t.row.Notes {
			res.Warnings = append(res.Warnings, filepath.Base(t.ref)+": "+note)
		}
		if t.asset != nil {
			t.asset.Index = of[i].Index
			res.Assets = append(res.Assets, *t.asset)
		}
	}
	if failed == 0 || callErr != nil {
		return res, callErr
	}
	err := Errorf(KindPartial, AsError(first).Code, "all pictures were saved, but %d of %d compressed copies were not",
		failed, len(of)).WithCause(first).Bill(BilledYes)
	err = err.WithHint("the originals are whole; try again with: mediagen images compress")
	return res, told(op, err)
}

// hinted is an error with its hint, for a warning.
func hinted(err error) string {
	e := AsError(err)
	return strings.TrimSuffix(e.Error()+"; "+e.Hint, "; ")
}
