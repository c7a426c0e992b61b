package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/fault"
)

// exitCodes is the annotation that holds a command's EXIT STATUS section, for help and man pages.
const exitCodes = "exit-codes"

// dressHelp gives every command our help: what it does, examples first, EXIT STATUS last.
func dressHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(cmd.OutOrStdout(), cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { writeHelp(cmd.OutOrStderr(), cmd); return nil })
}

// ExitStatus returns the command's EXIT STATUS section, or "".
func ExitStatus(cmd *cobra.Command) string { return cmd.Annotations[exitCodes] }

func writeHelp(w io.Writer, cmd *cobra.Command) {
	var b strings.Builder
	section := func(title, body string) {
		if body = strings.TrimRight(body, "\n"); body != "" {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, body)
		}
	}
	if cmd.Annotations[isTopic] != "" {
		b.WriteString(cmd.Long + "\n")
	} else {
		fmt.Fprintf(&b, "%s\n", cmd.Short)
		section("EXAMPLES", cmd.Example)
		section("USAGE", "  "+usageLine(cmd))
		if cmd.Long != cmd.Short {
			section("DESCRIPTION", indent(cmd.Long))
		}
		section("COMMANDS", commandList(cmd, false))
		section("HELP TOPICS", commandList(cmd, true))
		section("FLAGS", cmd.LocalNonPersistentFlags().FlagUsagesWrapped(helpWidth))
		section("GLOBAL FLAGS", globalFlags(cmd))
		if s := ExitStatus(cmd); s != "" {
			b.WriteString("\n" + s + "\n")
		}
	}
	_, _ = io.WriteString(w, b.String()) //nolint:errcheck // help has nowhere to report a broken stdout
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

func globalFlags(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.InheritedFlags().FlagUsagesWrapped(helpWidth)
	}
	return cmd.PersistentFlags().FlagUsagesWrapped(helpWidth)
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
	for _, line := range strings.Split(text, "\n") {
		out = append(out, wrap(line)...)
	}
	return strings.Join(out, "\n")
}

func wrap(line string) []string {
	if len(line) <= helpWidth-2 || strings.HasPrefix(line, " ") {
		return []string{strings.TrimRight("  "+line, " ")}
	}
	var lines []string
	cur := " "
	for _, word := range strings.Fields(line) {
		if len(cur)+1+len(word) > helpWidth {
			lines = append(lines, cur)
			cur = " "
		}
		cur += " " + word
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
