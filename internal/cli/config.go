package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// SettingRow is one setting with its effective value; secrets are redacted.
type SettingRow struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// ConfigDeps are the functions behind the config commands.
type ConfigDeps struct {
	// Show returns every setting and what loading them had to warn about.
	Show func(f *pflag.FlagSet) (rows []SettingRow, warnings []string, err error)
	// Path returns the config file that is, or would be, read.
	Path func(f *pflag.FlagSet) (string, error)
	// Sample is the commented sample file.
	Sample func() []byte
	// Init writes the sample file, 0600, and returns its path.
	Init func(ctx context.Context, f *pflag.FlagSet, overwrite bool) (string, error)
}

func newConfig(sh *shell) *cobra.Command {
	return newGroup(sh, "config", "Show and create the configuration",
		"Settings come from flags, the environment, an env file, a config file and defaults, in this order; keys may also "+
			"stand in a secrets file, which beats the environment.",
		"  mediagen config show --origin\n  mediagen config init\n  mediagen config path",
		newConfigShow(sh), newConfigInit(sh), newConfigPath(sh))
}

func newConfigShow(sh *shell) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show every setting with its value", Args: none,
		ValidArgsFunction: cobra.NoFileCompletions,
		Long:              "Show every setting with its effective value. Keys are never printed.",
		Example: "  mediagen config show --origin\n" +
			"  mediagen config show --json --jq '.items[] | select(.from != \"default\")'",
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "also say where each value came from")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		rows, warnings, err := sh.Config.Show(cmd.Flags())
		if err != nil {
			return err
		}
		sh.warn(warnings)
		return sh.items(rows, func(w io.Writer) error {
			var cells [][]string
			for _, row := range rows {
				cell := []string{row.Key, row.Value}
				if origin {
					cell = append(cell, row.From)
				}
				cells = append(cells, cell)
			}
			return table(w, cells)
		})
	}
	return cmd
}

func newConfigInit(sh *shell) *cobra.Command {
	var overwrite, stdout bool
	cmd := &cobra.Command{
		Use: "init", Short: "Write a commented config file", Args: none,
		ValidArgsFunction: cobra.NoFileCompletions,
		Long:              "Write a config file in which every setting is explained and commented out.",
		Example:           "  mediagen config init\n  mediagen config init --stdout",
		Annotations:       map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace an existing file")
	cmd.Flags().BoolVar(&stdout, "stdout", false, "print it instead")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if stdout {
			text := string(sh.Config.Sample())
			return sh.items([]map[string]string{{"text": text}}, func(w io.Writer) error { return write(w, text) })
		}
		path, err := sh.Config.Init(cmd.Context(), cmd.Flags(), overwrite)
		if err != nil {
			return err
		}
		return sh.onePath(path)
	}
	return cmd
}

func newConfigPath(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print the path of the config file", Args: none,
		ValidArgsFunction: cobra.NoFileCompletions,
		Long:              "Print the config file that is read, or would be if it existed.",
		Example:           "  mediagen config path",
		Annotations:       map[string]string{exitCodes: exitStatus(localCodes...)},
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := sh.Config.Path(cmd.Flags())
			if err != nil {
				return err
			}
			return sh.onePath(path)
		},
	}
}

// onePath prints a path that is the command's whole result.
func (sh *shell) onePath(path string) error {
	return sh.items([]map[string]string{{"path": path}}, func(w io.Writer) error { return write(w, sh.line(path)) })
}
