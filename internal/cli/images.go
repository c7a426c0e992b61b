package cli

import (
	"context"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

func newImages(sh *shell) *cobra.Command {
	return newGroup(sh, "images", "Generate, edit, compress and inspect images",
		"Make pictures from text, or from pictures and text, and make them smaller. Every call that costs money is "+
			"journalled before it is sent.",
		`  mediagen images generate "a red bicycle"
  mediagen images edit -i room.jpg "a green sofa"
  mediagen images compress --max-bytes 200k room.jpg`,
		newGenerate(sh), newEdit(sh), newCompress(sh), newInspect(sh))
}

// imageFlags are the flags of both image commands that are not part of the request.
type imageFlags struct {
	promptFile       string
	output           string
	name             string
	overwrite        bool
	sidecar          bool
	dryRun           bool
	allowUnknownCost bool
	nul              bool
	force            bool
	compress         string
	compression      *engine.Compression
}

func (f *imageFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.promptFile, "prompt-file", "", "read the prompt from a `FILE`, or - for stdin")
	fs.StringVarP(&f.output, "output", "o", "",
		"`PATH` to save to: a directory (existing, or ending in /), a file, or - for stdout")
	fs.StringVar(&f.name, "name", "", "`TEMPLATE` for file names, such as {date}-{slug}-{index}.{ext}")
	fs.BoolVar(&f.overwrite, "overwrite", false, "replace existing files")
	fs.BoolVar(&f.sidecar, "sidecar", false, "write NAME.EXT.json with prompt, request and cost beside each picture")
	fs.StringVar(&f.compress, "compress", "", "save a smaller copy too, as NAME.compressed.EXT: `PAIRS` such as "+
		"max-bytes=200k,format=webp (see: mediagen images compress)")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print the plan and the estimated cost, send nothing")
	fs.BoolVar(&f.allowUnknownCost, "allow-unknown-cost", false, "send under --max-cost even if the price is unknown")
	fs.BoolVarP(&f.nul, "print0", "0", false, "end each printed path with NUL")
	fs.BoolVar(&f.force, "force", false, "write bytes to a terminal with -o -")
	completeWords(cmd, "name", noWords)
	completePairs(cmd, "compress", (&engine.Compression{}).Params())
}

// streams reports whether the bytes of the picture go to stdout.
func (f *imageFlags) streams() bool { return f.output == "-" && !f.dryRun }

func (f *imageFlags) outputOf(outputDir string) engine.Output {
	out := engine.Output{
		Dest: f.output, Template: f.name, Overwrite: f.overwrite, Sidecar: f.sidecar, DryRun: f.dryRun,
		AllowUnknownCost: f.allowUnknownCost, Compress: f.compression,
	}
	if f.output == "-" {
		out.Dest, out.Stream = "", true
	}
	if f.output == "" && outputDir != "" {
		out.Dest = outputDir + "/"
	}
	return out
}

// check finds contradictions before the engine is opened.
func (f *imageFlags) check(cmd *cobra.Command, sh *shell) error {
	wrong := func(text string) error { return usageError{fault.New(fault.InvalidArgument, "%s", text)} }
	switch {
	case f.output == "" && cmd.Flags().Changed("output"):
		return wrong("-o is empty; name a directory or a file, or leave it out")
	case f.nul && sh.flags.wantsJSON():
		return wrong("--json and --print0 both shape stdout; use one")
	case f.streams() && f.compress != "":
		return wrong("-o - prints one picture, so --compress makes no sense; name a directory or a file")
	case !f.streams():
		return nil
	case sh.flags.wantsJSON():
		return wrong("-o - and --json both want stdout; use one")
	case f.nul:
		return wrong("-o - prints no paths, so --print0 makes no sense")
	case sh.Streams.OutTTY && !f.force:
		return wrong("-o - would write picture bytes to the terminal; redirect stdout, or add --force")
	case sh.Streams.OutNull:
		return wrong("stdout is closed or the null device, so the picture of -o - would be lost; name a file with -o FILE")
	}
	return nil
}

// readCompress reads the pairs of --compress, which are the flags of images compress.
func (f *imageFlags) readCompress(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("compress") {
		return nil
	}
	f.compression = &engine.Compression{}
	if err := f.compression.Params().SetPairs(f.compress); err != nil {
		return usageError{fault.New(fault.InvalidArgument, "compress: %w", err)}
	}
	return nil
}

func newGenerate(sh *shell) *cobra.Command {
	req := engine.NewGenerateImages()
	params := req.Params(noParamWords)
	f := &imageFlags{}
	cmd := &cobra.Command{
		Use:   "generate [flags] PROMPT...",
		Short: "Make images from text",
		Long: "Make images from text and save them. The words of PROMPT are joined; use - or --prompt-file for long texts, " +
			"and -- before a prompt that starts with a dash. Saved paths go to stdout, one a line.\n\n" +
			"--max-cost holds an estimate against a cap before sending; it is no limit at the provider.",
		Example: `  mediagen images generate "a red bicycle"
  mediagen images generate -n 3 --output-format webp -o out/ "a red bicycle"
  mediagen images generate -o logo.png --background transparent "a fox, flat logo"
  mediagen images generate --compress max-bytes=200k,format=webp -o out/ "a red bicycle"
  mediagen images generate --dry-run --json "a red bicycle"
  echo "a red bicycle" | mediagen images generate -o - - > bicycle.png`,
		Annotations:       map[string]string{exitCodes: exitStatus(paidCodes...)},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	sh.addFlags(cmd, params)
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		prompt := promptOf(cmd, args, &req.Prompt, f.promptFile)
		return sh.runImages(cmd, f, prompt, func(ctx context.Context, s Session, p engine.Progress) (*engine.Result, error) {
			if err := params.Check(); err != nil {
				return nil, err
			}
			return s.GenerateImages(ctx, req, f.outputOf(s.OutputDir), p)
		})
	}
	return cmd
}

func newEdit(sh *shell) *cobra.Command {
	req := engine.NewEditImages()
	params := req.Params(noParamWords)
	f := &imageFlags{}
	cmd := &cobra.Command{
		Use:   "edit [flags] -i IMAGE PROMPT...",
		Short: "Make images from images and text",
		Long: "Change, combine or extend 1 to 16 pictures. A mask is a PNG of the first picture's size; what is fully " +
			"transparent in it may change. Pictures and masks are checked before anything is sent.",
		Example: `  mediagen images edit -i room.jpg "a green sofa"
  mediagen images edit -i a.png -i b.jpg --mask m.png -o out/ "the two as one scene"
  mediagen images edit -i photo.png --mask bw.png --mask-white-is-edit "a blue sky"
  curl -s https://example.org/a.png | mediagen images edit -i - "in watercolour"`,
		Annotations:       map[string]string{exitCodes: exitStatus(paidCodes...)},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	sh.addFlags(cmd, params)
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		prompt := promptOf(cmd, args, &req.Prompt, f.promptFile)
		if n := stdins(req, prompt); n > 1 {
			return usageError{fault.New(fault.InvalidArgument, "stdin can be the prompt or one picture, and nothing twice")}
		}
		if len(req.Images) == 0 {
			return usageError{fault.New(fault.InvalidArgument, "name the picture to edit with -i FILE, or -i - for stdin")}
		}
		return sh.runImages(cmd, f, prompt, func(ctx context.Context, s Session, p engine.Progress) (*engine.Result, error) {
			if err := params.Check(); err != nil {
				return nil, err
			}
			return s.EditImages(ctx, req, f.outputOf(s.OutputDir), p)
		})
	}
	return cmd
}

// stdins counts what wants to read stdin.
func stdins(req *engine.EditImages, prompt promptSources) int {
	n := 0
	for _, ref := range append([]string{req.Mask, req.Markup}, req.Images...) {
		if ref == "-" {
			n++
		}
	}
	if prompt.usesStdin() {
		n++
	}
	return n
}

type imageCall func(ctx context.Context, s Session, p engine.Progress) (*engine.Result, error)

// runImages is the common road of both commands: checks, engine, prompt, call, output.
func (sh *shell) runImages(cmd *cobra.Command, f *imageFlags, prompt promptSources, call imageCall) error {
	if err := prompt.check(); err != nil {
		return err
	}
	if err := f.check(cmd, sh); err != nil {
		return err
	}
	if err := f.readCompress(cmd); err != nil {
		return err
	}
	return sh.withEngine(cmd, func(ctx context.Context, s Session) error {
		if prompt.usesStdin() && sh.Streams.InTTY && !sh.flags.quiet {
			sh.note("reading the prompt from the terminal; end it with Ctrl-D")
		}
		if err := prompt.read(ctx, s, sh.Streams.In); err != nil {
			return err
		}
		p := sh.newProgress(ctx)
		res, err := call(ctx, s, p)
		p.end(res, err)
		if res != nil {
			sh.warn(res.Warnings)
		}
		switch {
		case err == nil && f.streams():
			err = s.Pipe(ctx, res, sh.Streams.Out)
			return sh.deliver(delivery{res: res, err: err, silent: true})
		case err == nil && res.Plan != nil && !sh.flags.wantsJSON():
			return sh.plan(res.Plan)
		}
		return sh.deliver(delivery{res: res, err: err, nul: f.nul, silent: f.streams()})
	})
}
