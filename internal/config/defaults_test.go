package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/config"
)

// Every default as `config show` prints it. A default that changes is a promise that changes.
func TestDefaults(t *testing.T) {
	t.Parallel()
	src := config.Source{HomeDir: "/h", WorkDir: t.TempDir(), Environ: []string{
		"XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/s", "XDG_CACHE_HOME=/k",
	}}
	want := map[string]string{
		"config":                        "/c/mediagen/config.yaml",
		"env_file":                      "",
		"secrets_file":                  "",
		"trust_base_url":                "false",
		"openai.api_key":                "[unset]",
		"openai.base_url":               "",
		"openai.org_id":                 "",
		"openai.project_id":             "",
		"openai.log":                    "warn",
		"azure.api_key":                 "[unset]",
		"azure.endpoint":                "",
		"azure.api_version":             "",
		"azure.deployment":              "",
		"google.api_key":                "[unset]",
		"google.use_vertexai":           "false",
		"google.project":                "",
		"google.location":               "",
		"google.gemini_base_url":        "",
		"google.vertex_base_url":        "",
		"google.credentials_file":       "",
		"anthropic.api_key":             "[unset]",
		"dirs":                          "",
		"urls":                          "",
		"policy.strict":                 "false",
		"fetch.trusted_hosts":           "",
		"fetch.allowed_cidrs":           "",
		"fetch.ports":                   "80,443",
		"fetch.https_only":              "false",
		"fetch.proxy":                   "",
		"cost.max":                      "",
		"cost.max_per_day":              "",
		"images.model":                  "",
		"images.edit_model":             "",
		"images.quality":                "",
		"images.size":                   "",
		"images.output_format":          "",
		"videos.openai_model":           "",
		"output_dir":                    "",
		"timeout":                       "",
		"state_dir":                     "/s/mediagen",
		"cache_dir":                     "/k/mediagen",
		"catalog_file":                  "",
		"journal.enabled":               "true",
		"journal.path":                  "/s/mediagen/journal.db",
		"journal.prompts":               "false",
		"log.level":                     "warn",
		"log.format":                    "text",
		"log.sanitize_images":           "true",
		"log.sanitize_keys":             "image_url,b64_json,base64,data,imageBytes,videoBytes,blob",
		"mcp.url_prefixes":              "",
		"mcp.test_sample_dir":           "",
		"mcp.allow_fetch_last_n_images": "false",
		"mcp.allow_fetch_last_n_videos": "false",
		"mcp.result_placement":          "",
		"mcp.max_result_bytes":          "12Mi",
		"mcp.max_message_bytes":         "44Mi",
		"mcp.max_wait":                  "45s",
		"mcp.max_wait_progress":         "3m20s",
		"mcp.debug":                     "false",
		"mcp.token":                     "[unset]",
	}
	c := load(t, src)
	got := map[string]string{}
	for _, o := range c.Origins() {
		got[o.Key] = o.Value
		if o.From != "default" {
			t.Errorf("%s comes from %s", o.Key, o.From)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.TempRoot != "/tmp/media-gen-mcp" || c.ConfigDir != "/c/mediagen" {
		t.Errorf("temp root %q, config directory %q", c.TempRoot, c.ConfigDir)
	}
	if len(c.Warnings())+len(c.Files())+len(c.Secrets()) > 0 {
		t.Errorf("warnings %q, files %v, %d secrets", c.Warnings(), c.Files(), len(c.Secrets()))
	}
}

// Unset lists are nil and unset caps are 0: the packages behind them read that as "not configured".
func TestUnsetValuesAreZero(t *testing.T) {
	t.Parallel()
	c := load(t, source(t))
	for name, list := range map[string][]string{
		"dirs": c.Dirs, "urls": c.URLs, "trusted hosts": c.Fetch.TrustedHosts, "cidrs": c.Fetch.AllowedCIDRs,
		"prefixes": c.MCP.URLPrefixes, "placement": c.MCP.ResultPlacement,
	} {
		if list != nil {
			t.Errorf("%s is %#v, want nil", name, list)
		}
	}
	if c.Cost.Max != 0 || c.Cost.MaxPerDay != 0 || c.Timeout != 0 {
		t.Errorf("caps %+v, timeout %v", c.Cost, c.Timeout)
	}
}

// Two Configs share nothing that can be changed.
func TestConfigsAreIndependent(t *testing.T) {
	t.Parallel()
	src := source(t)
	src.Environ = []string{"MEDIA_GEN_DIRS=/a,/b", "OPENAI_API_KEY=k", "MEDIA_GEN_TIMEOT=1"}
	one, two := load(t, src), load(t, src)
	one.Log.SanitizeKeys[0] = "changed"
	one.Fetch.Ports[0] = 1
	one.Dirs[0] = "changed"
	one.Origins()[0].Value = "changed"
	one.Warnings()[0] = "changed"
	for name, c := range map[string]*config.Config{"the other": two, "a third": load(t, src)} {
		if c.Log.SanitizeKeys[0] == "changed" || c.Fetch.Ports[0] == 1 || c.Dirs[0] == "changed" {
			t.Errorf("%s changed too: %v %v %v", name, c.Log.SanitizeKeys, c.Fetch.Ports, c.Dirs)
		}
	}
	if one.Origins()[0].Value == "changed" || one.Warnings()[0] == "changed" {
		t.Error("a caller can change what the Config reports")
	}
}
