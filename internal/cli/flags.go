package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/param"
)

// addFlags turns parameter descriptors into flags: name, usage with its words, shorthand, completion.
func addFlags(cmd *cobra.Command, set param.Set) {
	for _, p := range set {
		usage := p.Usage
		if len(p.Enum) > 0 {
			usage += ": {" + strings.Join(p.Enum, "|") + "}"
			if p.Open {
				usage = p.Usage + ", such as " + strings.Join(p.Enum, ", ")
			}
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
