package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mediagen/internal/fault"
)

// exitCodes is the annotation that holds a command's EXIT STATUS section, for help and man pages.
const exitCodes = "exit-codes"

// dressHelp gives every command our help: what it does, examples first, EXIT STATUS last. -h is the short form.
func (sh *shell) dressHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		sh.lost = sh.writeHelp(cmd.OutOrStdout(), cmd, isShort(args)) // Cobra takes no error from here
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error { return sh.writeHelp(cmd.OutOrStderr(), cmd, true) })
}

// isShort reports whether help was asked for with -h.
func isShort(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "-h") && !slices.Contains(args, "--help")
}

// newHelp returns the command that shows the help of another one, or a topic.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...]", Short: "Show the help of a command, or a help topic",
		Long:        "Show the whole help of a command, as --help does, or a help topic.",
		Example:     "  mediagen help images generate\n  mediagen help exit-codes",
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2)},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noUnknownCommand(found, rest)
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var out []cobra.Completion
			for _, c := range found.Commands() {
				if !c.Hidden {
					out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// ExitStatus returns the command's EXIT STATUS section, or "".
func ExitStatus(cmd *cobra.Command) string { return cmd.Annotations[exitCodes] }

func (sh *shell) writeHelp(w io.Writer, cmd *cobra.Command, short bool) error {
	var b strings.Builder
	section := func(title, body string) {
		if body = strings.TrimRight(body, "\n"); body != "" {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, body)
		}
	}
	switch {
	case cmd.Annotations[isTopic] != "":
		b.WriteString(cmd.Long + "\n")
	case short:
		fmt.Fprintf(&b, "%s\n", cmd.Short)
		section("USAGE", "  "+usageLine(cmd))
		section("EXAMPLES", cmd.Example)
		section("COMMANDS", commandList(cmd, false))
		section("FLAGS", sh.flagTable(cmd.LocalNonPersistentFlags()))
		b.WriteString("\nMore, with global flags and exit codes: " + cmd.CommandPath() + " --help\n")
	default:
		fmt.Fprintf(&b, "%s\n", cmd.Short)
		section("EXAMPLES", cmd.Example)
		section("USAGE", "  "+usageLine(cmd))
		section("DESCRIPTION", indent(cmd.Long))
		section("COMMANDS", commandList(cmd, false))
		section("HELP TOPICS", commandList(cmd, true))
		section("FLAGS", sh.flagTable(cmd.LocalNonPersistentFlags()))
		section("GLOBAL FLAGS", sh.globalFlags(cmd))
		if s := ExitStatus(cmd); s != "" {
			b.WriteString("\n" + s + "\n")
		}
	}
	return write(w, b.String())
}

const helpWidth = 110 // columns

func usageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " COMMAND"
	}
	line := cmd.UseLine()
	if !strings.Contains(line, "[flags]") && cmd.HasAvailableFlags() {
		line += " [flags]"
	}
	return line
}

func (sh *shell) globalFlags(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return sh.flagTable(cmd.InheritedFlags())
	}
	return sh.flagTable(cmd.PersistentFlags())
}

// flagTable lists flags in the order in which they were added: the order of a request's parameters.
func (sh *shell) flagTable(fs *pflag.FlagSet) string {
	type row struct{ name, usage string }
	var rows []row
	width := 0
	fs.SortFlags = false
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		shown := *f
		shown.Usage = sh.usage(f)
		value, usage := pflag.UnquoteUsage(&shown)
		if value != "" && f.Value.Type() != "bool" && f.Value.Type() != "count" {
			name += " " + value
		}
		if !blankDefault(f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		rows = append(rows, row{name, usage})
		width = max(width, len(name))
	})
	var b strings.Builder
	for _, r := range rows {
		lines := wrapAt(r.usage, helpWidth-width-3)
		for i, line := range lines {
			name := r.name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "%-*s   %s\n", width, name, line)
		}
	}
	return b.String()
}

func blankDefault(text string) bool {
	return text == "" || text == "0" || text == "0s" || text == "false" || text == "[]"
}

func commandList(cmd *cobra.Command, topics bool) string {
	var b strings.Builder
	for _, c := range cmd.Commands() {
		if c.Hidden || (c.Annotations[isTopic] != "") != topics {
			continue
		}
		fmt.Fprintf(&b, "  %-16s %s\n", c.Name(), c.Short)
	}
	return b.String()
}

// indent wraps paragraphs for the DESCRIPTION section.
func indent(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, wrap(line)...)
	}
	return strings.Join(out, "\n")
}

// wrap breaks a line of a paragraph, or of a list whose second column hangs. Indented code stays as it is.
func wrap(line string) []string {
	const margin = "  "
	if len(line) <= helpWidth-len(margin) {
		return []string{strings.TrimRight(margin+line, " ")}
	}
	hang := 0
	if strings.HasPrefix(line, " ") {
		if hang = secondColumn(line); hang == 0 {
			return []string{margin + line}
		}
	}
	lines := wrapAt(line[hang:], helpWidth-len(margin)-hang)
	for i := range lines {
		lead := strings.Repeat(" ", hang)
		if i == 0 {
			lead = line[:hang]
		}
		lines[i] = margin + lead + lines[i]
	}
	return lines
}

// secondColumn is where the meaning stands in "  word    meaning", or 0.
func secondColumn(line string) int {
	word := strings.TrimLeft(line, " ")
	gap := strings.Index(word, "  ")
	if gap < 0 {
		return 0
	}
	return len(line) - len(strings.TrimLeft(word[gap:], " "))
}

// wrapAt breaks text into lines of at most width columns; a longer word gets a line of its own.
func wrapAt(text string, width int) []string {
	var lines []string
	cur := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case cur == "":
			cur = word
		case len(cur)+1+len(word) > width:
			lines = append(lines, cur)
			cur = word
		default:
			cur += " " + word
		}
	}
	return append(lines, cur)
}

// oneOf refuses a word that is not in a closed list; the empty word means "not given".
func oneOf(flag, word string, words ...string) error {
	if word == "" || slices.Contains(words, word) {
		return nil
	}
	return usageError{fault.New(fault.InvalidArgument, "%s must be %s, not %q", flag, strings.Join(words, " or "), word)}
}
