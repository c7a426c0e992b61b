package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/cli"
)

// addDefaults makes Cobra add what it otherwise adds when a command runs: the command help, and --help everywhere.
func addDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range all(root) {
		c.InitDefaultHelpFlag()
	}
}

// all returns the visible commands and help topics, depth first, in the order of the help.
func all(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			out = append(out, all(c)...)
		}
	}
	return out
}

// isTopic tells help topics, which only have a text, from commands.
func isTopic(cmd *cobra.Command) bool { return !cmd.Runnable() && !cmd.HasSubCommands() }

func isGroup(cmd *cobra.Command) bool { return cmd.HasAvailableSubCommands() }

// status is one row of an EXIT STATUS section.
type status struct{ code, text string }

const statusTitle = "EXIT STATUS\n"

// exitStatus returns the rows of a command's EXIT STATUS section. Help topics end as the command help does, except that
// the topic about exit codes lists all of them.
func exitStatus(cmd *cobra.Command) []status {
	text := cli.ExitStatus(cmd)
	if isTopic(cmd) {
		_, text, _ = strings.Cut(cmd.Long, statusTitle)
	}
	if text == "" {
		text = cli.ExitStatus(named(cmd.Root(), "help"))
	}
	var rows []status
	for line := range strings.Lines(strings.TrimPrefix(text, statusTitle)) {
		if code, what, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			rows = append(rows, status{code, strings.TrimSpace(what)})
		}
	}
	return rows
}

// named returns a command below root; a tree without it is a programmer error.
func named(root *cobra.Command, name string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == name {
			return c
		}
	}
	panic("gendocs: there is no command " + name)
}

// description is the long text without an EXIT STATUS list, which has a section of its own.
func description(cmd *cobra.Command) string {
	text, _, _ := strings.Cut(cmd.Long, statusTitle)
	return strings.TrimSpace(text)
}

// examples returns the example lines; how to read a topic is its example.
func examples(cmd *cobra.Command) string {
	if isTopic(cmd) {
		return "mediagen help " + cmd.Name()
	}
	return cmd.Example
}

// completions returns the completion script of each shell.
func completions(root *cobra.Command) (map[string][]byte, error) {
	files := map[string][]byte{}
	for ext, gen := range map[string]func(io.Writer) error{
		"bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":  root.GenZshCompletion,
		"fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := gen(&b); err != nil {
			return nil, err
		}
		files["completions/mediagen."+ext] = b.Bytes()
	}
	return files, nil
}
