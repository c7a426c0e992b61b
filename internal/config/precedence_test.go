package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/config"
)

// Each row gives one layer more than the row before; the newest must win.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	src := source(t)
	dir := configDir(t, src)
	tests := []struct {
		name string
		add  func()
		want time.Duration
		from string
	}{
		{"default", func() {}, 45 * time.Second, "default"},
		{
			"config file", func() { write(t, dir+"/config.yaml", "mcp: {max_wait: 1s}\n") }, time.Second,
			"config file " + dir + "/config.yaml",
		},
		{
			"env file", func() { write(t, dir+"/.env", "MEDIA_GEN_MCP_MAX_WAIT=2s\n") }, 2 * time.Second,
			"env file " + dir + "/.env",
		},
		{"env file of the working directory", func() {
			src.WorkDirFiles = true
			write(t, src.WorkDir+"/.env", "MEDIA_GEN_MCP_MAX_WAIT=3s\n")
		}, 3 * time.Second, "env file " + src.WorkDir + "/.env"},
		{
			"named env file", func() { src.EnvFile = write(t, src.WorkDir+"/n.env", "MEDIA_GEN_MCP_MAX_WAIT=4s\n") },
			4 * time.Second, "env file " + src.WorkDir + "/n.env",
		},
		{
			"environment", func() { src.Environ = []string{"MEDIA_GEN_MCP_MAX_WAIT=5s"} }, 5 * time.Second,
			"env MEDIA_GEN_MCP_MAX_WAIT",
		},
	}
	for _, test := range tests { // in order: each row builds on the last
		test.add()
		c := load(t, src)
		if c.MCP.MaxWait != test.want {
			t.Errorf("%s: %v, want %v", test.name, c.MCP.MaxWait, test.want)
		}
		want := config.Origin{Key: "mcp.max_wait", Value: test.want.String(), From: test.from}
		if diff := cmp.Diff(want, originOf(t, c, "mcp.max_wait")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestFlagBeatsEverything(t *testing.T) {
	t.Parallel()
	src := source(t)
	write(t, config.Path(src), "timeout: 1s\n")
	src.Environ = []string{"MEDIA_GEN_TIMEOUT=2s"}
	if got := load(t, withFlags(t, src)).Timeout; got != 2*time.Second {
		t.Errorf("a flag that was not given hides the environment: %v", got)
	}
	if got := load(t, withFlags(t, src, "--timeout", "3s")).Timeout; got != 3*time.Second {
		t.Errorf("flag: %v, want 3s", got)
	}
}

func TestSecretsFileBeatsTheEnvironment(t *testing.T) {
	t.Parallel()
	src := source(t)
	dir := configDir(t, src)
	write(t, dir+"/secrets.yaml", "openai: {api_key: from-secrets}\nazure: {api_key: <your-api-key-here>}\n")
	src.Environ = []string{
		"OPENAI_API_KEY=from-env", "MEDIA_GEN_OPENAI_API_KEY=from-own-env", "AZURE_OPENAI_API_KEY=azure-env",
	}
	c := load(t, src)
	if got := c.OpenAI.APIKey.Reveal(); got != "from-secrets" {
		t.Errorf("openai key from %s", originOf(t, c, "openai.api_key").From)
	}
	if got := originOf(t, c, "openai.api_key").From; got != "secrets file "+dir+"/secrets.yaml" {
		t.Errorf("origin %q", got)
	}
	if got := c.Azure.APIKey.Reveal(); got != "azure-env" {
		t.Errorf("a placeholder hid the environment: %s", originOf(t, c, "azure.api_key").From)
	}
	src.WorkDirFiles = true
	write(t, src.WorkDir+"/secrets.yaml", "openai: {api_key: from-workdir}\n")
	if got := load(t, src).OpenAI.APIKey.Reveal(); got != "from-workdir" {
		t.Error("the secrets file of the working directory did not win in mcp serve")
	}
	src.SecretsFile = write(t, src.WorkDir+"/named.yaml", "google: {api_key: g}\n")
	c = load(t, src)
	if got := c.OpenAI.APIKey.Reveal(); got != "from-own-env" {
		t.Errorf("a named secrets file must replace the others: key from %s", originOf(t, c, "openai.api_key").From)
	}
}

func TestOwnNameFirst(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		environ []string
		want    string
	}{
		{"own first", []string{"OPENAI_API_KEY=b", "MEDIA_GEN_OPENAI_API_KEY=a"}, "a"},
		{"empty is unset", []string{"MEDIA_GEN_OPENAI_API_KEY=", "OPENAI_API_KEY=b"}, "b"},
		{"white space is unset", []string{"MEDIA_GEN_OPENAI_API_KEY=  ", "OPENAI_API_KEY=b"}, "b"},
		{"unfilled template", []string{"MEDIA_GEN_OPENAI_API_KEY=${user_config.key}", "OPENAI_API_KEY=b"}, "b"},
		{"unfilled braces", []string{"MEDIA_GEN_OPENAI_API_KEY={{key}}", "OPENAI_API_KEY=b"}, "b"},
		{"placeholder", []string{"MEDIA_GEN_OPENAI_API_KEY=<your-openai-key-here>", "OPENAI_API_KEY=b"}, "b"},
		{"first of two equal names", []string{"OPENAI_API_KEY=b", "OPENAI_API_KEY=c"}, "b"},
		{"no value at all", []string{"OPENAI_API_KEY", "=x"}, ""},
		{"trimmed", []string{"OPENAI_API_KEY= b\n"}, "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.Environ = test.environ
			if got := load(t, src).OpenAI.APIKey.Reveal(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, environ, file string
		want                []string
	}{
		{"unset is nil", "", "", nil},
		{"only commas is unset", "MEDIA_GEN_URLS= , ,", "", nil},
		{
			"neither colon nor space splits", "MEDIA_GEN_URLS=https://a/b c,https://d:81/", "",
			[]string{"https://a/b c", "https://d:81/"},
		},
		{"unfilled entries are dropped", "MEDIA_GEN_URLS=https://a/,${user_config.urls}", "", []string{"https://a/"}},
		{"text in the file", "", "urls: ' x , y,'", []string{"x", "y"}},
		{"a sequence entry keeps its comma", "", "urls: ['x,y', ' z ', '']", []string{"x,y", "z"}},
		{"one word in the file", "", "urls: x", []string{"x"}},
		{"empty sequence is unset", "", "urls: []", nil},
		{"null is unset", "", "urls:", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.Environ = []string{test.environ}
			write(t, config.Path(src), test.file)
			if diff := cmp.Diff(test.want, load(t, src).URLs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultsOfADoor(t *testing.T) {
	t.Parallel()
	src := source(t)
	c := load(t, src)
	if c.Log.Level != "warn" || !c.Journal.Enabled || c.Journal.Path != c.StateDir+"/journal.db" {
		t.Errorf("shell defaults: level %q, journal %+v", c.Log.Level, c.Journal)
	}
	src.WorkDirFiles = true
	if got := load(t, src).Log.Level; got != "info" {
		t.Errorf("mcp serve logs at %q, want info", got)
	}
	src.Environ = []string{"MEDIA_GEN_MCP_LOG_LEVEL=Silent"}
	if got := load(t, src).Log.Level; got != "silent" {
		t.Errorf("got %q, want silent", got)
	}
}

// Source's own fields stand for flags; a flag that was given is stronger, and none is read twice.
func TestSourceFields(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.ConfigFile = write(t, src.WorkDir+"/a.yaml", "timeout: 1s\n")
	other := write(t, src.WorkDir+"/b.yaml", "timeout: 2s\n")
	if got := config.Path(src); got != src.ConfigFile {
		t.Errorf("Path = %q, want %q", got, src.ConfigFile)
	}
	src = withFlags(t, src, "--config", other)
	c := load(t, src)
	if diff := cmp.Diff([]config.File{{Kind: "config file", Path: other}}, c.Files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if c.Timeout != 2*time.Second || c.ConfigFile != other {
		t.Errorf("timeout %v from %s", c.Timeout, c.ConfigFile)
	}
	src.Strict = true
	if !load(t, src).Policy.Strict {
		t.Error("Source.Strict has no effect")
	}
}
