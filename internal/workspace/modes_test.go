//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestModes: media follow the umask, as other programs' files do; the spool is private.
func TestModes(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077} {
		old := syscall.Umask(mask)
		s := newSandbox(t)
		w := open(t, s.config())
		p := spec()
		p.Dest = "new/dir/a.png"
		f := create(t, plan(t, w, p), 0)
		_, err := f.Commit("png")
		sidecar, serr := w.WriteSidecar(s.in("new/dir/a.png"), 1, false)
		g := create(t, plan(t, w, spec()), 0)
		w.ops.link = func(*os.Root, string, string) error { return syscall.EEXIST }
		spooled, _ := g.Commit("png")
		syscall.Umask(old)
		if err != nil || serr != nil || !spooled.Spooled {
			t.Fatal(err, serr, spooled)
		}
		want := map[string]os.FileMode{
			s.in("new"): 0o777, s.in("new/dir"): 0o777, s.in("new/dir/a.png"): 0o666, sidecar: 0o666,
			s.state: 0o700, filepath.Dir(spooled.Path): 0o700, spooled.Path: 0o600,
		}
		for path, mode := range want {
			if !strings.HasPrefix(path, s.state) {
				mode &^= os.FileMode(mask)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != mode {
				t.Errorf("umask %03o: %s has %v, %v; want %v", mask, path, info.Mode().Perm(), err, mode)
			}
		}
	}
}
