package workspace

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"mediagen/internal/fault"
)

// TestPatternLinks: a link that stays inside the root is followed only where the pattern opens everything.
func TestPatternLinks(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	srv := filepath.Join(s.dir, "srv")
	write(t, s.in("raw/a.png"), "open")
	write(t, s.in("raw/sub/b.png"), "open")
	write(t, s.in("closed.png"), "closed")
	write(t, filepath.Join(srv, "c.png"), "open")
	write(t, filepath.Join(srv, "other", "a.png"), "closed")
	symlink(t, "sub/b.png", s.in("raw/inlink"))
	symlink(t, "../closed.png", s.in("raw/outlink"))
	symlink(t, "../../other", s.in("raw/outdir"))
	symlink(t, "media", filepath.Join(srv, "alias"))
	mkdir(t, filepath.Join(srv, "linked"))
	symlink(t, "../other", filepath.Join(srv, "linked", "raw"))
	mkdir(t, filepath.Join(srv, "solo", "other"))
	symlink(t, "other", filepath.Join(srv, "solo", "raw"))
	symlink(t, "media/closed.png", filepath.Join(srv, "link.png"))
	symlink(t, "c.png", filepath.Join(srv, "near.png"))
	cfg := s.config()
	cfg.Dirs = []string{s.work, srv + "/*/raw", srv + "/*.png"}
	w := open(t, cfg)
	tests := []struct {
		path string
		code fault.Code
	}{
		{"media/raw/a.png", ""},
		{"media/raw/sub/b.png", ""},
		{"media/raw/inlink", ""},
		{"c.png", ""},
		{"media/raw/outlink", fault.PathDenied},
		{"media/raw/outdir/a.png", fault.PathDenied},
		{"alias/raw/a.png", fault.PathDenied},
		{"linked/raw/a.png", fault.PathDenied},
		{"link.png", fault.PathDenied},
		{"near.png", fault.PathDenied},
		{"media/closed.png", fault.PathDenied},
		{"nowhere/raw/a.png", fault.NotFound},
		{"c.png/raw/a.png", fault.PathInvalid},
		{"media/raw", fault.NotRegular},
	}
	for _, tt := range tests {
		full := filepath.Join(srv, filepath.FromSlash(tt.path))
		f, err := w.Open(full, 0)
		if got := fault.CodeOf(err); got != tt.code {
			t.Errorf("Open(%q): %v (%q), want %q", tt.path, err, got, tt.code)
		}
		if err == nil {
			if b, err := io.ReadAll(f); err != nil || string(b) != "open" {
				t.Errorf("Open(%q) reads %q, %v", tt.path, b, err)
			}
			_ = f.Close()
		}
		d := w.Check(full, Read)
		if denied := tt.code == fault.PathDenied; d.Allow == denied {
			t.Errorf("Check(%q) = %+v", tt.path, d)
		}
	}
	for _, dir := range []string{"linked/raw", "alias/raw", "linked/raw/x", "solo/raw"} { // not even in a race
		at, err := w.resolve(filepath.Join(srv, filepath.FromSlash(dir)), Read)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = at.openDir(); err == nil {
			t.Errorf("%s can be opened as a directory to write to", dir)
			continue
		}
		wantCode(t, pathError(dir, err), fault.PathDenied)
	}
	for _, dest := range []string{"linked/raw/", "alias/raw/new.png", "media/raw/outdir/new.png", "linked/raw/x/y.png"} {
		p := spec()
		p.Dest = srv + "/" + dest
		_, err := w.Plan(p)
		wantCode(t, err, fault.PathDenied)
		_, err = w.Preview(p)
		wantCode(t, err, fault.PathDenied)
	}
	if got := files(t, filepath.Join(srv, "other")); len(got) != 1 {
		t.Errorf("files in the closed directory: %v", got)
	}
}

// TestPatternWrites: directories are made where the pattern opens them, and files land there.
func TestPatternWrites(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	cfg := s.config()
	cfg.Dirs = []string{s.work, filepath.Join(s.dir, "srv") + "/*/raw"}
	w := open(t, cfg)
	p := spec()
	p.Dest, p.Template = s.in("raw/x/y")+"/", "{date}/{id}"
	saved, err := create(t, plan(t, w, p), 0).Commit("png")
	if err != nil || saved.Path != s.in("raw/x/y/2027-01-15/"+p.ID+".png") || !exists(saved.Path) {
		t.Errorf("saved as %q, %v", saved.Path, err)
	}
	moved, err := w.WriteSidecar(saved.Path, "v", false)
	if err != nil || !exists(moved) {
		t.Errorf("sidecar %q, %v", moved, err)
	}
	p.Dest = filepath.Join(s.dir, "srv", "new", "raw") + "/"
	_, err = w.Plan(p)
	wantCode(t, err, fault.PathDenied)
	if _, err := os.Stat(filepath.Join(s.dir, "srv", "new")); err == nil {
		t.Error("a directory was made that the pattern does not open")
	}
}
