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

// TestPlaceOfANamedFile judges by where a file lies and not by how it is named.
func TestPlaceOfANamedFile(t *testing.T) {
	t.Parallel()
	const gateway = "OPENAI_BASE_URL=https://gateway.example/v1\n"
	const inConfig = "openai: {base_url: https://gateway.example/v1}\n"
	type at struct{ work, home, link string } // link is another name of the working directory
	tests := []struct {
		name    string
		put     string // the file, below the directory that holds both others
		text    string
		args    func(at) []string
		environ func(at) string
		home    bool // the working directory is the home directory
		refused bool
	}{
		{name: "flag, relative", put: "work/p", args: func(at) []string { return []string{"--env-file", "p"} }, refused: true},
		{name: "flag, absolute", put: "work/p", args: func(a at) []string { return []string{"--env-file", a.work + "/p"} }, refused: true},
		{name: "flag, through a link", put: "work/p", args: func(a at) []string { return []string{"--env-file", a.link + "/p"} }, refused: true},
		{name: "flag, below", put: "work/sub/p", args: func(at) []string { return []string{"--env-file", "sub/p"} }, refused: true},
		{name: "flag, beside", put: "p", args: func(at) []string { return []string{"--env-file", "../p"} }},
		{name: "flag, a name that begins alike", put: "work2/p", args: func(at) []string { return []string{"--env-file", "../work2/p"} }},
		{name: "variable, relative", put: "work/p", environ: func(at) string { return "MEDIA_GEN_ENV_FILE=p" }, refused: true},
		{name: "variable, absolute", put: "work/p", environ: func(a at) string { return "MEDIA_GEN_ENV_FILE=" + a.work + "/p" }, refused: true},
		{name: "variable, beside", put: "p", environ: func(at) string { return "MEDIA_GEN_ENV_FILE=../p" }},
		{name: "config by flag", put: "work/c", text: inConfig, args: func(at) []string { return []string{"--config", "c"} }, refused: true},
		{name: "config by variable", put: "work/c", text: inConfig, environ: func(a at) string { return "MEDIA_GEN_CONFIG=" + a.work + "/c" }, refused: true},
		{name: "own files while at home", put: "home/.xdg/mediagen/config.yaml", text: inConfig, home: true},
		{name: "own file, named, while at home", put: "home/.xdg/mediagen/.env", home: true, args: func(a at) []string {
			return []string{"--env-file", a.home + "/.xdg/mediagen/.env"}
		}},
		{name: "another file at home", put: "home/p", home: true, args: func(at) []string { return []string{"--env-file", "~/p"} }, refused: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			a := at{root + "/work", root + "/home", root + "/link"}
			write(t, a.work+"/x", "")
			if err := os.Symlink(a.work, a.link); err != nil {
				t.Skip(err)
			}
			if test.text == "" {
				test.text = gateway
			}
			write(t, root+"/"+test.put, test.text)
			src := config.Source{WorkDir: a.work, HomeDir: a.home}
			if test.home {
				src.WorkDir = a.home
			}
			src.Environ = []string{"OPENAI_API_KEY=k", "XDG_CONFIG_HOME=" + a.home + "/.xdg"}
			if test.environ != nil {
				src.Environ = append(src.Environ, test.environ(a))
			}
			var args []string
			if test.args != nil {
				args = test.args(a)
			}
			if src = withFlags(t, src, args...); !test.refused {
				if c := load(t, src); c.OpenAI.BaseURL == "" {
					t.Error("the file was not read")
				}
				return
			}
			contains(t, refused(t, src), "openai.base_url", "env OPENAI_API_KEY", "--trust-base-url")
			load(t, withFlags(t, src, append(args, "--trust-base-url")...))
		})
	}
}

// TestWorkingDirectoryByItsOtherName finds the working directory also where only the process has a name for it.
func TestWorkingDirectoryByItsOtherName(t *testing.T) {
	src := source(t)
	write(t, src.WorkDir+"/p", "OPENAI_BASE_URL=https://gateway.example/v1\n")
	t.Chdir(src.WorkDir)
	const self = "/proc/self/cwd"
	if _, err := os.Stat(self); err != nil {
		t.Skip(err)
	}
	src.Environ = []string{"OPENAI_API_KEY=k", "MEDIA_GEN_ENV_FILE=" + self + "/p"}
	contains(t, refused(t, src), "openai.base_url", self, "env OPENAI_API_KEY")
}
