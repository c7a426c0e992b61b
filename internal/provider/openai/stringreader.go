package openai

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// stringReader reads the content of a JSON string up to its closing quote, escapes resolved (RFC 8259 §7).
type stringReader struct {
	in      *bufio.Reader
	pending []byte // decoded bytes that did not fit
	err     error  // sticky; io.EOF behind the closing quote
}

// Read fills p from what is buffered, and waits for the network only when that gives nothing.
func (r *stringReader) Read(p []byte) (int, error) {
	total := 0
	for total < len(p) {
		if len(r.pending) > 0 {
			n := copy(p[total:], r.pending)
			r.pending = r.pending[n:]
			total += n
			continue
		}
		if r.err != nil || total > 0 && r.in.Buffered() == 0 {
			break
		}
		n, err := r.fill(p[total:])
		total += n
		r.err = err
	}
	if total > 0 || len(p) == 0 {
		return total, nil
	}
	return 0, r.err
}

// fill copies a run of plain bytes, or resolves one escape, or sees the closing quote.
func (r *stringReader) fill(p []byte) (int, error) {
	if _, err := r.in.Peek(1); err != nil {
		return 0, cut(err)
	}
	run, _ := r.in.Peek(min(r.in.Buffered(), len(p))) // cannot fail: buffered
	if n := plainRun(run); n > 0 {
		copy(p, run[:n])
		_, _ = r.in.Discard(n) // cannot fail: buffered
		return n, nil
	}
	switch run[0] {
	case '"':
		_, _ = r.in.Discard(1) // cannot fail: buffered
		return 0, io.EOF
	case '\\':
		return 0, r.escape()
	}
	return 0, fmt.Errorf("%w: it has a control character in a string", errSyntax)
}

// plainRun returns how many leading bytes need no decoding.
func plainRun(p []byte) int {
	n := len(p)
	if i := bytes.IndexByte(p, '"'); i >= 0 {
		n = i
	}
	if i := bytes.IndexByte(p[:n], '\\'); i >= 0 {
		n = i
	}
	for i, b := range p[:n] {
		if b < ' ' {
			return i
		}
	}
	return n
}

// escape resolves one escape sequence into pending.
func (r *stringReader) escape() error {
	head, err := r.in.Peek(2)
	if err != nil {
		return cut(err)
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := bytes.IndexByte([]byte(from), head[1]); i >= 0 {
		r.pending = []byte{to[i]}
		_, _ = r.in.Discard(2) // cannot fail: peeked
		return nil
	}
	if head[1] != 'u' {
		return errSyntax
	}
	u, err := r.unit()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(u) {
		u, err = r.pair(u)
	}
	r.pending = utf8.AppendRune(nil, u)
	return err
}

// pair joins a surrogate with the one that follows. Alone, it stands for U+FFFD, as encoding/json has it.
func (r *stringReader) pair(high rune) (rune, error) {
	for n, want := range []byte(`\u`) {
		next, err := r.in.Peek(n + 1)
		if err != nil {
			return 0, cut(err)
		}
		if next[n] != want {
			return utf8.RuneError, nil
		}
	}
	low, err := r.peekUnit()
	if err != nil {
		return 0, err
	}
	u := utf16.DecodeRune(high, low)
	if u != utf8.RuneError {
		_, _ = r.in.Discard(6) // cannot fail: peeked
	}
	return u, nil
}

// unit reads \uXXXX.
func (r *stringReader) unit() (rune, error) {
	u, err := r.peekUnit()
	if err == nil {
		_, _ = r.in.Discard(6) // cannot fail: peeked
	}
	return u, err
}

func (r *stringReader) peekUnit() (rune, error) {
	six, err := r.in.Peek(6)
	if err != nil {
		return 0, cut(err)
	}
	var v [2]byte
	if _, err := hex.Decode(v[:], six[2:]); err != nil {
		return 0, errSyntax
	}
	return rune(v[0])<<8 | rune(v[1]), nil
}
