package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	maxSkeleton = 4 << 20 // bytes of a reply without its pictures
	maxDepth    = 64      // nesting of a reply
	maxKey      = 4 << 10 // bytes of an object key, and of the head of a data URL
)

// replyError says in our own words what is wrong with a reply. Other errors of reading one come from the network and
// may hold remote bytes.
type replyError string

// Error returns the words.
func (e replyError) Error() string { return string(e) }

const errSyntax = replyError("the reply is not valid JSON")

// scanner copies one JSON value into a skeleton while it streams the pictures out: every string under a "b64_json" key,
// and every data URL under a "url" key, goes to take and stands as "" in the skeleton. So a reply of ten large
// pictures needs a few kilobytes of memory. encoding/json would hold each string whole.
//
// It finds the ends of things and leaves it to encoding/json to refuse a skeleton that is not JSON.
type scanner struct {
	in       *bufio.Reader
	skeleton bytes.Buffer
	stack    []frame
	kind     string // the outermost object's "type", once it has been read
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
		if isSpace(b) {
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

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

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
			return fmt.Errorf("%w: it is nested deeper than %d", errSyntax, maxDepth)
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
		return replyError(fmt.Sprintf("the reply holds more than %d bytes beside its pictures", maxSkeleton))
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
		if !inLiteral(b) {
			return errSyntax
		}
		if err := s.emit(b); err != nil {
			return err
		}
		next, err := s.in.Peek(1)
		if err != nil {
			return cut(err)
		}
		if isSpace(next[0]) || next[0] == ',' || next[0] == '}' || next[0] == ']' {
			return nil
		}
		b, _ = s.in.ReadByte() // cannot fail: peeked
	}
}

func inLiteral(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' || b == '-' || b == '+' || b == '.'
}

// str handles a string whose opening quote has been read.
func (s *scanner) str() error {
	if len(s.stack) == 0 {
		return errSyntax
	}
	f := s.top()
	isKey := !f.array && !f.value
	if !isKey && !f.array && s.isPicture(f.key) {
		if err := s.picture(); err != nil {
			return err
		}
		return s.emit('"', '"')
	}
	from := s.skeleton.Len()
	if err := s.copyString(); err != nil {
		return err
	}
	switch raw := s.skeleton.Bytes()[from:]; {
	case isKey && len(raw) > maxKey:
		return fmt.Errorf("%w: a key is longer than %d bytes", errSyntax, maxKey)
	case isKey:
		return decodeString(raw, &f.key)
	case len(s.stack) == 1 && f.key == "type" && len(raw) <= maxKey:
		return decodeString(raw, &s.kind)
	}
	return nil
}

func decodeString(raw []byte, text *string) error {
	if json.Unmarshal(raw, text) != nil {
		return errSyntax
	}
	return nil
}

// copyString copies a string as it is written, quotes included.
func (s *scanner) copyString() error {
	if err := s.emit('"'); err != nil {
		return err
	}
	for {
		if _, err := s.in.Peek(1); err != nil {
			return cut(err)
		}
		run, _ := s.in.Peek(s.in.Buffered()) // cannot fail: buffered
		n := bytes.IndexByte(run, '"')
		if n < 0 {
			n = len(run)
		}
		if i := bytes.IndexByte(run[:n], '\\'); i >= 0 {
			n = i
		}
		if err := s.emit(run[:n]...); err != nil {
			return err
		}
		_, _ = s.in.Discard(n) // cannot fail: buffered
		if n == len(run) {
			continue
		}
		end, err := s.stop()
		if err != nil || end {
			return err
		}
	}
}

// stop copies the quote that ends a string, or a backslash with what it protects.
func (s *scanner) stop() (end bool, err error) {
	b, _ := s.in.ReadByte() // cannot fail: buffered
	if b == '"' {
		return true, s.emit(b)
	}
	next, err := s.in.ReadByte()
	if err != nil {
		return false, cut(err)
	}
	return false, s.emit(b, next)
}

// isPicture reports whether the string that starts now is a picture.
func (s *scanner) isPicture(key string) bool {
	return key == "b64_json" || key == "url" && s.atDataURL()
}

// atDataURL reports whether the string that starts now is a data URL. It looks no further than it must: a peek beyond
// the string would wait for bytes that a stream sends only later.
func (s *scanner) atDataURL() bool {
	const head = "data:"
	for n := 1; n <= len(head); n++ {
		got, err := s.in.Peek(n)
		if err != nil || got[n-1]|0x20 != head[n-1]|0x20 {
			return false
		}
	}
	return true
}

// picture hands one string to take and reads what take left of it. An empty string, beside a url, is no picture.
func (s *scanner) picture() error {
	if next, err := s.in.Peek(1); err == nil && next[0] == '"' {
		_, err := s.in.ReadByte()
		return err
	}
	text := &stringReader{in: s.in}
	if s.atDataURL() {
		if err := skipComma(text); err != nil {
			return err
		}
	}
	if err := s.take(s.element(), text); err != nil {
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
			if errors.Is(err, io.EOF) {
				return replyError("the reply holds a data URL without data")
			}
			return err
		}
		if one[0] == ',' {
			return nil
		}
	}
	return replyError("the reply holds a data URL without data")
}

// element returns the index in the nearest array.
func (s *scanner) element() int {
	for _, f := range slices.Backward(s.stack) {
		if f.array {
			return f.index
		}
	}
	return 0
}
