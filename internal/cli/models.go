package cli

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
)

func newModels(d Deps, g *globals) *cobra.Command {
	return newGroup("models", "List the models, their limits, dates and prices",
		"The catalog knows what each model takes, what it costs and when its vendor ends it.",
		"  mediagen models list\n  mediagen models show gpt-image-2.6-flare",
		newModelsList(d, g), newModelsShow(d, g))
}

func newModelsList(d Deps, g *globals) *cobra.Command {
	var kind, provider string
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "List models", Args: none,
		Long:        "List the models of the catalog. Retired ones are shown with --all, with what replaces them.",
		Example:     "  mediagen models list\n  mediagen models list --kind image --all",
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "only models that make {image|video}")
	cmd.Flags().StringVar(&provider, "provider", "", "only models of {openai|google}")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also retired models")
	mustComplete(cmd, "kind", "image", "video")
	mustComplete(cmd, "provider", "openai", "google")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r := renderer{d: d, g: g, command: commandName(cmd)}
		if err := oneOf("kind", kind, "image", "video"); err != nil {
			return err
		}
		if err := oneOf("provider", provider, "openai", "google"); err != nil {
			return err
		}
		eng, err := d.Open(cmd.Context(), cmd.Flags(), g.open())
		if err != nil {
			return err
		}
		models := eng.Models(kind, provider, all)
		return r.items(models, func(w io.Writer) error { return modelTable(w, models) })
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
			m.ID, m.Provider, m.Kind, strings.Join(m.Ops, ","), m.Status, retires, m.Replacement,
		})
	}
	return table(w, rows)
}

func newModelsShow(d Deps, g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "show MODEL", Short: "Show one model", Args: exactly(1, "one model id"),
		Long:        "Show what one model takes, its limits, dates and prices, and where the prices come from.",
		Example:     "  mediagen models show gpt-image-2.6-flare\n  mediagen models show gpt-image-2 --json --jq '.items[0].price'",
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
		RunE: func(cmd *cobra.Command, args []string) error {
			r := renderer{d: d, g: g, command: commandName(cmd)}
			eng, err := d.Open(cmd.Context(), cmd.Flags(), g.open())
			if err != nil {
				return err
			}
			m, err := eng.Model(args[0])
			if err != nil {
				return err
			}
			return r.items([]engine.ModelInfo{m}, func(w io.Writer) error { return modelCard(w, m) })
		},
	}
}

func modelCard(w io.Writer, m engine.ModelInfo) error {
	rows := [][]string{
		{"model", m.ID}, {"alias of", m.AliasOf}, {"provider", m.Provider}, {"kind", m.Kind}, {"can", list(m.Ops)},
		{"status", m.Status}, {"released", m.Released.String()}, {"retires", m.Retires.String()},
		{"replacement", m.Replacement}, {"sizes", list(m.Sizes)}, {"qualities", list(m.Qualities)},
		{"formats", list(m.Formats)}, {"backgrounds", list(m.Backgrounds)}, {"aspect ratios", list(m.AspectRatios)},
		{"pictures a call", count(m.MaxN)}, {"inputs", count(m.MaxInputs)}, {"prompt characters", count(m.MaxPrompt)},
	}
	if m.SizeRule != nil {
		rows = append(rows, []string{"size rule", compactJSON(m.SizeRule)})
	}
	for _, name := range sortedKeys(m.Params) {
		rows = append(rows, []string{"takes " + name, compactJSON(m.Params[name])})
	}
	if m.Price != nil {
		rows = append(rows, []string{"price", compactJSON(m.Price)})
	}
	rows = append(rows, []string{"notes", m.Notes})
	var shown [][]string
	for _, row := range rows {
		if row[1] != "" {
			shown = append(shown, row)
		}
	}
	return table(w, shown)
}

func list(words []string) string { return strings.Join(words, ", ") }

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("up to %d", n)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
