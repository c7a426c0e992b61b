package cli

import (
	"context"
	"fmt"
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

func newConfig(d Deps, g *globals) *cobra.Command {
	return newGroup("config", "Show and create the configuration",
		"Settings come from flags, the environment, an env file, a config file and defaults, in this order; keys may also "+
			"stand in a secrets file, which beats the environment.",
		"  mediagen config show --origin\n  mediagen config init\n  mediagen config path",
		newConfigShow(d, g), newConfigInit(d, g), newConfigPath(d, g))
}

func newConfigShow(d Deps, g *globals) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show every setting with its value", Args: none,
		Long:        "Show every setting with its effective value. Keys are never printed.",
		Example:     "  mediagen config show --origin\n  mediagen config show --json --jq '.items[] | select(.from != \"default\")'",
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "also say where each value came from")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r := renderer{d: d, g: g, command: commandName(cmd)}
		rows, warnings, err := d.Config.Show(cmd.Flags())
		if err != nil {
			return err
		}
		r.warn(warnings)
		return r.items(rows, func(w io.Writer) error {
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

func newConfigInit(d Deps, g *globals) *cobra.Command {
	var overwrite, stdout bool
	cmd := &cobra.Command{
		Use: "init", Short: "Write a commented config file", Args: none,
		Long:        "Write a config file in which every setting is explained and commented out.",
		Example:     "  mediagen config init\n  mediagen config init --stdout",
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace an existing file")
	cmd.Flags().BoolVar(&stdout, "stdout", false, "print it instead")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r := renderer{d: d, g: g, command: commandName(cmd)}
		if stdout {
			_, err := d.Streams.Out.Write(d.Config.Sample())
			return written(err)
		}
		path, err := d.Config.Init(cmd.Context(), cmd.Flags(), overwrite)
		if err != nil {
			return err
		}
		return r.onePath(path)
	}
	return cmd
}

func newConfigPath(d Deps, g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print the path of the config file", Args: none,
		Long:        "Print the config file that is read, or would be if it existed.",
		Example:     "  mediagen config path",
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := d.Config.Path(cmd.Flags())
			if err != nil {
				return err
			}
			return renderer{d: d, g: g, command: commandName(cmd)}.onePath(path)
		},
	}
}

// onePath prints a path that is the command's whole result.
func (r renderer) onePath(path string) error {
	return r.items([]map[string]string{{"path": path}}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, path)
		return written(err)
	})
}
