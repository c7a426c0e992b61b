package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

func newPolicy(sh *shell) *cobra.Command {
	return newGroup(sh, "policy", "Test what the policy allows",
		"Ask which paths may be read and written, and by which rule, without touching them.",
		"  mediagen policy test out/ /etc/passwd", newPolicyTest(sh))
}

func newPolicyTest(sh *shell) *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use: "test PATH...", Short: "Say whether paths are allowed, and by which rule", Args: atLeastOne("path"),
		Long: "Print allow or deny for each path, with the rule that decided. Nothing is opened for writing and nothing is " +
			"made.",
		Example: `  mediagen policy test photo.png
  mediagen policy test --write out/new.png
  MEDIA_GEN_DIRS=/srv/media mediagen policy test /etc/passwd`,
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "test writing instead of reading")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return sh.withEngine(cmd, func(_ context.Context, s Session) error {
			verdicts := make([]engine.Verdict, 0, len(args))
			denied := 0
			for _, path := range args {
				v := s.TestPath(path, write)
				if !v.Allow {
					denied++
				}
				verdicts = append(verdicts, v)
			}
			text := func(w io.Writer) error { return verdictTable(w, verdicts) }
			if denied == 0 {
				return sh.items(verdicts, text)
			}
			err := engine.Errorf(engine.KindPolicyDenied, fault.PathDenied, "%d of %d denied", denied, len(args))
			return sh.failedItems(err, verdicts, text)
		})
	}
	return cmd
}

func verdictTable(w io.Writer, verdicts []engine.Verdict) error {
	rows := make([][]string, 0, len(verdicts))
	for _, v := range verdicts {
		word := "allow"
		if !v.Allow {
			word = "deny"
		}
		why := v.Rule
		if v.Reason != "" && v.Reason != v.Rule {
			why += ": " + v.Reason
		}
		rows = append(rows, []string{word, v.Access, v.Target, why})
	}
	return table(w, rows)
}
