package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
)

func newModels(sh *shell) *cobra.Command {
	return newGroup(sh, "models", "List the models, their limits, dates and prices",
		"The catalog knows what each model takes, what it costs and when its vendor ends it.",
		"  mediagen models list\n  mediagen models show gpt-image-2.6-flare",
		newModelsList(sh), newModelsShow(sh))
}

func newModelsList(sh *shell) *cobra.Command {
	var kind, provider string
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "List models", Args: none,
		ValidArgsFunction: cobra.NoFileCompletions,
		Long:              "List the models of the catalog. Retired ones are shown with --all, with what replaces them.",
		Example:           "  mediagen models list\n  mediagen models list --kind image --all",
		Annotations:       map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "only models that make {image|video}")
	cmd.Flags().StringVar(&provider, "provider", "", "only models of {openai|google}")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also retired models")
	completeWords(cmd, "kind", func() []string { return []string{"image", "video"} })
	completeWords(cmd, "provider", func() []string { return []string{"openai", "google"} })
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := oneOf("kind", kind, "image", "video"); err != nil {
			return err
		}
		if err := oneOf("provider", provider, "openai", "google"); err != nil {
			return err
		}
		return sh.withEngine(cmd, func(_ context.Context, s Session) error {
			models := s.Models(kind, provider, all)
			return sh.items(models, func(w io.Writer) error { return modelTable(w, models) })
		})
	}
	return cmd
}

func modelTable(w io.Writer, models []engine.ModelInfo) error {
	rows := [][]string{{"MODEL", "PROVIDER", "KIND", "CAN", "STATUS", "RETIRES", "REPLACEMENT"}}
	for _, m := range models {
		retires := m.Retires.String()
		if m.RetiresEarliest && retires != "" {
			retires = "from " + retires
		}
		rows = append(rows, []string{
			m.ID, m.Provider, m.Kind, strings.Join(m.Ops, ","), modelStatus(m), retires, m.Replacement,
		})
	}
	return table(w, rows)
}

// modelStatus is the vendor's word, and whether this build can ask for the model at all.
func modelStatus(m engine.ModelInfo) string {
	if m.Served {
		return m.Status
	}
	return m.Status + ", not in this build"
}

func newModelsShow(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "show MODEL", Short: "Show one model", Args: exactly(1, "one model id"),
		ValidArgsFunction: sh.completeArgs(1, sh.Complete.Models),
		Long:              "Show what one model takes, its limits, dates and prices, and where the prices come from.",
		Example: "  mediagen models show gpt-image-2.6-flare\n" +
			"  mediagen models show gpt-image-2 --json --jq '.items[0].price'",
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
		RunE: func(cmd *cobra.Command, args []string) error {
			return sh.withEngine(cmd, func(_ context.Context, s Session) error {
				m, err := s.Model(args[0])
				if err != nil {
					return err
				}
				return sh.items([]engine.ModelInfo{m}, func(w io.Writer) error { return modelCard(w, m) })
			})
		},
	}
}
