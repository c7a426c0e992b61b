package emulator

import (
	"fmt"
	"testing"

	"mediagen/internal/emulator/drawing"
)

func TestUsageOfFixedSizes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model, quality string
		w, h, want     int
	}{
		{"gpt-image-1.5", "low", 1024, 1024, 272},
		{"gpt-image-1.5", "high", 1024, 1024, 4160},
		{"gpt-image-1-mini", "medium", 1024, 1536, 1584},
		{"gpt-image-2", "low", 1024, 1024, 200},
		{"gpt-image-2.6-flare", "max", 1024, 1024, 14066},
		{"gpt-image-2.6-flare", "high", 2048, 2048, 28132},
	}
	for _, tt := range tests {
		p := imageParams{Model: tt.model, Quality: tt.quality, Width: tt.w, Height: tt.h}
		if got := outputTokens(p); got != tt.want {
			t.Errorf("%s %s %dx%d: %d tokens, want %d", tt.model, tt.quality, tt.w, tt.h, got, tt.want)
		}
	}
}

func TestFaultCountersAreBounded(t *testing.T) {
	t.Parallel()
	b := newFaultBook([]Fault{{Name: "quota", Times: 1}})
	always := func(faultDef) bool { return true }
	if _, ok := b.take(b.server, always); !ok {
		t.Fatal("the first use is not granted")
	}
	for i := range 3 * maxCounters {
		b.take([]candidate{{Fault{Name: "quota", Times: 1}, fmt.Sprintf("prompt %d", i)}}, always)
	}
	if len(b.used) > maxCounters+1 {
		t.Errorf("%d counters, want at most %d", len(b.used), maxCounters)
	}
	if _, ok := b.take(b.server, always); ok {
		t.Error("a used up fault of Options started again")
	}
}

// textFile returns a file whose bytes follow from a prompt.
func textFile(prompt string) drawing.File {
	return drawing.Vector(drawing.Sketch{Width: 64, Height: 64, Prompt: prompt, Count: 1})
}
