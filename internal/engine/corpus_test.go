package engine_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// TestAttackCorpus runs the base64 rows, and the rows about files that lie, through the sources of an edit. Rows that
// the parts allow are no pictures, so here the type is what refuses them.
func TestAttackCorpus(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../../testdata/cases/attack-corpus.jsonl")
	must(t, err)
	defer func() { _ = f.Close() }()
	setups := corpusSetups()
	ran := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			ID, Kind, Expected string
			Input              *string
		}
		must(t, json.Unmarshal(lines.Bytes(), &row))
		images, ok := setups[row.ID]
		switch {
		case ok:
		case row.Kind == "base64" && row.Input != nil && strings.HasPrefix(*row.Input, "data:"):
			images = []string{*row.Input}
		case row.Kind == "base64" && row.Input != nil:
			images = []string{"base64:" + *row.Input}
		default:
			continue
		}
		ran++
		delete(setups, row.ID)
		t.Run(row.ID, func(t *testing.T) {
			r, _ := editRig(t, options{mcp: true})
			r.write("a.png", []byte("<html><body>no</body></html>"))
			r.write("gzip.png", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"))
			_, err := r.EditImages(t.Context(), editOf(images...), engine.Output{}, nil)
			want, deny := strings.CutPrefix(row.Expected, "deny:")
			if !deny {
				want = string(fault.MIMEMismatch)
			}
			if want == string(fault.TooManyItems) {
				want = string(fault.InvalidArgument) // the request takes fewer pictures than the bound
			}
			if fault.Code(want) != engine.AsError(err).Code {
				t.Errorf("got %v, want %s", err, want)
			}
			if len(r.rows()) != 0 {
				t.Error("a row was written")
			}
		})
	}
	must(t, lines.Err())
	for id := range setups {
		t.Errorf("%s is not in the corpus", id)
	}
	if ran < 14 {
		t.Errorf("only %d rows ran", ran)
	}
}

// corpusSetups builds what a row's sentence describes.
func corpusSetups() map[string][]string {
	item := func(size int) string { return "base64:" + base64.StdEncoding.EncodeToString(padded(size)) }
	one := strings.Split(strings.Repeat("base64:QQ== ", 33), " ")[:33]
	nine := item(9_000_000)
	svg := "<?xml version=\"1.0\"?><!--" + strings.Repeat(" ", 5<<10) + "--><svg xmlns=\"http://www.w3.org/2000/svg\"/>"
	dataPNG := func(s string) []string {
		return []string{"data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(s))}
	}
	return map[string][]string{
		"base64-015":  {"base64:" + strings.Repeat("A", 20_000_000)},
		"base64-016":  one,
		"base64-017":  {nine, nine, nine, nine},
		"mime-018":    {"a.png"},
		"archive-003": {"gzip.png"},
		"image-010":   dataPNG(svg),
		"image-011":   dataPNG("\xff\xfe<\x00s\x00v\x00g\x00>\x00"),
		"image-015":   dataPNG("\x89PNG"),
		"image-016":   dataPNG(strings.Repeat("\x00", 600)),
	}
}
