package emulator

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mediagen/internal/emulator/drawing"
)

// inPieces writes p in pieces of random length, as encoders do.
func inPieces(t *testing.T, rng *rand.Rand, w io.Writer, p []byte) error {
	t.Helper()
	for len(p) > 0 {
		n := 1 + rng.IntN(min(len(p), 700))
		wrote, err := w.Write(p[:n])
		if err != nil {
			return err
		}
		if wrote != n {
			t.Fatalf("wrote %d of %d bytes without an error", wrote, n)
		}
		p = p[n:]
	}
	return nil
}

func TestWritersDoNotDependOnPieces(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	text := []byte(strings.Repeat("ab/cd//e", 500))
	for range 50 {
		at := rng.IntN(len(text))
		tests := []struct {
			name string
			make func(w io.Writer) io.Writer
			want string
			err  error
		}{
			{"escaper", func(w io.Writer) io.Writer { return escaper{w} }, strings.ReplaceAll(string(text), "/", `\/`), nil},
			{
				"spoiler", func(w io.Writer) io.Writer { return &spoiler{w: w, left: int64(at)} },
				string(text[:at]) + "*" + string(text[at+1:]), nil,
			},
			{
				"limiter", func(w io.Writer) io.Writer { return &limiter{w: w, left: int64(at)} },
				string(text[:at]), errEnough,
			},
		}
		for _, tt := range tests {
			var out bytes.Buffer
			if err := inPieces(t, rng, tt.make(&out), text); !errors.Is(err, tt.err) {
				t.Errorf("%s at %d: error = %v, want %v", tt.name, at, err, tt.err)
			}
			if out.String() != tt.want {
				t.Errorf("%s at %d: wrong bytes", tt.name, at)
			}
		}
	}
	if string(text) != strings.Repeat("ab/cd//e", 500) {
		t.Error("a writer changed its caller's bytes")
	}
}

// failing fails after a number of bytes.
type failing struct{ left int }

var errGone = errors.New("client is gone")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return 0, errGone
	}
	f.left -= len(p)
	return len(p), nil
}

func TestBodyKeepsTheFirstError(t *testing.T) {
	t.Parallel()
	pic := drawing.Vector(drawing.Sketch{Width: 100, Height: 100, Prompt: strings.Repeat("long ", 2000), Count: 1})
	for name, p := range map[string]plan{
		"plain": {}, "escape": {escape: true}, "bad": {badBase64: true}, "prefix": {dataPrefix: true},
	} {
		b := &body{plan: p, w: &failing{left: 1500}}
		b.text([]byte("head"))
		b.base64(pic, -1)
		if !errors.Is(b.err, errGone) {
			t.Errorf("%s: error = %v, want %v", name, b.err, errGone)
		}
		b.w = io.Discard
		b.text([]byte("more"))
		b.base64(pic, -1)
		if !errors.Is(b.err, errGone) {
			t.Errorf("%s: the error was forgotten: %v", name, b.err)
		}
	}
}

func TestBase64LenIsExact(t *testing.T) {
	t.Parallel()
	for n := range int64(40) {
		if got, want := base64Len(n), int64(base64.StdEncoding.EncodedLen(int(n))); got != want {
			t.Errorf("base64Len(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestDripperPausesABoundedNumberOfTimes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		expect int64
		size   int
		pauses int
	}{
		"as expected":        {1000, 1000, drips},
		"more than expected": {1000, 50_000, drips},
		"less than expected": {1000, 400, 8},
		"nothing expected":   {0, 5, 5},
	} {
		rec := httptest.NewRecorder()
		x := &exchange{
			w: &replyWriter{ResponseWriter: rec, before: func(int) {}},
			r: httptest.NewRequest("GET", "/", nil), plan: plan{drip: drips * time.Microsecond},
		}
		out := x.newBody(tt.expect)
		d, ok := out.w.(*dripper)
		if !ok {
			t.Fatal("no dripper for a slow body")
		}
		if err := inPieces(t, rand.New(rand.NewPCG(1, 1)), out.w, make([]byte, tt.size)); err != nil {
			t.Fatal(err)
		}
		if rec.Body.Len() != tt.size || d.count != tt.pauses {
			t.Errorf("%s: %d bytes and %d pauses, want %d and %d", name, rec.Body.Len(), d.count, tt.size, tt.pauses)
		}
	}
}

func TestWaitEndsWithTheClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if !wait(ctx, time.Microsecond) {
		t.Error("wait did not last")
	}
	cancel()
	if wait(ctx, time.Hour) {
		t.Error("wait outlived its client")
	}
}
