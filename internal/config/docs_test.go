package config_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"mediagen/internal/config"
)

func TestSampleIsAConfigFile(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.HomeDir = "/h" // the same places in every load
	defaults := load(t, src)
	sample := config.Sample()

	src.ConfigFile = write(t, src.WorkDir+"/sample.yaml", string(sample))
	same(t, defaults, load(t, src))

	// With every key switched on the values are still the defaults, and every setting is there.
	all := regexp.MustCompile(`(?m)^( *)#([a-z])`).ReplaceAllString(string(sample), "$1$2")
	write(t, src.ConfigFile, all)
	c := load(t, src)
	same(t, defaults, c)
	for _, s := range config.Settings() {
		if strings.Count(string(sample), "Environment: "+strings.Join(s.Env, ", ")+".") != 1 && !s.Bootstrap {
			t.Errorf("%s is not explained once", s.Key)
		}
		if s.Default != nil && !s.Bootstrap && originOf(t, c, s.Key).From != "config file "+src.ConfigFile {
			t.Errorf("%s is not set by the sample", s.Key)
		}
	}
	for i, line := range bytes.Split(sample, []byte("\n")) {
		if len(line) > 120 {
			t.Errorf("line %d has %d bytes", i+1, len(line))
		}
	}
}

// same compares the typed values of two configurations, but not where they came from.
func same(t *testing.T, want, got *config.Config) {
	t.Helper()
	w, g := fields(want), fields(got)
	for key := range w {
		if key == "config" {
			continue
		}
		if diff := cmp.Diff(plain(w[key]), plain(g[key])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

func TestDocsAreDeterministic(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(config.Sample(), config.Sample()) || !bytes.Equal(config.MarkdownTable(), config.MarkdownTable()) {
		t.Error("two runs differ")
	}
}

func TestMarkdownTable(t *testing.T) {
	t.Parallel()
	rows := strings.Split(strings.TrimSpace(string(config.MarkdownTable())), "\n")
	if want := len(config.Settings()) + 2; len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	for _, row := range rows {
		if got := len(regexp.MustCompile(`[^\\]\|`).FindAllString(row, -1)); got != 5 {
			t.Errorf("%d cells: %s", got, row)
		}
	}
	contains(t, rows, "| `openai.api_key` | `MEDIA_GEN_OPENAI_API_KEY`, `OPENAI_API_KEY` |  |  | OpenAI API key. |")
	contains(t, rows, "| `cost.max` | `MEDIA_GEN_COST_MAX` | `--max-cost` | no cap |")
	contains(t, rows, "| `mcp.max_message_bytes` |", "| `44Mi` |")
	contains(t, rows, "| `log.format` |", "| `text` |", "One of: text, json.")
}

func TestFlagHelp(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.RegisterFlags(fs)
	want := []string{
		"config", "env-file", "keep-prompts", "log-format", "log-level", "max-cost", "no-journal", "secrets-file",
		"strict-dirs", "timeout", "trust-base-url",
	}
	var got []string
	fs.VisitAll(func(f *pflag.Flag) { got = append(got, f.Name) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	lines := strings.Split(fs.FlagUsages(), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	contains(t, lines, "--config FILE file with settings")
	contains(t, lines, "--timeout DURATION time limit for the whole command")
	contains(t, lines, "--no-journal do not record the job")
	contains(t, lines, "--log-format FORMAT", "(default text)")
	contains(t, lines, "--max-cost USD refuse a request")
}

func TestFlagsCheckTheirValues(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--timeout", "soon"},
		{"--log-level", "loud"},
		{"--max-cost", "free"},
		{"--max-cost", "0"},
		{"--strict-dirs=maybe"},
		{"--no-journal=2"},
	} {
		fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
		config.RegisterFlags(fs)
		if err := fs.Parse(args); err == nil || !strings.Contains(err.Error(), args[0][:9]) {
			t.Errorf("%q: error %v does not name the flag", args, err)
		}
	}
	src := source(t)
	c := load(t, withFlags(t, src, "--no-journal", "--strict-dirs", "--timeout="))
	if c.Journal.Enabled || !c.Policy.Strict || c.Timeout != 0 {
		t.Errorf("journal %v, strict %v, timeout %v", c.Journal.Enabled, c.Policy.Strict, c.Timeout)
	}
	if !load(t, withFlags(t, src, "--no-journal=false")).Journal.Enabled {
		t.Error("--no-journal=false switched the journal off")
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		environ []string
		want    []string // nil = no warning
	}{
		{
			"a misspelt variable",
			[]string{"MEDIA_GEN_TIMEOT=1s"},
			[]string{"MEDIA_GEN_TIMEOT", "did you mean MEDIA_GEN_TIMEOUT?"},
		},
		{"our name misspelt", []string{"MEDIA_GEN_OPENAI_APIKEY=k"}, []string{"did you mean MEDIA_GEN_OPENAI_API_KEY?"}},
		{"somebody else's", []string{"MEDIA_GEN_SOMETHING_ELSE=1", "OPENAI_APIKEY=k"}, nil},
		{
			"more prefixes than directories",
			[]string{"MEDIA_GEN_MCP_URL_PREFIXES=https://a.example,https://b.example", "MEDIA_GEN_DIRS=/a"},
			[]string{"mcp.url_prefixes has 2 entries and dirs has 1"},
		},
		{"as many", []string{"MEDIA_GEN_MCP_URL_PREFIXES=https://a.example", "MEDIA_GEN_DIRS=/a,/b"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.Environ = test.environ
			got := load(t, src).Warnings()
			if test.want == nil && len(got) > 0 {
				t.Errorf("warnings: %q", got)
			}
			if test.want != nil {
				contains(t, got, test.want...)
			}
		})
	}
	src := source(t)
	write(t, configDir(t, src)+"/.env", "MEDIA_GEN_FETCH_PROXY=\"http://u:a$B@p.example\"\nOPENAI_ORG_ID='a$B'\n"+
		"A=x\nOPENAI_PROJECT_ID=${A}\nMEDIA_GEN_OUTPUT_DIR=${NONE}\nUNKNOWN=a$B\nMEDIA_GEN_IMAGES_MODEL=\"a\\$B\"\n")
	proxied := load(t, src)
	contains(t, proxied.Warnings(), "the value of MEDIA_GEN_FETCH_PROXY has a $", "single quotes")
	if n := len(proxied.Warnings()); n != 1 {
		t.Errorf("%d warnings, want 1: %q", n, proxied.Warnings())
	}
	if proxied.OpenAI.OrgID != "a$B" || proxied.OpenAI.ProjectID != "x" || proxied.Images.Model != "a$B" {
		t.Errorf("env file: %+v %q", proxied.OpenAI, proxied.Images.Model)
	}
	src = source(t)
	write(t, configDir(t, src)+"/.env", "MEDIA_GEN_CONFIG=/x\nMEDIA_GEN_TRUST_BASE_URL=1\nMEDIA_GEN_DIR=/a\n")
	c := load(t, src)
	contains(t, c.Warnings(), "sets MEDIA_GEN_CONFIG, which only --config or the environment can set")
	contains(t, c.Warnings(), "sets MEDIA_GEN_TRUST_BASE_URL, which only --trust-base-url")
	contains(t, c.Warnings(), "sets MEDIA_GEN_DIR, which is no setting; did you mean MEDIA_GEN_DIRS?")
	if c.TrustBaseURL || c.ConfigFile == "/x" {
		t.Errorf("an env file decided which files are read: %v %q", c.TrustBaseURL, c.ConfigFile)
	}
}
