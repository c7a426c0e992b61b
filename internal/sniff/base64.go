package sniff

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"mediagen/internal/fault"
)

// DecodeBase64 decodes standard, padded base64 (RFC 4648 §4) of at most limit bytes. The size is estimated before
// anything is allocated: item_too_large. Line breaks, spaces, the URL alphabet, missing padding and non-zero trailing
// bits are invalid_base64, so that decoding and encoding again gives s.
func DecodeBase64(s string, limit int64) ([]byte, error) {
	if err := checkItem(decodedLen(s), limit); err != nil {
		return nil, err
	}
	for _, c := range []byte("\r\n") { // Go skips these, even with Strict
		if i := strings.IndexByte(s, c); i >= 0 {
			return nil, badBase64(int64(i))
		}
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, wrapBase64(err, 0)
	}
	return b, nil
}

// decodedLen estimates from the length alone: floor(len*3/4) - padding.
func decodedLen(s string) int64 {
	pad := 0
	for pad < 2 && pad < len(s) && s[len(s)-1-pad] == '=' {
		pad++
	}
	return max(0, int64(len(s)/4*3+len(s)%4*3/4-pad))
}

func badBase64(offset int64) error {
	return fault.New(fault.InvalidBase64,
		"not standard base64 with padding: character %d does not belong there", offset+1)
}

func wrapBase64(err error, base int64) error {
	if c, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return badBase64(base + int64(c))
	}
	return fault.Caused(fault.InvalidBase64, err, "not standard base64 with padding")
}

// chunk is how much base64 the streaming decoder holds at once. It is a multiple of 4, and small enough that the
// decoder and its output stay in the processor's first-level cache.
const chunk = 16 << 10

// NewBase64Reader returns a reader that decodes the base64 of r as it passes, in constant memory. It accepts exactly
// what DecodeBase64 accepts; with stripNewlines, CR and LF are dropped first wherever they stand, as mail and PEM tools
// wrap lines. Its own errors are invalid_base64; errors of r pass through unchanged. It reads r in pieces of at most
// 16 KiB and never past the error that r returns.
func NewBase64Reader(r io.Reader, stripNewlines bool) io.Reader {
	return &base64Reader{r: r, strip: stripNewlines}
}

type base64Reader struct {
	r      io.Reader
	strip  bool
	padded bool  // padding was seen: nothing may follow
	err    error // sticky; delivered after pending
	offset int64 // base64 characters decoded so far

	in      [chunk]byte
	held    int    // undecoded bytes at the front of in, fewer than 4 between calls
	pending []byte // decoded bytes in out that the caller has not taken
	out     [chunk / 4 * 3]byte
}

// Read decodes straight into p when p takes a whole chunk, else through a buffer of its own.
func (d *base64Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(d.pending) == 0 && d.err == nil {
		if len(p) >= len(d.out) {
			if n := d.decode(p); n > 0 {
				return n, nil
			}
			continue
		}
		d.pending = d.out[:d.decode(d.out[:])]
	}
	n := copy(p, d.pending)
	d.pending = d.pending[n:]
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

// decode reads once from r and decodes all whole groups of four into dst, which must hold a chunk's worth.
func (d *base64Reader) decode(dst []byte) int {
	n, err := d.read(d.in[d.held:])
	fresh := d.in[d.held : d.held+n]
	if d.strip {
		fresh = drop(drop(fresh, '\n'), '\r')
	} else if i := newline(fresh); i >= 0 {
		// What stands before the line break may be fine, but a reply that breaks the rule is not worth a prefix.
		d.err = badBase64(d.offset + int64(d.held+i))
		return 0
	}
	d.held += len(fresh)
	whole := d.held / 4 * 4
	if d.padded && d.held > 0 {
		d.err = badBase64(d.offset)
		return 0
	}
	written, decodeErr := base64.StdEncoding.Strict().Decode(dst, d.in[:whole])
	if decodeErr != nil {
		d.err = wrapBase64(decodeErr, d.offset)
		return written
	}
	d.padded = d.padded || whole > 0 && d.in[whole-1] == '='
	d.offset += int64(whole)
	d.held = copy(d.in[:], d.in[whole:d.held])
	if err != nil {
		d.err = d.end(err)
	}
	return written
}

// read reads at least one byte, or fails.
func (d *base64Reader) read(p []byte) (int, error) {
	for range 100 {
		if n, err := d.r.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// end turns the end of r into the reader's own end: a group that is not complete is not base64.
func (d *base64Reader) end(err error) error {
	if errors.Is(err, io.EOF) && d.held > 0 {
		return fault.New(fault.InvalidBase64,
			"not standard base64 with padding: it ends inside a group of four characters")
	}
	return err
}

// newline returns the index of a line break in b, or -1. IndexByte is several times faster than IndexAny.
func newline(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i
	}
	return bytes.IndexByte(b, '\r')
}

// drop removes every c from b in place.
func drop(b []byte, c byte) []byte {
	i := bytes.IndexByte(b, c)
	if i < 0 {
		return b
	}
	kept := b[:i]
	for b = b[i+1:]; ; b = b[i+1:] {
		if i = bytes.IndexByte(b, c); i < 0 {
			return append(kept, b...)
		}
		kept = append(kept, b[:i]...)
	}
}
