package engine

import (
	"context"
	"errors"

	"mediagen/internal/journal"
)

// GenerateImages makes pictures from text. The returned Result is never nil once the request was sent: pictures that
// were saved before a failure are in it. Before that it is nil beside an error.
func (e *Engine) GenerateImages(ctx context.Context, r *GenerateImages, out Output, p Progress) (*Result, error) {
	if err := checkFields(r.Params(noWords), r.Prompt); err != nil {
		return nil, told(opGenerate, err)
	}
	d, err := e.resolve(opGenerate, &r.Image, out) //nolint:contextcheck // looks at tables and the disk, waits for nothing
	if err != nil {
		return nil, told(opGenerate, err)
	}
	d.call.Moderation = r.Moderation
	if err := e.check(d); err != nil {
		return nil, told(opGenerate, err)
	}
	return e.run(ctx, d, p, d.provider.GenerateImages)
}

// EditImages makes pictures from pictures and text. All inputs are opened and checked before anything is paid. The
// Result is as for GenerateImages.
func (e *Engine) EditImages(ctx context.Context, r *EditImages, out Output, p Progress) (*Result, error) {
	if err := checkFields(r.Params(noWords), r.Prompt); err != nil {
		return nil, told(opEdit, err)
	}
	d, err := e.resolve(opEdit, &r.Image, out) //nolint:contextcheck // looks at tables and the disk, waits for nothing
	if err != nil {
		return nil, told(opEdit, err)
	}
	if d.inputs, err = e.openInputs(r); err != nil { //nolint:contextcheck // reads local files, waits for nothing
		return nil, told(opEdit, err)
	}
	defer d.close()
	d.attach()
	d.call.InputFidelity = r.InputFidelity
	if err := e.check(d); err != nil {
		return nil, told(opEdit, err)
	}
	return e.run(ctx, d, p, d.provider.EditImages)
}

// attach puts the opened inputs into the call.
func (d *draft) attach() {
	d.warnings = append(d.warnings, d.inputs.warnings...)
	for _, s := range d.inputs.images {
		d.call.Images = append(d.call.Images, s.Input())
	}
	if d.inputs.mask != nil {
		in := d.inputs.mask.Input()
		d.call.Mask = &in
	}
	if d.inputs.markup != nil {
		in := d.inputs.markup.Input()
		d.call.Markup = &in
	}
}

// told gives an error the operation's name and an answer to the question of money.
func told(op operation, err error) *Error {
	out := *AsError(err)
	out.Op = op.op
	if out.Billed == "" {
		out.Billed = BilledNo
	}
	return &out
}

type imageFunc func(ctx context.Context, call ImageCall, sink ImageSink) (ImageReply, error)

// run takes a checked call from plan to saved files: target, journal, request, pictures, settlement.
func (e *Engine) run(ctx context.Context, d *draft, p Progress, call imageFunc) (*Result, error) {
	copier, err := e.copier(d) //nolint:contextcheck // looks at tables, waits for nothing
	if err != nil {
		return nil, told(d.operation, err)
	}
	if d.out.DryRun {
		paths, err := e.preview(d)
		if err == nil {
			err = copier.aimCopies(paths, d.ext())
		}
		if err != nil {
			return nil, told(d.operation, err)
		}
		return &Result{Assets: []Asset{}, Cost: d.estimate, Warnings: unique(d.warnings), Plan: d.plan(paths)}, nil
	}
	if err := stopped(ctx); err != nil {
		return nil, told(d.operation, err)
	}
	target, err := e.target(d)
	if err != nil {
		return nil, told(d.operation, err)
	}
	defer func() { _ = target.Close() }() // releases handles; the files are complete or gone by then
	if err := copier.aimCopies(target.Paths(), d.ext()); err != nil {
		return nil, told(d.operation, err)
	}
	s := &session{
		e: e, d: d, caller: ctx, target: target, progress: p, created: e.cfg.Now().UTC(), warnings: unique(d.warnings),
	}
	if err := s.begin(ctx); err != nil {
		return nil, told(d.operation, err)
	}
	paid, cancel := e.paidContext(ctx)
	defer cancel()
	s.abandon = cancel
	reply, callErr := call(paid, d.call, s)
	res, err := s.settle(reply, callErr) //nolint:contextcheck // the journal hears the end whatever was cancelled
	return copier.copies(ctx, d.operation, res, err)
}

// stopped says why nothing is sent any more when the caller gave up or ran out of time, or nil.
func stopped(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(KindUnavailable, "timeout", "the time limit ended before anything was sent; nothing was billed").
			WithCause(err)
	default:
		return Errorf(KindInterrupted, "interrupted", "stopped before anything was sent; nothing was billed").WithCause(err)
	}
}

// begin writes the journal's row and marks it sent. From here on a crash leaves a row that tells the truth.
func (s *session) begin(ctx context.Context) error {
	var err error
	if s.journal, err = s.e.openJournal(ctx); err != nil {
		return either(stopped(ctx), err)
	}
	if s.journal != nil {
		if err := s.enter(ctx); err != nil {
			return err
		}
	}
	if err := stopped(ctx); err != nil {
		s.unsent(err) //nolint:contextcheck // the journal hears the end whatever was cancelled
		return err
	}
	send(s.progress, Event{Kind: EventSent, Total: s.d.call.N})
	return nil
}

// enter creates the row and marks it sent. The caller's cancel ends both, and the row with them.
func (s *session) enter(ctx context.Context) error {
	d := s.d
	job := &journal.Job{
		RequestKey: d.requestKey(), Tool: d.tool, Op: d.op, Provider: d.provider.Name(), Model: d.call.Model,
		Endpoint: d.provider.Endpoint(), State: journal.StatePlanned, Prompt: d.call.Prompt, Params: d.journalParams(),
		Targets: s.target.Paths(), EstimateMicros: d.estimate.Micros,
	}
	if err := s.journal.Create(ctx, job); err != nil {
		return either(stopped(ctx), err)
	}
	s.job, s.created = job.ID, job.Created
	s.target.Tag(job.ID)
	if err := s.journal.Update(ctx, job.ID, journal.Update{Sent: true}); err != nil {
		err = either(stopped(ctx), err)
		s.unsent(err) //nolint:contextcheck // the journal hears the end whatever was cancelled
		return err
	}
	return nil
}

// unsent ends the row of a request that never left, so that none stays planned or sent for ever.
func (s *session) unsent(cause error) {
	if s.journal == nil {
		return
	}
	e := told(s.d.operation, cause)
	state := journal.StateFailed
	if e.Kind == KindInterrupted {
		state = journal.StateCancelled
	}
	if err := s.write(journal.Update{State: state, Err: jobError(e)}); err != nil {
		s.e.cfg.Log.Warn("journal row not ended", "job", s.job, "cause", err.Error())
	}
}

// either returns the first of two errors that is there.
func either(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// unique returns the list without repetitions, never nil.
func unique(list []string) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, text := range list {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}
