package engine

import (
	"context"
	"errors"
	"io"

	"mediagen/internal/fault"
	"mediagen/internal/journal"
)

// stdoutPath stands for standard output in assets.
const stdoutPath = "-"

// Pipe writes the one picture of a Stream call to w and then lets go of the spooled copy. When w fails, the copy stays
// and `jobs resume` still finds it. A journal that fails after w has the picture costs a warning in res.
func (e *Engine) Pipe(ctx context.Context, res *Result, w io.Writer) error {
	for i := range res.Assets {
		a := &res.Assets[i]
		if !a.Spooled || a.Partial > 0 || a.NoPicture {
			continue
		}
		if err := e.pipe(a.Path, w); err != nil {
			return e.notPiped(res, a, err)
		}
		if err := e.piped(ctx, res, a); err != nil {
			e.cfg.Log.Warn("delivered picture not settled", "cause", err.Error())
			res.Warnings = append(res.Warnings, "the picture was written to stdout, but not all could be noted: "+
				AsError(err).Message)
		}
		return nil
	}
	return nil
}

// errStdout marks a failure of the reader at the other end.
var errStdout = errors.New("stdout")

// stdout marks the errors of w.
type stdout struct{ w io.Writer }

func (o stdout) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		err = errors.Join(errStdout, err)
	}
	return n, err
}

func (e *Engine) pipe(path string, w io.Writer) error {
	f, err := e.cfg.Workspace.OpenSpooled(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	_, err = io.Copy(stdout{w}, f)
	return err
}

func (e *Engine) notPiped(res *Result, a *Asset, cause error) *Error {
	if !errors.Is(cause, errStdout) {
		return AsError(fault.Caused(fault.IOFailed, cause, "the picture at %s cannot be read back", a.Path)).Bill(BilledYes)
	}
	err := AsError(fault.Caused(fault.IOFailed, cause, "the picture could not be written to stdout; it is safe at %s",
		a.Path)).Bill(BilledYes)
	if res.Job == nil || res.Job.ID == "" {
		return err
	}
	return err.WithHint("resume with: mediagen jobs resume %s", res.Job.ID)
}

// piped notes that the picture has been delivered, then removes the spooled copy.
func (e *Engine) piped(ctx context.Context, res *Result, a *Asset) error {
	spooled := a.Path
	a.Path, a.Spooled = stdoutPath, false
	jr, err := e.openJournal(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if jr != nil && res.Job != nil {
		done := journal.Asset{
			Index: a.Index, Path: stdoutPath, MIME: a.MediaType, SHA256: a.SHA256, Bytes: a.Bytes,
			Width: a.Width, Height: a.Height,
		}
		settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer cancel()
		u := journal.Update{State: journal.StateLanded, Assets: []journal.Asset{done}}
		if err := jr.Update(settle, res.Job.ID, u); err != nil {
			return err
		}
		res.Job.State = string(journal.StateLanded)
	}
	return e.cfg.Workspace.DropSpooled(spooled)
}
