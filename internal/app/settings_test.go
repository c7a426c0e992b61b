package app_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// plan is what a dry run with the emulator would do.
func (h *home) plan(filter string, args ...string) string {
	h.t.Helper()
	return h.jq(filter, append([]string{"images", "generate", "--provider", "emulator", "--dry-run", "x"}, args...)...)
}

// TestSettingsHaveAnEffect sets each setting that the shell consumes, by its variable, and looks at what changes. Without
// it, the value in without is seen.
func TestSettingsHaveAnEffect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		key           string
		value         func(h *home) string
		look          func(h *home) string
		without, with string
	}{
		{
			"images.model", is("gpt-image-2"), func(h *home) string { return h.plan(".plan.model") },
			"gpt-image-2.6-flare", "gpt-image-2",
		},
		{
			"images.edit_model", is("gpt-image-2"), func(h *home) string {
				h.generate("--provider", "emulator", "-o", "in.png")
				return h.jq(".plan.model", "images", "edit", "--provider", "emulator", "--dry-run", "-i", "in.png", "x")
			}, "gpt-image-2.6-sunburst", "gpt-image-2",
		},
		{"images.quality", is("low"), func(h *home) string { return h.plan(".plan.quality") }, "high", "low"},
		{"images.size", is("1024x1024"), func(h *home) string { return h.plan(".plan.size") }, "1024x1536", "1024x1024"},
		{
			"images.output_format", is("webp"), func(h *home) string { return filepath.Ext(h.plan(".plan.paths[0]")) },
			".png", ".webp",
		},
		{
			"output_dir", func(h *home) string { return filepath.Join(h.dir, "pictures") },
			func(h *home) string { return filepath.Base(filepath.Dir(h.plan(".plan.paths[0]"))) }, "work", "pictures",
		},
		{
			"dirs", func(h *home) string { return h.work + "," + filepath.Join(h.dir, "other") },
			func(h *home) string { return h.code("policy", "test", "/etc/hostname") }, "0", "4",
		},
		{
			"policy.strict", is("true"), func(h *home) string { return h.code("policy", "test", "/etc/hostname") }, "0", "4",
		},
		{
			"cost.max", is("0.000001"), func(h *home) string {
				h.env = append(h.env, "OPENAI_API_KEY="+canary)
				return h.code("images", "generate", "--dry-run", "x")
			}, "0", "11",
		},
		{
			"timeout", is("1ns"), func(h *home) string {
				if h.code("images", "generate", "--provider", "emulator", "x") == "0" {
					return "made"
				}
				return "out of time"
			}, "made", "out of time",
		},
		{
			"journal.enabled", is("false"), func(h *home) string {
				h.generate("--provider", "emulator")
				return h.code("jobs", "list")
			}, "0", "2",
		},
		{
			"journal.path", func(h *home) string { return filepath.Join(h.dir, "my.db") }, func(h *home) string {
				h.generate("--provider", "emulator")
				return h.exists("my.db")
			}, "missing", "there",
		},
		{
			"journal.prompts", is("true"), func(h *home) string {
				h.generate("--provider", "emulator")
				return h.jq(".items[0].prompt", "jobs", "list")
			}, "null", "x",
		},
		{
			"state_dir", func(h *home) string { return filepath.Join(h.dir, "state") }, func(h *home) string {
				h.generate("--provider", "emulator")
				return h.exists("state/journal.db")
			}, "missing", "there",
		},
		{
			"catalog_file", func(h *home) string {
				return h.write("mine.yaml", "models:\n  - {id: my-model, provider: openai, kind: image, ops: [generate]}\n")
			}, func(h *home) string { return h.code("models", "show", "my-model") }, "2", "0",
		},
		{
			"log.level", is("info"), func(h *home) string {
				if strings.Contains(h.run("models", "list").errOut, "directories opened") {
					return "logged"
				}
				return ""
			}, "", "logged",
		},
		{
			"log.format", is("json"), func(h *home) string {
				return h.run("models", "list", "-v").errOut[:1]
			}, "t", "{",
		},
	} {
		t.Run(tc.key, func(t *testing.T) {
			t.Parallel()
			if got := tc.look(newHome(t)); got != tc.without {
				t.Errorf("without: %q, want %q", got, tc.without)
			}
			h := newHome(t)
			if err := os.Mkdir(filepath.Join(h.dir, "other"), 0o700); err != nil {
				t.Fatal(err)
			}
			h.env = append(h.env, "MEDIA_GEN_"+strings.ToUpper(strings.ReplaceAll(tc.key, ".", "_"))+"="+tc.value(h))
			if got := tc.look(h); got != tc.with {
				t.Errorf("with: %q, want %q", got, tc.with)
			}
		})
	}
}

func is(value string) func(*home) string { return func(*home) string { return value } }

// code is the exit code of a command line, as text.
func (h *home) code(args ...string) string {
	h.t.Helper()
	return strconv.Itoa(h.run(args...).code)
}

func (h *home) exists(name string) string {
	h.t.Helper()
	if _, err := os.Stat(filepath.Join(h.dir, name)); err != nil {
		return "missing"
	}
	return "there"
}

// TestFlagsOfSettings reach the same places, and win.
func TestFlagsOfSettings(t *testing.T) {
	t.Parallel()
	h := newHome(t, "MEDIA_GEN_COST_MAX=100", "MEDIA_GEN_POLICY_STRICT=false", "OPENAI_API_KEY="+canary)
	h.wants(11, "above the cap", "images", "generate", "--dry-run", "--max-cost", "0.000001", "x")
	h.wants(4, "deny", "policy", "test", "--strict-dirs", "/etc/hostname")
	h.wants(0, "", "images", "generate", "--provider", "emulator", "--no-journal", "-q", "x")
	if got := h.exists(".local/state/mediagen/journal.db"); got != "missing" {
		t.Error("--no-journal wrote one")
	}
	h.wants(0, "", "images", "generate", "--provider", "emulator", "--keep-prompts", "-q", "x")
	if got := h.jq(".items[0].prompt", "jobs", "list"); got != "x" {
		t.Errorf("--keep-prompts kept %q", got)
	}
	conf := h.write("my.yaml", "images: {quality: low}\n")
	if got := h.plan(".plan.quality", "--config", conf); got != "low" {
		t.Errorf("--config: quality %q", got)
	}
	h.write("my.env", "OPENAI_ORG_ID=org-of-env-file\n")
	if got := h.jq(`.items[] | select(.key == "openai.org_id") | .value`, "config", "show", "--env-file", "my.env"); got != "org-of-env-file" {
		t.Errorf("--env-file: %q", got)
	}
	h.write("my-secrets.yaml", "openai:\n  api_key: "+canary+"2\n")
	if got := h.jq(`.items[] | select(.key == "openai.api_key") | .from`, "config", "show", "--secrets-file", "my-secrets.yaml"); !strings.HasPrefix(got, "secrets file") {
		t.Errorf("--secrets-file: %q", got)
	}
}

// TestWarningsOfSettings reach the person, and the program in its object.
func TestWarningsOfSettings(t *testing.T) {
	t.Parallel()
	h := newHome(t, "MEDIA_GEN_IMAGES_QUALITI=low")
	h.wants(0, "warning: the environment sets MEDIA_GEN_IMAGES_QUALITI", "models", "list")
	if got := h.jq(".warnings | length", "models", "list"); got != "1" {
		t.Errorf("%s warnings in the object, want 1", got)
	}
	if r := h.run("models", "list", "-q"); strings.Contains(r.errOut, "QUALITI") {
		t.Errorf("-q: %s", r.errOut)
	}
}

// TestCatalogFile names what is wrong with it and where.
func TestCatalogFile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		make func(h *home) string
		says string
	}{
		{"missing", func(h *home) string { return filepath.Join(h.work, "none.yaml") }, "cannot be read"},
		{"a directory", func(h *home) string { return h.work }, "is not a regular file"},
		{"too large", func(h *home) string { return h.write("big.yaml", "# "+strings.Repeat("x", 1<<20)) }, "larger than 1048576 bytes"},
		{"no YAML", func(h *home) string { return h.write("bad.yaml", "\tmodels") }, "bad.yaml"},
		{"unknown key", func(h *home) string { return h.write("bad.yaml", "models:\n  - id: m\n    colour: red\n") }, "line 3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.env = append(h.env, "MEDIA_GEN_CATALOG_FILE="+tc.make(h))
			h.wants(3, tc.says, "models", "list")
			h.wants(1, tc.says, "doctor")
			if r := h.run("__complete", "models", "show", ""); r.code != 0 || !strings.Contains(r.out, "gpt-image-2") {
				t.Errorf("completion falls back to the built-in catalog: exit %d: %s", r.code, r.out)
			}
		})
	}
}

// TestNothingIsMadeBeforeItIsNeeded runs commands that only look. No journal, no spool, no directory may appear.
func TestNothingIsMadeBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"version", "--help", "models list", "models show gpt-image-2", "config show", "config path", "config init --stdout",
		"policy test a.png", "policy test --write out/a.png", "images generate --provider emulator --dry-run x",
		"images generate --provider emulator --dry-run -o new/dir/ x", "images generate --provider emulator --dry-run -o - x",
		"__complete jobs show ", "__complete models show ", "completion bash", "images generate --size 17x17 --provider emulator x",
		"images edit --provider emulator -i none.png x",
	} {
		h := newHome(t)
		h.run(strings.Split(line, " ")...)
		if got := h.tree(); len(got) != 0 {
			t.Errorf("%s left behind: %v", line, got)
		}
	}
}

// TestStdinAsPicture reads a picture from stdin, once.
func TestStdinAsPicture(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.generate("--provider", "emulator", "-o", "in.png")
	data, err := os.ReadFile(filepath.Join(h.work, "in.png"))
	if err != nil {
		t.Fatal(err)
	}
	h.stdin = string(data)
	r := h.wants(0, "", "images", "edit", "--provider", "emulator", "-i", "-", "-o", "out.png", "x")
	if r.out != "out.png\n" {
		t.Errorf("stdout %q", r.out)
	}
}
