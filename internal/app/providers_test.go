package app_test

import (
	"net/http"
	"strings"
	"testing"
)

func (h *home) generate(args ...string) result {
	h.t.Helper()
	return h.run(append([]string{"images", "generate", "-o", "out/"}, append(args, "x")...)...)
}

// TestMissingKeys names what is missing, for people and programs, and sends nothing.
func TestMissingKeys(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		env  []string
		args []string
		code int
		says []string
		not  []string
	}{
		{"nothing", nil, nil, 3, []string{"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "--provider emulator"}, nil},
		{"a key that was never filled in", []string{"OPENAI_API_KEY=${OPENAI_API_KEY}"}, nil, 3, []string{"OPENAI_API_KEY"}, nil},
		{"openai by name", []string{"AZURE_OPENAI_API_KEY=" + canary}, []string{"--provider", "openai"}, 3, []string{"OPENAI_API_KEY"}, nil},
		{"OpenAI's own host by name", []string{"OPENAI_BASE_URL=https://api.openai.com/v1"}, nil, 3, []string{"OPENAI_API_KEY"}, nil},
		{
			"azure by name", nil,
			[]string{"--provider", "azure"},
			3,
			[]string{"AZURE_OPENAI_API_KEY, AZURE_OPENAI_ENDPOINT, OPENAI_API_VERSION"},
			nil,
		},
		{
			"azure by its key",
			[]string{"AZURE_OPENAI_API_KEY=" + canary},
			nil, 3,
			[]string{"Azure needs AZURE_OPENAI_ENDPOINT, OPENAI_API_VERSION"},
			[]string{"needs AZURE_OPENAI_API_KEY"},
		},
		{
			"azure without version",
			[]string{"AZURE_OPENAI_API_KEY=" + canary, "AZURE_OPENAI_ENDPOINT=https://x.openai.azure.com"},
			nil, 3,
			[]string{"Azure needs OPENAI_API_VERSION"},
			[]string{"ENDPOINT"},
		},
		{"a provider that is not built in", nil, []string{"--provider", "midjourney"}, 2, []string{`"midjourney"`, "openai, azure, emulator"}, nil},
		{
			"a model of a vendor that is not built in",
			[]string{"OPENAI_API_KEY=" + canary},
			[]string{"-m", "gemini-nano-banana-2.1"},
			2,
			[]string{`"google"`},
			nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, tc.env...)
			r := h.generate(tc.args...)
			if r.code != tc.code {
				t.Errorf("exit %d, want %d: %s", r.code, tc.code, r.errOut)
			}
			for _, part := range tc.says {
				if !strings.Contains(r.errOut, part) {
					t.Errorf("no %q in: %s", part, r.errOut)
				}
			}
			for _, part := range tc.not {
				if strings.Contains(r.errOut, part) {
					t.Errorf("%q in: %s", part, r.errOut)
				}
			}
			if got := h.tree(); len(got) != 0 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
}

// TestProviderChoice looks at what reaches which server.
func TestProviderChoice(t *testing.T) {
	t.Parallel()
	bearer := "Bearer " + canary
	for _, tc := range []struct {
		name string
		env  func(openai, azure string) []string
		args []string
		want seen
		at   string // which server: openai or azure
	}{
		{
			"openai", func(o, _ string) []string {
				return []string{"OPENAI_API_KEY=" + canary, "OPENAI_BASE_URL=" + o + "/v1", "OPENAI_ORG_ID=org", "OPENAI_PROJECT_ID=prj"}
			}, nil,
			seen{Path: "/v1/images/generations", Auth: bearer, Org: "org", Project: "prj"},
			"openai",
		},
		{
			"a compatible server needs no key", func(o, _ string) []string { return []string{"OPENAI_BASE_URL=" + o + "/v1"} }, nil,
			seen{Path: "/v1/images/generations"},
			"openai",
		},
		{
			"azure", func(_, a string) []string {
				return []string{
					"AZURE_OPENAI_API_KEY=" + canary, "AZURE_OPENAI_ENDPOINT=" + a, "OPENAI_API_VERSION=2025-04-01-preview",
					"AZURE_OPENAI_DEPLOYMENT=mine",
				}
			}, nil,
			seen{Path: "/openai/deployments/mine/images/generations", Query: "api-version=2025-04-01-preview", APIKey: canary},
			"azure",
		},
		{
			"azure's newer surface", func(_, a string) []string {
				return []string{"AZURE_OPENAI_API_KEY=" + canary, "AZURE_OPENAI_ENDPOINT=" + a + "/openai/v1"}
			}, nil,
			seen{Path: "/openai/v1/images/generations", APIKey: canary},
			"azure",
		},
		{
			"azure at OPENAI_BASE_URL", func(_, a string) []string {
				return []string{"AZURE_OPENAI_API_KEY=" + canary, "OPENAI_BASE_URL=" + a + "/openai/v1"}
			}, nil,
			seen{Path: "/openai/v1/images/generations", APIKey: canary},
			"azure",
		},
		{
			"both keys: azure comes first", func(o, a string) []string {
				return []string{
					"OPENAI_API_KEY=other-key-0123456789", "OPENAI_BASE_URL=" + o + "/v1", "AZURE_OPENAI_API_KEY=" + canary,
					"AZURE_OPENAI_ENDPOINT=" + a + "/openai/v1",
				}
			}, nil,
			seen{Path: "/openai/v1/images/generations", APIKey: canary},
			"azure",
		},
		{
			"both keys: by name", func(o, a string) []string {
				return []string{
					"OPENAI_API_KEY=" + canary, "OPENAI_BASE_URL=" + o + "/v1", "AZURE_OPENAI_API_KEY=other-key-0123456789",
					"AZURE_OPENAI_ENDPOINT=" + a + "/openai/v1",
				}
			},
			[]string{"--provider", "openai"},
			seen{Path: "/v1/images/generations", Auth: bearer},
			"openai",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			servers := map[string]*server{"openai": newServer(t, nil), "azure": newServer(t, nil)}
			h := newHome(t, tc.env(servers["openai"].URL, servers["azure"].URL)...)
			if r := h.generate(tc.args...); r.code != 0 {
				t.Fatalf("exit %d: %s", r.code, r.errOut)
			}
			got := servers[tc.at].only(t)
			if auth := strings.TrimSpace(got.Auth); auth == "Bearer" {
				got.Auth = ""
			}
			got.Body = nil
			if got.Path != tc.want.Path || got.Query != tc.want.Query || got.Auth != tc.want.Auth || got.APIKey != tc.want.APIKey ||
				got.Org != tc.want.Org || got.Project != tc.want.Project {
				t.Errorf("request %+v, want %+v", got, tc.want)
			}
			for name, s := range servers {
				if n := len(s.requests()); name != tc.at && n != 0 {
					t.Errorf("%s got %d requests", name, n)
				}
			}
		})
	}
}

// TestEmulatorOnlyByName uses it when it is asked for, with a key there or not, and says that it was the emulator.
func TestEmulatorOnlyByName(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	h := newHome(t, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+s.URL+"/v1")
	if got := h.jq(".job.provider, .cost.amount", "images", "generate", "--provider", "emulator", "x"); got != "emulator\n0.00" {
		t.Errorf("provider and cost: %q", got)
	}
	if n := len(s.requests()); n != 0 {
		t.Errorf("%d requests went to the other server", n)
	}
}

// TestKeysStayInside lets a server throw the key back, in every form, at a program that talks as much as it can.
func TestKeysStayInside(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "req_"+canary)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided: ` + canary + ` (` + r.Header.Get("Authorization") +
			`)","code":"invalid_api_key"}}`))
	})
	h := newHome(t, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+s.URL+"/v1")
	for _, args := range [][]string{
		nil,
		{"--json"},
		{"-vv", "--log-requests"},
		{"-vv", "--log-requests", "--log-format", "json"},
		{"--no-journal", "--param", "extra=" + canary, "-vv", "--log-requests"},
		{"--jq", ".error"},
	} {
		if r := h.generate(args...); r.code != 3 { // run looks for the key in all output
			t.Errorf("%v: exit %d: %s", args, r.code, r.errOut)
		}
	}
	for _, args := range [][]string{
		{"config", "show", "--origin"},
		{"config", "show", "--json"},
		{"doctor"},
		{"doctor", "--json"},
		{"jobs", "list", "--json"},
		{"images", "generate", "--api-key", canary, "x"},
	} {
		h.run(args...)
	}
	if strings.Contains(h.run("config", "show").out, "0123456789") {
		t.Error("config show tells a part of the key")
	}
}
