package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// planCase is a destination with what Plan and Preview must make of it.
type planCase struct {
	name string
	edit func(s *OutputSpec)
	want []string // below the sandbox; nil when refused
	code fault.Code
}

func runPlans(t *testing.T, s sandbox, w *Workspace, tests []planCase) {
	t.Helper()
	for _, tt := range tests {
		p := spec()
		tt.edit(&p)
		before := files(t, s.dir)
		preview, err := w.Preview(p)
		checkPlan(t, s, tt, "Preview", preview, err)
		target, err := w.Plan(p)
		checkPlan(t, s, tt, "Plan", target, err)
		if target != nil {
			_ = target.Close()
		}
		if diff := cmp.Diff(before, files(t, s.dir)); diff != "" {
			t.Errorf("%s: planning left files (-before +after):\n%s", tt.name, diff)
		}
	}
}

func checkPlan(t *testing.T, s sandbox, tt planCase, step string, target *Target, err error) {
	t.Helper()
	if got := fault.CodeOf(err); got != tt.code {
		t.Errorf("%s: %s gives %v (%q), want code %q", tt.name, step, err, got, tt.code)
		return
	}
	if err != nil {
		return
	}
	var want []string
	for _, p := range tt.want {
		want = append(want, filepath.Join(s.dir, filepath.FromSlash(p)))
	}
	if diff := cmp.Diff(want, target.Paths()); diff != "" {
		t.Errorf("%s: %s paths (-want +got):\n%s", tt.name, step, diff)
	}
}

func TestPlanUnderRoots(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	second, globbed := filepath.Join(s.dir, "second"), filepath.Join(s.dir, "globbed")
	mkdir(t, second)
	mkdir(t, filepath.Join(globbed, "p"))
	mkdir(t, s.in("dir"))
	write(t, s.in("taken.png"), "x")
	write(t, s.in("n_2.png"), "x")
	write(t, s.in("taken/"+specName+".png"), "x")
	symlink(t, "taken.png", s.in("inlink.png"))
	symlink(t, s.dir, s.in("outdir"))
	symlink(t, "dir", s.in("indir"))
	cfg := s.config()
	cfg.Dirs = []string{s.media, second, globbed + "/*/raw"}
	w := open(t, cfg)
	dest := func(d string) func(*OutputSpec) { return func(s *OutputSpec) { s.Dest = d } }
	runPlans(t, s, w, []planCase{
		{"default", func(*OutputSpec) {}, []string{"srv/media/" + specName + ".png"}, ""},
		{"existing directory", dest("dir"), []string{"srv/media/dir/" + specName + ".png"}, ""},
		{"directory through a link inside", dest("indir"), []string{"srv/media/indir/" + specName + ".png"}, ""},
		{"new directory", dest("x/y/"), []string{"srv/media/x/y/" + specName + ".png"}, ""},
		{"new file", dest("z/hero.png"), []string{"srv/media/z/hero.png"}, ""},
		{"file URL", dest("file://" + filepath.ToSlash(s.in("u.png"))), []string{"srv/media/u.png"}, ""},
		{"second root", dest(filepath.Join(second, "a.png")), []string{"second/a.png"}, ""},
		{"below a pattern", dest(filepath.Join(globbed, "p", "raw", "a.png")), []string{"globbed/p/raw/a.png"}, ""},
		{"template", func(s *OutputSpec) {
			s.Template, s.Vars, s.Count = "{date}/{slug}-{index}.{ext}", map[string]string{"slug": "cat"}, 2
		}, []string{"srv/media/2027-01-15/cat-1.png", "srv/media/2027-01-15/cat-2.png"}, ""},
		{"overwrite", func(s *OutputSpec) { s.Dest, s.Overwrite = "taken.png", true }, []string{"srv/media/taken.png"}, ""},
		{"enough space", func(s *OutputSpec) { s.NeedBytes = 1 }, []string{"srv/media/" + specName + ".png"}, ""},

		{"outside", dest("../a.png"), nil, fault.PathDenied},
		{"outside, absolute", dest(filepath.Join(s.dir, "a.png")), nil, fault.PathDenied},
		{"directory link outside", dest("outdir/a.png"), nil, fault.PathDenied},
		{"directory link outside, new", dest("outdir/new/"), nil, fault.PathDenied},
		{"new project below a pattern", dest(filepath.Join(globbed, "q", "raw", "a.png")), nil, fault.PathDenied},
		{"beside a pattern", dest(filepath.Join(globbed, "p", "a.png")), nil, fault.PathDenied},
		{"hidden", dest(".cache/a.png"), nil, fault.PathDenied},
		{"hidden by template", func(s *OutputSpec) { s.Template = ".x/{id}" }, nil, fault.PathDenied},
		{"reserved by template", func(s *OutputSpec) { s.Template = "con.{ext}" }, nil, fault.PathDenied},
		{"colon by template", func(s *OutputSpec) { s.Template = "a:{id}.{ext}" }, nil, fault.PathDenied},
		{"taken", dest("taken.png"), nil, fault.Exists},
		{"default name taken", dest("taken/"), nil, fault.Exists},
		{"one of two taken", func(s *OutputSpec) { s.Dest, s.Count = "n.png", 2 }, nil, fault.Exists},
		{"link inside taken", dest("inlink.png"), nil, fault.Exists},
		{"file as directory", dest("taken.png/"), nil, fault.PathInvalid},
		{"below a file", dest("taken.png/a.png"), nil, fault.PathInvalid},
		{"name too long", dest(strings.Repeat("a", 252) + ".png"), nil, fault.PathInvalid},
		{"no space", func(s *OutputSpec) { s.NeedBytes = 1 << 61 }, nil, fault.DiskFull},
		{"negative count", func(s *OutputSpec) { s.Count = -1 }, nil, fault.InvalidArgument},
		{"bad template", func(s *OutputSpec) { s.Template = "{nope}" }, nil, fault.InvalidArgument},
		{"template for a file", func(s *OutputSpec) { s.Dest, s.Template = "a.png", "{id}" }, nil, fault.InvalidArgument},
	})
}

func TestPlanUnderOwnAuthority(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	mkdir(t, filepath.Join(s.work, "dir"))
	write(t, filepath.Join(s.work, "taken.png"), "x")
	symlink(t, s.in("elsewhere.png"), filepath.Join(s.work, "link.png"))
	w := open(t, s.shell())
	dest := func(d string) func(*OutputSpec) { return func(s *OutputSpec) { s.Dest = d } }
	tests := []planCase{
		{"default", func(*OutputSpec) {}, []string{"work/" + specName + ".png"}, ""},
		{"up and away", dest("../up/hero.png"), []string{"up/hero.png"}, ""},
		{"absolute", dest(s.in("a.png")), []string{"srv/media/a.png"}, ""},
		{"directory", dest("dir"), []string{"work/dir/" + specName + ".png"}, ""},
		{"hidden", dest(".out/a.png"), []string{"work/.out/a.png"}, ""},
		{"taken", dest("taken.png"), nil, fault.Exists},
		{"link", dest("link.png"), nil, fault.Exists},
		{"link, overwrite", func(s *OutputSpec) { s.Dest, s.Overwrite = "link.png", true }, []string{"work/link.png"}, ""},
		{"below a file", dest("taken.png/x/a.png"), nil, fault.PathInvalid},
		{"tilde", dest("~/a.png"), nil, fault.PathDenied},
		{"control character", dest("a\nb.png"), nil, fault.PathDenied},
		{"no UTF-8", dest("a\xff.png"), nil, fault.PathInvalid},
		{"no space", func(s *OutputSpec) { s.NeedBytes = 1 << 61 }, nil, fault.DiskFull},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, planCase{"odd name", dest("a:b*.png"), []string{"work/a:b*.png"}, ""})
	}
	runPlans(t, s, w, tests)
}

// TestPatternFirst: the first entry is a pattern, so nothing can be written there, and the message says what to do.
func TestPatternFirst(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	write(t, s.in("u/raw/a.png"), "x")
	second := filepath.Join(s.dir, "second")
	mkdir(t, second)
	cfg := s.config()
	cfg.Dirs = []string{s.media + "/*/raw", second}
	w := open(t, cfg)
	wantCode(t, w.Check("u/raw/a.png", Read).Err, "")
	for _, d := range []string{"", s.in("u/raw/b.png"), "u/raw/"} {
		p := spec()
		p.Dest = d
		_, err := w.Plan(p)
		wantCode(t, err, fault.PathDenied)
		if !strings.Contains(err.Error(), "put a directory without * first") {
			t.Errorf("Dest %q: %v", d, err)
		}
	}
	p := spec()
	p.Dest = second + "/"
	plan(t, w, p)
	if _, err := w.FindByID([]string{p.ID}, nil); fault.CodeOf(err) != fault.PathDenied {
		t.Errorf("FindByID: %v, want path_denied", err)
	}
}

// TestUnwritable needs a user who can be refused, or a read-only file system.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("root is refused nothing")
	}
	s := newSandbox(t)
	if err := os.Chmod(s.media, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(s.media, 0o700) })
	w := open(t, s.config())
	for _, d := range []string{"", "new/"} {
		p := spec()
		p.Dest = d
		_, err := w.Plan(p)
		wantCode(t, err, fault.ReadOnly)
		_, err = w.Preview(p)
		wantCode(t, err, fault.ReadOnly)
	}
}

// TestProbeFinds: what the first real write would meet is met by Plan.
func TestProbeFinds(t *testing.T) {
	t.Parallel()
	for errno, code := range map[syscall.Errno]fault.Code{
		syscall.ENOSPC: fault.DiskFull, syscall.EROFS: fault.ReadOnly, syscall.EACCES: fault.ReadOnly,
		syscall.EIO: fault.IOFailed,
	} {
		s := newSandbox(t)
		w := open(t, s.config())
		w.ops.write = broken{tempPrefix, 100, errno}.write
		_, err := w.Plan(spec())
		wantCode(t, err, code)
		if got := files(t, s.media); len(got) != 0 {
			t.Errorf("the probe leaves %v", got)
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	age := func(name string, d time.Duration) {
		write(t, s.in(name), "x")
		when := testNow().Add(-d)
		if err := os.Chtimes(s.in(name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	age(tempPrefix+"OLD", 25*time.Hour)
	age("sub/"+tempPrefix+"OLD", 25*time.Hour)
	age(tempPrefix+"NEW", 23*time.Hour)
	age(keptPrefix+"OLD-a.png", 1000*time.Hour)
	age("other.tmp", 1000*time.Hour)
	mkdir(t, s.in(tempPrefix+"DIR"))
	w := open(t, s.config())
	p := spec()
	p.Template = "sub/{id}"
	plan(t, w, p)
	plan(t, w, spec())
	want := []string{keptPrefix + "OLD-a.png", tempPrefix + "NEW", "other.tmp"}
	if diff := cmp.Diff(want, files(t, s.media)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if !exists(s.in(tempPrefix + "DIR")) {
		t.Error("the sweep removed a directory, which is none of ours")
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	target := plan(t, w, spec())
	_, err := target.Create(-1)
	wantCode(t, err, fault.InvalidArgument)
	_, err = target.CreatePartial(0, -1)
	wantCode(t, err, fault.InvalidArgument)
	preview, err := w.Preview(spec())
	if err != nil {
		t.Fatal(err)
	}
	_, err = preview.Create(0)
	wantCode(t, err, fault.InvalidArgument)
	if err := preview.Close(); err != nil {
		t.Error(err)
	}
}

// TestClosedWorkspace: a target outlives its workspace, so that a paid call can end while the server shuts down.
func TestClosedWorkspace(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w, err := Open(s.config())
	if err != nil {
		t.Fatal(err)
	}
	f := create(t, plan(t, w, spec()), 0)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fill(t, f, "paid")
	if saved, err := f.Commit("png"); err != nil || read(t, saved.Path) != "paid" {
		t.Errorf("Commit after Close: %+v, %v", saved, err)
	}
	_, err = w.Open("a.png", 0)
	wantCode(t, err, fault.IOFailed)
	_, err = w.Plan(spec())
	wantCode(t, err, fault.IOFailed)
}
