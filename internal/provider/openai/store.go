package openai

import (
	"errors"
	"io"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// What can be wrong with one picture of a reply that can be read.
const (
	errEmpty     = replyError("a picture of the reply is empty")
	errNotBase64 = replyError("a picture of the reply cannot be decoded: it is not base64")
)

// sinkError is a failure of our own side, to save a picture that came.
type sinkError struct{ cause error }

// Error says what failed.
func (e *sinkError) Error() string { return "save picture: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *sinkError) Unwrap() error { return e.cause }

// sinkWriter tells failures to write from failures to read.
type sinkWriter struct{ w io.Writer }

// Write writes to the sink.
func (s sinkWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		return n, &sinkError{err}
	}
	return n, nil
}

// store copies one picture into the sink.
func (r *receiver) store(slot engine.Slot, data io.Reader) error {
	w, err := r.sink.Picture(slot)
	if err != nil {
		return &sinkError{err}
	}
	n, err := io.CopyBuffer(sinkWriter{w}, struct{ io.Reader }{data}, make([]byte, readBuffer/2))
	if err == nil && n == 0 {
		err = errEmpty
	}
	if err != nil {
		w.Abort()
		if fault.CodeOf(err) == fault.InvalidBase64 {
			return errNotBase64
		}
		return err
	}
	if err := w.Commit(); err != nil {
		return &sinkError{err}
	}
	if slot.Partial == 0 {
		r.reply.Pictures++
		r.have[slot.Index] = true
		delete(r.lost, slot.Index)
	}
	return nil
}

// settle decides what a picture that could not be stored costs: that picture, not the others, unless the reply cannot
// be read any further.
func (r *receiver) settle(slot engine.Slot, err error) error {
	_, isSunk := errors.AsType[*sinkError](err)
	spoilt := errors.Is(err, errNotBase64) || errors.Is(err, errEmpty)
	switch {
	case err == nil:
		return nil
	case !isSunk && !spoilt:
		return err
	case slot.Partial > 0:
		r.sink.Warn("a partial picture could not be kept")
		return nil
	}
	r.lost[slot.Index] = err
	return nil
}
