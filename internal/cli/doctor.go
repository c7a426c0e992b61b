package cli

import (
	"io"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
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

func newDoctor(d Deps, g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check keys, directories, journal, imaging and versions", Args: none,
		Long: "Check the set-up without sending anything: which keys are there (by name, never by value), which directories are " +
			"open and by which policy, whether the journal can be written, and what the imaging engine can do.",
		Example:     "  mediagen doctor\n  mediagen doctor --json --jq '.items[] | select(.status != \"ok\")'",
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2, 3, 130, 143)},
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := renderer{d: d, g: g, command: commandName(cmd)}
			report, err := d.Doctor(cmd.Context(), cmd.Flags())
			if err != nil {
				return err
			}
			failures := 0
			rows := make([][]string, 0, len(report))
			for _, c := range report {
				if c.Status == CheckFail {
					failures++
				}
				rows = append(rows, []string{c.Status, c.Name, c.Detail})
			}
			if failures == 0 {
				return r.items(report, func(w io.Writer) error { return table(w, rows) })
			}
			err = engine.Errorf(engine.KindFailure, fault.IOFailed, "%d of %d checks failed", failures, len(report))
			if g.json {
				return withItems{error: err, items: report}
			}
			if werr := table(d.Streams.Out, rows); werr != nil {
				return werr
			}
			return err
		},
	}
}
