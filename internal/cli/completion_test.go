package cli_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"mediagen/internal/cli"
)

// words asks for completion as the shells do and returns what comes before the directive.
func (b *bench) words(args ...string) []string {
	b.t.Helper()
	b.wants(0, append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSpace(b.out.String()), "\n")
	return lines[:len(lines)-1]
}

// TestCompletion asks at many places. The engine is never opened, so nothing can be sent.
func TestCompletion(t *testing.T) {
	t.Parallel()
	find := func(words ...string) func(context.Context, *pflag.FlagSet) []cli.Candidate {
		return func(context.Context, *pflag.FlagSet) []cli.Candidate {
			var out []cli.Candidate
			for _, w := range words {
				out = append(out, cli.Candidate{Word: w, About: "about\x1b " + w})
			}
			return out
		}
	}
	b := newBench(t, "")
	b.deps.Complete = cli.CompleteDeps{Jobs: find("job1", "job2"), Models: find("m1")}
	job1, job2 := `job1	about\x1b job1`, `job2	about\x1b job2`
	for _, tc := range []struct {
		line string
		want []string
	}{
		{"jobs show ", []string{job1, job2}},
		{"jobs show job1 ", nil},
		{"jobs resume ", []string{job1, job2}},
		{"jobs forget job2 ", []string{job1}},
		{"models show ", []string{`m1	about\x1b m1`}},
		{"models show m1 ", nil},
		{"jobs list --state ", []string{
			"planned", "sent", "queued", "running", "succeeded", "landed", "failed", "blocked", "cancelled", "expired", "unknown",
		}},
		{"jobs list --since ", []string{"1h", "24h", "7d", "30d"}},
		{"jobs list ", nil},
		{"models list --kind ", []string{"image", "video"}},
		{"--progress ", []string{"auto", "bar", "plain", "none"}},
		{"images generate --log-format ", []string{"text", "json"}},
		{"images generate --provider ", []string{"openai", "azure", "emulator"}},
		{"images generate --max-cost ", nil},
		{"images generate --jq ", nil},
		{"images generate ", nil},
		{"images edit a ", nil},
		{"version ", nil},
		{"completion bash ", nil},
		{"help images ", []string{
			"compress	Make pictures smaller: bytes, size or format", "edit	Make images from images and text",
			"generate	Make images from text", "inspect	Say what pictures and videos are",
		}},
		{"help nothing ", nil},
	} {
		got := b.words(strings.Split(tc.line, " ")...)
		if diff := cmp.Diff(tc.want, got); diff != "" && len(tc.want)+len(got) > 0 {
			t.Errorf("%s<TAB> (-want +got):\n%s", tc.line, diff)
		}
	}
	if b.opened != 0 || len(b.eng.calls) != 0 {
		t.Errorf("completion opened the engine %d times and called it: %v", b.opened, b.eng.calls)
	}
	if models := b.words("images", "generate", "-m", ""); !slices.Contains(models, "gpt-image-2.6-flare") {
		t.Errorf("-m completes %v", models)
	}
	if top := strings.Join(b.words("help", ""), "\n"); !strings.Contains(top, "images\t") || !strings.Contains(top, "exit-codes\t") {
		t.Errorf("help<TAB>: %s", top)
	}
}

// TestCompletionOfFiles is left to the shell where a file is wanted.
func TestCompletionOfFiles(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"images edit -i ", "images edit --mask ", "images generate --prompt-file ", "images generate -o ", "policy test ",
		"emulator --log ", "--config ", "jobs resume a -o ",
	} {
		b := newBench(t, "")
		b.wants(0, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		if got := b.out.String(); got != ":0\n" {
			t.Errorf("%s<TAB>: %q, want the shell's own files", line, got)
		}
	}
}

// TestCompletionScripts print one script each, which asks the program.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		b := newBench(t, "")
		b.wants(0, "completion", shell)
		script := b.out.String()
		if !strings.Contains(script, "__complete") || !strings.Contains(script, "mediagen") {
			t.Errorf("%s: %.200s", shell, script)
		}
		b.wants(0, "completion", shell, "--json")
		if r := b.reply(); r.Items[0]["shell"] != shell || r.Items[0]["script"] != script {
			t.Errorf("%s --json differs from the script", shell)
		}
	}
}

// TestWordsAreLazy builds and runs commands without reading the catalog: that costs more than the rest of the start.
func TestWordsAreLazy(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	asked := 0
	words, settings := b.deps.Words, b.deps.SettingWords
	b.deps.Words = func(param string) []string { asked++; return words(param) }
	b.deps.SettingWords = func(flag string) []string { asked++; return settings(flag) }
	for _, args := range [][]string{
		{"version"}, {"images", "generate", "--size", "1024x1024", "x"}, {"jobs", "list"}, {"help", "exit-codes"},
	} {
		b.wants(0, args...)
	}
	if asked != 0 {
		t.Errorf("words were asked for %d times", asked)
	}
	b.wants(0, "images", "generate", "--help")
	if asked == 0 || !strings.Contains(b.out.String(), "{auto|1024x1024|") {
		t.Errorf("help asked %d times and shows no sizes:\n%s", asked, b.out)
	}
}
