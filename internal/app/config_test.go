package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mediagen/internal/config"
)

func (h *home) conf() string { return filepath.Join(h.dir, ".config", "mediagen", "config.yaml") }

// TestConfigInit writes the sample for its owner alone, once, and loads what it wrote.
func TestConfigInit(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if r := h.wants(0, "", "config", "path"); r.out != h.conf()+"\n" || len(h.tree()) != 0 {
		t.Errorf("path: %q, tree %v", r.out, h.tree())
	}
	if r := h.wants(0, "", "config", "init"); r.out != h.conf()+"\n" {
		t.Errorf("init: %q", r.out)
	}
	about, err := os.Stat(h.conf())
	if err != nil || about.Mode() != 0o600 {
		t.Errorf("file: %v %v", about, err)
	}
	if about, err := os.Stat(filepath.Dir(h.conf())); err != nil || about.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v %v", about, err)
	}
	h.wants(0, "config file "+h.conf(), "doctor")
	h.wants(2, "--overwrite replaces it", "config", "init")
	h.write(h.conf(), "timeout: 3s\n")
	if got := h.jq(`.items[] | select(.key == "timeout") | .value + " " + .from`, "config", "show"); got != "3s config file "+h.conf() {
		t.Errorf("config show: %q", got)
	}
	h.wants(0, "", "config", "init", "--overwrite")
	if data, err := os.ReadFile(h.conf()); err != nil || string(data) != string(config.Sample()) {
		t.Errorf("after --overwrite: %v, %d bytes", err, len(data))
	}
	entries, err := os.ReadDir(filepath.Dir(h.conf()))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the file: %v %v", entries, err)
	}
}

// TestConfigInitOverwrite closes a file that was open to others, and keeps a link to where a person keeps the file.
func TestConfigInitOverwrite(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	target := h.write(filepath.Join(h.dir, "dotfiles", "mediagen.yaml"), "timeout: 3s\n")
	if err := os.Chmod(target, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(h.conf()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, h.conf()); err != nil {
		t.Fatal(err)
	}
	h.wants(2, "exists", "config", "init")
	h.wants(0, "", "config", "init", "--overwrite")
	if about, err := os.Lstat(h.conf()); err != nil || about.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", about, err)
	}
	about, err := os.Stat(target)
	if err != nil || about.Mode() != 0o600 || about.Size() != int64(len(config.Sample())) {
		t.Errorf("target: %v %v", about, err)
	}
}

// TestConfigInitFails without a place, and below a file; a file that was there stays as it was.
func TestConfigInitFails(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.env, h.dir = nil, ""
	h.wants(3, "--config", "config", "path")
	h.wants(3, "--config", "config", "init")
	h.wants(0, "my.yaml", "config", "init", "--config", "my.yaml")

	h = newHome(t)
	h.write(filepath.Join(h.dir, ".config"), "a file")
	h.wants(1, "cannot be made", "config", "init")
	h.wants(1, "cannot be", "config", "init", "--config", filepath.Join(h.write("f", "x"), "c.yaml"))
}

// TestBadSettings names every fault, a line each, with its place, and never a value that may be a key.
func TestBadSettings(t *testing.T) {
	t.Parallel()
	h := newHome(t, "MEDIA_GEN_TIMEOUT=soon", "OPENAI_API_KEY=has blanks "+canary)
	h.write(h.conf(), "timeot: 3s\nimages: {qualty: low}\n")
	for _, args := range [][]string{{"config", "show"}, {"models", "list"}, {"images", "generate", "x"}, {"doctor"}, {"jobs", "list"}} {
		r := h.run(args...)
		if r.code != 3 {
			t.Errorf("%v: exit %d", args, r.code)
		}
		for _, part := range []string{"timeot", "qualty", "MEDIA_GEN_TIMEOUT", "openai.api_key"} {
			if !strings.Contains(r.errOut, part) {
				t.Errorf("%v: no %q in: %s", args, part, r.errOut)
			}
		}
		if n := strings.Count(r.errOut, "\n"); n < 4 {
			t.Errorf("%v: %d lines: %s", args, n, r.errOut)
		}
	}
	h.wants(0, "mediagen ", "version") // needs no settings
	h.wants(0, h.conf(), "config", "path")
}
