package redact

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// maxLine is how much of a line is kept until its end comes, in bytes.
const maxLine = 1 << 20

// Writer returns a writer that passes scrubbed lines to w, each in one Write. It holds the beginning of a line back
// until the line ends; Close writes what is left and does not close w. Of a line of more than 1 MiB only the first part
// is written, up to a space, for a secret could lie across any other cut. It is safe for concurrent use.
func (s *Scrubber) Writer(w io.Writer) io.WriteCloser { return &lineWriter{scrubber: s, next: w} }

type lineWriter struct {
	scrubber *Scrubber
	next     io.Writer

	mu      sync.Mutex
	line    []byte // the beginning of an unfinished line
	dropped int    // bytes of the unfinished line that were not kept
}

// Write takes all of p or fails with the error of the writer below.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			l.keep(rest)
			break
		}
		l.keep(rest[:end-1])
		rest = rest[end:]
		if err := l.flush("\n"); err != nil {
			return len(p) - len(rest), err
		}
	}
	return len(p), nil
}

// Close writes an unfinished line.
func (l *lineWriter) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) == 0 {
		return nil
	}
	return l.flush("")
}

func (l *lineWriter) keep(p []byte) {
	n := min(len(p), maxLine-len(l.line))
	l.line = append(l.line, p[:n]...)
	l.dropped += len(p) - n
}

func (l *lineWriter) flush(end string) error {
	tail := ""
	if l.dropped > 0 {
		cut := bytes.LastIndexAny(l.line, " \t") + 1
		tail = fmt.Sprintf("...(%d bytes of a long line cut)", l.dropped+len(l.line)-cut)
		l.line = l.line[:cut]
	}
	text := l.scrubber.String(string(l.line)) + tail + end
	l.line, l.dropped = l.line[:0], 0
	_, err := io.WriteString(l.next, text)
	return err
}
