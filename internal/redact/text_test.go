package redact_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/redact"
)

func TestURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://api.example.com/v1/images?key=abc&x=1#frag": "https://api.example.com/v1/images",
		"https://user:pw@h:8443/p":                           "https://h:8443/p",
		"http://[::1]:80/a%20b/c":                            "http://[::1]:80/a%20b/c",
		"https://h":                                          "https://h",
		"/v1/files/1?sig=x":                                  "/v1/files/1",
		"file:///home/ada/a.png":                             "file:///home/ada/a.png",
		"https://h/a\u202eb":                                 "https://h/a%E2%80%AEb",
		"https://h/" + strings.Repeat("aB3d", 20) + "/x":     "https://h...(83 chars)",
		"data:image/png;base64,AAAA":                         "[unreadable url]",
		"mailto:a@b":                                         "[unreadable url]",
		"https://h/%zz?key=abc":                              "[unreadable url]",
		"https://h/\x00":                                     "[unreadable url]",
		"":                                                   "",
	} {
		if got := redact.URL(in); got != want {
			t.Errorf("URL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestBase64(t *testing.T) {
	t.Parallel()
	run := strings.Repeat("aB3d", 25)
	for _, tt := range []struct {
		in   string
		keep int
		want string
	}{
		{run, 0, "...(100 chars)"},
		{run, 4, "aB3d...(100 chars)"},
		{run, -1, "...(100 chars)"},
		{run, 100, run},
		{run, 1000, run},
		{"<" + run + "==> " + run[:64], 2, "<aB...(102 chars)> " + run[:64]},
		{run[:64], 0, run[:64]},
		{run[:65], 0, "...(65 chars)"},
		{"a " + run + "\n" + run + " b", 0, "a ...(100 chars)\n...(100 chars) b"},
		{"no base64 at all, only words", 0, "no base64 at all, only words"},
	} {
		got := redact.Base64(tt.in, tt.keep)
		if got != tt.want {
			t.Errorf("Base64(%q, %d) = %q, want %q", tt.in, tt.keep, got, tt.want)
		}
		if again := redact.Base64(got, tt.keep); tt.keep <= 64 && again != got {
			t.Errorf("cutting again changed %q into %q", got, again)
		}
	}
}

// Every base64 of random bytes is cut, whatever it is made of: none reads as a name.
func TestBase64OfRandomBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 4_000 {
		data := make([]byte, 49+r.IntN(100))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(data)
			if got, want := redact.Base64(text, 0), fmt.Sprintf("...(%d chars)", len(text)); got != want {
				t.Fatalf("Base64(%q) = %q, want %q", text, got, want)
			}
		}
	}
}

func TestWriter(t *testing.T) {
	t.Parallel()
	const text = "a sk-0123456789abc b\n\nAuthorization: x\nlast sk-0123456789abc"
	const want = "a [redacted] b\n\nAuthorization: [redacted]\nlast [redacted]"
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		w := redact.NewScrubber().Writer(&b)
		for rest := text; rest != ""; {
			n, err := w.Write([]byte(rest[:min(size, len(rest))]))
			if err != nil || n != min(size, len(rest)) {
				t.Fatalf("Write = %d, %v", n, err)
			}
			rest = rest[n:]
		}
		if strings.Contains(b.String(), "last") {
			t.Errorf("pieces of %d: an unfinished line was written: %q", size, b.String())
		}
		for range 2 {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("pieces of %d: %s", size, diff)
		}
	}
}

func TestWriterLongLine(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := redact.NewScrubber(redact.NewSecret("known-secret")).Writer(&b)
	// The secret lies across the place where the line is cut.
	line := strings.Repeat("word ", 1<<20/5) + "known-secret and more"
	solid := strings.Repeat("é", 1<<20)
	if _, err := fmt.Fprintf(w, "%s\n%s\nnext line\n", line, solid); err != nil {
		t.Fatal(err)
	}
	got := strings.SplitAfter(b.String(), "\n")
	if len(got) != 4 || got[2] != "next line\n" {
		t.Fatalf("%d lines, the third is %.80q", len(got), got[min(2, len(got)-1)])
	}
	want := fmt.Sprintf("word ...(%d bytes of a long line cut)\n", len("known-secret and more"))
	if !strings.HasSuffix(got[0], want) {
		t.Errorf("the first line ends in %q, want %q", got[0][len(got[0])-60:], want)
	}
	if want := fmt.Sprintf("...(%d bytes of a long line cut)\n", 2<<20); got[1] != want {
		t.Errorf("the second line is %.80q, want %q", got[1], want)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriterError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken pipe")
	w := redact.NewScrubber().Writer(failing{broken})
	if n, err := w.Write([]byte("held back")); n != 9 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if _, err := w.Write([]byte("one\ntwo\n")); !errors.Is(err, broken) {
		t.Errorf("Write = %v, want the error of the writer below", err)
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, broken) {
		t.Errorf("Close = %v, want the error of the writer below", err)
	}
}

func TestWriterConcurrent(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := redact.NewScrubber().Writer(&b)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if _, err := w.Write([]byte("key sk-0123456789abc used\n")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(strings.Repeat("key [redacted] used\n", 800), b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestBase64KeepsPaths holds long paths that a message must show: a person looks for a paid picture there.
func TestBase64KeepsPaths(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/home/ANNA/Pictures/HOLIDAYS2026/output_1796058375_media-gen__openai-images-generate_e3959360-a64c-45e5-98b2-5aef4da9b9b8",
		"/root/.local/state/mediagen/spool/1796058375-VYBUIRWX72WVMBXJAAXN4JTAQ3-output_1796058375_media-gen__openai-images-generate_x",
		"/tmp/TestDiskFull2290374509/001/state/mediagen/spool/1796059999-QXJHBTN4ZSXZ6LNAZ3TP2QXYZA-cat",
		"/Users/MaxMustermann/Library/Application/Support/mediagen/state/spool/1796058375-abcdefghij-MyPicture",
	} {
		if got := redact.Base64(path, 0); got != path {
			t.Errorf("Base64(%q) = %q, want it untouched", path, got)
		}
	}
}
