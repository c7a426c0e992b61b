package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"sync"

	"github.com/openai/openai-go/v3/option"

	"mediagen/internal/engine"
)

// form is a multipart body whose files are read only while they are sent, so that no input is held in memory. The SDK's
// own Edit method would build the whole body first.
type form struct {
	frame       []byte  // everything but the bytes of the files
	gaps        []gap   // where these go, in order
	length      int64   // bytes in all
	contentType string  // with the boundary
	bodies      []*body // handed out; one for each time the form is sent
}

// gap is where a file belongs.
type gap struct {
	at int // offset in the frame
	in engine.Input
}

// newForm writes the frame of a call's form as the SDK orders it. No input is opened.
func newForm(call engine.ImageCall) (*form, error) {
	var frame bytes.Buffer
	f := &form{}
	w := multipart.NewWriter(&frame)
	params, err := editParams(call, func(in engine.Input) io.Reader {
		return readerFunc(func([]byte) (int, error) {
			f.gaps = append(f.gaps, gap{at: frame.Len(), in: in})
			return 0, io.EOF
		})
	})
	if err != nil {
		return nil, err
	}
	if err := params.MarshalMultipartTo(w); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	f.frame, f.contentType = frame.Bytes(), w.FormDataContentType()
	f.length = int64(len(f.frame))
	for _, g := range f.gaps {
		f.length += g.in.Size
	}
	return f, nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// open returns the whole form from its start.
func (f *form) open() *body {
	b := &body{}
	from := 0
	var parts []io.Reader
	for _, g := range f.gaps {
		file := &fileReader{in: g.in}
		b.files = append(b.files, file)
		parts = append(parts, bytes.NewReader(f.frame[from:g.at]), file)
		from = g.at
	}
	b.parts = io.MultiReader(append(parts, bytes.NewReader(f.frame[from:]))...)
	f.bodies = append(f.bodies, b)
	return b
}

// close ends all reading. A connection that is still sending the form, for a server may answer early, then breaks.
func (f *form) close() {
	for _, b := range f.bodies {
		_ = b.Close() // inputs are opened for reading only
	}
}

// frameRequest gives a request the form's length, which spares servers and gateways that refuse chunked uploads, and a
// second body for the case that a kept connection turns out to be dead before a byte was written.
func (f *form) frameRequest(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	req.ContentLength = f.length
	req.GetBody = func() (io.ReadCloser, error) { return f.open(), nil }
	return next(req)
}

// body is one pass over a form. net/http reads and closes it on goroutines of its own.
type body struct {
	mu     sync.Mutex
	parts  io.Reader
	files  []*fileReader
	closed bool
}

var errClosed = errors.New("the form is closed")

// Read reads on, an input being opened when its turn comes.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, errClosed
	}
	return b.parts.Read(p)
}

// Close waits for a Read that is under way. After it, no input is touched.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	var errs []error
	for _, f := range b.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// fileReader reads one input of exactly its size. A file that grew would fill the announced length before the form is
// complete: some servers would take that, and a request that the caller believes broken would be billed.
type fileReader struct {
	in   engine.Input
	rc   io.ReadCloser // nil before the first Read and after the end
	read int64
	err  error // sticky
}

// Read reads the input; whatever is wrong with it is an inputError.
func (f *fileReader) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.rc == nil {
		rc, err := f.in.Open()
		if err != nil {
			f.err = &inputError{f.in.Name, "cannot be opened", err}
			return 0, f.err
		}
		f.rc = rc
	}
	n, err := f.rc.Read(p)
	f.read += int64(n)
	switch {
	case f.read > f.in.Size, errors.Is(err, io.EOF) && f.read < f.in.Size:
		f.err = &inputError{name: f.in.Name, what: "changed while it was sent"}
	case errors.Is(err, io.EOF):
		f.err = io.EOF
	case err != nil:
		f.err = &inputError{f.in.Name, "cannot be read", err}
	default:
		return n, nil
	}
	_ = f.close() // opened for reading only
	if !errors.Is(f.err, io.EOF) {
		n = 0 // nothing of a picture that is not what was announced goes on
	}
	return n, f.err
}

func (f *fileReader) close() error {
	if f.rc == nil {
		return nil
	}
	rc := f.rc
	f.rc = nil
	if f.err == nil {
		f.err = errClosed
	}
	return rc.Close()
}

// inputError is an input that failed while it was sent. It is an engine.ErrInput.
type inputError struct {
	name, what string
	cause      error // nil when the input is merely not what it was
}

// Error names the input.
func (e *inputError) Error() string { return fmt.Sprintf("input %s %s", e.name, e.what) }

// Unwrap returns engine.ErrInput and the cause.
func (e *inputError) Unwrap() []error {
	if e.cause == nil {
		return []error{engine.ErrInput}
	}
	return []error{engine.ErrInput, e.cause}
}
