package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"mediagen/internal/config"
	"mediagen/internal/fault"
)

// source is a Source with fresh, private directories and nothing else.
func source(t *testing.T) config.Source {
	t.Helper()
	home, work := t.TempDir(), t.TempDir()
	for _, dir := range []string{home, work} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return config.Source{HomeDir: home, WorkDir: work}
}

// configDir is the config directory of a Source on this system.
func configDir(t *testing.T, s config.Source) string {
	t.Helper()
	return filepath.Dir(config.Path(s))
}

// write makes a private file and returns its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withFlags parses args with the flags of the table.
func withFlags(t *testing.T, s config.Source, args ...string) config.Source {
	t.Helper()
	s.Flags = pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.RegisterFlags(s.Flags)
	if err := s.Flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return s
}

func load(t *testing.T, s config.Source) *config.Config {
	t.Helper()
	c, err := config.Load(s)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

// refused loads and returns the lines of the error, which must have the code config_invalid.
func refused(t *testing.T, s config.Source) []string {
	t.Helper()
	c, err := config.Load(s)
	if err == nil {
		t.Fatalf("Load accepted it: %+v", c.Origins())
	}
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.ConfigInvalid {
		t.Fatalf("error is %T with code %q, want config_invalid", err, fault.CodeOf(err))
	}
	return strings.Split(err.Error(), "\n")
}

// originOf returns the row of one key.
func originOf(t *testing.T, c *config.Config, key string) config.Origin {
	t.Helper()
	for _, o := range c.Origins() {
		if o.Key == key {
			return o
		}
	}
	t.Fatalf("no origin for %s", key)
	return config.Origin{}
}

// contains fails unless one of the lines holds every part.
func contains(t *testing.T, lines []string, parts ...string) {
	t.Helper()
	for _, line := range lines {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			return
		}
	}
	t.Errorf("no line holds %q in:\n%s", parts, strings.Join(lines, "\n"))
}
