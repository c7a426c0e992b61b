package imaging

import (
	"bytes"
	"image"
	"testing"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// TestProfile names what is embedded, by its description or its colour space.
func TestProfile(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	tests := []struct {
		name string
		src  []byte
		want string
	}{
		{"none", pngOf(t, img), ""},
		{"jpeg", withProfileJPEG(jpegOf(t, img), p3Profile()), "P3"},
		{"png", withProfilePNG(t, pngOf(t, img), p3Profile()), "P3"},
		{"without a name", withProfilePNG(t, pngOf(t, img), describedProfile("")), "RGB profile"},
		{"webp", webpFile(0x20, 8, 8, riffChunk("ICCP", p3Profile())), "P3"},
		{"too short", withProfilePNG(t, pngOf(t, img), make([]byte, 20)), ""},
		{"no picture", []byte("text"), ""},
	}
	for _, tt := range tests {
		if got := Profile(bytes.NewReader(tt.src), int64(len(tt.src)), sniff.DefaultBounds()); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// describedProfile has a desc tag of version 2 and nothing else.
func describedProfile(name string) []byte {
	p := make([]byte, 144)
	copy(p[16:], "RGB ")
	p[131] = 1 // tags
	copy(p[132:], "desc")
	p[139], p[143] = 144, byte(12+len(name)+1)
	p = append(p, "desc\x00\x00\x00\x00\x00\x00\x00"...)
	p = append(p, byte(len(name)+1))
	return append(append(p, name...), 0)
}

// TestCheckSpec refuses what no picture could meet.
func TestCheckSpec(t *testing.T) {
	t.Parallel()
	for _, bad := range []Spec{{Format: "gif"}, {Quality: 101}, {MaxBytes: 1023}, {MaxSide: 15}, {Background: "red"}} {
		if err := bad.Check(); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := (Spec{Format: "JPG", MaxBytes: 1024, Background: "#102030"}).Check(); err != nil {
		t.Error(err)
	}
}
