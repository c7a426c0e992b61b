package workspace

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mediagen/internal/fault"
)

// maze is a root with links in and out, and a secret outside.
func maze(tb testing.TB) sandbox {
	tb.Helper()
	s := newSandbox(tb)
	write(tb, filepath.Join(s.dir, "srv", "media-evil", "f"), "SECRET")
	write(tb, filepath.Join(s.dir, "srv", "secret"), "SECRET")
	write(tb, s.in("f"), "inside")
	write(tb, s.in("d/f"), "open") // what a pattern that names d opens
	write(tb, s.in("d/e/f"), "open")
	write(tb, filepath.Join(s.dir, "srv", "other", "d", "f"), "open")
	write(tb, filepath.Join(s.dir, "srv", "other", "f"), "SECRET")
	symlink(tb, "../f", s.in("d/inside"))
	symlink(tb, "../media", filepath.Join(s.dir, "srv", "other", "media"))
	symlink(tb, "other", filepath.Join(s.dir, "srv", "alias"))
	mkdir(tb, filepath.Join(s.dir, "srv", "third"))
	symlink(tb, "../other", filepath.Join(s.dir, "srv", "third", "d"))
	symlink(tb, "../secret", s.in("out"))
	symlink(tb, filepath.Join(s.dir, "srv"), s.in("abs"))
	symlink(tb, "..", s.in("up"))
	symlink(tb, "../..", s.in("d/up"))
	symlink(tb, "d/e", s.in("in"))
	symlink(tb, "loop", s.in("loop"))
	symlink(tb, "../d/f", s.in("d/in"))
	return s
}

// FuzzResolvePath: whatever a path says, what is allowed lies below the root in text, never makes os.Root say that it
// escapes, and never yields a byte of the outside; and what is denied for leaving would indeed not be found inside.
func FuzzResolvePath(f *testing.F) {
	for _, p := range []string{
		"f", "d/f", "d/../f", "../secret", "d/../../secret", "out", "abs/secret", "up/secret", "d/up/f", "in/f", "loop",
		"file:///f", "file:///%2e%2e/secret", "/etc/passwd", "ROOT/f", "ROOT-evil/f", "ROOT/../secret", "file://ROOT/d/f",
		"ROOT/d/./e//f", "d/", "out/", "./.", "...", "..", "", "\x00", "a\\b", "C:f", "//x/y", "~", "d/e/../../../secret",
		"ROOT/d/inside", "ROOT/../third/d/f", "ROOT/../alias/d/f", "ROOT/../other/d/f", "ROOT/d/up/media/f", "ROOT/d/in",
		"file://ROOT/out", "FILE://localhost/ROOT/f", "d/.", "up/media/f", "abs/media/f",
	} {
		f.Add(p)
	}
	s := maze(f)
	w := open(f, s.config())
	pattern := s.config()
	pattern.Dirs = []string{filepath.Join(s.dir, "srv") + "/*/d/"}
	narrow := open(f, pattern)
	raw, err := os.OpenRoot(s.media)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = raw.Close() })
	f.Fuzz(func(t *testing.T, p string) {
		p = strings.ReplaceAll(p, "ROOT", s.media)
		checkBytes(t, narrow, p, "open")
		checkBytes(t, w, p, "inside", "open")
		for _, a := range []Access{Read, Write} {
			d := w.Check(p, a)
			if d.Allow != (d.Err == nil) {
				t.Fatalf("%q: Allow %v with %v", p, d.Allow, d.Err)
			}
			if d.Err != nil && fault.CodeOf(d.Err) == "" {
				t.Fatalf("%q: an error without a code: %v", p, d.Err)
			}
			if d.Allow {
				checkAllowed(t, s, raw, p, d)
			}
		}
	})
}

// checkBytes opens p and wants one of the texts, or a refusal.
func checkBytes(t *testing.T, w *Workspace, p string, texts ...string) {
	t.Helper()
	in, err := w.Open(p, 1<<20)
	if err != nil {
		return
	}
	defer func() { _ = in.Close() }()
	if b, err := io.ReadAll(in); err != nil || !slices.Contains(texts, string(b)) {
		t.Fatalf("Open(%q) reads %q, %v", p, b, err)
	}
}

func checkAllowed(t *testing.T, s sandbox, raw *os.Root, p string, d Decision) {
	t.Helper()
	rel, in := below(s.media, d.Path)
	if !in || !filepath.IsLocal(filepath.FromSlash(rel)) || filepath.Clean(d.Path) != d.Path || !utf8.ValidString(d.Path) {
		t.Fatalf("%q is allowed as %q, which is not below the root", p, d.Path)
	}
	if _, err := raw.Stat(rel); err != nil && strings.Contains(err.Error(), "escapes") {
		t.Fatalf("%q is allowed as %q, but os.Root says %v", p, rel, err)
	}
}

// FuzzPlan: no destination or template makes a name outside the root, a hidden one, or one that no disk takes.
func FuzzPlan(f *testing.F) {
	for _, seed := range [][3]string{
		{"", "", "cat"},
		{"x/", "{slug}-{index}", "../.."},
		{"a.png", "", ""},
		{"../a", "", ""},
		{"up/", "{slug}/{date}", "a/b"},
		{"", "{slug}/../x", "x"},
		{"", "{slug}{slug}", strings.Repeat("猫", 300)},
		{"abs/", "{time}", ""},
		{"d", "a.{ext}", "\x00"},
		{"", "{", ""},
		{"", "{nope}", ""},
		{"", ".{slug}", "a"},
		{"in/", "{unix}", "con"},
		{"", "{slug}", "con"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := maze(f)
	w := open(f, s.config())
	f.Fuzz(func(t *testing.T, dest, template, slug string) {
		p := spec()
		p.Dest, p.Template = strings.ReplaceAll(dest, "ROOT", s.media), template
		p.Vars, p.Count = map[string]string{"slug": slug}, 2
		target, err := w.Preview(p)
		if err != nil {
			if fault.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		paths := target.Paths()
		if len(paths) != 2 || paths[0] == paths[1] {
			t.Fatalf("two outputs are named %q", paths)
		}
		for _, full := range paths {
			rel, in := below(s.media, full)
			if !in || !filepath.IsLocal(filepath.FromSlash(rel)) || len(path.Base(rel)) > maxSegment {
				t.Fatalf("%q, %q gives %q", dest, template, full)
			}
			if err := checkHidden(rel); err != nil {
				t.Fatalf("%q, %q gives %q: %v", dest, template, full, err)
			}
		}
	})
}

// FuzzFileURL: what is accepted is an absolute local path, and the error repeats nothing.
func FuzzFileURL(f *testing.F) {
	for _, u := range []string{
		"file:///a", "file://localhost/a", "file:a", "file:////a/b", "file:///a%2fb", "file:///%2e%2e/a", "file:///a?b",
		"file://h/a",
		"FILE:///a%00", "file:///a#b", "file://u@localhost/a", "file:///%zz", "file:", "file:///a%5Cb", "file://[::1]/a",
	} {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !isFileURL(raw) {
			return
		}
		p, err := fromFileURL(raw)
		if err != nil {
			if fault.CodeOf(err) == "" || (len(raw) > 20 && strings.Contains(err.Error(), raw)) {
				t.Fatalf("bad error for %q: %v", raw, err)
			}
			return
		}
		if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "//") || strings.ContainsRune(p, 0) {
			t.Fatalf("%q gives %q", raw, p)
		}
	})
}

// FuzzEntry: an entry that is accepted opens nothing beside its base, and a name that it opens stays open when it is
// spelt again.
func FuzzEntry(f *testing.F) {
	for _, seed := range [][2]string{
		{"/home/*/media", "u/media/x"},
		{"/a/**", "x/y"},
		{"/a/*.png", "x.png"},
		{"/a/**/b", "b/c"},
		{"/a/[x]*", "[x]y"},
		{"/a/*/{b,c}", "x/b"},
		{"/*", "etc"},
		{"/a/**x", "x"},
		{"/a/*", "../x"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, entry, rel string) {
		p, err := parseEntry(entry, "/base")
		if err != nil {
			if fault.CodeOf(err) != fault.PolicyInvalid {
				t.Fatalf("%q: %v", entry, err)
			}
			return
		}
		if !filepath.IsAbs(p.base) || filepath.Clean(p.base) != p.base {
			t.Fatalf("%q has the base %q", entry, p.base)
		}
		r := &root{pattern: p.pattern}
		if r.glob() != strings.Contains(entry, "*") {
			t.Fatalf("%q: glob is %v", entry, r.glob())
		}
		clean := path.Clean(rel)
		if r.matches(clean) != r.matches("./"+clean+"/") && filepath.IsLocal(clean) {
			t.Fatalf("%q opens %q under one spelling only", entry, rel)
		}
	})
}
