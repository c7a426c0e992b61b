package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mediagen/internal/buildinfo"
	"mediagen/internal/engine"
)

// versionInfo is what version --json prints.
type versionInfo struct {
	buildinfo.Info
	Imaging engine.Imaging `json:"imaging"`
}

func newVersion(d Deps, g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version and the imaging engine", Args: none,
		Long:        "Print the version, the commit and the imaging engine; --json adds the engine's formats and what it lacks.",
		Example:     "  mediagen version\n  mediagen version --json --jq '.items[0].imaging'",
		Annotations: map[string]string{exitCodes: exitStatus(0, 2)},
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := renderer{d: d, g: g, command: commandName(cmd)}
			v := versionInfo{Info: d.Build, Imaging: d.Imaging()}
			return r.items([]versionInfo{v}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "mediagen %s (%s %s/%s, imaging: %s %s)\n",
					v.Version, v.Go, v.OS, v.Arch, v.Imaging.Name, v.Imaging.Version)
				return written(err)
			})
		},
	}
}
