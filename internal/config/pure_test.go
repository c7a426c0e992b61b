package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/config"
)

// Load knows the process environment only through Source, and an env file does not get into it.
func TestProcessEnvironmentIsLeftAlone(t *testing.T) {
	const name = "MEDIA_GEN_MCP_MAX_WAIT"
	t.Setenv(name, "7s")
	t.Setenv("OPENAI_API_KEY", "from-process")
	t.Setenv("XDG_STATE_HOME", "/from-process")
	t.Setenv("MEDIA_GEN_TIMEOUT", "")
	src := source(t)
	src.EnvFile = write(t, src.WorkDir+"/e", "MEDIA_GEN_TIMEOUT=3s\n")
	c := load(t, src)
	if c.MCP.MaxWait != 45*time.Second || c.OpenAI.APIKey.IsSet() || c.StateDir == "/from-process/mediagen" {
		t.Errorf("the process environment was read: %v, %v, %s", c.MCP.MaxWait, c.OpenAI.APIKey, c.StateDir)
	}
	if c.Timeout != 3*time.Second {
		t.Errorf("timeout %v, want 3s", c.Timeout)
	}
	if got := os.Getenv("MEDIA_GEN_TIMEOUT"); got != "" {
		t.Errorf("the env file changed the process environment: %q", got)
	}
}

// Load writes nothing and makes no directory.
func TestLoadOnlyReads(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.WorkDirFiles = true
	write(t, config.Path(src), "timeout: 1s\n")
	write(t, src.WorkDir+"/.env", "OPENAI_API_KEY=k\n")
	list := func() (paths []string) {
		for _, root := range []string{src.HomeDir, src.WorkDir} {
			err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				paths = append(paths, path+" "+info.Mode().String())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return paths
	}
	before := list()
	load(t, src)
	if diff := cmp.Diff(before, list()); diff != "" {
		t.Errorf("Load changed files (-before +after):\n%s", diff)
	}
}

// Nothing is shared between loads, so that they can run at the same time; the race detector watches.
func TestLoadsAtTheSameTime(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for i := range 8 {
		src := source(t)
		want := time.Duration(i+1) * time.Second
		write(t, config.Path(src), "timeout: "+want.String()+"\n")
		wg.Go(func() {
			c, err := config.Load(src)
			if err != nil || c.Timeout != want {
				t.Errorf("Load = %v, %v, want timeout %v", c, err, want)
			}
		})
	}
	wg.Wait()
}
