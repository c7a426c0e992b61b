//go:build unix

package config_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"mediagen/internal/config"
)

func TestCarelessSecretsFile(t *testing.T) {
	t.Parallel()
	const remedy = "run chmod 600 on it"
	tests := []struct {
		name    string
		prepare func(t *testing.T, path string)
		why     string
	}{
		{
			"group may read", func(t *testing.T, path string) { t.Helper(); chmod(t, path, 0o640) },
			"is open to its group or to others",
		},
		{
			"others may read", func(t *testing.T, path string) { t.Helper(); chmod(t, path, 0o604) },
			"is open to its group or to others",
		},
		{"symbolic link", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Rename(path, path+".real"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+".real", path); err != nil {
				t.Fatal(err)
			}
		}, "is a symbolic link"},
		{"another user's", func(t *testing.T, path string) { t.Helper(); chown(t, path) }, "belongs to another user"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.SecretsFile = write(t, src.WorkDir+"/s.yaml", "openai: {api_key: k}\n")
			if got := load(t, src).Warnings(); len(got) > 0 {
				t.Fatalf("warnings about a private file: %q", got)
			}
			test.prepare(t, src.SecretsFile)
			c := load(t, src)
			contains(t, c.Warnings(), "secrets file "+src.SecretsFile, test.why, remedy)
			if !c.OpenAI.APIKey.IsSet() {
				t.Error("the file was not read")
			}
			for _, strict := range []func(config.Source) config.Source{
				func(s config.Source) config.Source { s.Strict = true; return s },
				func(s config.Source) config.Source { s.Environ = []string{"MEDIA_GEN_POLICY_STRICT=yes"}; return s },
				func(s config.Source) config.Source { return withFlags(t, s, "--strict-dirs") },
			} {
				contains(t, refused(t, strict(src)), "secrets file "+src.SecretsFile, test.why, "policy.strict", remedy)
			}
		})
	}
}

func TestOtherFilesWithKeys(t *testing.T) {
	t.Parallel()
	src := source(t)
	env := write(t, configDir(t, src)+"/.env", "OPENAI_API_KEY=k\n")
	file := write(t, config.Path(src), "google: {api_key: k}\n")
	if got := load(t, src).Warnings(); len(got) > 0 {
		t.Fatalf("warnings about private files: %q", got)
	}
	chmod(t, env, 0o644)
	chmod(t, file, 0o666)
	got := load(t, src).Warnings()
	contains(t, got, "env file "+env+" holds a key and can be read by others")
	contains(t, got, "config file "+file+" holds a key and can be read by others")
	contains(t, got, "config file "+file+" can be changed by others")
	write(t, env, "MEDIA_GEN_TIMEOUT=1s\n")
	chmod(t, env, 0o644)
	for _, line := range load(t, src).Warnings() {
		if strings.Contains(line, env) {
			t.Errorf("a file without keys may be read by everybody: %s", line)
		}
	}
}

func TestMissingAndUnreadableFiles(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--config", "--env-file", "--secrets-file"} {
		src := source(t)
		contains(t, refused(t, withFlags(t, src, flag, "none")), src.WorkDir+"/none does not exist")
		if err := os.Mkdir(src.WorkDir+"/dir", 0o700); err != nil {
			t.Fatal(err)
		}
		contains(t, refused(t, withFlags(t, src, flag, "dir")), src.WorkDir+"/dir cannot be read", "not a regular file")
		write(t, src.WorkDir+"/large", strings.Repeat("#", 300_000))
		contains(t, refused(t, withFlags(t, src, flag, "large")), "is larger than 256Ki bytes")
	}
}

func TestNoFilesBelowAFile(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.HomeDir = "/dev/null"
	if files := load(t, src).Files(); len(files) > 0 {
		t.Errorf("files %v", files)
	}
	contains(t, refused(t, withFlags(t, src, "--config", "/dev/null/x")), "config file /dev/null/x does not exist")
	contains(t, refused(t, withFlags(t, src, "--config", strings.Repeat("x", 5000))), "cannot be read: file name too long")
}

// A key store hands out secrets through a pipe (process substitution).
func TestPipes(t *testing.T) {
	t.Parallel()
	src := source(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := w.WriteString("openai: {api_key: k}\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	src.SecretsFile = fmt.Sprintf("/dev/fd/%d", r.Fd())
	src.Strict = true
	if c := load(t, src); c.OpenAI.APIKey.Reveal() != "k" {
		t.Error("the pipe was not read")
	}
}

// TestPipesInADirectory may have nobody at their other end, or somebody who says nothing.
func TestPipesInADirectory(t *testing.T) {
	t.Parallel()
	src := source(t)
	fifo := src.WorkDir + "/.env"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for _, flag := range []string{"--config", "--env-file", "--secrets-file"} {
		contains(t, refused(t, withFlags(t, src, flag, fifo)), fifo+" cannot be read: is not a regular file")
	}
	src.WorkDirFiles = true
	contains(t, load(t, src).Warnings(), fifo+" is not read", "not a regular file")
}

func TestIsDescriptor(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/dev/fd/63": true, "/proc/self/fd/3": true, "/dev/stdin": true, "/dev/stdout": true, "/dev/stderr": true,
		"/dev/fd/../tty": false, "/dev/tty": false, "/dev/null": false, "/tmp/dev/fd/3": false, "dev/fd/3": false, "": false,
		"/dev/fd/3/x": false, "/proc/self/cwd/x": false,
	} {
		if got := config.IsDescriptor(path); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}
