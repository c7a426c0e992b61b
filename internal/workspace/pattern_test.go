package workspace

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func TestParseEntry(t *testing.T) {
	t.Parallel()
	tests := []struct {
		entry, base, pattern string
	}{
		{"/srv/media", "/srv/media", ""},
		{"/srv/media/", "/srv/media", ""},
		{"/srv//a/../media", "/srv/media", ""},
		{"out", "/base/out", ""},
		{".", "/base", ""},
		{"/home/*/media", "/home", "*/media/**"},
		{"/home/*/media/", "/home", "*/media/**"},
		{"/home/u*/", "/home", "u*/**"},
		{"/data/*", "/data", "*"},
		{"/data/*.png", "/data", "*.png"},
		{"/data/**", "/data", "**"},
		{"/data/**/", "/data", "**"},
		{"/data/**/out", "/data", "**/out/**"},
		{"/data/img-*/raw", "/data", "img-*/raw/**"},
		{"/a{b,c}/*/[x]?", "/a{b,c}", `*/\[x\]\?/**`},
		{`/d/*/\q`, "/d", `*/\\q/**`},
		{"/d/*//./x", "/d", "*/x/**"},
	}
	for _, tt := range tests {
		got, err := parseEntry(tt.entry, filepath.FromSlash("/base"))
		want := entryParts{base: filepath.FromSlash(tt.base), pattern: tt.pattern}
		if err != nil || got != want {
			t.Errorf("parseEntry(%q) = %+v, %v; want %+v", tt.entry, got, err, want)
		}
	}
	bad := []string{
		"*/media", "media/*", "~/media", "~", "/a/x**", "/a/**x", "/a/***", "/a/*/../b", "/a\x00", "/a\nb",
		"/" + strings.Repeat("a", 1024), "/a" + strings.Repeat("/**/b", 9),
	}
	for _, entry := range bad {
		if got, err := parseEntry(entry, "/base"); fault.CodeOf(err) != fault.PolicyInvalid {
			t.Errorf("parseEntry(%q) = %+v, %v; want policy_invalid", entry, got, err)
		}
	}
}

// TestMatches fixes what each kind of entry opens.
func TestMatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rest   string // after the literal base
		opens  []string
		closed []string
	}{
		{
			"*/media",
			[]string{"u/media", "u/media/a.png", "u/media/x/y/z.png"},
			[]string{"u", "u/media-evil/x", "media", "u/v/media/a", "u/medi", "."},
		},
		{"*", []string{"a.png"}, []string{"a/b.png", "a/b/c"}},
		{"*/", []string{"a/b.png", "a/b/c", "a"}, nil},
		{"*.png", []string{"a.png", ".png"}, []string{"a.jpg", "a/b.png", "a.png/x"}},
		{"**", []string{"a", "a/b/c"}, nil},
		{"**/out", []string{"out", "out/a", "x/out/a", "x/y/out/z/a"}, []string{"x/a", "outer/a", "x/out-evil/a"}},
		{"a*b/c", []string{"ab/c/x", "axxb/c/x"}, []string{"a/b/c/x", "axb/d"}},
		{"*/[x]{y,z}?", []string{"a/[x]{y,z}?/f"}, []string{"a/xy1/f", "a/x/f"}},
		{"caf\u00e9*/", []string{"cafe\u0301s/x", "caf\u00e9/x"}, []string{"cafe/x"}},
	}
	for _, tt := range tests {
		pattern, err := compile(tt.rest)
		if err != nil {
			t.Errorf("compile(%q): %v", tt.rest, err)
			continue
		}
		r := &root{pattern: pattern}
		for _, rel := range tt.opens {
			if !r.matches(rel) {
				t.Errorf("%q does not open %q", tt.rest, rel)
			}
		}
		for _, rel := range tt.closed {
			if r.matches(rel) {
				t.Errorf("%q opens %q", tt.rest, rel)
			}
		}
	}
}

// TestHostilePattern: the worst entries that are accepted still answer at once.
func TestHostilePattern(t *testing.T) {
	t.Parallel()
	pattern, err := compile(strings.Repeat("**/a*a*a*a*/", maxDoubleStars) + "b")
	if err != nil {
		t.Fatal(err)
	}
	r := &root{pattern: pattern}
	name := strings.Repeat(strings.Repeat("a", 40)+"/", 60) + "c"
	start := time.Now()
	if r.matches(name) {
		t.Error("it matches")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("one match took %v", took)
	}
}

func TestBelow(t *testing.T) {
	t.Parallel()
	type answer struct {
		Rel string
		OK  bool
	}
	tests := []struct {
		dir, path string
		want      answer
	}{
		{"/srv/media", "/srv/media", answer{".", true}},
		{"/srv/media", "/srv/media/a/b", answer{"a/b", true}},
		{"/srv/media", "/srv/media-evil/a", answer{"/srv/media-evil/a", false}},
		{"/srv/media", "/srv", answer{"/srv", false}},
		{"/", "/a", answer{"a", true}},
	}
	for _, tt := range tests {
		rel, ok := below(filepath.FromSlash(tt.dir), filepath.FromSlash(tt.path))
		if diff := cmp.Diff(tt.want, answer{rel, ok}); diff != "" {
			t.Errorf("below(%q, %q) (-want +got):\n%s", tt.dir, tt.path, diff)
		}
	}
	head, rel, ok := belowFolded("/Srv/CAFÉ", "/srv/cafe\u0301/a")
	if head != "/srv/cafe\u0301" || rel != "a" || !ok {
		t.Errorf("belowFolded = %q, %q, %v", head, rel, ok)
	}
	if _, _, ok := belowFolded("/srv/media", "/srv"); ok {
		t.Error("a shorter path is below")
	}
}
