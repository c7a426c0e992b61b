package emulator

import (
	"fmt"
	"testing"

	"mediagen/internal/catalog"
	"mediagen/internal/emulator/drawing"
)

// TestUsageAgreesWithTheCatalog: what the emulator reports costs what the catalog estimates, for every size and quality
// that a model has tokens for. The rehearsal would mislead otherwise.
func TestUsageAgreesWithTheCatalog(t *testing.T) {
	t.Parallel()
	cat, err := catalog.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range cat.All("image", "openai") {
		for _, size := range []string{"1024x1024", "1024x1536", "1536x1024"} {
			for _, quality := range []string{"low", "medium", "high", "xhigh", "max"} {
				want, known := cat.OutputTokens(m.ID, size, quality)
				if !known {
					continue
				}
				compared++
				p := imageParams{Model: m.ID, Quality: quality}
				p.Width, p.Height, _ = parseSize(size)
				if got := outputTokens(cat, p); int64(got) != want {
					t.Errorf("%s %s %s: %d tokens are reported and %d estimated", m.ID, size, quality, got, want)
				}
			}
		}
	}
	if compared < 60 {
		t.Errorf("only %d prices were compared", compared)
	}
}

func TestOutputTokens(t *testing.T) {
	t.Parallel()
	cat, err := catalog.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, model, quality string
		w, h, want           int
	}{
		{"own table", "gpt-image-1.5", "low", 1024, 1024, 282},
		{"portrait of the table", "gpt-image-2", "high", 1024, 1536, 5500},
		{"borrowed table", "gpt-image-2.6-flare", "high", 1536, 1024, 5500},
		{"alias", "gpt-image-2-2026-04-21", "low", 1024, 1024, 200},
		{"a size without tokens counts its area", "gpt-image-2.6-flare", "high", 2048, 2048, 4 * 7034},
		{"a quality without tokens counts more than high", "gpt-image-2.6-flare", "xhigh", 1024, 1024, 10551},
		{"the finest counts twice", "gpt-image-2.6-flare", "max", 1024, 1536, 2 * 5500},
		{"size of the model unknown", "gpt-image-1", "low", 1024, 1536, 413},
		{"another vendor's model", "Qwen/Qwen-Image", "medium", 1024, 1024, 1767},
	}
	for _, tt := range tests {
		p := imageParams{Model: tt.model, Quality: tt.quality, Width: tt.w, Height: tt.h}
		if got := outputTokens(cat, p); got != tt.want {
			t.Errorf("%s: %d tokens, want %d", tt.name, got, tt.want)
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
