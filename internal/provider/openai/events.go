package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxEventLine bounds a line of a stream that holds no picture, in bytes.
const maxEventLine = 64 << 10

// events reads a server-sent event stream (WHATWG HTML §9.2). Data lines are scanned as they arrive: the SDK's reader
// holds a line whole and gives up at 32 MiB. A stream counts only with its completed event.
func (r *receiver) events(in *bufio.Reader) error {
	completed, partials := 0, 0
	event := ""
	for {
		name, err := fieldName(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch name {
		case "event":
			if event, err = line(in); err != nil {
				return err
			}
		case "data":
			done, partial, err := r.event(in, event, completed, partials)
			if err != nil {
				return err
			}
			event = ""
			if done {
				completed++
				partials = 0
			} else if partial {
				partials++
			}
		case "": // a blank line ends an event
			event = ""
		default: // comments, id, retry
			if _, err := line(in); err != nil {
				return err
			}
		}
	}
	if completed == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// event reads one data line and reports whether it completed a picture or carried a partial one.
func (r *receiver) event(in *bufio.Reader, name string, completed, partials int) (done, partial bool, err error) {
	head, err := in.Peek(1)
	if err != nil {
		return false, false, cut(err)
	}
	if head[0] != '{' { // [DONE]
		_, err := line(in)
		return false, false, err
	}
	if name == "" {
		name = typeOf(in)
	}
	partial = strings.HasSuffix(name, "partial_image")
	r.slot.Index, r.slot.Partial = completed, 0
	if partial {
		r.slot.Partial = partials + 1
	}
	before := r.reply.Pictures
	b, err := r.object(in)
	if err != nil {
		return false, false, err
	}
	if partial && b.Error == nil {
		return false, true, nil
	}
	if err := r.finish(b); err != nil {
		return false, false, err
	}
	return r.reply.Pictures > before || r.broken != nil || r.foreign > 0, false, nil
}

// typeOf finds the type of an event that came without an event line, without reading it.
func typeOf(in *bufio.Reader) string {
	head, _ := in.Peek(min(max(in.Buffered(), 1), 4<<10)) // a short peek is enough to look at
	if i := bytes.Index(head, []byte("partial_image\"")); i >= 0 {
		return "partial_image"
	}
	return ""
}

// fieldName reads up to the colon of a line; a blank line gives "".
func fieldName(in *bufio.Reader) (string, error) {
	var name []byte
	for len(name) < maxEventLine {
		b, err := in.ReadByte()
		if errors.Is(err, io.EOF) && len(name) > 0 {
			return "", io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", err
		}
		switch b {
		case '\r':
		case '\n':
			return string(name), nil
		case ':':
			if next, err := in.Peek(1); err == nil && next[0] == ' ' {
				_, _ = in.Discard(1) // cannot fail: peeked
			}
			if len(name) == 0 {
				return "comment", nil
			}
			return string(name), nil
		default:
			name = append(name, b)
		}
	}
	return "", errSyntax
}

// line reads the rest of a line.
func line(in *bufio.Reader) (string, error) {
	var text []byte
	for len(text) < maxEventLine {
		b, err := in.ReadByte()
		if err != nil {
			return "", cut(err)
		}
		if b == '\n' {
			return strings.TrimSpace(string(text)), nil
		}
		text = append(text, b)
	}
	return "", errSyntax
}
