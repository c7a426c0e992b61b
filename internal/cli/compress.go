package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/iostreams"
)

// compressFlags are the flags of images compress that are not part of the request.
type compressFlags struct {
	output    string
	inPlace   bool
	overwrite bool
	jobs      int
	nul       bool
	force     bool
}

func (f *compressFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&f.output, "output", "o", "",
		"`PATH` to save to: a file, a directory (existing, or ending in /) where names stay, or - for stdout")
	fs.BoolVar(&f.inPlace, "in-place", false, "replace the pictures themselves; never one with content credentials")
	fs.BoolVar(&f.overwrite, "overwrite", false, "replace existing files")
	fs.IntVarP(&f.jobs, "jobs", "j", 0, "work on `N` pictures at a time, by default one a processor")
	fs.BoolVarP(&f.nul, "print0", "0", false, "end each printed path with NUL")
	fs.BoolVar(&f.force, "force", false, "write bytes to a terminal with -o -")
	completeWords(cmd, "jobs", noWords)
}

// check finds contradictions before the engine is opened; those about stdout are the image commands' own.
func (f *compressFlags) check(cmd *cobra.Command, sh *shell) error {
	if cmd.Flags().Changed("jobs") && f.jobs < 1 {
		return usageError{fault.New(fault.InvalidArgument, "jobs must be at least 1, not %d", f.jobs)}
	}
	stdout := imageFlags{output: f.output, nul: f.nul, force: f.force}
	return stdout.check(cmd, sh)
}

func (f *compressFlags) outputOf(sh *shell) engine.CompressOutput {
	out := engine.CompressOutput{
		Dest: f.output, InPlace: f.inPlace, Overwrite: f.overwrite, Jobs: f.jobs, Measure: sh.flags.wantsJSON(),
	}
	if f.output == "-" {
		out.Dest, out.Stdout = "", sh.Streams.Out
	}
	return out
}

func newCompress(sh *shell) *cobra.Command {
	req := &engine.CompressImages{}
	params := req.Params()
	f := &compressFlags{}
	cmd := &cobra.Command{
		Use: "compress [flags] FILE|DIRECTORY|-...", Short: "Make pictures smaller: bytes, size or format",
		Args: atLeastOne("picture"),
		Long: "Save smaller copies of pictures, upright, in sRGB and without metadata, as NAME.compressed.EXT beside them. " +
			"--max-bytes is kept to the byte: the best quality at the largest size that fits is searched for. A picture that " +
			"fits already is left alone and its own path is printed; with -o it is copied as it is.\n\n" +
			"A directory stands for the pictures directly in it, by their bytes and not by their names; hidden files and " +
			"copies of an earlier run are left out. The path of each picture goes to stdout, in the order of the sources. " +
			"Nothing is sent anywhere.",
		Example: `  mediagen images compress --max-bytes 200k photo.jpg
  mediagen images compress --max-size 2048 --format webp -o web/ photos/
  mediagen images compress --format auto --min-ssim 0.97 *.png
  mediagen images compress --max-bytes 1M --in-place photo.jpg
  mediagen images compress --max-size 512 -o - - < photo.jpg > small.jpg`,
		Annotations: map[string]string{exitCodes: exitStatus(compressCodes...)},
	}
	sh.addFlags(cmd, params)
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(cmd, sh); err != nil {
			return err
		}
		return sh.withEngine(cmd, func(ctx context.Context, s Session) error {
			if err := params.Check(); err != nil {
				return err
			}
			req.Images = args
			p := sh.newItemProgress()
			res, err := s.CompressImages(ctx, req, f.outputOf(sh), p)
			p.end(err)
			if res == nil {
				return err
			}
			return sh.compressed(res, err, f)
		})
	}
	return cmd
}

// compressed prints where the pictures are, also when some failed, and returns the error to end with.
func (sh *shell) compressed(res *engine.CompressResult, err error, f *compressFlags) error {
	sh.warn(res.Warnings)
	var paths []engine.Asset
	var errs []*engine.ItemError
	for _, row := range res.Items {
		paths = append(paths, engine.Asset{Path: row.Path})
		errs = append(errs, row.Error)
		for i := range row.Notes {
			row.Notes[i] = sh.Scrub(row.Notes[i])
		}
	}
	sh.scrubErrors(errs)
	saved := &engine.Result{Assets: res.Assets}
	if err == nil {
		err = sh.ended(nil)
	}
	if sh.flags.wantsJSON() {
		if err != nil {
			return withItems{error: err, items: res.Items, assets: res.Assets}
		}
		e := sh.envelope(nil)
		e.Items, e.Assets = res.Items, res.Assets
		return sh.kept(saved, sh.emit(e))
	}
	if f.output != "-" {
		if werr := sh.paths(paths, f.nul); werr != nil {
			if werr = sh.kept(saved, werr); err == nil {
				return werr
			}
			sh.note(werr.Error())
		}
	}
	sh.reasons(errs)
	return err
}

// scrubErrors takes secrets out of the words about single items, as fail does for a whole command.
func (sh *shell) scrubErrors(errs []*engine.ItemError) {
	for _, e := range errs {
		if e != nil {
			e.Message, e.Hint = sh.Scrub(e.Message), sh.Scrub(e.Hint)
		}
	}
}

// reasons says on stderr why items failed; a single one is the command's own error, which fail prints. What the end of
// the command cut off has one line together.
func (sh *shell) reasons(errs []*engine.ItemError) {
	if len(errs) < 2 {
		return
	}
	var hints []string
	cut := 0
	for _, e := range errs {
		if e == nil {
			continue
		}
		if e.Kind == engine.KindInterrupted || e.Kind == engine.KindUnavailable {
			cut++
			continue
		}
		sh.note("mediagen: " + sh.command + ": " + e.Message)
		if e.Hint != "" && !slices.Contains(hints, e.Hint) {
			hints = append(hints, e.Hint)
		}
	}
	if cut > 0 {
		sh.note(fmt.Sprintf("mediagen: %s: %d files were not done when the command was ended", sh.command, cut))
	}
	for _, hint := range hints {
		sh.note("hint: " + hint)
	}
}

// itemProgress shows one bar, or plain lines, for work on several files.
type itemProgress struct{ bars *iostreams.Progress }

func (sh *shell) newItemProgress() itemProgress {
	return itemProgress{sh.Streams.Progress(iostreams.Mode(sh.flags.progress), sh.flags.quiet, sh.Now)}
}

var _ engine.Progress = itemProgress{}

// Event draws one event.
func (p itemProgress) Event(e engine.Event) {
	switch e.Kind {
	case engine.EventCompressing:
		p.bars.Start(waiting, "compressing "+counted(e.Total, "picture"), int64(e.Total))
	case engine.EventCompressed:
		p.bars.Update(waiting, int64(e.Index)+1, "")
	case engine.EventSent, engine.EventReceived, engine.EventRetrying, engine.EventPartial, engine.EventSaved,
		engine.EventWarning: // of paid calls
	}
}

// end closes the bar and the display.
func (p itemProgress) end(err error) {
	defer p.bars.Close()
	switch e := engine.AsError(err); {
	case e == nil:
		p.bars.Finish(waiting, "")
	case e.Kind == engine.KindPartial:
		p.bars.Finish(waiting, "some failed")
	default:
		p.bars.Fail(waiting, "")
	}
}
