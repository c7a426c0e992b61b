package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

func newJobs(d Deps, g *globals) *cobra.Command {
	return newGroup("jobs", "List, show, resume and forget paid calls",
		"Every paid call has a row in the journal, written before its request leaves.",
		`  mediagen jobs list
  mediagen jobs show 01j9zq
  mediagen jobs resume 01j9zq`,
		newJobsList(d, g), newJobsShow(d, g), newJobsResume(d, g), newJobsForget(d, g))
}

func newJobsList(d Deps, g *globals) *cobra.Command {
	var f engine.JobFilter
	var since time.Duration
	cmd := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Args: none,
		Long: "List jobs, newest first. A job whose process died before it noted an outcome is marked with a star.",
		Example: `  mediagen jobs list
  mediagen jobs list --state unknown --state succeeded
  mediagen jobs list --since 24h --json --jq '.items[].id'`,
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.States, "state", nil, "only jobs in this `STATE` (repeatable)")
	fs.StringVar(&f.Provider, "provider", "", "only jobs of this provider")
	fs.StringVarP(&f.Model, "model", "m", "", "only jobs of this model")
	fs.DurationVar(&since, "since", 0, "only jobs created in the last `DURATION`, such as 24h")
	fs.IntVar(&f.Limit, "limit", 100, "at most this many jobs, 0 for all")
	mustComplete(cmd, "state", engine.JobStates()...)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r := renderer{d: d, g: g, command: commandName(cmd)}
		if f.Limit < 0 || since < 0 {
			return usageError{fault.New(fault.InvalidArgument, "limit and since must not be negative")}
		}
		if since > 0 {
			f.Since = d.Now().Add(-since)
		}
		eng, err := d.Open(cmd.Context(), cmd.Flags(), g.open())
		if err != nil {
			return err
		}
		jobs, err := eng.ListJobs(cmd.Context(), f)
		if err != nil {
			return err
		}
		return r.items(jobs, func(w io.Writer) error { return r.jobTable(w, jobs) })
	}
	return cmd
}

func (r renderer) jobTable(w io.Writer, jobs []engine.Job) error {
	rows := [][]string{{"ID", "STATE", "CREATED", "WHAT", "PROVIDER", "MODEL", "COST", "FILES"}}
	for _, j := range jobs {
		state := j.State
		if j.Orphaned {
			state += "*"
		}
		rows = append(rows, []string{
			j.ID, state, j.Created.Local().Format("2006-01-02 15:04:05"), j.Op, j.Provider, j.Model, j.Cost.String(), r.files(j),
		})
	}
	return table(w, rows)
}

// files shows the first file of a job and how many more there are.
func (r renderer) files(j engine.Job) string {
	var finals []engine.Asset
	for _, a := range j.Assets {
		if a.Partial == 0 {
			finals = append(finals, a)
		}
	}
	if len(finals) == 0 {
		return "-"
	}
	name := finals[0].Path
	if finals[0].Path == "" {
		name = "(link kept)"
	}
	text := r.shown(name)
	if finals[0].Spooled {
		text += " (spool)"
	}
	if len(finals) > 1 {
		text += " +" + strconv.Itoa(len(finals)-1)
	}
	return text
}

func newJobsShow(d Deps, g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one job", Args: exactly(1, "one job id"),
		Long: "Show everything the journal knows of one job. A unique prefix of the id, of at least four characters, is enough.",
		Example: `  mediagen jobs show 01j9zq
  mediagen jobs show 01j9zq --json --jq '.items[0].assets[].path'`,
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
		RunE: func(cmd *cobra.Command, args []string) error {
			r := renderer{d: d, g: g, command: commandName(cmd)}
			eng, err := d.Open(cmd.Context(), cmd.Flags(), g.open())
			if err != nil {
				return err
			}
			job, err := eng.ShowJob(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return r.items([]engine.Job{job}, func(w io.Writer) error { return r.job(w, job) })
		},
	}
}

func (r renderer) job(w io.Writer, j engine.Job) error {
	rows := [][]string{
		{"id", j.ID}, {"state", j.State}, {"what", j.Op}, {"provider", j.Provider + " at " + j.Endpoint}, {"model", j.Model},
		{"created", j.Created.Local().Format(time.RFC3339)}, {"cost", j.Cost.String()}, {"estimate", j.Estimate.String()},
		{"request id", j.RequestID}, {"request key", j.RequestKey}, {"prompt", j.Prompt}, {"parameters", string(j.Params)},
	}
	if j.Orphaned {
		rows = append(rows, []string{"note", "its process died before it noted an outcome"})
	}
	if j.Error != nil {
		rows = append(rows, []string{"error", j.Error.Message + " (" + j.Error.Code + ", billed: " + j.Error.Billed + ")"})
	}
	for _, a := range j.Assets {
		rows = append(rows, []string{"file " + strconv.Itoa(a.Index+1), assetLine(a)})
	}
	if len(j.Assets) == 0 {
		for _, t := range j.Targets {
			rows = append(rows, []string{"planned file", t})
		}
	}
	var shown [][]string
	for _, row := range rows {
		if row[1] != "" {
			shown = append(shown, row)
		}
	}
	return table(w, shown)
}

func assetLine(a engine.Asset) string {
	if a.Path == "" {
		return "not read: " + a.URL
	}
	parts := []string{a.Path, a.MediaType, fmt.Sprintf("%d bytes", a.Bytes)}
	if a.Width > 0 {
		parts = append(parts, fmt.Sprintf("%dx%d", a.Width, a.Height))
	}
	if a.Partial > 0 {
		parts = append(parts, fmt.Sprintf("partial %d", a.Partial))
	}
	if a.Spooled {
		parts = append(parts, "in the spool")
	}
	return strings.Join(append(parts, "sha256 "+a.SHA256), "  ")
}

func newJobsResume(d Deps, g *globals) *cobra.Command {
	var output string
	var overwrite bool
	cmd := &cobra.Command{
		Use: "resume ID", Short: "Move paid pictures from the spool to their place", Args: exactly(1, "one job id"),
		Long: "Pictures that were paid for and could not be saved, because a disk was full for example, wait in the spool. " +
			"This moves them to where they were meant to go, or into the directory given with -o. It sends nothing.",
		Example:     "  mediagen jobs resume 01j9zq\n  mediagen jobs resume 01j9zq -o ~/Pictures",
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2, 3, 4, 8, 130, 143)},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "`DIRECTORY` to move them to instead")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace existing files")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r := renderer{d: d, g: g, command: commandName(cmd)}
		eng, err := d.Open(cmd.Context(), cmd.Flags(), g.open())
		if err != nil {
			return err
		}
		res, err := eng.ResumeJob(cmd.Context(), args[0], output, overwrite)
		if err != nil {
			return failed{error: err, res: res}
		}
		if g.json {
			return r.emit(r.result(res))
		}
		return r.paths(res.Assets, false)
	}
	return cmd
}

func newJobsForget(d Deps, g *globals) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "forget ID...", Short: "Remove jobs from the journal, never files", Args: atLeastOne("job id"),
		Long: "Remove rows from the journal. Files stay. A job that is not final is kept unless --force is given, for its row " +
			"is the only trace of money that may have been spent.",
		Example:     "  mediagen jobs forget 01j9zq",
		Annotations: map[string]string{exitCodes: exitStatus(localCodes...)},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also jobs that are not final")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r := renderer{d: d, g: g, command: commandName(cmd)}
		eng, err := d.Open(cmd.Context(), cmd.Flags(), g.open())
		if err != nil {
			return err
		}
		n, err := eng.ForgetJobs(cmd.Context(), args, force)
		if err != nil {
			return err
		}
		rows := []map[string]int{{"forgotten": n}}
		return r.items(rows, func(io.Writer) error {
			if !g.quiet {
				r.note(fmt.Sprintf("forgot %d of the journal's jobs", n))
			}
			return nil
		})
	}
	return cmd
}

// compactJSON is used where a cell shows raw JSON.
func compactJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
