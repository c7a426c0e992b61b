package workspace

import (
	"io"
	"path/filepath"
	"strconv"
	"testing"
)

// BenchmarkCheck is the price of one decision: text rules, choice of the root, one look at the disk.
func BenchmarkCheck(b *testing.B) {
	s := newSandbox(b)
	write(b, s.in("sub/dir/picture.png"), "x")
	cases := map[string]Config{"one root": s.config(), "own authority": s.shell()}
	many := s.config()
	for i := range 63 {
		dir := filepath.Join(s.dir, "r"+strconv.Itoa(i))
		mkdir(b, dir)
		many.Dirs = append(many.Dirs, dir+"/*/**/x*")
	}
	cases["64 roots"] = many
	for name, cfg := range cases {
		w := open(b, cfg)
		for kind, p := range map[string]string{"allowed": s.in("sub/dir/picture.png"), "denied": "/etc/passwd"} {
			if name == "own authority" && kind == "denied" {
				continue
			}
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if d := w.Check(p, Read); d.Allow != (kind == "allowed") {
						b.Fatal(d.Err)
					}
				}
			})
		}
	}
}

// BenchmarkResolve is the part of it that needs no disk.
func BenchmarkResolve(b *testing.B) {
	s := newSandbox(b)
	w := open(b, s.config())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.resolve("sub/dir/picture.png", Read); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSave is one picture of 3 MB from Plan to Commit, with flushes.
func BenchmarkSave(b *testing.B) {
	s := newSandbox(b)
	w := open(b, s.config())
	body := make([]byte, 3<<20)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p := spec()
		p.Dest = strconv.Itoa(i) + ".png"
		target, err := w.Plan(p)
		if err != nil {
			b.Fatal(err)
		}
		f, err := target.Create(0)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write(body); err != nil {
			b.Fatal(err)
		}
		if _, err := f.Commit(""); err != nil {
			b.Fatal(err)
		}
		if err := target.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is opening and reading a small file.
func BenchmarkOpen(b *testing.B) {
	s := newSandbox(b)
	write(b, s.in("sub/a.png"), "x")
	w := open(b, s.config())
	b.ReportAllocs()
	for b.Loop() {
		f, err := w.Open("sub/a.png", 10)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, f); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
