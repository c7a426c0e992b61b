package engine

import (
	"context"
	"encoding/json"
	"time"
	"unicode"

	"mediagen/internal/fault"
	"mediagen/internal/journal"
	"mediagen/internal/workspace"
)

// settleTime bounds how long the journal may take to note how a call ended, whatever has been cancelled by then.
const settleTime = 15 * time.Second

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// GenerateImages makes pictures from text. The returned Result is never nil once the request was sent: pictures that
// were saved before a failure are in it.
func (e *Engine) GenerateImages(ctx context.Context, r *GenerateImages, out Output, p Progress) (*Result, error) {
	d, err := e.resolve(opGenerate, &r.Image, out)
	if err != nil {
		return nil, e.told(opGenerate, err)
	}
	d.call.Moderation = r.Moderation
	if err := e.settleDraft(d, r.Moderation); err != nil {
		return nil, e.told(opGenerate, err)
	}
	return e.run(ctx, d, p, d.provider.GenerateImages)
}

// EditImages makes pictures from pictures and text. All inputs are opened and checked before anything is paid.
func (e *Engine) EditImages(ctx context.Context, r *EditImages, out Output, p Progress) (*Result, error) {
	d, err := e.resolve(opEdit, &r.Image, out)
	if err != nil {
		return nil, e.told(opEdit, err)
	}
	if len(r.Images) == 0 || len(r.Images) > 16 {
		return nil, e.told(opEdit, fault.New(fault.InvalidArgument, "image takes 1 to 16 pictures, not %d", len(r.Images)))
	}
	if d.inputs, err = e.openInputs(r); err != nil {
		return nil, e.told(opEdit, err)
	}
	defer d.close()
	d.call.InputFidelity = r.InputFidelity
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
	if err := e.settleDraft(d, ""); err != nil {
		return nil, e.told(opEdit, err)
	}
	return e.run(ctx, d, p, d.provider.EditImages)
}

// settleDraft runs the checks that need the whole call: the model's rules and the price.
func (e *Engine) settleDraft(d *draft, moderation string) error {
	params := d.params(moderation)
	if err := e.check(d, params); err != nil {
		return err
	}
	return e.price(d, params)
}

// told gives an error the operation's name.
func (e *Engine) told(op operation, err error) *Error {
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
	target, err := e.target(d)
	if err != nil {
		return nil, e.told(d.operation, err)
	}
	defer func() { _ = target.Close() }() // releases handles; the files are complete or gone by then
	if d.out.DryRun {
		plan := d.plan(target.Paths())
		return &Result{Assets: []Asset{}, Cost: d.estimate, Warnings: orEmpty(d.warnings), Plan: plan}, nil
	}
	jr, err := e.openJournal(ctx)
	if err != nil {
		return nil, e.told(d.operation, err)
	}
	s, err := e.begin(ctx, jr, d, target, p)
	if err != nil {
		return nil, e.told(d.operation, err)
	}
	paid, cancel := e.paidContext(ctx)
	defer cancel()
	reply, callErr := call(paid, d.call, s)
	return s.settle(reply, callErr)
}

// target plans the files. Nothing is reserved by a dry run.
func (e *Engine) target(d *draft) (*workspace.Target, error) {
	spec := d.output(newID())
	if d.out.Stream {
		return e.cfg.Workspace.PlanSpool(spec)
	}
	if d.out.DryRun {
		return e.cfg.Workspace.Preview(spec)
	}
	return e.cfg.Workspace.Plan(spec)
}

// begin writes the journal's row and marks it sent. From here on a crash leaves a row that tells the truth.
func (e *Engine) begin(
	ctx context.Context, jr *journal.Journal, d *draft, target *workspace.Target, p Progress,
) (*session, error) {
	s := &session{e: e, d: d, journal: jr, target: target, progress: p, created: e.cfg.Now().UTC()}
	s.warnings = append(s.warnings, d.warnings...)
	if ctx.Err() != nil {
		return nil, Errorf(KindInterrupted, "interrupted", "stopped before anything was sent").WithCause(ctx.Err())
	}
	if jr == nil {
		send(p, Event{Kind: EventSent, Total: d.call.N})
		return s, nil
	}
	job := &journal.Job{
		RequestKey: d.requestKey(), Tool: d.tool, Op: d.op, Provider: d.provider.Name(), Model: d.call.Model,
		Endpoint: d.provider.Endpoint(), State: journal.StatePlanned, Prompt: d.call.Prompt, Params: d.journalParams(),
		Targets: target.Paths(), EstimateMicros: d.estimate.Micros,
	}
	if err := jr.Create(ctx, job); err != nil {
		return nil, err
	}
	s.job = job.ID
	s.created = job.Created
	if err := jr.Update(ctx, job.ID, journal.Update{Sent: true}); err != nil {
		return nil, err
	}
	send(p, Event{Kind: EventSent, Total: d.call.N})
	return s, nil
}

// journalParams is the request without its prompt and bytes.
func (d *draft) journalParams() json.RawMessage {
	c := d.call
	params := map[string]any{"n": c.N}
	for name, v := range map[string]string{
		"size": c.Size, "quality": c.Quality, "background": c.Background, "moderation": c.Moderation,
		"output_format": c.OutputFormat, "complexity": c.Complexity, "input_fidelity": c.InputFidelity,
	} {
		if v != "" {
			params[name] = v
		}
	}
	if c.Partials > 0 {
		params["partials"] = c.Partials
	}
	if len(c.Extra) > 0 {
		params["param"] = c.Extra
	}
	if d.inputs != nil {
		params["inputs"] = d.inputHashes()
	}
	raw, err := json.Marshal(params)
	if err != nil {
		panic("engine: parameters are not JSON: " + err.Error()) // plain values only
	}
	return raw
}

func (d *draft) inputHashes() []map[string]any {
	var out []map[string]any
	for _, s := range d.inputs.all() {
		out = append(out, map[string]any{"name": s.Name, "media_type": s.Type.MIME, "bytes": s.Size, "sha256": s.SHA256})
	}
	return out
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
