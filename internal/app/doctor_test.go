package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rows returns the doctor's rows of some names as "status detail", and the exit code.
func (h *home) rows(names ...string) (rows []string, code int) {
	h.t.Helper()
	r := h.run("doctor", "--jq", `.items[] | .name + "\t" + .status + " " + .detail`)
	for line := range strings.Lines(r.out) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, want := range names {
			if name == want {
				rows = append(rows, text)
			}
		}
	}
	return rows, r.code
}

// TestDoctor brings the program into each state that the doctor knows.
func TestDoctor(t *testing.T) {
	t.Parallel()
	const none = "warn none is ready: set OPENAI_API_KEY or AZURE_OPENAI_API_KEY; --provider emulator needs no key"
	for _, tc := range []struct {
		name  string
		setup func(h *home)
		rows  []string // names of the rows to look at
		code  int
		want  []string // HOME and WORK stand for the directories
	}{
		{"no key", func(*home) {}, []string{"key", "providers"}, 0, []string{none}},
		{
			"keys", func(h *home) {
				h.env = append(h.env, "OPENAI_API_KEY="+canary)
				h.write(filepath.Join(h.dir, ".config/mediagen/secrets.yaml"), "google: {api_key: "+canary+"}\n")
			},
			[]string{"key", "providers"},
			0,
			[]string{
				"ok openai.api_key is set, from env OPENAI_API_KEY",
				"ok google.api_key is set, from secrets file HOME/.config/mediagen/secrets.yaml", "ok openai ready; emulator always",
			},
		},
		{
			"a compatible server", func(h *home) { h.env = append(h.env, "OPENAI_BASE_URL=http://127.0.0.1:1/v1") },
			[]string{"providers"},
			0,
			[]string{"ok openai ready; emulator always"},
		},
		{
			"half an Azure", func(h *home) { h.env = append(h.env, "AZURE_OPENAI_API_KEY="+canary) },
			[]string{"providers"},
			1,
			[]string{"fail azure is chosen by its key and still needs AZURE_OPENAI_ENDPOINT, OPENAI_API_VERSION", none},
		},
		{
			"half an Azure beside OpenAI", func(h *home) {
				h.env = append(h.env, "AZURE_OPENAI_API_KEY="+canary, "OPENAI_API_KEY="+canary, "OPENAI_API_VERSION=1")
			},
			[]string{"providers"},
			1,
			[]string{"fail azure is chosen by its key and still needs AZURE_OPENAI_ENDPOINT", "ok openai ready; emulator always"},
		},
		{
			"a whole Azure", func(h *home) {
				h.env = append(h.env, "AZURE_OPENAI_API_KEY="+canary, "AZURE_OPENAI_ENDPOINT=https://x.openai.azure.com/openai/v1")
			}, []string{"providers"}, 0, []string{"ok azure ready; emulator always"},
		},
		{
			"own authority", func(*home) {},
			[]string{"policy", "directory", "directories"},
			0,
			[]string{"ok own authority", "ok WORK (output)"},
		},
		{
			"roots", func(h *home) {
				mkdir(h, "a", "b/x")
				h.env = append(h.env, "MEDIA_GEN_DIRS="+h.work+"/a,"+h.work+"/b/*", "MEDIA_GEN_OUTPUT_DIR="+h.work+"/a/out")
			},
			[]string{"policy", "directory"},
			0,
			[]string{"ok roots", "ok WORK/a (output)", "ok WORK/b", "ok WORK/a/out (output_dir)"},
		},
		{
			"a pattern for output", func(h *home) {
				mkdir(h, "b/x")
				h.env = append(h.env, "MEDIA_GEN_DIRS="+h.work+"/b/*")
			},
			[]string{"directory"},
			0,
			[]string{"warn WORK/b (output) read only: a pattern takes no output, put a plain directory first"},
		},
		{
			"a root that is no directory", func(h *home) {
				h.env = append(h.env, "MEDIA_GEN_DIRS="+h.write("file", "x"))
			}, []string{"directories"}, 1, []string{"fail "},
		},
		{
			"no file", func(*home) {},
			[]string{"settings"},
			0,
			[]string{"ok no file was read; HOME/.config/mediagen/config.yaml would be"},
		},
		{
			"a file and a warning", func(h *home) {
				h.write(h.conf(), "timeout: 3s\n")
				h.env = append(h.env, "MEDIA_GEN_TIMEOT=1s")
			},
			[]string{"settings"},
			0,
			[]string{
				"ok read config file HOME/.config/mediagen/config.yaml",
				"warn the environment sets MEDIA_GEN_TIMEOT, which is no setting; did you mean MEDIA_GEN_TIMEOUT?",
			},
		},
		{
			"bad settings", func(h *home) { h.write(h.conf(), "timeot: 3s\n") },
			[]string{"settings", "journal"},
			3,
			[]string{`fail `},
		},
		{
			"journal", func(*home) {},
			[]string{"journal", "spool"},
			0,
			[]string{"ok HOME/.local/state/mediagen/spool, empty", "ok HOME/.local/state/mediagen/journal.db"},
		},
		{
			"no journal", func(h *home) { h.env = append(h.env, "MEDIA_GEN_JOURNAL_ENABLED=no") },
			[]string{"journal"},
			0,
			[]string{"warn switched off; paid calls leave no trace"},
		},
		{
			"a broken journal", func(h *home) {
				h.write(filepath.Join(h.dir, ".local/state/mediagen/journal.db"), strings.Repeat("no database ", 1000))
			}, []string{"journal"}, 1, []string{"fail "},
		},
		{
			"a full spool", func(h *home) { h.write(filepath.Join(h.dir, ".local/state/mediagen/spool/a.png"), "x") },
			[]string{"spool"},
			0,
			[]string{"warn HOME/.local/state/mediagen/spool holds 1 file; see: mediagen jobs list --state succeeded, then jobs resume"},
		},
		{
			"a full spool without a journal", func(h *home) {
				h.env = append(h.env, "MEDIA_GEN_JOURNAL_ENABLED=no")
				h.write(filepath.Join(h.dir, ".local/state/mediagen/spool/a.png"), "x")
				h.write(filepath.Join(h.dir, ".local/state/mediagen/spool/b.png"), "x")
			},
			[]string{"spool"},
			0,
			[]string{"warn HOME/.local/state/mediagen/spool holds 2 files; the journal, which knows their place, is switched off"},
		},
		{
			"a spool that is a file", func(h *home) { h.write(filepath.Join(h.dir, ".local/state/mediagen/spool"), "x") },
			[]string{"spool"},
			1,
			[]string{"fail "},
		},
		{
			"models", func(h *home) {
				h.env = append(h.env, "MEDIA_GEN_IMAGES_MODEL=dall-e-3", "MEDIA_GEN_IMAGES_EDIT_MODEL=gpt-image-2")
			},
			[]string{"images.model", "images.edit_model"},
			1,
			[]string{"fail dall-e-3 was retired; use ", "ok gpt-image-2"},
		},
		{
			"a retired model on another server", func(h *home) {
				h.env = append(h.env, "MEDIA_GEN_IMAGES_MODEL=dall-e-3", "OPENAI_BASE_URL=http://127.0.0.1:1/v1")
			}, []string{"images.model"}, 0, []string{"warn dall-e-3 was retired; use "},
		},
		{
			"an unknown model", func(h *home) { h.env = append(h.env, "MEDIA_GEN_IMAGES_MODEL=mine") },
			[]string{"images.model"},
			0,
			[]string{"warn mine is not in the catalog; its limits and price are not known"},
		},
		{
			"a model that ends soon", func(h *home) {
				h.env = append(h.env, "MEDIA_GEN_IMAGES_MODEL=old", "MEDIA_GEN_CATALOG_FILE="+h.write("c.yaml",
					"models:\n  - {id: old, provider: openai, kind: image, ops: [generate], retires: 2026-12-24}\n"))
			}, []string{"images.model"}, 0, []string{"warn old retires on 2026-12-24; its vendor names no replacement"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			tc.setup(h)
			got, code := h.rows(tc.rows...)
			for i := range got {
				got[i] = strings.NewReplacer(h.dir, "HOME", h.work, "WORK").Replace(got[i])
				if i < len(tc.want) && strings.HasSuffix(tc.want[i], " ") && strings.HasPrefix(got[i], tc.want[i]) {
					got[i] = tc.want[i] // other packages' words
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || code != tc.code {
				t.Errorf("exit %d, want %d; rows (-want +got):\n%s", code, tc.code, diff)
			}
		})
	}
}

func mkdir(h *home, names ...string) {
	h.t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(h.work, name), 0o700); err != nil {
			h.t.Fatal(err)
		}
	}
}

// TestDoctorSendsNothing although it looks at everything.
func TestDoctorSendsNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	h := newHome(t, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+s.URL+"/v1")
	h.wants(0, "imaging", "doctor")
	if n := len(s.requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
