package imaging

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// The attack corpus's rows about decoding. The expectations stand in the corpus; here is what each sentence describes.
func TestAttackCorpus(t *testing.T) {
	t.Parallel()
	private := []byte("48.8584 N, 2.2945 E")
	exif := append([]byte("Exif\x00\x00"), private...)
	withGPS := withSegment(jpegOf(t, gradient(32, 32)), markerAPP1, exif)
	rows := map[string]func() error{
		"image-001": probeOf(bombPNG(12_000, 12_000)),
		"image-002": probeOf(bombPNG(65_535, 65_535)),
		"image-003": probeOf(gifOf(t, 10_000, 2, 2)),
		"image-005": func() error {
			out, _, err := Encode(t.Context(), withGPS, EncodeOptions{Format: "jpeg"})
			if bytes.Contains(out, private) {
				t.Error("image-005: the metadata was kept")
			}
			return err
		},
		"image-006": probeOf([]byte("GIF89a/*<html><script>alert(1)</script></html>")),
		"image-008": func() error {
			_, _, err := Encode(t.Context(), append(pngOf(t, gradient(8, 8)), "<script>"...), EncodeOptions{Format: "png"})
			return err
		},
	}
	for id, want := range expectations(t) {
		run, ok := rows[id]
		if !ok {
			continue
		}
		delete(rows, id)
		t.Run(id, func(t *testing.T) {
			got := "allow"
			if err := run(); err != nil {
				got = "deny:" + string(fault.CodeOf(err))
			}
			if want, _, _ = strings.Cut(want, ";"); strings.Fields(want)[0] != got {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	for id := range rows {
		t.Errorf("%s is not in the corpus", id)
	}
}

func probeOf(b []byte) func() error {
	return func() error {
		_, err := Probe(bytes.NewReader(b), int64(len(b)), sniff.DefaultBounds())
		return err
	}
}

func expectations(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "cases", "attack-corpus.jsonl"))
	must(t, err)
	want := map[string]string{}
	for line := range bytes.Lines(b) {
		var row struct{ ID, Expected string }
		must(t, json.Unmarshal(line, &row))
		want[row.ID] = row.Expected
	}
	return want
}
