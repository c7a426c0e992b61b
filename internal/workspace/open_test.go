package workspace

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func TestOpenBounds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	write(t, s.in("a.bin"), "12345")
	write(t, s.in("empty"), "")
	w := open(t, s.config())
	for limit, code := range map[int64]fault.Code{0: "", -1: "", 5: "", 6: "", 4: fault.ItemTooLarge} {
		f, err := w.Open("a.bin", limit)
		wantCode(t, err, code)
		if f != nil {
			_ = f.Close()
		}
	}
	f, err := w.Open("empty", 1)
	wantCode(t, err, "")
	if b, err := io.ReadAll(f); len(b) != 0 || err != nil {
		t.Errorf("empty file reads %q, %v", b, err)
	}
	_ = f.Close()
	for p, code := range map[string]fault.Code{
		"missing": fault.NotFound, "missing/a": fault.NotFound, "a.bin/x": fault.PathInvalid, ".": fault.NotRegular,
	} {
		_, err := w.Open(p, 0)
		wantCode(t, err, code)
	}
}

// TestFileReads: each way to read sees the same bounded bytes.
func TestFileReads(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	write(t, s.in("a.bin"), "0123456789")
	w := open(t, s.config())
	f, err := w.Open("file://"+s.in("a.bin"), 10)
	wantCode(t, err, "")
	defer func() { _ = f.Close() }()
	write(t, s.in("a.bin"), "0123456789 grown")

	head := make([]byte, 4)
	if _, err := io.ReadFull(f, head); err != nil {
		t.Fatal(err)
	}
	var rest, again strings.Builder
	if _, err := f.WriteTo(&rest); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(-3, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(&again, f); err != nil {
		t.Fatal(err)
	}
	tail := make([]byte, 8)
	n, err := f.ReadAt(tail, 6)
	got := []string{string(head), rest.String(), again.String(), string(tail[:n]), f.Path, f.Name}
	want := []string{"0123", "456789", "789", "6789", s.in("a.bin"), "a.bin"}
	if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, io.EOF) || f.Size != 10 {
		t.Errorf("reads (-want +got):\n%s\nReadAt error %v, size %d", diff, err, f.Size)
	}
}
