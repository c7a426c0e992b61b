package cli

import (
	"context"
	"errors"
	"strings"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// failed is an error that comes with what was achieved before it.
type failed struct {
	error

	res *engine.Result
}

// Unwrap keeps the kind.
func (f failed) Unwrap() error { return f.error }

// withItems is a failure that still has rows to show with --json.
type withItems struct {
	error

	items  any
	assets []engine.Asset // files that were saved all the same
}

// Unwrap keeps the kind.
func (w withItems) Unwrap() error { return w.error }

// ended is the error of a command that did its work although a signal came meanwhile, or nil. It is asked for once,
// before the answer is written, so that answer and exit code agree.
func (sh *shell) ended(res *engine.Result) error {
	sig := SignalOf(sh.ctx)
	if sig == nil {
		return nil
	}
	e := engine.Errorf(sig.Kind, "interrupted", "stopped by a signal, when everything was done")
	if res != nil && res.Plan == nil {
		e = e.Bill(engine.BilledYes)
	}
	return e
}

// asError turns whatever a command returned into the engine's error; Cobra's and pflag's own words become usage errors.
// A local step that a signal cut short is the signal's doing; what is worse, such as an unknown outcome, stays.
func (sh *shell) asError(err error) *engine.Error {
	if u, ok := errors.AsType[usageError](err); ok {
		e := engine.AsError(u.error)
		return &engine.Error{Kind: engine.KindInvalidRequest, Code: fault.InvalidArgument, Message: u.Error(), Hint: e.Hint}
	}
	e := engine.AsError(err)
	sig := SignalOf(sh.ctx)
	cut := e.Kind == engine.KindFailure && errors.Is(err, context.Canceled)
	if sig == nil || e.Kind != engine.KindInterrupted && !cut {
		return e
	}
	c := *e
	c.Kind = sig.Kind
	return &c
}

// fail prints an error and returns the exit code: the signal's if there was one, else that of the error's kind.
func (sh *shell) fail(err error) int {
	e := sh.asError(err)
	code := exitCode(e.Kind)
	if sig := SignalOf(sh.ctx); sig != nil {
		code = exitCode(sig.Kind)
	}
	if _, broken := errors.AsType[brokenOutput](err); sh.flags.wantsJSON() && !broken {
		werr := sh.emit(sh.failure(e, err, code))
		if werr == nil {
			return code
		}
		sh.note(sh.kept(resultOf(err), werr).Error())
	}
	head := "mediagen"
	if sh.command != "" {
		head += ": " + sh.command
	}
	sh.note(head + ": " + e.Error())
	if e.RequestID != "" {
		sh.note("request id: " + e.RequestID)
	}
	if hint := sh.hint(e, err); hint != "" {
		sh.note("hint: " + hint)
	}
	return code
}

// failure is the envelope of an error.
func (sh *shell) failure(e *engine.Error, err error, code int) envelope {
	env := sh.envelope(resultOf(err))
	if w, ok := errors.AsType[withItems](err); ok {
		env.Items = w.items
		env.Assets = append(env.Assets, w.assets...)
	}
	env.OK = false
	env.Error = &errorJSON{
		Kind: string(e.Kind), Code: string(e.Code), Message: sh.Scrub(e.Error()), Hint: sh.Scrub(sh.hint(e, err)), Exit: code,
		Provider: e.Provider, RequestID: sh.Scrub(e.RequestID), RetryAfterS: e.RetryAfter.Seconds(), Billed: string(e.Billed),
	}
	if env.Error.Billed == "" {
		env.Error.Billed = string(engine.BilledNo)
	}
	return env
}

func resultOf(err error) *engine.Result {
	f, ok := errors.AsType[failed](err)
	if !ok {
		return nil
	}
	return f.res
}

// hint is the error's own, else where to look.
func (sh *shell) hint(e *engine.Error, err error) string {
	if e.Hint != "" && strings.HasPrefix(sh.command, "jobs") { // commands that are about the journal need one
		return strings.TrimSuffix(e.Hint, ", or run with --no-journal")
	}
	if e.Hint != "" {
		return e.Hint
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return "see: " + strings.TrimSpace("mediagen "+sh.command) + " --help"
	}
	return ""
}
