package sniff_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

func noise(n int) []byte {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(b) // never fails
	return b
}

func TestDecodeBase64(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		in    string
		limit int64
		want  string
		code  fault.Code
	}{
		{"empty", "", 10, "", ""},
		{"one byte", "aA==", 1, "h", ""},
		{"at the limit", "aGVsbG8=", 5, "hello", ""},
		{"one over the limit", "aGVsbG8=", 4, "", fault.ItemTooLarge},
		{"limit before alphabet", "!!!!!!!!", 4, "", fault.ItemTooLarge},
		{"no padding, over the limit", "aGVsbG8", 4, "", fault.ItemTooLarge},
		{"no padding", "aGVsbG8", 5, "", fault.InvalidBase64},
		{"data behind padding", "aA==aA==", 10, "", fault.InvalidBase64},
		{"bare CR", "aG\rk=", 10, "", fault.InvalidBase64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := sniff.DecodeBase64(tt.in, tt.limit)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("DecodeBase64 (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.code, fault.CodeOf(err)); diff != "" {
				t.Errorf("code (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

// Not parallel, as the heap is everyone's.
func TestDecodeBase64RefusesBeforeAllocating(t *testing.T) {
	s := strings.Repeat("A", 20_000_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := sniff.DecodeBase64(s, 10_000_000)
	runtime.ReadMemStats(&after)
	if fault.CodeOf(err) != fault.ItemTooLarge {
		t.Errorf("got %v, want item_too_large", err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<10 {
		t.Errorf("refusing 20 MB of base64 allocates %d bytes, want at most 64 KiB", grown)
	}
}

func TestBase64Reader(t *testing.T) {
	t.Parallel()
	data := noise(100_000)
	plain := base64.StdEncoding.EncodeToString(data)
	var wrapped strings.Builder
	for s := plain; s != ""; {
		n := min(76, len(s))
		wrapped.WriteString(s[:n] + "\r\n")
		s = s[n:]
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole":      func(r io.Reader) io.Reader { return r },
		"one byte":   iotest.OneByteReader,
		"half":       iotest.HalfReader,
		"data + EOF": iotest.DataErrReader,
	}
	for name, slow := range readers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := io.ReadAll(sniff.NewBase64Reader(slow(strings.NewReader(plain)), false))
			if err != nil || !bytes.Equal(data, got) {
				t.Errorf("plain: %d bytes, %v, want %d bytes", len(got), err, len(data))
			}
			got, err = io.ReadAll(sniff.NewBase64Reader(slow(strings.NewReader(wrapped.String())), true))
			if err != nil || !bytes.Equal(data, got) {
				t.Errorf("wrapped: %d bytes, %v, want %d bytes", len(got), err, len(data))
			}
			_, err = io.ReadAll(sniff.NewBase64Reader(slow(strings.NewReader(wrapped.String())), false))
			if fault.CodeOf(err) != fault.InvalidBase64 {
				t.Errorf("wrapped without stripping: %v, want invalid_base64", err)
			}
		})
	}
	if err := iotest.TestReader(sniff.NewBase64Reader(strings.NewReader(plain), false), data); err != nil {
		t.Error(err)
	}
}

func TestBase64ReaderErrors(t *testing.T) {
	t.Parallel()
	cut := errors.New("connection reset")
	tests := []struct {
		name string
		in   io.Reader
		want string // bytes before the error
		code fault.Code
		is   error
	}{
		{"transport error passes", io.MultiReader(strings.NewReader("aGVsbG8h"), iotest.ErrReader(cut)), "hello!", "", cut},
		{"cut inside a group", strings.NewReader("aGVsbG8haG"), "hello!", fault.InvalidBase64, nil},
		{"data behind padding", strings.NewReader("aA==aA=="), "h", fault.InvalidBase64, nil},
		{
			"data behind padding in another read",
			iotest.OneByteReader(strings.NewReader("aA==aA==")), "h", fault.InvalidBase64, nil,
		},
		{"reader without progress", stuckReader{}, "", "", io.ErrNoProgress},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := sniff.NewBase64Reader(tt.in, false)
			got, err := io.ReadAll(r)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.code, fault.CodeOf(err)); diff != "" {
				t.Errorf("code (-want +got):\n%s\n%v", diff, err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error is %v, want %v", err, tt.is)
			}
			if _, again := r.Read(make([]byte, 9)); !errors.Is(again, err) {
				t.Errorf("the error does not stay: %v, then %v", err, again)
			}
		})
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

func FuzzBase64Reader(f *testing.F) {
	for _, s := range []string{"", "aGk=", "aGk", "aGl=", "aG\nk=", "aGk=\r\n", "_-8=", "====", "aA==aA==", "AAAA\r\n"} {
		f.Add(s, uint8(3), uint8(5))
	}
	f.Fuzz(func(t *testing.T, s string, in, out uint8) {
		compare(t, s, false, in, out)
		compare(t, s, true, in, out)
	})
}

// compare checks the streaming decoder, fed and drained in odd pieces, against the strict one.
func compare(t *testing.T, s string, strip bool, in, out uint8) {
	t.Helper()
	whole := s
	if strip {
		whole = strings.NewReplacer("\r", "", "\n", "").Replace(s)
	}
	want, wantErr := sniff.DecodeBase64(whole, 1<<30)
	r := sniff.NewBase64Reader(&pieces{s: s, n: int(in)%7 + 1}, strip)
	var got []byte
	var err error
	for piece := make([]byte, int(out)%9+1); err == nil; {
		var n int
		n, err = r.Read(piece)
		got = append(got, piece[:n]...)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if (err == nil) != (wantErr == nil) || fault.CodeOf(err) != fault.CodeOf(wantErr) {
		t.Fatalf("streaming %q (strip %v): %v, strict: %v", s, strip, err, wantErr)
	}
	if err == nil && !bytes.Equal(got, want) {
		t.Fatalf("streaming %q gives %q, strict %q", s, got, want)
	}
	if err == nil && base64.StdEncoding.EncodeToString(got) != whole {
		t.Fatalf("%q does not survive decoding and encoding", whole)
	}
}

// pieces delivers s in reads of at most n bytes.
type pieces struct {
	s string
	n int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.s == "" {
		return 0, io.EOF
	}
	n := copy(b, p.s[:min(p.n, len(p.s))])
	p.s = p.s[n:]
	return n, nil
}

func BenchmarkBase64Reader(b *testing.B) {
	data := noise(3_000_000)
	plain := base64.StdEncoding.EncodeToString(data)
	for name, buffer := range map[string]int{"4KiB": 4 << 10, "32KiB": 32 << 10} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			piece := make([]byte, buffer)
			for b.Loop() {
				r := sniff.NewBase64Reader(strings.NewReader(plain), false)
				n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, piece)
				if err != nil || n != int64(len(data)) {
					b.Fatal(n, err)
				}
			}
		})
	}
}
