package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mediagen/internal/fault"
)

func newJobsResume(sh *shell) *cobra.Command {
	var output string
	var overwrite, nul bool
	cmd := &cobra.Command{
		Use: "resume ID", Short: "Move paid pictures from the spool to their place", Args: exactly(1, "one job id"),
		ValidArgsFunction: sh.completeArgs(1, sh.Complete.Jobs),
		Long: "Pictures that were paid for and could not be saved, because a disk was full for example, wait in the spool. " +
			"This moves them to where they were meant to go, or into the directory given with -o. It sends nothing.",
		Example:     "  mediagen jobs resume 1r7515jyhz28\n  mediagen jobs resume 1r7515jyhz28 -o ~/Pictures",
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2, 3, 4, 8, 130, 143)},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&output, "output", "o", "", "`DIRECTORY` to move them to instead")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace existing files")
	cmd.Flags().BoolVarP(&nul, "print0", "0", false, "end each printed path with NUL")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case output == "" && cmd.Flags().Changed("output"):
			return usageError{fault.New(fault.InvalidArgument, "-o is empty; name a directory, or leave it out")}
		case nul && sh.flags.wantsJSON():
			return usageError{fault.New(fault.InvalidArgument, "--json and --print0 both shape stdout; use one")}
		}
		return sh.withEngine(cmd, func(ctx context.Context, s Session) error {
			res, err := s.ResumeJob(ctx, args[0], output, overwrite)
			if res != nil {
				sh.warn(res.Warnings)
			}
			return sh.deliver(delivery{res: res, err: err, nul: nul})
		})
	}
	return cmd
}

func newJobsForget(sh *shell) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "forget ID...", Short: "Remove jobs from the journal, never files", Args: atLeastOne("job id"),
		ValidArgsFunction: sh.completeArgs(0, sh.Complete.Jobs),
		Long: "Remove rows from the journal. Files stay. A job that is not final is kept unless --force is given, for its " +
			"row is the only trace of money that may have been spent.",
		Example:     "  mediagen jobs forget 1r7515jyhz28",
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2, 3, 130, 143)},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also jobs that are not final")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return sh.withEngine(cmd, func(ctx context.Context, s Session) error {
			n, err := s.ForgetJobs(ctx, args, force)
			if err != nil {
				return err
			}
			return sh.items([]map[string]int{{"forgotten": n}}, func(io.Writer) error {
				if !sh.flags.quiet {
					sh.note("removed " + counted(n, "job") + " from the journal; files stay")
				}
				return nil
			})
		})
	}
	return cmd
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
