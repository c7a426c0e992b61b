package cli

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mediagen/internal/param"
)

// Candidate is a word that completes an argument, with a few words about it.
type Candidate struct{ Word, About string }

// CompleteDeps find candidates quickly and without a trace: they make no file, send nothing and report no error, for
// the person is in the middle of a line.
type CompleteDeps struct {
	Jobs   func(ctx context.Context, f *pflag.FlagSet) []Candidate
	Models func(ctx context.Context, f *pflag.FlagSet) []Candidate
}

// newCompletion returns the command that prints completion scripts.
func newCompletion(sh *shell) *cobra.Command {
	scripts := []struct {
		name, install string
		write         func(root *cobra.Command, w io.Writer) error
	}{
		{
			"bash", "  mediagen completion bash > ~/.local/share/bash-completion/completions/mediagen",
			func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		},
		{
			"zsh", `  mediagen completion zsh > "${fpath[1]}/_mediagen"`,
			func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
		},
		{
			"fish", "  mediagen completion fish > ~/.config/fish/completions/mediagen.fish",
			func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		},
		{
			"powershell", "  mediagen completion powershell | Out-String | Invoke-Expression",
			func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
		},
	}
	var subs []*cobra.Command
	for _, s := range scripts {
		subs = append(subs, &cobra.Command{
			Use: s.name, Short: "Print the completion script for " + s.name, Args: none,
			ValidArgsFunction: cobra.NoFileCompletions,
			Long: "Print the script that completes commands, flags, models and job ids in " + s.name +
				". The example installs it; it works in shells that are started afterwards.",
			Example:     s.install,
			Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2)},
			RunE: func(cmd *cobra.Command, _ []string) error {
				var b bytes.Buffer
				if err := s.write(cmd.Root(), &b); err != nil {
					return err
				}
				rows := []map[string]string{{"shell": s.name, "script": b.String()}}
				return sh.items(rows, func(w io.Writer) error { return write(w, b.String()) })
			},
		})
	}
	return newGroup(sh, "completion", "Print the completion script of a shell",
		"Print a script that lets a shell complete commands, flags, models and job ids.",
		"  mediagen completion bash > ~/.local/share/bash-completion/completions/mediagen", subs...)
}

// completeWords completes a flag with words that are asked for when they are needed. A wrong flag name is a programmer
// error.
func completeWords(cmd *cobra.Command, flag string, words func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return words(), cobra.ShellCompDirectiveNoFileComp
		})
	if err != nil {
		panic("cli: " + err.Error())
	}
}

// completeArgs completes up to limit arguments with candidates, each once; limit 0 is no limit.
func (sh *shell) completeArgs(
	limit int, find func(context.Context, *pflag.FlagSet) []Candidate,
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if limit > 0 && len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		given := map[string]bool{}
		for _, a := range args {
			given[a] = true
		}
		var out []cobra.Completion
		for _, c := range find(sh.ctx, cmd.Flags()) {
			if !given[c.Word] {
				out = append(out, cobra.CompletionWithDesc(c.Word, printable(c.About)))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completePairs completes a flag that takes pairs with the names of a set, behind the pairs that are there.
func completePairs(cmd *cobra.Command, flag string, set param.Set) {
	err := cmd.RegisterFlagCompletionFunc(flag,
		func(_ *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
			before := text[:strings.LastIndex(text, ",")+1]
			var words []string
			for _, p := range set {
				word := before + p.Flag()
				if p.Kind != param.KindBool {
					word += "="
				}
				words = append(words, cobra.CompletionWithDesc(word, p.Usage))
			}
			return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		})
	if err != nil {
		panic("cli: " + err.Error())
	}
}
