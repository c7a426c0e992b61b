package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/param"
)

// shownWords is how many words help lists; longer lists are left to completion and the catalog commands.
const shownWords = 8

// addFlags turns parameter descriptors into flags: name, usage with its words, shorthand, completion.
func addFlags(cmd *cobra.Command, set param.Set) {
	cmd.Flags().SortFlags = false
	for _, p := range set {
		usage := p.Usage
		if n := len(p.Enum); n > 0 && n <= shownWords {
			usage += ": {" + strings.Join(p.Enum, "|") + "}"
		}
		if p.Min != nil && (p.Kind == param.KindInt || p.Kind == param.KindFloat) {
			usage += ", " + bound(*p.Min) + " to " + bound(*p.Max)
		}
		f := cmd.Flags().VarPF(p, p.Flag(), p.Short, usage)
		switch p.Kind {
		case param.KindBool:
			f.NoOptDefVal = "true"
		case param.KindEnum:
			mustComplete(cmd, p.Flag(), p.Enum...)
		case param.KindString, param.KindText, param.KindInt, param.KindFloat, param.KindDuration, param.KindStrings:
			mustComplete(cmd, p.Flag())
		case param.KindFile, param.KindFiles: // the shell completes files
		}
	}
}

func bound(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func quoted(s string) string { return strconv.Quote(s) }
