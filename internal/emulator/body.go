package emulator

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"time"

	"mediagen/internal/emulator/drawing"
)

// body writes a reply and keeps the first error. Behind an error everything is dropped: the client is gone.
type body struct {
	plan plan
	w    io.Writer
	err  error
}

// drips is into how many pieces the fault slow cuts a body.
const drips = 20

// newBody returns the writer of this reply. expect is about how many bytes will come.
func (x *exchange) newBody(expect int64) *body {
	if x.plan.drip == 0 {
		return &body{plan: x.plan, w: x.w}
	}
	return &body{plan: x.plan, w: &dripper{x: x, step: max(1, expect/drips), pause: x.plan.drip / drips}}
}

// text writes bytes as they are.
func (b *body) text(p []byte) {
	if b.err == nil {
		_, b.err = b.w.Write(p)
	}
}

var errEnough = errors.New("enough")

// base64 writes a picture as the inside of a JSON string, wrong in the way the plan asks for. Unless negative, limit
// is the number of base64 characters after which it stops.
func (b *body) base64(pic drawing.File, limit int64) {
	if b.plan.dataPrefix {
		b.text([]byte("data:" + pic.MIME() + ";base64,"))
	}
	if b.err != nil {
		return
	}
	w := b.w
	if b.plan.escape {
		w = escaper{w}
	}
	if b.plan.badBase64 {
		w = &spoiler{w: w, left: base64Len(pic.Size()) / 2}
	}
	if limit >= 0 {
		w = &limiter{w: w, left: limit}
	}
	enc := base64.NewEncoder(base64.StdEncoding, w)
	_, err := io.Copy(enc, pic.Open())
	if err == nil {
		err = enc.Close()
	}
	if !errors.Is(err, errEnough) {
		b.err = err
	}
}

// base64Len returns the length of size bytes in base64.
func base64Len(size int64) int64 { return (size + 2) / 3 * 4 }

// escaper writes every slash as \/, as some JSON encoders do.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	if _, err := e.w.Write(bytes.ReplaceAll(p, []byte("/"), []byte(`\/`))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// spoiler replaces one byte by a character that is not base64.
type spoiler struct {
	w    io.Writer
	left int64 // bytes before the one
}

func (s *spoiler) Write(p []byte) (int, error) {
	if s.left >= 0 && s.left < int64(len(p)) {
		p = bytes.Clone(p)
		p[s.left] = '*'
	}
	s.left -= int64(len(p))
	return s.w.Write(p)
}

// limiter passes a number of bytes and then fails with errEnough.
type limiter struct {
	w    io.Writer
	left int64
}

func (l *limiter) Write(p []byte) (int, error) {
	n := min(int64(len(p)), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	if n < int64(len(p)) {
		return int(n), errEnough
	}
	return len(p), nil
}

// dripper flushes and pauses after every step bytes, at most drips times.
type dripper struct {
	x     *exchange
	step  int64
	pause time.Duration
	since int64
	count int
}

func (d *dripper) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n := int64(len(p) - done)
		if d.count < drips {
			n = min(n, d.step-d.since)
		}
		w, err := d.x.w.Write(p[done : done+int(n)])
		done += w
		if err != nil {
			return done, err
		}
		if d.since += n; d.since < d.step || d.count >= drips {
			continue
		}
		d.since = 0
		d.count++
		if err := http.NewResponseController(d.x.w).Flush(); err != nil {
			return done, err
		}
		if !wait(d.x.r.Context(), d.pause) {
			return done, d.x.r.Context().Err()
		}
	}
	return done, nil
}
