package imaging

import (
	"bytes"
	"strings"
	"testing"

	"mediagen/internal/fault"
)

const madeByMachine = "trainedAlgorithmicMedia"

// TestConvertCarriesTheSourceType: a copy says what its source says about who made it, within the budget.
func TestConvertCarriesTheSourceType(t *testing.T) {
	t.Parallel()
	plain := encoded(t, gradient(700, 500), EncodeOptions{Format: "jpeg", Quality: 95})
	src, err := EmbedSourceType(plain, madeByMachine)
	must(t, err)
	for _, format := range []string{"jpeg", "png", "webp", "avif"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s := Spec{Format: format, MaxBytes: 12_000, MaxSide: 400}
			if format == "png" {
				s.MaxBytes = 120_000
			}
			r, err := Convert(t.Context(), src, s)
			if fault.CodeOf(err) == fault.UnsupportedOperation {
				t.Skip(err)
			}
			must(t, err)
			from, err := FindProvenance(bytes.NewReader(r.Data), int64(len(r.Data)))
			must(t, err)
			if int64(len(r.Data)) > s.MaxBytes || r.Info.Width != 400 {
				t.Errorf("%d bytes, %+v", len(r.Data), r.Info)
			}
			noted := strings.Contains(strings.Join(r.Notes, " "), madeByMachine)
			if carries := format != "avif"; (from.SourceType == madeByMachine) != carries || noted == carries {
				t.Errorf("source type %q, notes %q", from.SourceType, r.Notes)
			}
			bare, err := Convert(t.Context(), plain, s)
			must(t, err)
			if from, err := FindProvenance(bytes.NewReader(bare.Data), int64(len(bare.Data))); err != nil || from.SourceType != "" {
				t.Errorf("a source type out of nothing: %+v, %v", from, err)
			}
		})
	}
}
