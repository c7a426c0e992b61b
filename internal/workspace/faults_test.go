package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// broken makes writes to files that match fail once a number of bytes is in, as a disk that runs full does.
type broken struct {
	match string
	after int64
	err   error
}

func (b broken) write(f *os.File, p []byte) (int, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	left := b.after - info.Size()
	if !strings.Contains(f.Name(), b.match) || int64(len(p)) <= left {
		return f.Write(p)
	}
	n, err := f.Write(p[:max(left, 0)])
	if err != nil {
		return n, err
	}
	return n, &fs.PathError{Op: "write", Path: f.Name(), Err: b.err}
}

// TestFaults breaks each place in turn: every byte stays, the hash is right, and the error says why.
func TestFaults(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 1000)
	always := func(err error) func(*os.File) error { return func(*os.File) error { return err } }
	tests := []struct {
		name  string
		setup func(t *testing.T, w *Workspace, s sandbox)
		code  fault.Code
		where string // part of the path where the bytes are; "memory" for none; "" for the final name
	}{
		{"healthy", func(*testing.T, *Workspace, sandbox) {}, "", ""},
		{"full at the first byte", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 0, syscall.ENOSPC}.write
		}, fault.DiskFull, "state/spool"},
		{"full in the middle", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 7777, syscall.ENOSPC}.write
		}, fault.DiskFull, "state/spool"},
		{"quota", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 7777, syscall.EDQUOT}.write
		}, fault.DiskFull, "state/spool"},
		{"turned read-only", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 7777, syscall.EROFS}.write
		}, fault.ReadOnly, "state/spool"},
		{"I/O error", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = broken{tempPrefix, 7777, syscall.EIO}.write
		}, fault.IOFailed, "state/spool"},
		{"spool full too", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = chain(broken{tempPrefix, 5000, syscall.ENOSPC}, broken{"state/spool", 9000, syscall.ENOSPC})
		}, fault.DiskFull, tempSpoolPrefix},
		{"everything full", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.write = chain(broken{tempPrefix, 5000, syscall.ENOSPC}, broken{"state/spool", 9000, syscall.ENOSPC},
				broken{tempSpoolPrefix, 12000, syscall.ENOSPC})
		}, fault.DiskFull, "memory"},
		{"no state directory", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.cfg.StateDir = ""
			w.ops.write = broken{tempPrefix, 5000, syscall.ENOSPC}.write
		}, fault.DiskFull, tempSpoolPrefix},
		{"flush fails", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.sync = func(f *os.File) error {
				if strings.Contains(f.Name(), tempPrefix) {
					return &fs.PathError{Op: "sync", Path: f.Name(), Err: syscall.EIO}
				}
				return f.Sync()
			}
		}, fault.IOFailed, "state/spool"},
		{"the directory cannot be flushed", func(_ *testing.T, w *Workspace, s sandbox) {
			w.ops.syncDir = func(dir *os.File) error {
				if strings.HasPrefix(dir.Name(), s.media) {
					return &fs.PathError{Op: "sync", Path: dir.Name(), Err: syscall.EIO}
				}
				return nil
			}
		}, fault.IOFailed, "state/spool"},
		{"every flush fails", func(_ *testing.T, w *Workspace, _ sandbox) {
			w.ops.sync = always(syscall.EIO)
		}, fault.IOFailed, tempSpoolPrefix},
		{"taken, and no spool", func(t *testing.T, w *Workspace, s sandbox) {
			t.Helper()
			write(t, s.in(specName+".png"), "taken")
			w.ops.write = chain(broken{"state/spool", 0, syscall.ENOSPC}, broken{tempSpoolPrefix, 0, syscall.ENOSPC})
		}, fault.Exists, keptPrefix},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t)
			mkdir(t, filepath.Join(s.dir, "tmp"))
			t.Setenv("TMPDIR", filepath.Join(s.dir, "tmp"))
			w := open(t, s.config())
			target := plan(t, w, spec())
			tt.setup(t, w, s)
			f := create(t, target, 0)
			fill(t, f, text)
			if content(t, f) != text {
				t.Fatal("the bytes cannot be read back before Commit")
			}
			saved, err := f.Commit("png")
			wantCode(t, err, tt.code)
			want := Saved{Path: saved.Path, Bytes: int64(len(text)), SHA256: hexSum(text)}
			want.Spooled = tt.where != "" && tt.where != "memory"
			if diff := cmp.Diff(want, saved); diff != "" {
				t.Errorf("Saved (-want +got):\n%s", diff)
			}
			if tt.where == "memory" {
				if saved.Path != "" || content(t, f) != text {
					t.Error("the bytes are not in memory")
				}
				return
			}
			if read(t, saved.Path) != text || !strings.Contains(filepath.ToSlash(saved.Path), tt.where) {
				t.Errorf("the bytes are not whole or not below %q: %s", tt.where, saved.Path)
			}
			left := 0
			for _, name := range files(t, s.dir) {
				if strings.Contains(name, tempPrefix) || strings.HasSuffix(name, ".part") {
					left++
				}
			}
			if left > 0 && tt.name != "every flush fails" {
				t.Errorf("temporary files stay: %v", files(t, s.dir))
			}
		})
	}
}

// TestDisturbed: what happens to the file between its publication and the last look is noticed.
func TestDisturbed(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, s sandbox){
		"removed": func(t *testing.T, s sandbox) {
			t.Helper()
			if err := os.Remove(s.in("d/a.png")); err != nil {
				t.Error(err)
			}
		},
		"replaced": func(t *testing.T, s sandbox) {
			t.Helper()
			write(t, s.in("d/b.png"), "paid") // the same bytes, but another file
			if err := os.Rename(s.in("d/b.png"), s.in("d/a.png")); err != nil {
				t.Error(err)
			}
		},
		"appended to": func(t *testing.T, s sandbox) {
			t.Helper()
			write(t, s.in("d/a.png"), "paid and more")
		},
		"directory replaced": func(t *testing.T, s sandbox) {
			t.Helper()
			if err := os.Rename(s.in("d"), s.in("e")); err != nil {
				t.Error(err)
			}
			write(t, s.in("d/a.png"), "paid")
		},
		"directory replaced by a file": func(t *testing.T, s sandbox) {
			t.Helper()
			if err := os.Rename(s.in("d"), s.in("e")); err != nil {
				t.Error(err)
			}
			write(t, s.in("d"), "paid")
		},
	}
	for name, disturb := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			w := open(t, s.config())
			p := spec()
			p.Dest = "d/a.png"
			f := create(t, plan(t, w, p), 0)
			fill(t, f, "paid")
			w.ops.syncDir = func(dir *os.File) error {
				if strings.HasPrefix(dir.Name(), s.media) {
					disturb(t, s)
				}
				return nil
			}
			saved, err := f.Commit("png")
			if err == nil || !saved.Spooled || !strings.HasPrefix(read(t, saved.Path), "paid") {
				t.Errorf("got %+v, %v; want an error and the bytes in the spool", saved, err)
			}
		})
	}
}

func chain(all ...broken) func(*os.File, []byte) (int, error) {
	return func(f *os.File, p []byte) (int, error) {
		for _, b := range all {
			if strings.Contains(f.Name(), b.match) {
				return b.write(f, p)
			}
		}
		return f.Write(p)
	}
}

// TestRoomComesBack: bytes that had to leave return to their final name when there is room again.
func TestRoomComesBack(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	target := plan(t, w, spec())
	w.ops.write = broken{tempPrefix, 100, syscall.ENOSPC}.write
	f := create(t, target, 0)
	fill(t, f, strings.Repeat("x", 5000))
	w.ops.write = systemOps().write
	w.ops.space = func(*os.File) (int64, bool) { return 4999, true } // one byte short: not tried
	if saved, err := f.Commit("png"); fault.CodeOf(err) != fault.DiskFull || !saved.Spooled {
		t.Errorf("with no room: %+v, %v", saved, err)
	}
	w.ops.space = systemOps().space
	w.ops.write = broken{tempPrefix, 100, syscall.ENOSPC}.write
	g := create(t, target, 1)
	fill(t, g, strings.Repeat("y", 5000))
	w.ops.write = systemOps().write
	saved, err := g.Commit("png")
	if err != nil || saved.Spooled || read(t, saved.Path) != strings.Repeat("y", 5000) {
		t.Errorf("with room: %+v, %v", saved, err)
	}
	if got := files(t, filepath.Join(s.state, "spool")); len(got) != 1 {
		t.Errorf("spool has %v, want the first output alone", got)
	}
}

// TestReplaceWhenFull: converted bytes that do not fit go to the spool, and the old ones go only then.
func TestReplaceWhenFull(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	f := create(t, plan(t, w, spec()), 0)
	fill(t, f, "original")
	w.ops.write = broken{tempPrefix, 3, syscall.ENOSPC}.write
	if err := f.Replace([]byte("converted")); err != nil {
		t.Fatal(err)
	}
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	if read(t, saved.Path) != "converted" || len(files(t, s.media)) != 0 {
		t.Errorf("got %+v and %v", saved, files(t, s.media))
	}
}

// TestLostBytes: when bytes cannot be read back, Write says so instead of pretending.
func TestLostBytes(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	f := create(t, plan(t, w, spec()), 0)
	fill(t, f, "received")
	if err := f.sink.f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := f.Write([]byte("more"))
	if fault.CodeOf(err) != fault.IOFailed || !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v, want io_failed with its cause", err)
	}
}

// TestCutBytes: bytes that somebody else cut off are told of, wherever they should have gone.
func TestCutBytes(t *testing.T) {
	t.Parallel()
	cut := func(t *testing.T, w *Workspace) *Temp {
		t.Helper()
		f := create(t, plan(t, w, spec()), 0)
		fill(t, f, "received")
		if err := f.sink.f.Truncate(4); err != nil {
			t.Fatal(err)
		}
		return f
	}
	t.Run("moved", func(t *testing.T) {
		t.Parallel()
		w := open(t, newSandbox(t).config())
		f := cut(t, w)
		w.ops.write = broken{tempPrefix, 1, syscall.ENOSPC}.write
		_, err := f.Write([]byte("more"))
		if fault.CodeOf(err) != fault.IOFailed || !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want io_failed with its cause", err)
		}
	})
	t.Run("published", func(t *testing.T) {
		t.Parallel()
		s := newSandbox(t)
		w := open(t, s.config())
		saved, err := cut(t, w).Commit("png")
		wantCode(t, err, fault.IOFailed)
		if !saved.Spooled || read(t, saved.Path) != "rece" {
			t.Errorf("got %+v, want what is left in the spool", saved)
		}
		for _, name := range files(t, s.media) {
			if !strings.Contains(name, keptPrefix) {
				t.Errorf("%s was published", name)
			}
		}
	})
}

// TestMemoryIsBounded: what no disk takes is held up to a limit and no further.
func TestMemoryIsBounded(t *testing.T) {
	s := newSandbox(t)
	mkdir(t, filepath.Join(s.dir, "tmp"))
	t.Setenv("TMPDIR", filepath.Join(s.dir, "tmp"))
	w := open(t, s.config())
	target := plan(t, w, spec())
	w.ops.write = func(*os.File, []byte) (int, error) { return 0, syscall.ENOSPC }
	f := create(t, target, 0)
	block := make([]byte, memoryLimit/4)
	for i := range 5 {
		if _, err := f.Write(block); (err != nil) != (i == 4) {
			t.Fatalf("block %d: %v", i, err)
		} else if i == 4 {
			wantCode(t, err, fault.DiskFull)
		}
	}
	if _, size := f.File(); size != memoryLimit {
		t.Errorf("%d bytes are held, want %d", size, memoryLimit)
	}
}

// TestMemoryThenCommit: a Temp whose bytes are in memory can be committed again once there is room.
func TestMemoryThenCommit(t *testing.T) {
	s := newSandbox(t)
	mkdir(t, filepath.Join(s.dir, "tmp"))
	t.Setenv("TMPDIR", filepath.Join(s.dir, "tmp"))
	w := open(t, s.config())
	target := plan(t, w, spec())
	w.ops.write = func(*os.File, []byte) (int, error) { return 0, syscall.ENOSPC }
	f := create(t, target, 0)
	fill(t, f, "paid")
	saved, err := f.Commit("png")
	wantCode(t, err, fault.DiskFull)
	if saved.Path != "" || saved.Spooled {
		t.Fatalf("got %+v, want no path", saved)
	}
	w.ops.write = systemOps().write
	saved, err = f.Commit("png")
	if err != nil || read(t, saved.Path) != "paid" || saved.Spooled {
		t.Errorf("second Commit: %+v, %v", saved, err)
	}
	if !bytes.Equal(f.Head(), []byte("paid")) {
		t.Errorf("Head is %q", f.Head())
	}
}
