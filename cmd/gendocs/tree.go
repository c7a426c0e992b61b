package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/cli"
)

// addDefaults makes Cobra add what it otherwise adds when a command runs: help, completion, and --help everywhere.
func addDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
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

// byCobra tells the commands that Cobra adds; they bring neither examples nor exit codes.
func byCobra(cmd *cobra.Command) bool {
	_, rest, _ := strings.Cut(cmd.CommandPath(), " ")
	first, _, _ := strings.Cut(rest, " ")
	return first == "help" || first == "completion"
}

// status is one row of an EXIT STATUS section.
type status struct{ code, text string }

const statusTitle = "EXIT STATUS\n"

// exitStatus returns the rows of a command's EXIT STATUS section. Groups and Cobra's own commands show help or fail on
// the command line, so they end in 0 or 2; the topic about exit codes lists all of them.
func exitStatus(cmd *cobra.Command) []status {
	text := cli.ExitStatus(cmd)
	if _, listed, ok := strings.Cut(cmd.Long, statusTitle); ok && text == "" {
		text = listed
	}
	if text == "" {
		for _, s := range exitStatus(topicOf(cmd.Root(), "exit-codes")) {
			if s.code == "0" || s.code == "2" {
				text += s.code + " " + s.text + "\n"
			}
		}
	}
	var rows []status
	for line := range strings.Lines(strings.TrimPrefix(text, statusTitle)) {
		if code, what, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			rows = append(rows, status{code, strings.TrimSpace(what)})
		}
	}
	return rows
}

// topicOf returns a help topic; a tree without it is a programmer error.
func topicOf(root *cobra.Command, name string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == name && strings.Contains(c.Long, statusTitle) {
			return c
		}
	}
	panic("gendocs: there is no help topic " + name + " with an EXIT STATUS list")
}

// description is the long text without an EXIT STATUS list, which has a section of its own.
func description(cmd *cobra.Command) string {
	text, _, _ := strings.Cut(cmd.Long, statusTitle)
	return strings.TrimSpace(text)
}

// examples returns the example lines. Topics and Cobra's own commands have none, so theirs stand here.
func examples(cmd *cobra.Command) string {
	if cmd.Example != "" {
		return cmd.Example
	}
	if isTopic(cmd) {
		return "mediagen help " + cmd.Name()
	}
	switch path := cmd.CommandPath(); path {
	case "mediagen help":
		return "mediagen help images generate\nmediagen help exit-codes"
	case "mediagen completion", "mediagen completion bash":
		return "mediagen completion bash > ~/.local/share/bash-completion/completions/mediagen"
	case "mediagen completion zsh":
		return `mediagen completion zsh > "${fpath[1]}/_mediagen"`
	case "mediagen completion fish":
		return "mediagen completion fish > ~/.config/fish/completions/mediagen.fish"
	case "mediagen completion powershell":
		return "mediagen completion powershell | Out-String | Invoke-Expression"
	default:
		panic("gendocs: " + path + " has no example")
	}
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
