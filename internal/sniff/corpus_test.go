package sniff_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// attack is one row of the shared attack corpus.
type attack struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Input    *string         `json:"input"`
	Setup    json.RawMessage `json:"setup"`
	Expected string          `json:"expected"`
}

// corpus runs every row of kind mime and base64, and the image and archive rows that sniffing decides. The rest of
// those two kinds runs in the imaging package or waits in pending.txt.
func TestAttackCorpus(t *testing.T) {
	t.Parallel()
	setups := setupRunners(t)
	ran := map[string]bool{}
	for _, row := range readCorpus(t, "attack-corpus.jsonl") {
		run := setups[row.ID]
		if run == nil {
			run = generic(row)
		}
		if run == nil {
			if row.Kind == "mime" || row.Kind == "base64" {
				t.Errorf("%s: no runner for this row", row.ID)
			}
			continue
		}
		ran[row.ID] = true
		t.Run(row.ID, func(t *testing.T) {
			t.Parallel()
			detail, err := run()
			got := "allow"
			if err != nil {
				got = "deny:" + string(fault.CodeOf(err))
			}
			want, wantDetail, _ := strings.Cut(strings.Replace(row.Expected, "allow as ", "allow:", 1), ":")
			if want == "deny" {
				want, wantDetail = row.Expected, ""
			}
			wantDetail, _, _ = strings.Cut(wantDetail, ",")
			if strings.HasPrefix(wantDetail, "bytes") {
				wantDetail = "application/zip"
			}
			if got != want || wantDetail != "" && detail != wantDetail {
				t.Errorf("got %s %s, want %s (%v)", got, detail, row.Expected, err)
			}
		})
	}
	for id := range setups {
		if !ran[id] {
			t.Errorf("%s has a runner but is not in the corpus", id)
		}
	}
}

type runner func() (detail string, err error)

// generic runs the rows that carry their whole input.
func generic(row attack) runner {
	switch {
	case row.Kind == "base64" && row.Input != nil && sniff.IsDataURL(*row.Input):
		return func() (string, error) {
			d, err := sniff.ParseDataURL(*row.Input, sniff.DefaultBounds().ItemBytes)
			return d.MIME, err
		}
	case row.Kind == "base64" && row.Input != nil:
		return func() (string, error) {
			_, err := sniff.DecodeBase64(*row.Input, sniff.DefaultBounds().ItemBytes)
			return "", err
		}
	case row.Kind == "mime":
		var claim struct{ Declared, Sniffed string }
		if json.Unmarshal(row.Setup, &claim) != nil || claim.Sniffed == "" {
			return nil
		}
		return func() (string, error) {
			found, _ := sniff.ByMIME(claim.Sniffed)
			return sniff.Agree(claim.Declared, found)
		}
	}
	return nil
}

// setupRunners builds what a row's sentence describes.
func setupRunners(t *testing.T) map[string]runner {
	t.Helper()
	declared := func(mime string, data []byte) runner {
		return func() (string, error) { return sniff.Agree(mime, sniff.Detect(data)) }
	}
	named := func(name string, data []byte) runner {
		claim, _ := sniff.ByExt(filepath.Ext(name))
		return declared(claim.MIME, data)
	}
	b := sniff.DefaultBounds()
	pdf := []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	zipped := zipWith(t, "a.zip", "b.zip")
	const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	return map[string]runner{
		"mime-018": named("a.png", []byte("<html><body>no</body></html>")),
		"base64-015": func() (string, error) {
			_, err := sniff.DecodeBase64(strings.Repeat("A", 20_000_000), b.ItemBytes)
			return "", err
		},
		"base64-016":  func() (string, error) { return "", b.CheckItems(33) },
		"base64-017":  func() (string, error) { return "", b.CheckSizes(9_000_000, 9_000_000, 9_000_000, 9_000_000) },
		"image-010":   declared("image/png", []byte("<!-- "+strings.Repeat("x", 5<<10)+" -->"+svgText)),
		"image-011":   declared("image/png", utf16Text(svgText)),
		"image-012":   declared("video/mp4", append([]byte("\x00\x00\x00\x01"), ftyp("isom")[4:]...)),
		"image-015":   declared("image/png", []byte("\x89PNG")),
		"image-016":   declared("image/png", make([]byte, 600)),
		"archive-002": named("42.zip", zipped),
		"archive-003": named("a.png", gzipBytes(t)),
		"archive-004": func() (string, error) { // the name inside the ZIP is never used; the type is what counts
			data := zipWith(t, "../../x")
			_, err := sniff.Agree(docx, sniff.Detect(data))
			return sniff.Detect(data).MIME, err
		},
		"archive-005": declared("application/pdf", append([]byte(strings.Repeat("lorem ip\n", 100)), pdf...)),
		"archive-006": declared("", append(bytes.Clone(pdf), zipped...)),
		"archive-007": declared("", []byte("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n")),
	}
}

func readCorpus(t *testing.T, name string) []attack {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var rows []attack
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var row attack
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("row %d: %v", len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}
