package imaging

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func sourceOf(b []byte) source { return source{bytes.NewReader(b), int64(len(b))} }

func TestAtomAt(t *testing.T) {
	t.Parallel()
	type result struct {
		kind                string
		size, body, missing int64
		code                fault.Code
	}
	free := []byte("free")
	tests := []struct {
		name string
		src  []byte
		off  int64
		want result
	}{
		{"empty", box("free"), 0, result{"free", 8, 0, 0, ""}},
		{"with a body", box("free", make([]byte, 9)), 0, result{"free", 17, 9, 0, ""}},
		{"behind another", join(box("skip", free), box("free", free)), 12, result{"free", 12, 4, 0, ""}},
		{"followed by another", join(box("free", free), box("skip")), 0, result{"free", 12, 4, 0, ""}},
		{"to the end", join(words(0), free, make([]byte, 30)), 0, result{"free", 38, 30, 0, ""}},
		{"64-bit", join(hugeBox("free", 20), make([]byte, 9)), 0, result{"free", 20, 4, 0, ""}},
		{"64-bit and empty", hugeBox("free", 16), 0, result{"free", 16, 0, 0, ""}},
		{"64-bit, shorter than its header", hugeBox("free", 15), 0, result{"", 0, 0, 0, badVideo}},
		{"64-bit, cut in its header", hugeBox("free", 20)[:12], 0, result{"free", 16, 0, 4, ""}},
		{"shorter than its header", join(words(7), free), 0, result{"", 0, 0, 0, badVideo}},
		{"cut", box("free", make([]byte, 100))[:30], 0, result{"free", 108, 22, 78, ""}},
		{"larger than any file", hugeBox("free", 1<<63), 0, result{"", 0, 0, 0, badVideo}},
		{"as large as a file can be", hugeBox("free", math.MaxInt64), 0, result{"free", math.MaxInt64, 0, math.MaxInt64 - 16, ""}},
		{"larger than what is left of that", join(box("skip"), hugeBox("free", math.MaxInt64)), 8, result{"", 0, 0, 0, badVideo}},
	}
	for _, tt := range tests {
		a, err := atomAt(sourceOf(tt.src), tt.off)
		got := result{a.kind, a.size, a.body.size, a.missing, fault.CodeOf(err)}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestWalkTop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		src   []byte
		want  []string
		fails bool
	}{
		{"two", join(box("ftyp"), box("moov")), []string{"ftyp", "moov"}, false},
		{"a rest", join(box("ftyp"), []byte{0, 0, 0}), []string{"ftyp"}, false},
		{"cut", join(box("ftyp"), words(90), []byte("moov")), []string{"ftyp", "moov"}, false},
		{"damage", join(box("ftyp"), words(3), []byte("moov")), []string{"ftyp"}, true},
		{"nothing", nil, nil, false},
	}
	for _, tt := range tests {
		var got []string
		err := walkTop(sourceOf(tt.src), func(a atom) error {
			got = append(got, a.kind)
			return nil
		})
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.fails {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}
