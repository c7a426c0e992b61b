package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mediagen/internal/catalog"
	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/journal"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// session is one paid call while it runs: the sink of its pictures and the author of its journal row.
type session struct {
	e        *Engine
	d        *draft
	journal  *journal.Journal // nil with --no-journal
	job      string
	created  time.Time
	target   *workspace.Target
	progress Progress
	assets   []Asset
	links    []journal.Asset
	warnings []string
	spoolErr error // why a picture is in the spool instead of at its place
	lost     error // why a picture could be saved nowhere
}

var _ ImageSink = (*session)(nil)

// Picture opens the place for one picture.
func (s *session) Picture(slot Slot) (PictureWriter, error) {
	create := func() (*workspace.Temp, error) { return s.target.Create(slot.Index) }
	if slot.Partial > 0 {
		create = func() (*workspace.Temp, error) { return s.target.CreatePartial(slot.Index, slot.Partial) }
	}
	t, err := create()
	if err != nil {
		return nil, AsError(err).Bill(BilledYes)
	}
	return &picture{Temp: t, s: s, slot: slot}, nil
}

// Link notes where a picture lies that was not read.
func (s *session) Link(index int, rawURL string) {
	a := journal.Asset{Index: index, URL: rawURL}
	s.links = append(s.links, a)
	s.note(journal.Update{Assets: []journal.Asset{a}})
}

// Retrying reports that the request goes again.
func (s *session) Retrying(_ int, pause time.Duration, cause error) {
	send(s.progress, Event{Kind: EventRetrying, Pause: pause, Message: cause.Error()})
}

// Warn adds a warning.
func (s *session) Warn(message string) {
	s.warnings = append(s.warnings, message)
	send(s.progress, Event{Kind: EventWarning, Message: message})
}

// note writes to the journal under a context that no caller can cancel. A journal that fails after the money is spent
// costs a warning, never a picture.
func (s *session) note(u journal.Update) {
	if s.journal == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	if err := s.journal.Update(ctx, s.job, u); err != nil {
		s.Warn("the journal could not be written: " + err.Error())
	}
}

// picture is one picture on its way to disk.
type picture struct {
	*workspace.Temp
	s     *session
	slot  Slot
	total int64
}

// Write adds bytes.
func (p *picture) Write(b []byte) (int, error) {
	n, err := p.Temp.Write(b)
	p.total += int64(n)
	send(p.s.progress, Event{Kind: EventReceived, Index: p.slot.Index, Total: p.s.d.call.N, Bytes: p.total})
	return n, err
}

// Abort drops an incomplete picture.
func (p *picture) Abort() {
	if err := p.Temp.Abort(); err != nil {
		p.s.Warn("a temporary file could not be removed: " + err.Error())
	}
}

// Commit recognises, converts if the name asks for it, and publishes the picture. A picture that cannot go to its place
// stays in the spool; that is reported when the call is settled, so that its siblings still arrive.
func (p *picture) Commit() error {
	t := sniff.Detect(p.Head())
	t = p.convert(t)
	a := Asset{Index: p.slot.Index, Partial: p.slot.Partial, MediaType: mediaType(t)}
	if r, size := p.File(); r != nil {
		// A picture that was paid for is saved whatever its header says.
		if info, err := imaging.Probe(r, size, p.s.e.cfg.Bounds); err == nil {
			a.Width, a.Height = info.Upright()
		} else {
			p.s.Warn(fmt.Sprintf("picture %d cannot be read as an image: %v", p.slot.Index+1, err))
		}
	}
	saved, err := p.Temp.Commit(extOr(t, "bin"))
	if err != nil && !saved.Spooled {
		p.s.lost = err
		return AsError(err).Bill(BilledYes)
	}
	if err != nil {
		p.s.spoolErr = err
	}
	a.Path, a.Bytes, a.SHA256 = saved.Path, saved.Bytes, saved.SHA256
	a.Spooled = saved.Spooled
	p.s.add(a, t)
	return nil
}

func mediaType(t sniff.Type) string {
	if t.MIME == "" {
		return "application/octet-stream"
	}
	return t.MIME
}

// convert re-encodes the picture when -o names another format than the provider sent.
func (p *picture) convert(t sniff.Type) sniff.Type {
	want := p.s.d.convert
	if want == "" || want == t.Ext || p.slot.Partial > 0 {
		p.mismatch(t)
		return t
	}
	r, size := p.File()
	src, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err == nil {
		var out []byte
		if out, _, err = imaging.Encode(context.Background(), src, imaging.EncodeOptions{Format: want}); err == nil {
			err = p.Replace(out)
		}
	}
	if err != nil {
		p.s.Warn(fmt.Sprintf("picture %d came as %s and could not be converted to %s: %v", p.slot.Index+1, t.Ext, want, err))
		return t
	}
	to, _ := sniff.ByExt(want)
	return to
}

// mismatch warns when the bytes are not what was asked for.
func (p *picture) mismatch(t sniff.Type) {
	want := p.s.d.call.OutputFormat
	if want == "" || want == t.Ext || p.slot.Partial > 0 {
		return
	}
	p.s.Warn(fmt.Sprintf("picture %d was asked for as %s and came as %s; the extension follows the bytes", p.slot.Index+1,
		want, extOr(t, "unknown data")))
}

// add records a saved picture in the journal, then reports it.
func (s *session) add(a Asset, t sniff.Type) {
	ja := journal.Asset{
		Index: a.Index, Partial: a.Partial, Path: a.Path, MIME: a.MediaType, SHA256: a.SHA256, Bytes: a.Bytes,
		Width: a.Width, Height: a.Height,
	}
	if a.Spooled {
		ja.SpoolPath, ja.Path = a.Path, s.finalPath(a, t)
	}
	s.note(journal.Update{Assets: []journal.Asset{ja}})
	s.assets = append(s.assets, a)
	kind := EventSaved
	if a.Partial > 0 {
		kind = EventPartial
	}
	send(s.progress, Event{Kind: kind, Index: a.Index, Total: s.d.call.N, Bytes: a.Bytes, Path: a.Path})
}

// finalPath is where a spooled picture should go.
func (s *session) finalPath(a Asset, t sniff.Type) string {
	paths := s.target.Paths()
	if s.d.out.Stream || a.Index >= len(paths) || a.Partial > 0 {
		return ""
	}
	path := paths[a.Index]
	if planned := s.d.ext(); t.Ext != "" && planned != t.Ext && strings.HasSuffix(path, "."+planned) {
		path = strings.TrimSuffix(path, planned) + t.Ext
	}
	return path
}

// settle decides how the call ended, writes it down and builds the result.
func (s *session) settle(reply ImageReply, callErr error) (*Result, error) {
	slices.SortFunc(s.assets, func(a, b Asset) int { return cmpInts(a.Index-b.Index, a.Partial-b.Partial) })
	final := s.finals()
	err := s.verdict(final, callErr)
	res := &Result{
		Assets: orEmptyAssets(s.assets), Cost: s.cost(reply, final, err),
		Job: &JobInfo{ID: s.job, Provider: s.d.provider.Name(), Model: s.d.call.Model, Created: s.created},
	}
	if reply.Usage.Reported {
		res.Usage = &reply.Usage
	}
	state := s.state(final, err)
	res.Job.State = string(state)
	s.close(state, reply, res.Cost, err)
	if err == nil && s.d.out.Sidecar {
		s.sidecars(res, reply)
	}
	res.Warnings = orEmpty(s.warnings)
	if err == nil {
		return res, nil
	}
	return res, s.e.told(s.d.operation, err)
}

func cmpInts(diffs ...int) int {
	for _, d := range diffs {
		if d != 0 {
			return d
		}
	}
	return 0
}

func orEmptyAssets(list []Asset) []Asset {
	if list == nil {
		return []Asset{}
	}
	return list
}

// finals counts the complete pictures that are safe on disk.
func (s *session) finals() int {
	n := 0
	for _, a := range s.assets {
		if a.Partial == 0 {
			n++
		}
	}
	return n
}

// verdict turns what happened into the one error to report.
func (s *session) verdict(final int, callErr error) error {
	want := s.d.call.N
	if s.spoolErr != nil && !s.d.out.Stream {
		return s.spooled()
	}
	if callErr == nil && final >= want {
		return nil
	}
	if final > 0 {
		return s.partial(final, want, callErr)
	}
	return callErr
}

// spooled is the error for pictures that were paid for and could not go to their place.
func (s *session) spooled() *Error {
	var paths []string
	for _, a := range s.assets {
		if a.Spooled {
			paths = append(paths, a.Path)
		}
	}
	cause := AsError(s.spoolErr)
	e := Errorf(KindFailure, cause.Code, "%s; the picture is paid for and safe at %s", cause.Message,
		strings.Join(paths, ", ")).WithCause(s.spoolErr).Bill(BilledYes)
	if s.job == "" {
		return e.WithHint("move it from there; without a journal it cannot be resumed")
	}
	return e.WithHint("free some space, then resume with: mediagen jobs resume %s", s.job)
}

func (s *session) partial(final, want int, callErr error) *Error {
	if callErr == nil {
		return Errorf(KindPartial, "partial", "the provider sent %d of %d pictures", final, want).Bill(BilledYes)
	}
	c := AsError(callErr)
	e := Errorf(KindPartial, c.Code, "%d of %d pictures were saved, then: %s", final, want, c.Error()).
		WithCause(callErr).Bill(BilledYes)
	e.RequestID = c.RequestID
	e.Hint = c.Hint
	return e
}

// state maps the end of a call to a journal state (design.md §2).
func (s *session) state(final int, err error) journal.State {
	if err == nil && s.d.out.Stream {
		return journal.StateSucceeded // landed once it was piped
	}
	if err == nil {
		return journal.StateLanded
	}
	if s.spoolErr != nil && !s.d.out.Stream {
		return journal.StateSucceeded
	}
	e := AsError(err)
	cause := e
	if e.Kind == KindPartial {
		if e.cause == nil {
			return journal.StateLanded
		}
		cause = AsError(e.cause)
	}
	switch {
	case cause.Kind == KindUnknownOutcome:
		return journal.StateUnknown
	case final > 0:
		return journal.StateLanded
	case cause.Kind == KindBlocked:
		return journal.StateBlocked
	case cause.Kind == KindInterrupted:
		return journal.StateCancelled
	}
	return journal.StateFailed
}

// cost comes from reported usage, else from the estimate when something was made, else it is unknown.
func (s *session) cost(reply ImageReply, final int, err error) Cost {
	if s.d.provider.Name() == "emulator" {
		return Cost{Micros: new(int64), Basis: BasisReported}
	}
	if u := reply.Usage; u.Reported {
		micros, ok := s.e.cfg.Catalog.CostOf(s.d.model.ID, catalog.Tokens{
			In: u.InputTokens, TextIn: u.InputTextTokens, CachedTextIn: u.CachedTextTokens,
			ImageIn: u.InputImageTokens, CachedImageIn: u.CachedImageTokens,
			Out: u.OutputTokens, TextOut: u.OutputTextTokens, ImageOut: u.OutputImageTokens,
		})
		if ok {
			return Cost{Micros: &micros, Basis: BasisReported}
		}
	}
	if err == nil && final > 0 && s.d.estimate.Micros != nil {
		return s.d.estimate
	}
	why := s.d.estimate.Why
	if err != nil {
		why = "the call did not end well"
	}
	return Cost{Basis: BasisUnknown, Why: why}
}

// close writes the last word into the journal.
func (s *session) close(state journal.State, reply ImageReply, cost Cost, err error) {
	u := journal.Update{State: state, CostMicros: cost.Micros, CostBasis: &cost.Basis}
	if id := reply.RequestID; id != "" {
		u.RequestID = &id
	}
	if reply.Usage.Reported {
		raw, jerr := json.Marshal(reply.Usage)
		if jerr != nil {
			panic("engine: usage is not JSON: " + jerr.Error()) // plain numbers
		}
		u.Usage = raw
	}
	if err != nil {
		e := AsError(err)
		u.Err = &journal.JobError{Kind: string(e.Kind), Code: string(e.Code), Message: e.Error(), Billed: string(e.Billed)}
	}
	s.note(u)
}

// sidecar is what --sidecar writes beside a picture.
type sidecar struct {
	Schema    string    `json:"schema"`
	Asset     Asset     `json:"asset"`
	Job       *JobInfo  `json:"job"`
	RequestID string    `json:"request_id,omitempty"`
	Prompt    string    `json:"prompt"`
	Request   any       `json:"request"`
	Usage     *Usage    `json:"usage,omitempty"`
	Cost      Cost      `json:"cost"`
	Made      time.Time `json:"made"`
}

func (s *session) sidecars(res *Result, reply ImageReply) {
	for i := range res.Assets {
		a := &res.Assets[i]
		if a.Partial > 0 {
			continue
		}
		body := sidecar{
			Schema: "mediagen-sidecar/1", Asset: *a, Job: res.Job, RequestID: reply.RequestID, Prompt: s.d.call.Prompt,
			Request: s.d.journalParams(), Usage: res.Usage, Cost: res.Cost, Made: s.e.cfg.Now().UTC(),
		}
		path, err := s.e.cfg.Workspace.WriteSidecar(a.Path, body, s.d.out.Overwrite)
		if err != nil {
			s.Warn("the sidecar could not be written: " + AsError(err).Message)
			continue
		}
		a.Sidecar = path
	}
}

// errNoJournal is the answer of job commands when the journal is switched off.
func errNoJournal() error {
	return fault.New(fault.InvalidArgument, "there is no journal: journal.enabled is off or --no-journal was given")
}

// Pipe writes the one picture of a Stream call to w and then lets go of the spooled copy. When w fails, the copy stays
// and `jobs resume` still finds it.
func (e *Engine) Pipe(ctx context.Context, res *Result, w io.Writer) error {
	for i := range res.Assets {
		a := &res.Assets[i]
		if !a.Spooled {
			continue
		}
		if err := e.pipe(a.Path, w); err != nil {
			cause := fault.Caused(fault.IOFailed, err, "the picture could not be written to stdout; it is safe at %s", a.Path)
			return AsError(cause).Bill(BilledYes)
		}
		if err := e.piped(ctx, res, a); err != nil {
			return AsError(err)
		}
	}
	return nil
}

func (e *Engine) pipe(path string, w io.Writer) error {
	f, err := e.cfg.Workspace.OpenSpooled(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	_, err = io.Copy(w, f)
	return err
}

// piped notes that the picture has been delivered and removes the spooled copy.
func (e *Engine) piped(ctx context.Context, res *Result, a *Asset) error {
	spooled := a.Path
	a.Path, a.Spooled = stdoutPath, false
	jr, err := e.openJournal(ctx)
	if err != nil {
		return err
	}
	if jr != nil && res.Job != nil {
		done := journal.Asset{
			Index: a.Index, Path: stdoutPath, MIME: a.MediaType, SHA256: a.SHA256, Bytes: a.Bytes, Width: a.Width, Height: a.Height,
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

// stdoutPath stands for standard output in assets.
const stdoutPath = "-"
