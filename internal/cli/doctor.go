package cli

import (
	"io"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
)

// Check is one line of the doctor's report.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, warn, fail
	Detail string `json:"detail"`
}

// The states of a check.
const (
	CheckOK   = "ok"
	CheckWarn = "warn"
	CheckFail = "fail"
)

// Report is what the doctor found.
type Report []Check

func newDoctor(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check keys, directories, journal, imaging and versions", Args: none,
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Check the set-up without sending anything: which keys are there (by name, never by value), which " +
			"directories are open and by which policy, whether the journal can be written, and what the imaging engine can do.",
		Example:     "  mediagen doctor\n  mediagen doctor --json --jq '.items[] | select(.status != \"ok\")'",
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2, 3, 130, 143)},
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := sh.Doctor(sh.ctx, cmd.Flags())
			failures := 0
			rows := make([][]string, 0, len(report))
			for _, c := range report {
				if c.Status == CheckFail {
					failures++
				}
				rows = append(rows, []string{c.Status, c.Name, c.Detail})
			}
			text := func(w io.Writer) error { return table(w, rows) }
			if err == nil && failures == 0 {
				return sh.items(report, text)
			}
			if err == nil {
				err = engine.Errorf(engine.KindFailure, "checks_failed", "%d of %d checks failed", failures, len(report))
			}
			return sh.failedItems(err, report, text)
		},
	}
}
