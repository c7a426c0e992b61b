package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/config"
)

func TestConfigFileFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		want       [][]string // one line with these parts each
	}{
		{"unknown key", "\ntimeot: 3s\n", [][]string{{"line 2", `unknown key "timeot"`, `did you mean "timeout"`}}},
		{"unknown in a group", "mcp:\n  max_wiat: 3s\n", [][]string{{"line 2", "mcp.max_wiat", `"mcp.max_wait"`}}},
		{"forgotten group", "api_key: x\n", [][]string{{"line 1", `"openai.api_key"`}}},
		{"environment name", "OPENAI_API_KEY: x\n", [][]string{{"line 1", `did you mean "openai.api_key"`}}},
		{"nothing near", "qwertz: 1\n", [][]string{{`unknown key "qwertz"`, "config show"}}},
		{"wrong case", "Timeout: 3s\n", [][]string{{`"Timeout"`, `did you mean "timeout"`}}},
		{"only by flag", "trust_base_url: true\n", [][]string{{"only --trust-base-url or MEDIA_GEN_TRUST_BASE_URL"}}},
		{"twice", "timeout: 3s\ntimeout: 4s\n", [][]string{{"line 2", "twice", "line 1"}}},
		{"twice, nested and dotted", "log: {level: info}\nlog.level: warn\n", [][]string{{"line 2", "twice"}}},
		{"group twice", "log: {level: info}\nlog: {format: json}\n", [][]string{{"line 2", "twice"}}},
		{"not YAML", "timeout: [1\n", [][]string{{"line", "not valid YAML"}}},
		{"a list", "- timeout\n", [][]string{{"line 1", "the file is not a mapping"}}},
		{"a word", "timeout\n", [][]string{{"the file is not a mapping"}}},
		{"group as value", "log: info\n", [][]string{{"log is not a mapping"}}},
		{"value as group", "timeout: {a: 1}\n", [][]string{{"timeout holds keys"}}},
		{"list for one value", "timeout: [1s, 2s]\n", [][]string{{"timeout", "is a list"}}},
		{"list in a list", "dirs: [[a]]\n", [][]string{{"dirs has an entry that is not one value"}}},
		{"key is no word", "[a]: 1\n", [][]string{{"a key is not a word"}}},
		{"second document", "timeout: 3s\n---\nx: 1\n", [][]string{{"line 2", "second document"}}},
		{"all at once", "timeout: soon\nlog: {level: loud}\nfetch: {ports: [80, 0]}\nnope: 1\n", [][]string{
			{"timeout", `"soon"`, "config file", "90s"},
			{"log.level", `"loud"`, "debug, info, warn, error, silent"},
			{"fetch.ports", "entry 2", "65535"},
			{`unknown key "nope"`},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			path := write(t, config.Path(src), test.file)
			lines := refused(t, src)
			if len(lines) != len(test.want) {
				t.Errorf("%d faults, want %d:\n%s", len(lines), len(test.want), strings.Join(lines, "\n"))
			}
			for _, parts := range test.want {
				contains(t, lines, append(parts, path)...)
			}
		})
	}
}

func TestConfigFileForms(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"log:\n  level: debug\n", "log: {level: debug}\n", "log.level: debug\n", "\ufefflog: {level: debug}\n",
		"---\nlog: {level: debug}\n...\n", "log: {level: &l debug}\nopenai: {log: *l}\n", "{log: {level: debug}}",
	} {
		src := source(t)
		write(t, config.Path(src), file)
		if got := load(t, src).Log.Level; got != "debug" {
			t.Errorf("%q: level %q", file, got)
		}
	}
	for _, file := range []string{"", "# nothing\n", "---\n", "log:\n", "log: ~\n", "log: {level: }\n", "null\n"} {
		src := source(t)
		write(t, config.Path(src), file)
		if got := load(t, src).Log.Level; got != "warn" {
			t.Errorf("%q: level %q", file, got)
		}
	}
}

func TestBadValues(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, value, want string }{
		{"MEDIA_GEN_TIMEOUT", "90", "write it like 90s"},
		{"MEDIA_GEN_TIMEOUT", "-1s", "negative"},
		{"MEDIA_GEN_COST_MAX", "0", "none for no cap"},
		{"MEDIA_GEN_COST_MAX", "1,50", "with a point"},
		{"MEDIA_GEN_COST_MAX", "-1", "amount in dollars"},
		{"MEDIA_GEN_COST_MAX_PER_DAY", "0.0000001", "six decimals"},
		{"MCP_MAX_CONTENT_BYTES", "lots", "512Ki"},
		{"MEDIA_GEN_MCP_MAX_MESSAGE_BYTES", "1k", "smallest value is 64Ki"},
		{"GOOGLE_GENAI_USE_VERTEXAI", "maybe", "1, true, yes or on"},
		{"OPENAI_BASE_URL", "api.example.com", "https://api.example.com/v1"},
		{"OPENAI_BASE_URL", "ftp://api.example.com", "is not a URL"},
		{"OPENAI_BASE_URL", "https://u:pw@api.example.com", "carries a user or password"},
		{"OPENAI_BASE_URL", "https://api.example.com/#x", "fragment"},
		{"MEDIA_GEN_FETCH_PROXY", "proxy:3128", "http://proxy.example.com:3128"},
		{
			"MEDIA_GEN_FETCH_ALLOWED_CIDRS", "10.0.0.0/8,10.0.0.1/8",
			"entry 2 that has bits outside its mask; write 10.0.0.0/8",
		},
		{"MEDIA_GEN_FETCH_ALLOWED_CIDRS", "ten", "address range"},
		{"MEDIA_GEN_FETCH_ALLOWED_CIDRS", "fe80::1%eth0", "address range"},
		{"MEDIA_GEN_FETCH_TRUSTED_HOSTS", "http://a.example", "is not a host"},
		{"MEDIA_GEN_FETCH_TRUSTED_HOSTS", "a.example:0", "is not a host"},
		{"MEDIA_GEN_FETCH_TRUSTED_HOSTS", ":80", "is not a host"},
		{"MEDIA_GEN_FETCH_TRUSTED_HOSTS", "[::1]80", "is not a host"},
		{"MEDIA_GEN_FETCH_PORTS", "65536", "from 1 to 65535"},
		{"MEDIA_GEN_FETCH_PORTS", "http", "from 1 to 65535"},
		{"MEDIA_GEN_MCP_RESULT_PLACEMENT", "content,nowhere", "entry 2 that is not one of content, structured"},
		{"MEDIA_GEN_MCP_URL_PREFIXES", "https://a.example,b", "entry 2 that is not a URL"},
		{"OPENAI_LOG", "trace", "debug, info, warn, error, off"},
		{"OPENAI_API_KEY", "sk-one two", "white space"},
		{"OPENAI_API_KEY", "sk-\u00e9", "character that no key has"},
		{"OPENAI_ORG_ID", "a\x01b", "control character"},
		{"GOOGLE_CLOUD_LOCATION", "evil.example/#", "us-central1"},
		{"GOOGLE_CLOUD_PROJECT", "a/b", "meaning in URLs"},
		{"AZURE_OPENAI_DEPLOYMENT", "a?b", "meaning in URLs"},
		{"OPENAI_API_VERSION", "2024&x=1", "meaning in URLs"},
		{"MEDIA_GEN_STATE_DIR", "a\x00b", "NUL"},
	}
	for _, test := range tests {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.Environ = []string{test.name + "=" + test.value}
			lines := refused(t, src)
			if len(lines) != 1 {
				t.Errorf("%d lines: %q", len(lines), lines)
			}
			contains(t, lines, test.want, "(env "+test.name+")")
		})
	}
}

// Nothing that looks like a key, and no value of a secret, gets into errors, warnings, origins or a printed Config.
func TestNoSecretIsShown(t *testing.T) {
	t.Parallel()
	const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
	show := func(t *testing.T, s config.Source) string {
		t.Helper()
		c, err := config.Load(s)
		if err != nil {
			return fmt.Sprintf("%v %+v %#v", err, err, err)
		}
		return fmt.Sprintf("%+v %#v %v %v", c, c, c.Origins(), c.Warnings())
	}
	files := map[string]string{
		"env unterminated":   "OPENAI_API_KEY=\"" + secret + "\n",
		"env no name":        secret + "\n",
		"env bad name":       "OPENAI KEY!" + secret + "=x\n",
		"secrets not YAML":   "openai:\n  api_key: '" + secret + "\n",
		"secrets anchor":     "openai: {api_key: *" + secret + "}\n",
		"secrets list":       "openai: {api_key: [" + secret + "]}\n",
		"secrets nested":     "openai: {api_key: {" + secret + ": 1}}\n",
		"secrets space":      "openai: {api_key: 'a " + secret + "'}\n",
		"secrets bool":       "google: {vertex_ai: {enabled: " + secret + "}}\n",
		"config good":        "openai: {api_key: " + secret + "}\n",
		"config wrong place": "timeout: " + secret + "\n",
		"config as key":      secret + ": 1\n",
		"config in a list":   "fetch: {ports: [80, " + secret + "]}\n",
	}
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			path := write(t, src.WorkDir+"/file", text)
			switch kind, _, _ := strings.Cut(name, " "); kind {
			case "env":
				src.EnvFile = path
			case "secrets":
				src.SecretsFile = path
			default:
				src.ConfigFile = path
			}
			if got := show(t, src); strings.Contains(got, secret) {
				t.Errorf("the key is shown:\n%s", got)
			}
		})
	}
	for _, name := range []string{
		"OPENAI_API_KEY", "MEDIA_GEN_TIMEOUT", "MEDIA_GEN_COST_MAX", "MEDIA_GEN_DIRS_", "MEDIA_GEN_LOG_LEVEL",
		"OPENAI_BASE_URL",
	} {
		src := source(t)
		src.Environ = []string{name + "=" + secret}
		if got := show(t, src); strings.Contains(got, secret) {
			t.Errorf("%s: the key is shown:\n%s", name, got)
		}
	}
}

func TestProxyPasswordIsASecret(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.Environ = []string{"MEDIA_GEN_FETCH_PROXY=http://user:hunter2@p.example:3128", "OPENAI_API_KEY=k1"}
	c := load(t, src)
	if got := originOf(t, c, "fetch.proxy").Value; got != "http://p.example:3128" {
		t.Errorf("origin shows %q", got)
	}
	var got []string
	for _, s := range c.Secrets() {
		got = append(got, s.Reveal())
	}
	if diff := cmp.Diff([]string{"k1", "hunter2"}, got); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	src.Environ = []string{"MEDIA_GEN_FETCH_PROXY=ftp://user:hunter2@p.example"}
	if lines := refused(t, src); strings.Contains(lines[0], "hunter2") {
		t.Errorf("the password is shown: %s", lines[0])
	}
}

func TestOriginsShowEverySettingRedacted(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.Environ = []string{
		"OPENAI_API_KEY=k1", "MEDIA_GEN_COST_MAX=$1.50", "MEDIA_GEN_DIRS=/a, /b",
		"OPENAI_BASE_URL=https://h.example/v1?sig=abc", "MEDIA_GEN_FETCH_PORTS=80",
	}
	c := load(t, src)
	want := map[string]string{
		"openai.api_key": "[redacted]", "google.api_key": "[unset]", "cost.max": "1.5", "cost.max_per_day": "",
		"dirs": "/a,/b", "openai.base_url": "https://h.example/v1", "fetch.ports": "80", "mcp.max_wait": "45s",
		"mcp.max_result_bytes": "12Mi", "journal.enabled": "true", "journal.path": c.Journal.Path,
	}
	got := map[string]string{}
	for _, o := range c.Origins() {
		if _, ok := want[o.Key]; ok {
			got[o.Key] = o.Value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(c.Origins()) != len(config.Settings()) {
		t.Errorf("%d origins for %d settings", len(c.Origins()), len(config.Settings()))
	}
}

func TestNoHomeDirectory(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.HomeDir = ""
	lines := refused(t, src)
	contains(t, lines, "state_dir", "set HOME or MEDIA_GEN_STATE_DIR")
	contains(t, lines, "cache_dir", "set HOME or MEDIA_GEN_CACHE_DIR")
	src.Environ = []string{"MEDIA_GEN_STATE_DIR=/s", "MEDIA_GEN_CACHE_DIR=/c"}
	if c := load(t, src); c.Journal.Path != "/s/journal.db" || c.ConfigFile != "" || config.Path(src) != "" {
		t.Errorf("journal %q, config file %q", c.Journal.Path, c.ConfigFile)
	}
}

func TestMoneyWithoutACap(t *testing.T) {
	t.Parallel()
	src := source(t)
	write(t, config.Path(src), "cost: {max: 5}\n")
	c := load(t, withFlags(t, src, "--max-cost", "none"))
	if c.Cost.Max != 0 || originOf(t, c, "cost.max").Value != "none" {
		t.Errorf("cap %d, shown as %q", c.Cost.Max, originOf(t, c, "cost.max").Value)
	}
}
