package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxEventField bounds the name of a field and of an event, in bytes. What is longer is none that we know.
const maxEventField = 256

// eventStream reads server-sent events (WHATWG HTML §9.2). next finds an event, Read gives its data, several data
// lines joined by line feeds. Nothing is held, however long a line is: the SDK's reader gives up at 32 MiB.
type eventStream struct {
	in   *bufio.Reader
	name string // what the event's own field says so far
	line bool   // inside of a data line
	over bool   // the event has ended
}

// next goes to the data of the next event. It returns io.EOF when there is none.
func (e *eventStream) next() error {
	e.name, e.over = "", false
	for {
		data, blank, err := e.field()
		if err != nil {
			return err
		}
		if data {
			return nil
		}
		if blank {
			e.name = ""
		}
	}
}

// Read reads the data of the event. It returns io.EOF at its end.
func (e *eventStream) Read(p []byte) (int, error) {
	for {
		if e.over || len(p) == 0 {
			return 0, io.EOF
		}
		if e.line {
			n, err := e.run(p)
			if n > 0 || err != nil {
				return n, e.end(err)
			}
			continue
		}
		data, blank, err := e.field()
		switch {
		case err != nil:
			return 0, e.end(err)
		case blank:
			e.over = true
		case data:
			p[0] = '\n'
			return 1, nil
		}
	}
}

// end makes the end of the stream the end of the event.
func (e *eventStream) end(err error) error {
	if errors.Is(err, io.EOF) {
		e.over = true
	}
	return err
}

// run copies what is buffered of a data line. At the end of the line it copies nothing.
func (e *eventStream) run(p []byte) (int, error) {
	if _, err := e.in.Peek(1); err != nil {
		return 0, err
	}
	text, _ := e.in.Peek(min(e.in.Buffered(), len(p))) // cannot fail: buffered
	n := len(text)
	for _, c := range []byte("\n\r") {
		if i := bytes.IndexByte(text[:n], c); i >= 0 {
			n = i
		}
	}
	copy(p, text[:n])
	_, _ = e.in.Discard(n) // cannot fail: buffered
	if n == 0 {
		e.line = false
		return 0, e.lineEnd()
	}
	return n, nil
}

// lineEnd reads \n, \r\n or \r.
func (e *eventStream) lineEnd() error {
	b, err := e.in.ReadByte()
	if err != nil || b == '\n' {
		return err
	}
	if next, err := e.in.Peek(1); err == nil && next[0] == '\n' {
		_, _ = e.in.Discard(1) // cannot fail: peeked
	}
	return nil
}

// field reads one line, but of a data line only what stands before the data.
func (e *eventStream) field() (data, blank bool, err error) {
	name, colon, err := e.text(true)
	if err != nil {
		return false, false, err
	}
	if !colon {
		return false, name == "", nil
	}
	if next, err := e.in.Peek(1); err == nil && next[0] == ' ' {
		_, _ = e.in.Discard(1) // cannot fail: peeked
	}
	if name == "data" {
		e.line = true
		return true, false, nil
	}
	value, _, err := e.text(false)
	if name == "event" {
		e.name = strings.TrimSpace(value)
	}
	return false, false, err
}

// text reads to the end of the line, or to its first colon. What is too long for a name is dropped.
func (e *eventStream) text(toColon bool) (text string, colon bool, err error) {
	ends := "\n\r"
	if toColon {
		ends += ":"
	}
	var name []byte
	for {
		if _, err := e.in.Peek(1); errors.Is(err, io.EOF) && len(name) > 0 { // the last line has no end
			return string(name), false, nil
		} else if err != nil {
			return "", false, err
		}
		run, _ := e.in.Peek(e.in.Buffered()) // cannot fail: buffered
		n := bytes.IndexAny(run, ends)
		more := n < 0
		if more {
			n = len(run)
		}
		name = append(name, run[:min(n, maxEventField+1-len(name))]...)
		atColon := !more && run[n] == ':'
		_, _ = e.in.Discard(n) // cannot fail: buffered
		switch {
		case more:
		case atColon:
			_, _ = e.in.Discard(1) // cannot fail: buffered
			return string(name), true, nil
		default:
			return string(name), false, e.lineEnd()
		}
	}
}
