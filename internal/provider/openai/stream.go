package openai

import (
	"bufio"
	"errors"
	"io"
)

// events reads a streamed reply. It counts only with a completed event: a stream that is cut off ends like any other.
func (r *receiver) events(in *bufio.Reader) error {
	stream := &eventStream{in: in}
	data := bufio.NewReaderSize(nil, readBuffer)
	completed := false
	for {
		err := stream.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		data.Reset(stream)
		if last, _ := data.Peek(len(done)); string(last) == done { // what else is wrong with it will turn up
			break
		}
		final, err := r.event(stream, data)
		if err != nil {
			return err
		}
		completed = completed || final
		if _, err := io.Copy(io.Discard, data); err != nil { // the rest of the event
			return err
		}
	}
	if !completed {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// done is the data of the event by which servers say that no other will come.
const done = "[DONE]"

// event reads the data of one event and reports whether it held, or named, a final picture.
func (r *receiver) event(stream *eventStream, data *bufio.Reader) (final bool, err error) {
	first, err := firstByte(data)
	if errors.Is(err, io.EOF) || err == nil && first != '{' { // a pulse
		return false, nil
	}
	if err != nil {
		return false, err
	}
	b, err := r.object(data, stream)
	if err != nil {
		return false, err
	}
	return r.finish(b)
}

// firstByte peeks at the first byte that is no white space.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		head, err := in.Peek(1)
		if err != nil {
			return 0, err
		}
		if !isSpace(head[0]) {
			return head[0], nil
		}
		_, _ = in.Discard(1) // cannot fail: peeked
	}
}
