package cli

import (
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

func newVersion(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version and the imaging engine", Args: none,
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Print the version, the commit and the imaging engine; --json adds the engine's formats and what it " +
			"lacks.",
		Example:     "  mediagen version\n  mediagen version --json --jq '.items[0].imaging'",
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2)},
		RunE:        func(*cobra.Command, []string) error { return sh.showVersion() },
	}
}

func (sh *shell) showVersion() error {
	v := versionInfo{Info: sh.Build(), Imaging: sh.Imaging(sh.flags.wantsJSON())}
	return sh.items([]versionInfo{v}, func(w io.Writer) error {
		return writef(w, "mediagen %s (%s %s/%s, imaging: %s %s)\n", v.Version, v.Go, v.OS, v.Arch, v.Imaging.Name,
			v.Imaging.Version)
	})
}
