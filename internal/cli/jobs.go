package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

func newJobs(sh *shell) *cobra.Command {
	return newGroup(sh, "jobs", "List, show, resume and forget paid calls",
		"Every paid call has a row in the journal, written before its request leaves.",
		`  mediagen jobs list
  mediagen jobs show 1r7515jyhz28
  mediagen jobs resume 1r7515jyhz28`,
		newJobsList(sh), newJobsShow(sh), newJobsResume(sh), newJobsForget(sh))
}

func newJobsList(sh *shell) *cobra.Command {
	var f engine.JobFilter
	var since age
	cmd := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Args: none,
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: "List jobs, newest first. A star marks a job whose process died before it noted an outcome. " +
			"A narrow terminal shows fewer columns and shortened file names; --json has all.\n\n" +
			"STATE is one of " + strings.Join(engine.JobStates(), ", ") + ".",
		Example: `  mediagen jobs list
  mediagen jobs list --state unknown --state succeeded
  mediagen jobs list --since 7d --json --jq '.items[].id'`,
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2, 3, 130, 143)},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringSliceVar(&f.States, "state", nil, "only jobs in this `STATE` (repeatable)")
	fs.StringVar(&f.Provider, "provider", "", "only jobs of this provider")
	fs.StringVarP(&f.Model, "model", "m", "", "only jobs of this model")
	fs.Var(&since, "since", "only jobs created in the last `DURATION`, such as 90m, 24h or 7d")
	fs.IntVar(&f.Limit, "limit", 100, "at most this many jobs, 0 for all")
	completeWords(cmd, "state", engine.JobStates)
	completeWords(cmd, "provider", func() []string { return sh.Words("provider") })
	completeWords(cmd, "model", func() []string { return sh.Words("model") })
	completeWords(cmd, "since", func() []string { return []string{"1h", "24h", "7d", "30d"} })
	completeWords(cmd, "limit", noWords)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		limit := f.Limit
		if limit < 0 {
			return usageError{fault.New(fault.InvalidArgument, "limit must not be negative; 0 lists all")}
		}
		for _, state := range f.States {
			if err := oneOf("state", state, engine.JobStates()...); err != nil {
				return err
			}
		}
		unasked := !cmd.Flags().Changed("limit")
		if unasked {
			f.Limit++ // one more tells whether there are more
		}
		if since > 0 {
			f.Since = sh.Now().Add(-time.Duration(since))
		}
		return sh.withEngine(cmd, func(ctx context.Context, s Session) error {
			jobs, err := s.ListJobs(ctx, f)
			if err != nil {
				return err
			}
			if unasked && len(jobs) > limit {
				jobs = jobs[:limit]
				sh.warn([]string{fmt.Sprintf("only the newest %d jobs are listed; --limit 0 lists all", limit)})
			}
			for i := range jobs {
				jobs[i].RequestID = sh.Scrub(jobs[i].RequestID) // a server's own word
			}
			return sh.items(jobs, func(w io.Writer) error { return sh.jobTable(w, jobs) })
		})
	}
	return cmd
}

// age is a duration that also takes days.
type age time.Duration

// Set reads 90m, 24h or 7d.
func (a *age) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
		if n > 100_000 {
			err = strconv.ErrRange
		}
	}
	if err != nil || d < 0 {
		return fault.New(fault.InvalidArgument, "want a duration such as 90m, 24h or 7d")
	}
	*a = age(d)
	return nil
}

// String returns the duration as Go writes it.
func (a *age) String() string { return time.Duration(*a).String() }

// Type is the word for help.
func (a *age) Type() string { return "duration" }

func (sh *shell) jobTable(w io.Writer, jobs []engine.Job) error {
	rows := [][]string{{"ID", "STATE", "CREATED", "WHAT", "PROVIDER", "MODEL", "COST", "FILES"}}
	for _, j := range jobs {
		state := j.State
		if j.Orphaned {
			state += "*"
		}
		rows = append(rows, []string{
			j.ID, state, localTime(j.Created), j.Op, j.Provider, j.Model, j.Cost.String(),
			sh.files(j),
		})
	}
	return table(w, sh.fit(rows, "PROVIDER", "WHAT", "MODEL"))
}

// localTime shows a time to a person: their own, with the zone that makes it unambiguous. JSON has UTC.
func localTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05Z07:00") }

// files shows the first file of a job and how many more there are.
func (sh *shell) files(j engine.Job) string {
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
	text := sh.shown(name)
	if finals[0].Spooled {
		text += " (spool)"
	}
	if len(finals) > 1 {
		text += " +" + strconv.Itoa(len(finals)-1)
	}
	return text
}

func newJobsShow(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one job", Args: exactly(1, "one job id"),
		ValidArgsFunction: sh.completeArgs(1, sh.Complete.Jobs),
		Long: "Show everything the journal knows of one job. A unique prefix of the id, of at least four characters, is " +
			"enough.",
		Example: `  mediagen jobs show 1r7515jyhz28
  mediagen jobs show 1r7515jyhz28 --json --jq '.items[0].assets[].path'`,
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2, 3, 130, 143)},
		RunE: func(cmd *cobra.Command, args []string) error {
			return sh.withEngine(cmd, func(ctx context.Context, s Session) error {
				job, err := s.ShowJob(ctx, args[0])
				if err != nil {
					return err
				}
				job.RequestID = sh.Scrub(job.RequestID) // a server's own word
				return sh.items([]engine.Job{job}, func(w io.Writer) error { return jobCard(w, job) })
			})
		},
	}
}

func jobCard(w io.Writer, j engine.Job) error {
	rows := [][]string{
		{"id", j.ID},
		{"state", j.State},
		{"what", j.Op},
		{"provider", j.Provider + " at " + j.Endpoint},
		{"model", j.Model},
		{"created", localTime(j.Created)},
		{"cost", j.Cost.String()},
		{"estimate", j.Estimate.String()},
		{"request id", j.RequestID},
		{"request key", j.RequestKey},
		{"prompt", j.Prompt},
		{"parameters", string(j.Params)},
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
	return card(w, rows)
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
