package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
)

// FuzzArgv runs any command line against the fake. None may panic, each ends with a code of the table, and one that asks
// for JSON first gets one object that carries the same code.
func FuzzArgv(f *testing.F) {
	for _, line := range append(commands(),
		"images generate -o - x", "images generate -n 99 x", "images generate -0 -q -v x", "images edit -i - -",
		"jobs list --state x --since 7d --limit 3", "help images", "images -h", "--version", "imagse", "-", "--", "",
		"images generate --prompt-file a", "images generate --output= x", "completion zsh", "__complete jobs show ",
		"images generate --jq .assets x", "--log-level debug models list", "images generate --size=\xff \u202e",
	) {
		f.Add(line)
	}
	codes := map[int]bool{0: true}
	for _, code := range exits() {
		codes[code] = true
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		for _, jsonFirst := range []bool{false, true} {
			b := newBench(t, "a prompt").ready()
			args := words
			if jsonFirst {
				args = append([]string{"--json"}, words...)
			}
			closed := 0
			b.deps.StartEmulator = fakeEmulator(&closed)
			b.ctx = signalled(t, engine.KindTerminated) // ends the emulator
			b.eng.files = map[string]string{"a": "prompt"}
			code := b.run(args...)
			if !codes[code] {
				t.Fatalf("%q: exit %d", args, code)
			}
			if got := raw(b.errOut.String()); got != "" {
				t.Fatalf("%q: stderr holds %q", args, got)
			}
			if !jsonFirst || code == 0 || !bytes.HasPrefix(b.out.Bytes(), []byte("{")) {
				continue // help, completion and jq have their own forms
			}
			var r reply
			dec := json.NewDecoder(bytes.NewReader(b.out.Bytes()))
			if err := dec.Decode(&r); err != nil || r.Error == nil && r.Schema == "mediagen/1" {
				t.Fatalf("%q: exit %d: %v: %s", args, code, err, b.out)
			}
			if r.Schema == "mediagen/1" && (r.Error.Exit != code || r.OK) {
				t.Fatalf("%q: exit %d, object: %s", args, code, b.out)
			}
		}
	})
}

// BenchmarkTree is what each start pays for the whole tree of commands and flags.
func BenchmarkTree(b *testing.B) {
	deps := newBench(b, "").deps
	b.ReportAllocs()
	for b.Loop() {
		if code := cli.Execute(b.Context(), deps, []string{"version"}); code != 0 {
			b.Fatalf("exit %d", code)
		}
	}
}
