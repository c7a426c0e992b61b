package config

import (
	"strconv"

	"github.com/spf13/pflag"
)

// RegisterFlags adds the persistent root flags that are settings. Their values are checked when they are parsed, so
// that a bad one is a usage error; Load reads them through Source.Flags.
func RegisterFlags(fs *pflag.FlagSet) {
	for _, s := range Settings() {
		if s.Flag == "" {
			continue
		}
		usage := s.FlagDoc
		if usage == "" {
			usage = s.Doc
		}
		v := &flagValue{setting: s}
		if s.Kind != KindBool && s.Default != nil {
			v.text = s.show(s.Default)
		}
		f := fs.VarPF(v, s.Flag, "", usage)
		if s.Kind == KindBool {
			f.NoOptDefVal = "true"
		}
	}
}

// flagValue is a pflag.Value that keeps the text and checks it by the table.
type flagValue struct {
	setting Setting
	text    string
}

var _ pflag.Value = (*flagValue)(nil)

// Set checks and keeps text.
func (v *flagValue) Set(text string) error {
	r := scalar(text)
	if v.setting.unset(r) {
		v.text = ""
		return nil
	}
	if _, err := v.setting.parse(r, Source{}); err != nil {
		return err
	}
	v.text = text
	return nil
}

// String returns the text, "" when nothing was given.
func (v *flagValue) String() string { return v.text }

// Type is the name of the value in help. pflag asks for "bool" to know that a flag needs no value.
func (v *flagValue) Type() string {
	if v.setting.Kind == KindBool {
		return "bool"
	}
	return v.setting.Value
}

// flagText is the flag's value as the setting has it: the opposite for an inverse flag.
func flagText(s Setting, text string) string {
	if !s.Inverse {
		return text
	}
	on, err := parseBool(text)
	if err != nil {
		return text
	}
	return strconv.FormatBool(!on)
}
