package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mediagen/internal/param"
)

// shownWords is how many words help lists; longer lists are left to completion and the catalog commands.
const shownWords = 8

// noWords stands for the words of parameters while flags are made: the catalog is read only when help or completion
// asks for them.
func noWords() []string { return nil }

func noParamWords(string) []string { return nil }

// addFlags turns parameter descriptors into flags: name, usage, shorthand, completion. The words come with help.
func (sh *shell) addFlags(cmd *cobra.Command, set param.Set) {
	cmd.Flags().SortFlags = false
	for _, p := range set {
		usage := p.Usage
		if p.Min != nil && (p.Kind == param.KindInt || p.Kind == param.KindFloat) {
			usage += ", " + bound(*p.Min) + " to " + bound(*p.Max)
		}
		f := cmd.Flags().VarPF(p, p.Flag(), p.Short, usage)
		switch p.Kind {
		case param.KindBool:
			f.NoOptDefVal = "true"
		case param.KindEnum:
			completeWords(cmd, p.Flag(), func() []string { return sh.wordsOf(p) })
		case param.KindString, param.KindText, param.KindInt, param.KindSize, param.KindFloat,
			param.KindDuration, param.KindStrings:
			completeWords(cmd, p.Flag(), noWords)
		case param.KindFile, param.KindFiles: // the shell completes files
		}
	}
}

// wordsOf returns the words of a parameter: its own, else the catalog's.
func (sh *shell) wordsOf(p *param.Param) []string {
	if len(p.Enum) > 0 {
		return p.Enum
	}
	return sh.Words(p.Name)
}

// usage is the text of a flag with its words, unless they are many.
func (sh *shell) usage(f *pflag.Flag) string {
	var words []string
	switch v := f.Value.(type) {
	case *param.Param:
		if v.Kind == param.KindEnum {
			words = sh.wordsOf(v)
		}
	default:
		words = sh.SettingWords(f.Name)
	}
	if n := len(words); n == 0 || n > shownWords || strings.Contains(f.Usage, "{") {
		return f.Usage
	}
	return f.Usage + ": {" + strings.Join(words, "|") + "}"
}

func bound(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func quoted(s string) string { return strconv.Quote(s) }
