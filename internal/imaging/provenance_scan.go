package imaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"mediagen/internal/fault"
)

// maxMetadata bounds how much XMP, and how much of a C2PA store, is searched.
const maxMetadata = 4 << 20

// The URI of a digital source type (IPTC NewsCodes, https://cv.iptc.org/newscodes/digitalsourcetype/), and how long a
// term of its can be.
const (
	termPrefix = "://cv.iptc.org/newscodes/digitalsourcetype/"
	maxTerm    = 64
)

// termScanner searches bytes that come in pieces for the URI of a digital source type.
type termScanner struct {
	cbor bool // the URIs are CBOR text, which names its length, and the last one counts; else the first does
	term string
	seen int // bytes taken so far
	buf  []byte
	kept int // bytes at the start of buf that were searched before
}

// What stands before a prefix that matters (a CBOR head and "https"), and behind its beginning.
const (
	termBefore = 8
	termBehind = len(termPrefix) + maxTerm + 1
)

// feed searches the bytes of s, up to the limit.
func (t *termScanner) feed(s source) error {
	r := partReader{source: s}
	for t.seen < maxMetadata {
		n, err := r.Read(t.room())
		t.take(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Write searches p, up to the limit. It never fails.
func (t *termScanner) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && t.seen < maxMetadata; {
		n := copy(t.room(), rest)
		t.take(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// room returns the free part of the buffer, which is never empty.
func (t *termScanner) room() []byte {
	if t.buf == nil {
		t.buf = make([]byte, 0, 8<<10)
	}
	free := t.buf[len(t.buf):cap(t.buf)]
	return free[:min(len(free), maxMetadata-t.seen)]
}

func (t *termScanner) take(n int) {
	t.buf = t.buf[:len(t.buf)+n]
	t.seen += n
	if len(t.buf) < cap(t.buf) {
		return
	}
	done := len(t.buf) - termBehind
	t.search(done)
	t.kept = termBefore
	t.buf = t.buf[:copy(t.buf, t.buf[done-termBefore:])]
}

// end searches the rest and returns the term found, or "".
func (t *termScanner) end() string {
	t.search(len(t.buf))
	t.kept = len(t.buf)
	return t.term
}

// search looks at the prefixes that begin before limit.
func (t *termScanner) search(limit int) {
	for at := t.kept; at < limit; {
		i := bytes.Index(t.buf[at:], []byte(termPrefix))
		if i < 0 || at+i >= limit {
			return
		}
		at += i
		if term := t.termAt(at); term != "" && (t.cbor || t.term == "") {
			t.term = term
		}
		at += len(termPrefix)
	}
}

// termAt reads the term of the URI whose "://" stands at i. CBOR puts nothing behind a text but the next item, whose
// first byte may be a letter; so the length before it counts (RFC 8949 §3: 0x78 and one byte, 0x79 and two).
func (t *termScanner) termAt(i int) string {
	before, tail := t.buf[:i], t.buf[i+len(termPrefix):]
	start, ok := bytes.CutSuffix(before, []byte("http"))
	if !ok {
		if start, ok = bytes.CutSuffix(before, []byte("https")); !ok {
			return ""
		}
	}
	uri := len(before) - len(start) + len(termPrefix)
	if n := len(start); t.cbor && n >= 2 {
		length := 0
		switch {
		case start[n-2] == 0x78:
			length = int(start[n-1])
		case n >= 3 && start[n-3] == 0x79:
			length = int(binary.BigEndian.Uint16(start[n-2:]))
		}
		if length > uri {
			tail = tail[:min(len(tail), length-uri)]
		}
	}
	n := slices.IndexFunc(tail, func(c byte) bool { return !isLetter(c) })
	if n < 0 {
		n = len(tail)
	}
	if n > maxTerm {
		return ""
	}
	return string(tail[:n])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// partReader reads a source from its start. Its errors are io.EOF and io_failed.
type partReader struct {
	source
	off int64
}

func (p *partReader) Read(b []byte) (int, error) {
	n := int(min(int64(len(b)), p.size-p.off))
	if n <= 0 {
		return 0, io.EOF
	}
	got, err := p.r.ReadAt(b[:n], p.off)
	p.off += int64(got)
	switch {
	case got == n:
		return n, nil
	case err == nil || errors.Is(err, io.EOF): // the file is shorter than was said
		return got, io.EOF
	}
	return got, fault.Caused(fault.IOFailed, err, "the file cannot be read")
}
