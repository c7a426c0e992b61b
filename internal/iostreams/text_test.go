package iostreams

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                      "",
		"plain, Grüße 犬 👩‍👩‍👧":  "plain, Grüße 犬 👩‍👩‍👧",
		"a\nb\rc\td":            `a\nb\rc\td`,
		"\x1b[31mred\x1b]0;t\a": `\x1b[31mred\x1b]0;t\x07`,
		"\x7f\u0085\u009b":      `\x7f\u0085\u009b`,
		"gpj.\u202eexe\u2066":   `gpj.\u202eexe\u2066`,
		"a\u2028b\u2029":        `a\u2028b\u2029`,
		"bad \xff\xc3":          `bad \xff\xc3`,
		"\ufffd":                "\ufffd",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[2Jb\xff\u202e")
	f.Fuzz(func(t *testing.T, in string) {
		got := Printable(in)
		if strings.IndexFunc(got, unprintable) >= 0 || !utf8.ValidString(got) {
			t.Errorf("Printable(%q) = %q", in, got)
		}
		if again := Printable(got); again != got {
			t.Errorf("Printable changed %q into %q", got, again)
		}
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in      string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"a longer label", 10, "a longe..."},
		{"犬犬犬犬犬", 10, "犬犬犬犬犬"},
		{"犬犬犬犬犬犬", 10, "犬犬犬..."},
		{"abcdef", 3, "..."},
		{"abcdef", 1, "."},
		{"abcdef", 0, ""},
		{"abcdef", -5, ""},
	} {
		got := clip(tt.in, tt.columns)
		if got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.in, tt.columns, got, tt.want)
		}
	}
}

func TestMiddle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in      string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"a-long-file-name.png", 12, "a-lon....png"},
		{"a-long-file-name.png", 11, "a-lo....png"},
		{"犬犬犬犬犬犬", 12, "犬犬犬犬犬犬"},
		{"犬犬犬犬犬犬", 11, "犬犬...犬犬"},
		{"犬犬犬犬犬犬", 8, "犬...犬"},
		{"abcdef", 3, "..."},
		{"abcdef", 1, "."},
		{"abcdef", -5, ""},
	} {
		if got := Middle(tt.in, tt.columns); got != tt.want || Width(got) > max(tt.columns, 0) {
			t.Errorf("Middle(%q, %d) = %q, want %q", tt.in, tt.columns, got, tt.want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]string{
		0:                        "0s",
		2345 * time.Millisecond:  "2.3s",
		9949 * time.Millisecond:  "9.9s",
		35600 * time.Millisecond: "36s",
		125 * time.Second:        "2m5s",
	} {
		if got := duration(in); got != want {
			t.Errorf("duration(%d) = %s, want %s", in, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for in, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 12_345_678: "12.3 MB", 999_999: "1.0 MB", 1 << 62: "4.6 EB",
	} {
		if got := size(in); got != want {
			t.Errorf("size(%d) = %s, want %s", in, got, want)
		}
	}
}
