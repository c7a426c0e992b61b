package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxSkeleton = 4 << 20 // bytes of a reply without its pictures
	maxDepth    = 64      // nesting of a reply
	maxKey      = 4 << 10 // bytes of an object key
)

var errSyntax = errors.New("the reply is not valid JSON")

// scanner copies one JSON value into a skeleton while it streams the pictures out: every string under a "b64_json" key,
// and every data URL under a "url" key, goes to take and stands as "" in the skeleton. So a reply of ten large
// pictures needs a few kilobytes of memory. encoding/json would hold each string whole.
type scanner struct {
	in       *bufio.Reader
	skeleton bytes.Buffer
	stack    []frame
	// take receives the text of one picture. index is its place in the nearest array, 0 outside of one.
	take func(index int, text io.Reader) error
}

// frame is an open object or array.
type frame struct {
	array bool
	index int    // of the current element
	key   string // of the current member
	value bool   // the member's colon has passed
}

// scan reads one JSON value. It returns io.ErrUnexpectedEOF when the input ends inside of it.
func (s *scanner) scan() error {
	for {
		b, err := s.in.ReadByte()
		if err != nil {
			return cut(err)
		}
		if b == ' ' || b == '\t' || b == '\r' || b == '\n' {
			continue
		}
		if err := s.token(b); err != nil {
			return err
		}
		if len(s.stack) == 0 {
			return nil
		}
	}
}

func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *scanner) token(b byte) error {
	switch b {
	case '{', '[':
		if len(s.stack) == maxDepth {
			return fmt.Errorf("%w: nested deeper than %d", errSyntax, maxDepth)
		}
		s.stack = append(s.stack, frame{array: b == '['})
	case '}', ']':
		if len(s.stack) == 0 || s.top().array != (b == ']') {
			return errSyntax
		}
		s.stack = s.stack[:len(s.stack)-1]
	case ',':
		if len(s.stack) == 0 {
			return errSyntax
		}
		f := s.top()
		f.index++
		f.value = false
	case ':':
		if len(s.stack) == 0 || s.top().array {
			return errSyntax
		}
		s.top().value = true
	case '"':
		return s.str()
	default:
		return s.literal(b)
	}
	return s.emit(b)
}

func (s *scanner) top() *frame { return &s.stack[len(s.stack)-1] }

func (s *scanner) emit(p ...byte) error {
	if s.skeleton.Len()+len(p) > maxSkeleton {
		return fmt.Errorf("the reply holds more than %d bytes beside its pictures", maxSkeleton)
	}
	s.skeleton.Write(p)
	return nil
}

// literal copies a number, true, false or null.
func (s *scanner) literal(b byte) error {
	if len(s.stack) == 0 {
		return errSyntax // a reply is an object
	}
	for {
		if !(b == '-' || b == '+' || b == '.' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z') {
			return errSyntax
		}
		if err := s.emit(b); err != nil {
			return err
		}
		next, err := s.in.Peek(1)
		if err != nil {
			return cut(err)
		}
		switch next[0] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return nil
		}
		b, _ = s.in.ReadByte() // cannot fail: peeked
	}
}

// str handles a string whose opening quote has been read.
func (s *scanner) str() error {
	if len(s.stack) == 0 {
		return errSyntax
	}
	f := s.top()
	text := &stringReader{in: s.in}
	if !f.array && !f.value {
		key, err := io.ReadAll(io.LimitReader(text, maxKey+1))
		if err != nil {
			return err
		}
		if len(key) > maxKey {
			return errSyntax
		}
		f.key = string(key)
		return s.quoted(f.key)
	}
	if !f.array && (f.key == "b64_json" || f.key == "url" && s.peekData()) {
		if err := s.picture(text); err != nil {
			return err
		}
		return s.quoted("")
	}
	value, err := io.ReadAll(io.LimitReader(text, maxSkeleton+1))
	if err != nil {
		return err
	}
	return s.quoted(string(value))
}

func (s *scanner) quoted(text string) error {
	q, err := json.Marshal(text)
	if err != nil {
		return err
	}
	return s.emit(q...)
}

// peekData reports whether the string that starts here is a data URL.
func (s *scanner) peekData() bool {
	head, err := s.in.Peek(len("data:"))
	return err == nil && string(head) == "data:"
}

// picture hands one string to take and reads what take left of it.
func (s *scanner) picture(text *stringReader) error {
	if empty, err := s.in.Peek(1); err == nil && empty[0] == '"' {
		_, err := s.in.ReadByte()
		return err // "b64_json": "" beside a url is no picture
	}
	body := io.Reader(text)
	if s.peekData() {
		if err := skipComma(text); err != nil {
			return err
		}
	}
	if err := s.take(s.element(), body); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, text)
	return err
}

// skipComma drops the head of a data URL.
func skipComma(text *stringReader) error {
	var one [1]byte
	for range maxKey {
		if _, err := io.ReadFull(text, one[:]); err != nil {
			return errSyntax
		}
		if one[0] == ',' {
			return nil
		}
	}
	return errSyntax
}

// element returns the index in the nearest array.
func (s *scanner) element() int {
	for i := len(s.stack) - 1; i >= 0; i-- {
		if s.stack[i].array {
			return s.stack[i].index
		}
	}
	return 0
}

// stringReader reads the content of a JSON string up to its closing quote, escapes resolved.
type stringReader struct {
	in      *bufio.Reader
	pending []byte // decoded bytes that did not fit
	done    bool
	err     error
}

func (r *stringReader) Read(p []byte) (int, error) {
	if len(r.pending) > 0 {
		n := copy(p, r.pending)
		r.pending = r.pending[n:]
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	if r.done {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.fill(p)
	if err != nil {
		r.err = cut(err)
		return n, r.err
	}
	if n == 0 {
		return r.Read(p)
	}
	return n, nil
}

// fill copies a run of plain bytes, or resolves one escape, or sees the closing quote.
func (r *stringReader) fill(p []byte) (int, error) {
	if r.in.Buffered() == 0 {
		if _, err := r.in.Peek(1); err != nil {
			return 0, err
		}
	}
	run, err := r.in.Peek(min(r.in.Buffered(), len(p)))
	if err != nil {
		return 0, err
	}
	n := plainRun(run)
	if n > 0 {
		copy(p, run[:n])
		_, err := r.in.Discard(n)
		return n, err
	}
	switch b := run[0]; {
	case b == '"':
		r.done = true
		_, err := r.in.Discard(1)
		return 0, err
	case b == '\\':
		return 0, r.escape()
	default:
		return 0, fmt.Errorf("%w: control character in a string", errSyntax)
	}
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

// escape resolves one escape sequence (RFC 8259 §7) into pending.
func (r *stringReader) escape() error {
	head, err := r.in.Peek(2)
	if err != nil {
		return err
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := bytes.IndexByte([]byte(from), head[1]); i >= 0 {
		r.pending = []byte{to[i]}
		_, err := r.in.Discard(2)
		return err
	}
	if head[1] != 'u' {
		return errSyntax
	}
	u, err := r.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(u) {
		if pair, err := r.in.Peek(2); err == nil && string(pair) == `\u` {
			low, err := r.hex()
			if err != nil {
				return err
			}
			u = utf16.DecodeRune(u, low)
		} else {
			u = utf8.RuneError
		}
	}
	r.pending = utf8.AppendRune(nil, u)
	return nil
}

// hex reads \uXXXX.
func (r *stringReader) hex() (rune, error) {
	six, err := r.in.Peek(6)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(string(six[2:]), 16, 16)
	if err != nil {
		return 0, errSyntax
	}
	_, err = r.in.Discard(6)
	return rune(v), err
}
