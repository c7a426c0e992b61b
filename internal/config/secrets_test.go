package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/config"
)

// fromSecrets are the settings that a secrets file decides.
func fromSecrets(t *testing.T, c *config.Config) map[string]any {
	t.Helper()
	got := map[string]any{}
	for key, v := range fields(c) {
		if strings.HasPrefix(originOf(t, c, key).From, "secrets file") {
			got[key] = plain(v)
		}
	}
	return got
}

func TestSecretsFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		want       map[string]any
		warning    string
	}{
		{"everything", `
openai:
  api_key: "o#1"
anthropic:
  api_key: a1
google:
  api_key: g1
  vertex_ai:
    enabled: yes
    project_id: p1
    location: us-central1
azure:
  api_key: z1
  base_url: https://x.openai.azure.com
  api_version: 2025-04-01-preview
  azure_deployment: d1
mcp: {token: t1}
`, map[string]any{
			"openai.api_key": "o#1", "anthropic.api_key": "a1", "google.api_key": "g1", "google.use_vertexai": true,
			"google.project": "p1", "google.location": "us-central1", "azure.api_key": "z1",
			"azure.endpoint": "https://x.openai.azure.com", "azure.api_version": "2025-04-01-preview",
			"azure.deployment": "d1", "mcp.token": "t1",
		}, ""},
		{
			"a number stays text", "openai: {api_key: 0123456789}\nanthropic: {api_key: 1_000}\ngoogle: {api_key: 1e3}\n",
			map[string]any{"openai.api_key": "0123456789", "anthropic.api_key": "1_000", "google.api_key": "1e3"},
			"",
		},
		{"a hash inside a key", "openai:\n  api_key: sk#1 # a remark\n", map[string]any{"openai.api_key": "sk#1"}, ""},
		{
			"placeholders", "openai: {api_key: <your-api-key-here>}\nanthropic: {api_key: ''}\ngoogle:\n  api_key: ${KEY}\n" +
				"azure: {api_key: <your-azure-key-here>, base_url: https://x.example}\n",
			map[string]any{},
			"azure.base_url is ignored, for azure.api_key is not set",
		},
		{
			"vertex not enabled", "google: {api_key: g, vertex_ai: {enabled: false, project_id: p, location: l}}\n",
			map[string]any{"google.api_key": "g"},
			"google.vertex_ai.project_id is ignored",
		},
		{"azure without a key", "azure: {azure_deployment: d}\n", map[string]any{}, "azure.azure_deployment is ignored"},
		{
			"dotted", "google.vertex_ai: {enabled: on}\nopenai.api_key: k\n",
			map[string]any{"google.use_vertexai": true, "openai.api_key": "k"},
			"",
		},
		{"empty", "", map[string]any{}, ""},
		{"only remarks", "# openai:\n#   api_key: x\n", map[string]any{}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.SecretsFile = write(t, src.HomeDir+"/s.yaml", test.file)
			c := load(t, src)
			if diff := cmp.Diff(test.want, fromSecrets(t, c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if test.warning != "" {
				contains(t, c.Warnings(), test.warning)
			} else if len(c.Warnings()) > 0 {
				t.Errorf("warnings: %q", c.Warnings())
			}
		})
	}
}

// false sets nothing: a switch from elsewhere stays as it is (tool-contract §3.4).
func TestVertexNotEnabledSetsNothing(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.Environ = []string{"GOOGLE_GENAI_USE_VERTEXAI=1"}
	src.SecretsFile = write(t, src.WorkDir+"/s.yaml", "google: {vertex_ai: {enabled: no}}\n")
	if !load(t, src).Google.UseVertexAI {
		t.Error("enabled: no switched Vertex AI off")
	}
}

func TestSecretsFileFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		want       []string
	}{
		{"unknown key", "openai:\n  apikey: x\n", []string{"line 2", `"openai.apikey"`, `"openai.api_key"`}},
		{"unknown group", "mistral:\n  key: x\n", []string{"line 1", `"mistral"`, "a secrets file holds openai"}},
		{"a setting", "openai: {base_url: https://x.example}\n", []string{"line 1", `"openai.base_url"`}},
		{"list", "openai:\n  api_key: [a]\n", []string{"line 2", "openai.api_key is a list"}},
		{"no switch", "google: {vertex_ai: {enabled: maybe}}\n", []string{"line 1", "1, true, yes or on"}},
		{"not YAML", "openai:\n  api_key: 'x\n", []string{"line", "not valid YAML"}},
		{"tab", "openai:\n\tapi_key: x\n", []string{"line 2", "not valid YAML", "indented by spaces"}},
		{"no mapping", "sk-1\n", []string{"the file is not a mapping"}},
		{"bad key", "openai: {api_key: 'a b'}\n", []string{"openai.api_key: the value", "white space"}},
		{"bad address", "azure: {api_key: k, base_url: x.example}\n", []string{"azure.endpoint", "is not a URL"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.SecretsFile = write(t, src.HomeDir+"/s.yaml", test.file)
			lines := refused(t, src)
			if len(lines) != 1 {
				t.Errorf("%d faults: %q", len(lines), lines)
			}
			contains(t, lines, append(test.want, "secrets file "+src.SecretsFile)...)
		})
	}
}

func TestGoogleKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		environ []string
		envFile string
		key     string
		warning string
	}{
		{"one", []string{"GEMINI_API_KEY=b"}, "", "b", ""},
		{
			"google first",
			[]string{"GEMINI_API_KEY=b", "GOOGLE_API_KEY=a"},
			"", "a",
			"the key from env GOOGLE_API_KEY is used",
		},
		{"equal", []string{"GEMINI_API_KEY=a", "GOOGLE_API_KEY=a"}, "", "a", ""},
		{
			"across sources",
			[]string{"GEMINI_API_KEY=b"},
			"GOOGLE_API_KEY=a\n", "b",
			"the key from env GEMINI_API_KEY is used",
		},
		{
			"own name",
			[]string{"GEMINI_API_KEY=b", "GOOGLE_API_KEY=a", "MEDIA_GEN_GOOGLE_API_KEY=c"},
			"", "c",
			"the key from env MEDIA_GEN_GOOGLE_API_KEY is used",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			src := source(t)
			src.Environ = test.environ
			write(t, configDir(t, src)+"/.env", test.envFile)
			c := load(t, src)
			if got := c.Google.APIKey.Reveal(); got != test.key {
				t.Errorf("key %q, want %q", got, test.key)
			}
			if test.warning == "" && len(c.Warnings()) > 0 {
				t.Errorf("warnings: %q", c.Warnings())
			}
			if test.warning != "" {
				contains(t, c.Warnings(), "GOOGLE_API_KEY and GEMINI_API_KEY are both set and differ", test.warning)
			}
		})
	}
}
