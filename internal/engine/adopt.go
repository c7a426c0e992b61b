package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"mediagen/internal/imaging"
	"mediagen/internal/journal"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// adopt saves pictures that were received whole, but whose process was killed before it could save them.
func (r *resumption) adopt(ctx context.Context) {
	ws := r.e.cfg.Workspace
	left, err := ws.Leftovers(r.row.ID, r.row.Targets)
	if err != nil {
		r.fail(AsError(err))
		return
	}
	have := map[int]bool{}
	for _, a := range r.row.Assets {
		have[a.Index] = have[a.Index] || a.Partial == 0
	}
	for _, l := range left {
		if have[l.Index] {
			continue
		}
		if err := r.take(ctx, l); err != nil {
			r.fail(AsError(err).Bill(BilledYes))
			continue
		}
		have[l.Index] = true
	}
	for index, target := range r.row.Targets {
		if !have[index] {
			r.find(ctx, index, target)
		}
	}
}

// find notes a picture that stands at its place, but whose process was killed before it could note that. The file must
// be younger than the request: with --overwrite an older one of the same name can be there.
func (r *resumption) find(ctx context.Context, index int, target string) {
	f, err := r.e.cfg.Workspace.Open(target, 0)
	if err != nil {
		return // it never came, or came as another type: then its name is not known
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil || info.ModTime().Before(r.row.SentAt) {
		return
	}
	t, whole := sniff.Whole(f, f.Size)
	if sum, err := hashOf(f); whole && err == nil {
		a := journal.Asset{Index: index, Path: f.Path, MIME: t.MIME, Bytes: f.Size, SHA256: sum}
		if err := r.found(ctx, a); err != nil {
			r.fail(AsError(err))
		}
	}
}

// take brings one leftover to its place and notes it.
func (r *resumption) take(ctx context.Context, l workspace.Leftover) error {
	a := journal.Asset{Index: l.Index, MIME: l.Type.MIME}
	if l.Index < len(r.row.Targets) {
		a.Path = withExt(r.row.Targets[l.Index], l.Type)
	}
	final, err := r.place(a)
	if err != nil {
		return err
	}
	saved, err := r.e.cfg.Workspace.Adopt(l, final, r.overwrite)
	if err != nil {
		return err
	}
	a.Path, a.Bytes, a.SHA256 = saved.Path, saved.Bytes, saved.SHA256
	return r.found(ctx, a)
}

// found adds a picture to the job.
func (r *resumption) found(ctx context.Context, a journal.Asset) error {
	if f, err := r.e.cfg.Workspace.Open(a.Path, 0); err == nil {
		if info, err := imaging.Probe(f, f.Size, r.e.cfg.Bounds); err == nil {
			a.Width, a.Height = info.Upright()
		}
		_ = f.Close() // opened for reading only
	}
	r.moved++
	r.res.Assets = append(r.res.Assets, assetOf(a))
	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	return r.jr.Update(settle, r.row.ID, journal.Update{Assets: []journal.Asset{a}})
}

// hashOf is the SHA-256 of all that r gives, in hex.
func hashOf(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), err
}
