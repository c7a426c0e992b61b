package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	home := filepath.Join(s.dir, "home")
	mkdir(t, home)
	write(t, filepath.Join(s.dir, "file"), "x")
	symlink(t, "/", filepath.Join(s.dir, "slash"))
	symlink(t, home, filepath.Join(s.dir, "alias"))
	many := make([]string, 65)
	for i := range many {
		many[i] = s.media
	}
	tests := []struct {
		name string
		dirs []string
		says string
	}{
		{"the root", []string{"/"}, "whole file system"},
		{"the root by another name", []string{filepath.Join(s.dir, "slash")}, "whole file system"},
		{"a pattern at the root", []string{"/*/media"}, "whole file system"},
		{"proc", []string{"/proc"}, "/proc"},
		{"below proc", []string{"/proc/self"}, "/proc"},
		{"sys", []string{"/sys"}, "/sys"},
		{"dev", []string{"/dev"}, "/dev"},
		{"home", []string{home}, "home directory"},
		{"home by another name", []string{filepath.Join(s.dir, "alias")}, "home directory"},
		{"all of home", []string{home + "/**"}, "home directory"},
		{"missing", []string{filepath.Join(s.dir, "nowhere")}, "does not exist"},
		{"a good and a missing one", []string{s.media, filepath.Join(s.dir, "nowhere")}, "does not exist"},
		{"a file", []string{filepath.Join(s.dir, "file")}, "cannot be opened"},
		{"blank", []string{" ", ""}, "names no directory"},
		{"too many", many, "at most 64"},
		{"tilde", []string{"~/media"}, "not expanded"},
		{"relative pattern", []string{"*/media"}, "absolute"},
	}
	for _, tt := range tests {
		cfg := s.config()
		cfg.HomeDir, cfg.Dirs = home, tt.dirs
		w, err := Open(cfg)
		if w != nil || fault.CodeOf(err) != fault.PolicyInvalid || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want policy_invalid with %q", tt.name, err, tt.says)
		}
		if err != nil && !strings.Contains(err.Error(), "MEDIA_GEN_DIRS") {
			t.Errorf("%s: %v does not name the setting", tt.name, err)
		}
	}
}

func TestOpenDescribes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	second := filepath.Join(s.dir, "second")
	mkdir(t, filepath.Join(second, "p1"))
	mkdir(t, filepath.Join(s.work, "out"))
	symlink(t, s.media, filepath.Join(s.dir, "alias"))
	spool := filepath.Join(s.state, "spool")
	tests := []struct {
		name string
		edit func(c *Config)
		want Description
		warn int
	}{
		{"one", func(*Config) {}, Description{
			Policy: "roots", Spool: spool,
			Roots: []RootInfo{{Entry: s.media, Path: s.media, Primary: true, Writable: true}},
		}, 0},
		{"relative, merged, pattern", func(c *Config) {
			c.Dirs = []string{"out", s.media, " ", filepath.Join(s.dir, "alias"), s.media + "/", second + "/*/"}
		}, Description{
			Policy: "roots", Spool: spool,
			Roots: []RootInfo{
				{Entry: "out", Path: filepath.Join(s.work, "out"), Primary: true, Writable: true},
				{Entry: s.media, Path: s.media, Writable: true},
				{Entry: second + "/*/", Path: second, Glob: true, Writable: true},
			},
		}, 0},
		{"above home", func(c *Config) { c.Dirs, c.HomeDir = []string{s.dir}, s.work }, Description{
			Policy: "roots", Spool: spool,
			Roots: []RootInfo{{Entry: s.dir, Path: s.dir, Primary: true, Writable: true}},
		}, 1},
		{"pattern first", func(c *Config) { c.Dirs = []string{second + "/*", s.media} }, Description{
			Policy: "roots", Spool: spool,
			Roots: []RootInfo{
				{Entry: second + "/*", Path: second, Glob: true, Primary: true},
				{Entry: s.media, Path: s.media, Writable: true},
			},
		}, 2},
		{"shell", func(c *Config) { c.Dirs, c.Shell, c.StateDir = nil, true, "" }, Description{
			Policy: "own authority",
			Roots:  []RootInfo{{Entry: ".", Path: s.work, Primary: true, Writable: true}},
		}, 0},
		{"strict shell", func(c *Config) { c.Dirs, c.Shell, c.Strict = nil, true, true }, Description{
			Policy: "roots", Spool: spool,
			Roots: []RootInfo{{Entry: ".", Path: s.work, Primary: true, Writable: true}},
		}, 0},
		{"strict shell at home", func(c *Config) {
			c.Dirs, c.Shell, c.Strict, c.HomeDir = nil, true, true, s.work
		}, Description{
			Policy: "roots", Spool: spool,
			Roots: []RootInfo{{Entry: ".", Path: s.work, Primary: true, Writable: true}},
		}, 1},
		{"shell with directories", func(c *Config) { c.Shell = true }, Description{
			Policy: "roots", Spool: spool,
			Roots: []RootInfo{{Entry: s.media, Path: s.media, Primary: true, Writable: true}},
		}, 0},
	}
	for _, tt := range tests {
		cfg := s.config()
		tt.edit(&cfg)
		w := open(t, cfg)
		if diff := cmp.Diff(tt.want, w.Describe()); diff != "" {
			t.Errorf("%s: Describe (-want +got):\n%s", tt.name, diff)
		}
		if got := w.Warnings(); len(got) != tt.warn {
			t.Errorf("%s: warnings %q, want %d", tt.name, got, tt.warn)
		}
	}
}

func TestDefaultDirectory(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	cfg := s.config()
	cfg.Dirs, cfg.TempRoot = nil, filepath.Join(s.dir, "tmp", "media-gen-mcp")
	w := open(t, cfg)
	want := Description{
		Policy: "default directory", Spool: filepath.Join(s.state, "spool"),
		Roots: []RootInfo{{Entry: cfg.TempRoot, Path: cfg.TempRoot, Primary: true, Writable: true}},
	}
	if diff := cmp.Diff(want, w.Describe()); diff != "" {
		t.Errorf("Describe (-want +got):\n%s", diff)
	}
	info, err := os.Stat(cfg.TempRoot)
	if err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o700) {
		t.Errorf("the default directory has mode %v, %v; want 0700", info.Mode(), err)
	}
	d := w.Check(filepath.Join(s.dir, "a.png"), Read)
	if d.Allow || !strings.Contains(d.Err.Error(), "MEDIA_GEN_DIRS") {
		t.Errorf("outside: %+v", d)
	}
	for _, bad := range []string{"", "relative", "/", "/proc/x"} {
		cfg.TempRoot = bad
		if _, err := Open(cfg); fault.CodeOf(err) != fault.PolicyInvalid {
			t.Errorf("TempRoot %q: %v, want policy_invalid", bad, err)
		}
	}
}

// TestDefaultDirectoryRemoved: a cleaner of temporary directories does not stop a server that runs for weeks.
func TestDefaultDirectoryRemoved(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	cfg := s.config()
	cfg.Dirs, cfg.TempRoot = nil, filepath.Join(s.dir, "tmp", "media-gen-mcp")
	w := open(t, cfg)
	old := create(t, plan(t, w, spec()), 0)
	fill(t, old, "received before")
	if err := os.RemoveAll(filepath.Join(s.dir, "tmp")); err != nil {
		t.Fatal(err)
	}
	f := create(t, plan(t, w, spec()), 0)
	fill(t, f, "new")
	saved, err := f.Commit("png")
	if err != nil || read(t, saved.Path) != "new" || filepath.Dir(saved.Path) != cfg.TempRoot {
		t.Errorf("after the removal: %+v, %v", saved, err)
	}
	in, err := w.Open(filepath.Base(saved.Path), 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	saved, err = old.Commit("png") // its file was removed with the directory, but it is still open
	if err == nil || !saved.Spooled || read(t, saved.Path) != "received before" {
		t.Errorf("an output from before: %+v, %v", saved, err)
	}
}

func TestDefaultDirectoryOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	s := newSandbox(t)
	cfg := s.config()
	cfg.Dirs, cfg.TempRoot = nil, filepath.Join(s.dir, "theirs")
	mkdir(t, cfg.TempRoot)
	if err := os.Chown(cfg.TempRoot, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(cfg); fault.CodeOf(err) != fault.PolicyInvalid || !strings.Contains(err.Error(), "another user") {
		t.Errorf("got %v, want policy_invalid", err)
	}
	link := filepath.Join(s.dir, "link")
	symlink(t, s.media, link)
	if err := os.Lchown(link, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	cfg.TempRoot = link
	if _, err := Open(cfg); fault.CodeOf(err) != fault.PolicyInvalid {
		t.Errorf("another user's link: %v, want policy_invalid", err)
	}
}

func TestWarnWorldWritable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("mode bits say nothing on Windows")
	}
	s := newSandbox(t)
	if err := os.Chmod(s.media, 0o777); err != nil {
		t.Fatal(err)
	}
	w := open(t, s.config())
	if got := w.Warnings(); len(got) != 1 || !strings.Contains(got[0], "other users") {
		t.Errorf("warnings %q", got)
	}
	if err := os.Chmod(s.media, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if got := open(t, s.config()).Warnings(); len(got) != 0 {
		t.Errorf("with the sticky bit: %q", got)
	}
}

func TestWorkDirMustBeAbsolute(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	cfg := s.shell()
	cfg.WorkDir = "relative"
	if _, err := Open(cfg); fault.CodeOf(err) != fault.PolicyInvalid {
		t.Errorf("got %v, want policy_invalid", err)
	}
	cfg.WorkDir, cfg.Now, cfg.HomeDir = "", nil, ""
	w := open(t, cfg)
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Describe().Roots[0].Path; got != wd {
		t.Errorf("without WorkDir the directory is %q, want %q", got, wd)
	}
}

// TestSymlinkedRoot: a root given through a link is known by both names, and reports the configured one.
func TestSymlinkedRoot(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	alias := filepath.Join(s.dir, "alias")
	symlink(t, s.media, alias)
	write(t, s.in("a.png"), "inside")
	cfg := s.config()
	cfg.Dirs = []string{alias}
	w := open(t, cfg)
	for _, p := range []string{"a.png", filepath.Join(alias, "a.png"), s.in("a.png")} {
		f, err := w.Open(p, 0)
		if err != nil {
			t.Errorf("Open(%q): %v", p, err)
			continue
		}
		_ = f.Close()
	}
	if got := w.Check("a.png", Read).Path; got != filepath.Join(alias, "a.png") {
		t.Errorf("reported as %q", got)
	}
	target := plan(t, w, spec())
	f := create(t, target, 0)
	saved, err := f.Commit("")
	if err != nil || saved.Path != filepath.Join(alias, specName+".png") {
		t.Errorf("saved as %q, %v", saved.Path, err)
	}
}

// TestNestedRoots: the most exact root decides, so that a link between roots works under its own name.
func TestNestedRoots(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	elsewhere := filepath.Join(s.dir, "elsewhere")
	write(t, filepath.Join(elsewhere, "a.png"), "linked")
	symlink(t, elsewhere, s.in("link"))
	cfg := s.config()
	wantCode(t, open(t, cfg).Check("link/a.png", Read).Err, fault.PathDenied)
	cfg.Dirs = append(cfg.Dirs, s.in("link"))
	wantCode(t, open(t, cfg).Check("link/a.png", Read).Err, "")
}
