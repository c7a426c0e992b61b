package engine

import (
	"context"
	"path/filepath"

	"mediagen/internal/fault"
	"mediagen/internal/journal"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// ResumeJob moves a job's pictures from the spool to where they were meant to go. dest, when not empty, is a directory
// that takes them instead. A picture that cannot be moved stays in the spool and does not hold up the others; the first
// such error is returned.
func (e *Engine) ResumeJob(ctx context.Context, id, dest string, overwrite bool) (*Result, error) {
	jr, err := e.jobs(ctx)
	if err != nil {
		return nil, err
	}
	e.settleOrphans(ctx, jr)
	row, err := jr.Get(ctx, id)
	if err != nil {
		return nil, AsError(err)
	}
	r := &resumption{
		e: e, jr: jr, row: row, dest: dest, overwrite: overwrite,
		res: &Result{Assets: []Asset{}, Warnings: []string{}, Cost: jobOf(row).Cost},
	}
	for _, a := range row.Assets {
		r.asset(ctx, a)
	}
	if row.State == journal.StateUnknown {
		r.adopt(ctx)
	}
	return r.finish(ctx)
}

// resumption is one run of ResumeJob.
type resumption struct {
	e         *Engine
	jr        *journal.Journal
	row       journal.Job
	dest      string
	overwrite bool
	res       *Result
	moved     int
	failed    *Error // the first failure
}

func (r *resumption) fail(err *Error) {
	if r.failed == nil {
		r.failed = err
	}
}

// asset moves one asset if it lies in the spool, and notes that.
func (r *resumption) asset(ctx context.Context, a journal.Asset) {
	if a.SpoolPath != "" {
		path, err := r.move(a)
		if err != nil {
			r.fail(AsError(err).Bill(BilledYes))
		} else {
			r.moved++
			a.Path, a.SpoolPath = path, ""
			settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
			defer cancel()
			if err := r.jr.Update(settle, r.row.ID, journal.Update{Assets: []journal.Asset{a}}); err != nil {
				r.fail(AsError(err)) // a second resume finds the picture at its place
			}
		}
	}
	r.res.Assets = append(r.res.Assets, assetOf(a))
}

// move returns where the picture is now.
func (r *resumption) move(a journal.Asset) (string, error) {
	ws := r.e.cfg.Workspace
	final, err := r.place(a)
	if err != nil {
		return "", err
	}
	saved, err := ws.MoveSpooled(a.SpoolPath, final, r.overwrite)
	switch {
	case err == nil:
		return saved.Path, nil
	case saved.Path != "":
		r.res.Warnings = append(r.res.Warnings, AsError(err).Message)
		return saved.Path, nil
	case fault.CodeOf(err) == fault.NotFound:
		// A resume that was killed after the move, or that could not write to the journal, left a row that lags behind.
		if path, ok := holds(ws, final, a.SHA256); ok {
			return path, nil
		}
		return "", err
	}
	out := *AsError(err)
	out.Hint = "it stays safe at " + a.SpoolPath + "; name another directory with -o, or replace with --overwrite"
	return "", &out
}

// holds reports whether the file at path is the picture with this hash.
func holds(ws *workspace.Workspace, path, sum string) (string, bool) {
	f, err := ws.Open(path, 0)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	got, err := hashOf(f)
	return f.Path, err == nil && got == sum
}

// place is where a spooled asset should go. One that was meant for stdout, or that nobody planned, gets a default name.
func (r *resumption) place(a journal.Asset) (string, error) {
	if a.Path != "" && r.dest == "" {
		return a.Path, nil
	}
	if a.Path != "" {
		return filepath.Join(r.dest, filepath.Base(a.Path)), nil
	}
	dest := r.dest
	if dest != "" {
		dest += string(filepath.Separator)
	}
	t, _ := sniff.ByMIME(a.MIME)
	target, err := r.e.cfg.Workspace.Preview(workspace.OutputSpec{
		Dest: dest, Tool: r.row.Tool, ID: r.row.ID, Count: a.Index + 1, Ext: extOr(t, "bin"),
		Overwrite: true, // only the name is wanted; the move itself looks whether it is free
	})
	if err != nil {
		return "", err
	}
	return target.Paths()[a.Index], target.Close()
}

// finish notes that everything has landed, or says why there was nothing to resume.
func (r *resumption) finish(ctx context.Context) (*Result, error) {
	state := r.row.State
	if r.failed == nil && r.moved > 0 && journal.CanMove(state, journal.StateLanded) {
		settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		if err := r.jr.Update(settle, r.row.ID, journal.Update{State: journal.StateLanded}); err != nil {
			r.fail(AsError(err))
		} else {
			state = journal.StateLanded
		}
	}
	r.res.Job = &JobInfo{
		ID: r.row.ID, State: string(state), Provider: r.row.Provider, Model: r.row.Model, Created: r.row.Created,
	}
	switch {
	case r.failed != nil:
		return r.res, r.failed
	case r.moved > 0, state == journal.StateLanded:
		return r.res, nil
	}
	return r.res, r.nothing()
}

// nothing says why there is nothing to resume.
func (r *resumption) nothing() *Error {
	switch state := r.row.State; {
	case (state == journal.StateSent || state == journal.StatePlanned) && !journal.Orphaned(r.row):
		return AsError(fault.New(fault.InvalidRequest, "job %s is still under way in process %d; wait for it", r.row.ID,
			r.row.PID))
	case state == journal.StatePlanned:
		return AsError(fault.New(fault.InvalidRequest, "job %s was never sent, so nothing was paid", r.row.ID))
	case state != journal.StateUnknown && state != journal.StateSent:
		return AsError(fault.New(fault.InvalidRequest, "job %s is %s and has nothing to resume", r.row.ID, state))
	}
	for _, a := range r.row.Assets {
		if a.URL != "" && a.Path == "" {
			return Errorf(KindUnknownOutcome, fault.URLNotAllowed,
				"the picture was made and lies at another origin, which is not read").
				WithHint("its address is shown by: mediagen jobs show %s", r.row.ID).Bill(BilledYes)
		}
	}
	return Errorf(KindUnknownOutcome, "no_answer",
		"the request was sent and no answer came; this provider keeps no finished pictures to fetch").Bill(BilledMaybe)
}
