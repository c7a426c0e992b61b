package openai

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"mediagen/internal/engine"
)

// source is an input of given bytes that announces size.
func source(data string, size int, opened *int) engine.Input {
	return engine.Input{Name: "a.png", MIME: "image/png", Size: int64(size), Open: func() (io.ReadCloser, error) {
		*opened++
		return io.NopCloser(strings.NewReader(data)), nil
	}}
}

// TestAFormIsAsLongAsItSays, or it ends too early: a server that has the announced length holds a whole request.
func TestAFormIsAsLongAsItSays(t *testing.T) {
	t.Parallel()
	const size = 5000
	for name, length := range map[string]int{
		"right": size, "empty": 0, "shorter": size - 1, "longer": size + 1, "as long as what follows": size + 400,
		"much longer": 50 * size,
	} {
		var opened int
		in := source(strings.Repeat("x", length), size, &opened)
		f, err := newForm(engine.ImageCall{Prompt: "p", Images: []engine.Input{in, in}, Mask: &in})
		if err != nil {
			t.Fatal(err)
		}
		for _, chunk := range []int{1, 7, 512, 5000, 5001, 1 << 20} {
			got, err := io.ReadAll(&chunks{f.open(), chunk})
			if length == size {
				if err != nil || int64(len(got)) != f.length || bytes.Count(got, []byte("x")) < 3*size {
					t.Errorf("%s by %d: %d bytes of %d, %v", name, chunk, len(got), f.length, err)
				}
				continue
			}
			if !errors.Is(err, engine.ErrInput) || int64(len(got)) > f.length-2*size {
				t.Errorf("%s by %d: %d bytes of %d, %v, want an input error in the first file", name, chunk, len(got), f.length,
					err)
			}
			if n, err := f.bodies[len(f.bodies)-1].Read(make([]byte, 10)); n != 0 || !errors.Is(err, engine.ErrInput) {
				t.Errorf("%s by %d: behind the error it gives %d bytes, %v", name, chunk, n, err)
			}
		}
	}
}

// chunks reads in pieces of a size.
type chunks struct {
	r    io.Reader
	size int
}

func (c *chunks) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }

func TestAClosedFormOpensNothing(t *testing.T) {
	t.Parallel()
	var opened int
	in := source("xyz", 3, &opened)
	f, err := newForm(engine.ImageCall{Prompt: "p", Images: []engine.Input{in, in}})
	if err != nil || opened > 0 {
		t.Fatal(err, opened)
	}
	b := f.open()
	for opened == 0 { // up to the first input
		if _, err := b.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	f.close()
	f.close()
	if rest, err := io.ReadAll(b); len(rest) > 0 || !errors.Is(err, errClosed) || opened != 1 {
		t.Errorf("%d bytes, %v, %d inputs opened", len(rest), err, opened)
	}
	unread := f.open()
	f.close()
	if rest, err := io.ReadAll(unread); len(rest) > 0 || !errors.Is(err, errClosed) || opened != 1 {
		t.Errorf("%d bytes, %v, %d inputs opened", len(rest), err, opened)
	}
}

// TestInputsThatEndWithTheirLastBytes return data and io.EOF at once, as some readers do.
func TestInputsThatEndWithTheirLastBytes(t *testing.T) {
	t.Parallel()
	for _, wrap := range []func(io.Reader) io.Reader{iotest.DataErrReader, iotest.OneByteReader, iotest.HalfReader} {
		in := engine.Input{Name: "a.png", MIME: "image/png", Size: 5, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(wrap(strings.NewReader("12345"))), nil
		}}
		f, err := newForm(engine.ImageCall{Prompt: "p", Images: []engine.Input{in}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f.open())
		if err != nil || int64(len(got)) != f.length || !bytes.Contains(got, []byte("\r\n\r\n12345\r\n")) {
			t.Errorf("%d bytes of %d, %v", len(got), f.length, err)
		}
	}
}
