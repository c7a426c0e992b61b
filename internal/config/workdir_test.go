package config_test

import (
	"os"
	"strings"
	"testing"

	"mediagen/internal/config"
)

func TestWorkDirFilesOnlyInMCPServe(t *testing.T) {
	t.Parallel()
	src := source(t)
	write(t, src.WorkDir+"/.env", "OPENAI_API_KEY=from-env-file\nMEDIA_GEN_DIRS=/a\n")
	write(t, src.WorkDir+"/secrets.yaml", "google: {api_key: from-secrets-file}\n")
	c := load(t, src)
	if c.OpenAI.APIKey.IsSet() || c.Google.APIKey.IsSet() || c.Dirs != nil || len(c.Files()) > 0 {
		t.Errorf("a shell command read the working directory: %+v", c.Files())
	}
	src.WorkDirFiles = true
	c = load(t, src)
	if c.OpenAI.APIKey.Reveal() != "from-env-file" || c.Google.APIKey.Reveal() != "from-secrets-file" {
		t.Errorf("mcp serve did not read the working directory: %+v", c.Files())
	}
	// An agent that can write in the directory could widen the policy; the person must see that.
	contains(t, c.Warnings(), src.WorkDir+"/.env", "decides dirs")
}

func TestStrangersFilesAreNotRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string)
		why     string
	}{
		{
			"file writable by others", func(t *testing.T, dir string) { t.Helper(); chmod(t, dir+"/.env", 0o666) },
			"others can change it",
		},
		{
			"directory writable by others", func(t *testing.T, dir string) { t.Helper(); chmod(t, dir, 0o777) },
			"others can write to the working directory",
		},
		{
			"sticky directory", func(t *testing.T, dir string) { t.Helper(); chmod(t, dir, 0o777|os.ModeSticky) },
			"others can write to the working directory",
		},
		{
			"file of another user", func(t *testing.T, dir string) { t.Helper(); chown(t, dir+"/.env") },
			"others can change it",
		},
		{
			"directory of another user", func(t *testing.T, dir string) { t.Helper(); chown(t, dir) },
			"others can write to the working directory",
		},
		{"a directory", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(dir + "/.env"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir+"/.env", 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is not a regular file"},
		{"too large", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/.env", strings.Repeat("#", 300_000))
		}, "is larger than 256Ki bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.WorkDirFiles = true
			write(t, src.WorkDir+"/.env", "MEDIA_GEN_OUTPUT_DIR=/evil\n")
			if got := load(t, src).OutputDir; got != "/evil" {
				t.Fatalf("the file has no effect before: %q", got)
			}
			test.prepare(t, src.WorkDir)
			c := load(t, src)
			if c.OutputDir != "" {
				t.Errorf("the file was read: %q", c.OutputDir)
			}
			contains(t, c.Warnings(), "env file "+src.WorkDir+"/.env is not read", test.why, "--env-file")
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func chown(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
}

func TestBaseURLFromTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	const evil = "https://collector.example/v1"
	tests := []struct {
		name          string
		env, secrets  string // files in the working directory
		environ       []string
		url, key, add string // what the refusal names; url "" = accepted
	}{
		{
			"openai", "OPENAI_BASE_URL=" + evil, "",
			[]string{"OPENAI_API_KEY=k"},
			"openai.base_url", "openai.api_key",
			"env OPENAI_API_KEY",
		},
		{
			"gemini", "GOOGLE_GEMINI_BASE_URL=" + evil, "",
			[]string{"GEMINI_API_KEY=k"},
			"google.gemini_base_url",
			"google.api_key", "env GEMINI_API_KEY",
		},
		{
			"azure", "AZURE_OPENAI_ENDPOINT=" + evil, "",
			[]string{"AZURE_OPENAI_API_KEY=k"},
			"azure.endpoint",
			"azure.api_key", "env AZURE_OPENAI_API_KEY",
		},
		{
			"azure by the OpenAI address", "OPENAI_BASE_URL=" + evil, "",
			[]string{"AZURE_OPENAI_API_KEY=k"},
			"openai.base_url", "azure.api_key", "env AZURE_OPENAI_API_KEY",
		},
		{
			"vertex", "GOOGLE_VERTEX_BASE_URL=" + evil + "\nGOOGLE_GENAI_USE_VERTEXAI=1", "", nil,
			"google.vertex_base_url", "the credentials", "application default credentials",
		},
		{
			"vertex with a path to credentials", "GOOGLE_VERTEX_BASE_URL=" + evil +
				"\nGOOGLE_GENAI_USE_VERTEXAI=1\nGOOGLE_APPLICATION_CREDENTIALS=/home/u/adc.json", "", nil,
			"google.vertex_base_url", "the credentials", "application default credentials",
		},
		{"both there", "OPENAI_BASE_URL=" + evil + "\nOPENAI_API_KEY=k", "", nil, "", "", ""},
		{"both there, in two files", "OPENAI_BASE_URL=" + evil, "openai: {api_key: k}", nil, "", "", ""},
		{"no key", "OPENAI_BASE_URL=" + evil, "", nil, "", "", ""},
		{
			"the environment's address wins", "OPENAI_BASE_URL=" + evil, "",
			[]string{"OPENAI_BASE_URL=https://mine.example", "OPENAI_API_KEY=k"},
			"", "", "",
		},
		{"only the key is there", "", "openai: {api_key: k}", []string{"OPENAI_BASE_URL=https://mine.example"}, "", "", ""},
		{"vertex not in use", "GOOGLE_VERTEX_BASE_URL=" + evil, "", nil, "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.WorkDirFiles = true
			src.Environ = test.environ
			write(t, src.WorkDir+"/.env", test.env)
			write(t, src.WorkDir+"/secrets.yaml", test.secrets)
			if test.url == "" {
				load(t, src)
				return
			}
			contains(t, refused(t, src), test.url+" comes from env file "+src.WorkDir+"/.env", test.key, test.add,
				"--trust-base-url")
			load(t, withFlags(t, src, "--trust-base-url"))
			// The file cannot lift the rule for itself.
			write(t, src.WorkDir+"/.env", test.env+"\nMEDIA_GEN_TRUST_BASE_URL=1\n")
			refused(t, src)
		})
	}
}

// A file that the person names is trusted; one that a variable names by a relative path is whatever lies in the
// directory of the moment.
func TestNamedFilesAndTrust(t *testing.T) {
	t.Parallel()
	src := source(t)
	path := write(t, src.WorkDir+"/p.env", "OPENAI_BASE_URL=https://gateway.example/v1\n")
	src.Environ = []string{"OPENAI_API_KEY=k"}
	load(t, withFlags(t, src, "--env-file", "p.env"))
	src.Environ = []string{"OPENAI_API_KEY=k", "MEDIA_GEN_ENV_FILE=" + path}
	load(t, src)
	src.Environ = []string{"OPENAI_API_KEY=k", "MEDIA_GEN_ENV_FILE=p.env"}
	contains(t, refused(t, src), "openai.base_url", "p.env", "env OPENAI_API_KEY")

	write(t, src.WorkDir+"/c.yaml", "openai: {base_url: https://gateway.example/v1}\n")
	src.Environ = []string{"OPENAI_API_KEY=k", "MEDIA_GEN_CONFIG=c.yaml"}
	contains(t, refused(t, src), "openai.base_url", "c.yaml", "env OPENAI_API_KEY")
	src.Environ = []string{"OPENAI_API_KEY=k"}
	write(t, config.Path(src), "openai: {base_url: https://gateway.example/v1}\n")
	load(t, src)
}
