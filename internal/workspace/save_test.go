package workspace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestSave makes directories, keeps what exists, and leaves no temporary file.
func TestSave(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	saved, err := w.Save(s.in("new/a.png"), strings.NewReader("one"), false, 0o640)
	wantCode(t, err, "")
	want := Saved{
		Path: s.in("new/a.png"), Bytes: 3, SHA256: "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
	}
	if diff := cmp.Diff(want, saved); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(saved.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o006 != 0 {
		t.Errorf("others may read or write it: %v, %v", info.Mode(), err)
	}
	_, err = w.Save(s.in("new/a.png"), strings.NewReader("two"), false, 0o666)
	wantCode(t, err, fault.Exists)
	_, err = w.Save(s.in("new/a.png"), strings.NewReader("two"), true, 0o666)
	wantCode(t, err, "")
	_, err = w.Save(filepath.Join(s.dir, "out.png"), strings.NewReader("x"), false, 0o666)
	wantCode(t, err, fault.PathDenied)
	_, err = w.Save(s.in("new/b.png"), io.MultiReader(strings.NewReader("x"), failing{}), false, 0o666)
	wantCode(t, err, fault.PathDenied) // no system error
	if diff := cmp.Diff([]string{"new/a.png"}, files(t, s.media)); diff != "" {
		t.Error(diff)
	}
	if got := read(t, s.in("new/a.png")); got != "two" {
		t.Errorf("the file holds %q", got)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken") }

// TestReplaceFile swaps the bytes and keeps the permissions; a link and a file that was changed stay.
func TestReplaceFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		make func(t *testing.T, s sandbox, path string)
		code fault.Code
	}{
		{"as it was", func(*testing.T, sandbox, string) {}, ""},
		{"changed", func(t *testing.T, _ sandbox, path string) { t.Helper(); write(t, path, "changed") }, fault.IOFailed},
		{"another file", func(t *testing.T, _ sandbox, path string) {
			t.Helper()
			write(t, path+".new", "old")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, fault.IOFailed},
		{"gone", func(t *testing.T, _ sandbox, path string) {
			t.Helper()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, fault.NotFound},
		{"a link", func(t *testing.T, _ sandbox, path string) {
			t.Helper()
			if err := os.Rename(path, path+".real"); err != nil {
				t.Fatal(err)
			}
			symlink(t, filepath.Base(path)+".real", path)
		}, fault.NotRegular},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			w := open(t, s.config())
			path := s.in("a.png")
			write(t, path, "old")
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			was := stat(t, path)
			tt.make(t, s, path)
			before := files(t, s.media)
			saved, err := w.Replace(path, was, strings.NewReader("new"))
			wantCode(t, err, tt.code)
			if diff := cmp.Diff(before, files(t, s.media)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
			if tt.code != "" {
				return
			}
			if saved.Path != path || saved.Bytes != 3 || read(t, path) != "new" {
				t.Errorf("%+v, the file holds %q", saved, read(t, path))
			}
			if got := stat(t, path).Mode().Perm(); got != 0o640 {
				t.Errorf("mode %v", got)
			}
		})
	}
}

// TestReplaceFileObeysThePolicy for writes.
func TestReplaceFileObeysThePolicy(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	outside := filepath.Join(s.dir, "a.png")
	write(t, outside, "old")
	_, err := open(t, s.config()).Replace(outside, stat(t, outside), strings.NewReader("new"))
	wantCode(t, err, fault.PathDenied)
	if got := read(t, outside); got != "old" {
		t.Errorf("the file holds %q", got)
	}
}

// TestEntries lists plain files only, and only below what is open.
func TestEntries(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	for _, name := range []string{"b.png", "a.png", ".hidden.png", "sub/c.png", "key.pem"} {
		write(t, s.in(name), "x")
	}
	symlink(t, "a.png", s.in("link.png"))
	w := open(t, s.config())
	got, err := w.Entries(s.media)
	wantCode(t, err, "")
	if diff := cmp.Diff([]string{"a.png", "b.png"}, got); diff != "" {
		t.Error(diff)
	}
	_, err = w.Entries(s.work)
	wantCode(t, err, fault.PathDenied)
	_, err = w.Entries(s.in("missing"))
	wantCode(t, err, fault.NotFound)
	_, err = w.Entries(s.in("a.png"))
	if err == nil {
		t.Error("a file has entries")
	}
	for path, want := range map[string]bool{
		s.media: true, s.in("sub"): true, s.in("a.png"): false, s.in("missing"): false, s.work: false,
	} {
		if w.IsDir(path) != want {
			t.Errorf("IsDir(%s) is not %v", path, want)
		}
	}
	a := stat(t, s.in("a.png"))
	for path, want := range map[string]bool{
		s.in("a.png"): true, s.in("link.png"): true, s.in("b.png"): false, s.in("x"): false, s.work: false,
	} {
		if w.IsFile(path, a) != want {
			t.Errorf("IsFile(%s) is not %v", path, want)
		}
	}
	own := open(t, s.shell())
	got, err = own.Entries(s.media)
	wantCode(t, err, "")
	if diff := cmp.Diff([]string{"a.png", "b.png", "key.pem"}, got); diff != "" {
		t.Error(diff)
	}
}
