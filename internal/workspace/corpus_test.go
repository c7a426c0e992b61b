//go:build unix

package workspace

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mediagen/internal/fault"
)

const casesDir = "../../testdata/cases"

// attack is a row of the attack corpus that this package owns.
type attack struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Input    string          `json:"input"`
	Setup    json.RawMessage `json:"setup"`
	Expected string          `json:"expected"`
	Why      string          `json:"why"`
}

func attacks(t *testing.T) []attack {
	t.Helper()
	f, err := os.Open(filepath.Join(casesDir, "attack-corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var rows []attack
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a attack
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		switch a.Kind {
		case "path", "fs", "fileurl":
			rows = append(rows, a)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// pendingRows are the rows that cannot run here, with the reason.
func pendingRows(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(casesDir, "pending.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, why, ok := strings.Cut(line, "\t")
		if !ok || strings.TrimSpace(why) == "" {
			t.Errorf("pending.txt: %q has no reason after a tab", line)
		}
		rows[id] = why
	}
	return rows
}

// TestAttackCorpus runs every row of this package's kinds, or finds it in pending.txt with a reason.
func TestAttackCorpus(t *testing.T) {
	t.Parallel()
	pending := pendingRows(t)
	runners := fsRunners()
	ran := map[string]bool{}
	for _, a := range attacks(t) {
		if why, ok := pending[a.ID]; ok {
			t.Logf("%s is pending: %s", a.ID, why)
			ran[a.ID] = true
			continue
		}
		run := runners[a.ID]
		if a.Kind != "fs" {
			run = runText
		}
		if run == nil {
			t.Errorf("%s (%s) has no runner and is not in pending.txt", a.ID, a.Why)
			continue
		}
		ran[a.ID] = true
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			run(t, a)
		})
	}
	for id := range runners {
		if !ran[id] {
			t.Errorf("runner %s belongs to no row", id)
		}
	}
}

// runText is for rows whose input is a path or a file: URL. The corpus's /srv/media stands for the root.
func runText(t *testing.T, a attack) {
	t.Helper()
	s := newSandbox(t)
	w := open(t, s.config())
	write(t, filepath.Join(s.media, "sub", "a.png"), "inside")
	write(t, filepath.Join(s.dir, "srv", "media-evil", "a.png"), "outside")
	input := strings.Replace(a.Input, "/srv/media", s.media, 1)
	for _, access := range []Access{Read, Write} {
		d := w.Check(input, access)
		verdict(t, a, d.Err)
		if d.Allow != (d.Err == nil) {
			t.Errorf("%s: Allow is %v with error %v", a.ID, d.Allow, d.Err)
		}
	}
	if want, deny := strings.CutPrefix(a.Expected, "deny:"); deny {
		_, err := w.Open(input, 0)
		wantCode(t, err, fault.Code(want))
		p := spec()
		p.Dest = input
		if input != "" { // an empty destination is the default one
			_, err = w.Plan(p)
			wantCode(t, err, fault.Code(want))
		}
	}
}

func verdict(t *testing.T, a attack, err error) {
	t.Helper()
	if code, deny := strings.CutPrefix(a.Expected, "deny:"); deny {
		wantCode(t, err, fault.Code(code))
		return
	}
	if a.Expected != "allow" {
		t.Fatalf("%s: expected %q is a sentence and needs its own runner", a.ID, a.Expected)
	}
	wantCode(t, err, "")
}
