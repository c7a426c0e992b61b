package journal

import (
	"os"
	"path/filepath"
	"testing"

	"mediagen/internal/fault"
)

// TestReplaced: a journal whose file is taken away says so instead of writing into nothing.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"removed":  os.Remove,
		"moved":    func(path string) error { return os.Rename(path, path+".old") },
		"cut":      func(path string) error { return os.Truncate(path, 0) },
		"replaced": func(path string) error { _ = os.Remove(path); return os.WriteFile(path, []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "jobs.db")
			j := openAt(t, path, Options{})
			job := &Job{Op: "images generate", Provider: "openai", Model: "m"}
			if err := j.Create(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			if err := change(path); err != nil {
				t.Skip(err) // Windows keeps open files
			}
			err := j.Update(t.Context(), job.ID, Update{Sent: true})
			if fault.CodeOf(err) != fault.JournalBroken {
				t.Errorf("Update: %v", err)
			}
			if err := j.Create(t.Context(), &Job{Op: "x", Provider: "openai", Model: "m"}); fault.CodeOf(err) != fault.JournalBroken {
				t.Errorf("Create: %v", err)
			}
		})
	}
}
