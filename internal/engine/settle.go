package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mediagen/internal/fault"
	"mediagen/internal/journal"
)

// settle decides how the call ended, writes it down and builds the result.
func (s *session) settle(reply ImageReply, callErr error) (*Result, error) {
	for _, stop := range s.release {
		stop()
	}
	final := s.finals()
	err := s.verdict(final, reply, callErr)
	s.oneForStdout()
	state := s.state(final, err)
	res := &Result{
		Assets: s.sorted(), Cost: s.cost(reply, err),
		Job: &JobInfo{
			ID: s.job, State: string(state), Provider: s.d.provider.Name(), Model: s.d.call.Model, Created: s.created,
		},
	}
	if reply.Usage.Reported {
		res.Usage = &reply.Usage
	}
	s.close(state, reply, res.Cost, err)
	if s.d.out.Sidecar {
		s.sidecars(res, reply)
	}
	res.Warnings = unique(s.warnings)
	if err == nil {
		return res, nil
	}
	return res, err
}

// sorted returns what was made in the order of the reply.
func (s *session) sorted() []Asset {
	list := append([]Asset{}, s.assets...)
	list = append(list, s.links...)
	slices.SortStableFunc(list, func(a, b Asset) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Partial, b.Partial))
	})
	return list
}

// finals counts the complete pictures that are safe on disk.
func (s *session) finals() int {
	n := 0
	for _, a := range s.assets {
		if a.Partial == 0 && !a.NoPicture {
			n++
		}
	}
	return n
}

// verdict turns what happened into the one error to report, or nil.
func (s *session) verdict(final int, reply ImageReply, callErr error) *Error {
	want := s.d.call.N
	cause := callErr
	switch {
	case s.lost != nil:
		cause = s.lostError(callErr)
	case cause == nil && s.stray != nil:
		cause = s.stray
	case cause == nil && len(s.links) > 0:
		cause = s.elsewhere()
	}
	var err *Error
	switch {
	case s.spoolErr != nil:
		err = s.spooled(final, want, cause)
	case final >= want:
		if cause != nil {
			s.Warn("all pictures arrived, but the call did not end well: " + AsError(cause).Error())
		}
		return nil
	case final > 0:
		err = partial(final, want, cause)
	case s.withdrawn.Load() && cause != nil && AsError(cause).Billed != BilledMaybe:
		err = Errorf(KindInterrupted, "interrupted", "stopped before the request was sent again; nothing was billed").
			WithCause(cause)
	case cause != nil:
		err = AsError(cause)
	default:
		err = s.errorf(KindUnknownOutcome, "no_picture", "the reply holds no picture; it may have been billed").
			Bill(BilledMaybe)
	}
	err = told(s.d.operation, err)
	err.RequestID = orString(err.RequestID, reply.RequestID)
	return s.pointed(err)
}

// pointed adds where to look for a call whose outcome is not known: it is on record, and it is not sent again.
func (s *session) pointed(err *Error) *Error {
	if err.Hint != "" || s.job == "" || err.Kind != KindUnknownOutcome && err.Billed != BilledMaybe {
		return err
	}
	return err.WithHint("it is not sent again by itself; what is known is shown by: mediagen jobs show %s", s.job)
}

func (s *session) errorf(kind Kind, code fault.Code, format string, args ...any) *Error {
	e := Errorf(kind, code, format, args...)
	e.Provider = s.d.provider.Name()
	return e
}

// elsewhere is the error for pictures that were made and not read.
func (s *session) elsewhere() *Error {
	e := s.errorf(KindUnknownOutcome, fault.URLNotAllowed,
		"a picture lies at another origin, which is not read; its address is among the assets").Bill(BilledYes)
	if s.job == "" {
		return e
	}
	return e.WithHint("its address is shown by: mediagen jobs show %s", s.job)
}

// lostError is the error for a picture that was paid for and that neither target nor spool nor the system's temporary
// directory could take.
func (s *session) lostError(callErr error) *Error {
	c := AsError(s.lost)
	text := c.Message + "; a picture that was paid for could be kept nowhere"
	if callErr != nil {
		text += "; then: " + AsError(callErr).Error()
	}
	return Errorf(KindFailure, c.Code, "%s", text).WithCause(s.lost).Bill(BilledYes).
		WithHint("free some space before anything is sent again")
}

// spooled is the error for pictures that were paid for and could not go to their place.
func (s *session) spooled(final, want int, cause error) *Error {
	var paths []string
	for _, a := range s.assets {
		if a.Spooled && a.Partial == 0 {
			paths = append(paths, a.Path)
		}
	}
	why := AsError(s.spoolErr)
	text := why.Message + "; the picture is paid for and safe at " + strings.Join(paths, ", ")
	if len(paths) > 1 {
		text = fmt.Sprintf("%s; %d pictures are paid for and safe at %s", why.Message, len(paths), strings.Join(paths, ", "))
	}
	if final < want {
		text += fmt.Sprintf("; %d of %d pictures came", final, want)
	}
	if cause != nil {
		text += ", then: " + AsError(cause).Error()
	}
	e := Errorf(KindFailure, why.Code, "%s", text).WithCause(s.spoolErr).Bill(BilledYes)
	if cause != nil {
		e.RequestID = AsError(cause).RequestID
	}
	switch {
	case s.job == "":
		return e.WithHint("move it from there; without a journal it cannot be resumed")
	case why.Code == fault.DiskFull:
		return e.WithHint("free some space, then resume with: mediagen jobs resume %s", s.job)
	}
	return e.WithHint("resume with: mediagen jobs resume %s, or with -o for another directory", s.job)
}

// partial is the error for a call that brought some pictures and not all.
func partial(final, want int, cause error) *Error {
	if cause == nil {
		return Errorf(KindPartial, "partial", "the provider sent %d of %d pictures", final, want).Bill(BilledYes)
	}
	c := AsError(cause)
	e := Errorf(KindPartial, c.Code, "%d of %d pictures were saved, then: %s", final, want, c.Error()).
		WithCause(cause).Bill(BilledYes)
	e.RequestID, e.Hint = c.RequestID, c.Hint
	return e
}

// oneForStdout tells of pictures beyond the one that -o - can pipe.
func (s *session) oneForStdout() {
	if !s.d.out.Stream {
		return
	}
	for _, a := range s.assets {
		if a.Index > 0 {
			s.Warn("the provider sent more than one picture; stdout takes the first, the others stay at " + a.Path)
		}
	}
}

// state maps the end of a call to a journal state (design.md §2).
func (s *session) state(final int, err *Error) journal.State {
	switch {
	case s.spoolErr != nil, err == nil && s.d.out.Stream:
		return journal.StateSucceeded // landed once it was moved or piped
	case err == nil:
		return journal.StateLanded
	}
	cause := err
	if err.Kind == KindPartial {
		if err.cause == nil {
			return journal.StateLanded
		}
		cause = AsError(err.cause)
	}
	switch {
	case cause.Kind == KindUnknownOutcome:
		return journal.StateUnknown // also when some pictures came: what became of the rest is not known
	case final > 0:
		return journal.StateLanded
	case cause.Kind == KindBlocked:
		return journal.StateBlocked
	case cause.Kind == KindInterrupted:
		return journal.StateCancelled
	}
	return journal.StateFailed
}

// close writes the last word into the journal, and what the journal has not taken so far.
func (s *session) close(state journal.State, reply ImageReply, cost Cost, err *Error) {
	if s.journal == nil {
		return
	}
	u := journal.Update{State: state, CostMicros: cost.Micros, CostBasis: &cost.Basis, Assets: s.unnoted}
	id := reply.RequestID
	if err != nil {
		id = orString(id, err.RequestID)
		u.Err = jobError(err)
	}
	if id != "" {
		u.RequestID = &id
	}
	if reply.Usage.Reported {
		u.Usage = mustJSON(reply.Usage)
	}
	if werr := s.write(u); werr != nil {
		s.Warn("the journal could not be written: " + AsError(werr).Message)
	}
}

func jobError(e *Error) *journal.JobError {
	return &journal.JobError{Kind: string(e.Kind), Code: string(e.Code), Message: e.Error(), Billed: string(e.Billed)}
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

// sidecars writes one beside each picture that is at its place, also when others did not make it.
func (s *session) sidecars(res *Result, reply ImageReply) {
	for i := range res.Assets {
		a := &res.Assets[i]
		if a.Partial > 0 || a.Spooled || a.Path == "" || a.NoPicture {
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
