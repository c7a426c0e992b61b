package app_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // holds the journal's lock
)

// completes returns the words that the shell would offer.
func (h *home) completes(args ...string) []string {
	h.t.Helper()
	r := h.run(append([]string{"__complete"}, args...)...)
	if r.code != 0 || strings.Contains(r.errOut, "warning") {
		h.t.Fatalf("__complete %q: exit %d: %s", args, r.code, r.errOut)
	}
	var words []string
	for line := range strings.Lines(r.out) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(word, ":") {
			words = append(words, word)
		}
	}
	return words
}

// TestCompleteJobs offers the newest jobs first, and nothing without a journal, with a broken one or with bad settings.
func TestCompleteJobs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for range 2 {
		if r := h.generate("--provider", "emulator", "--quality", "low", "--size", "1024x1024"); r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.errOut)
		}
	}
	want := strings.Split(h.jq(".items[].id", "jobs", "list"), "\n")
	for _, command := range []string{"show", "resume", "forget"} {
		if got := h.completes("jobs", command, ""); !slices.Equal(got, want) {
			t.Errorf("jobs %s: %v, want %v", command, got, want)
		}
	}
	if r := h.run("__complete", "jobs", "show", ""); !strings.Contains(r.out, "\tlanded, images generate, 2026-11-30") {
		t.Errorf("nothing about the jobs: %s", r.out)
	}
	h.env = append(h.env, "MEDIA_GEN_TIMEOT=3s") // a warning, which must not fall into the line
	if got := h.completes("jobs", "show", ""); !slices.Equal(got, want) {
		t.Errorf("with a warning: %v", got)
	}
	if got := h.completes("jobs", "show", "--no-journal", ""); len(got) != 0 {
		t.Errorf("--no-journal: %v", got)
	}
	h.env = append(h.env, "MEDIA_GEN_TIMEOUT=soon")
	if got := h.completes("jobs", "show", ""); len(got) != 0 {
		t.Errorf("with bad settings: %v", got)
	}
	broken := newHome(t)
	broken.write(filepath.Join(broken.dir, ".local/state/mediagen/journal.db"), strings.Repeat("no database ", 1000))
	if got := broken.completes("jobs", "show", ""); len(got) != 0 {
		t.Errorf("with a broken journal: %v", got)
	}
}

// TestCompleteJobsDoesNotWait for a process that holds the journal: the person is in the middle of a line.
func TestCompleteJobsDoesNotWait(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.generate("--provider", "emulator", "--quality", "low", "--size", "1024x1024")
	db, err := sql.Open("sqlite", filepath.Join(h.dir, ".local/state/mediagen/journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	got := h.completes("jobs", "show", "")
	if took := time.Since(begin); took > 3*time.Second { // the journal itself waits 5 s
		t.Errorf("completion took %s for %v", took, got)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if got := h.completes("jobs", "show", ""); len(got) != 1 {
		t.Errorf("when it is free: %v", got)
	}
}

// TestCompleteModels offers the catalog with the user's rows.
func TestCompleteModels(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.env = append(h.env, "MEDIA_GEN_CATALOG_FILE="+h.write("c.yaml",
		"models:\n  - {id: my-model, provider: openai, kind: image, ops: [generate]}\n"))
	got := h.completes("models", "show", "")
	for _, want := range []string{"my-model", "gpt-image-2", "veo-3.1-generate-001"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %v", want, got)
		}
	}
}
