package cli

import (
	"context"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

func newImages(d Deps, g *globals) *cobra.Command {
	return newGroup("images", "Generate and edit images",
		"Make pictures from text, or from pictures and text. Every call is journalled before it is sent.",
		`  mediagen images generate "a red bicycle"
  mediagen images edit -i room.jpg "a green sofa"`,
		newGenerate(d, g), newEdit(d, g))
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
}

func (f *imageFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.promptFile, "prompt-file", "", "read the prompt from a `FILE`, or - for stdin")
	fs.StringVarP(&f.output, "output", "o", "", "`PATH` to save to: a directory (existing, or ending in /), a file, or - for stdout")
	fs.StringVar(&f.name, "name", "", "`TEMPLATE` for file names, such as {date}-{slug}-{index}.{ext}")
	fs.BoolVar(&f.overwrite, "overwrite", false, "replace existing files")
	fs.BoolVar(&f.sidecar, "sidecar", false, "write NAME.EXT.json with prompt, request and cost beside each picture")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print the plan and the estimated cost, send nothing")
	fs.BoolVar(&f.allowUnknownCost, "allow-unknown-cost", false, "send under --max-cost even if the price is unknown")
	fs.BoolVarP(&f.nul, "print0", "0", false, "end each printed path with NUL")
	fs.BoolVar(&f.force, "force", false, "write bytes to a terminal with -o -")
}

func (f *imageFlags) outputOf(outputDir string) engine.Output {
	out := engine.Output{
		Dest: f.output, Template: f.name, Overwrite: f.overwrite, Sidecar: f.sidecar, DryRun: f.dryRun,
		AllowUnknownCost: f.allowUnknownCost,
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
func (f *imageFlags) check(d Deps, g *globals) error {
	if f.output != "-" {
		return nil
	}
	if d.Streams.OutTTY && !f.force {
		return usageError{fault.New(fault.InvalidArgument,
			"-o - would write picture bytes to the terminal; redirect stdout, or add --force")}
	}
	if g.json {
		return usageError{fault.New(fault.InvalidArgument, "-o - and --json both want stdout; use one")}
	}
	if f.nul {
		return usageError{fault.New(fault.InvalidArgument, "-o - prints no paths, so --print0 makes no sense")}
	}
	return nil
}

func newGenerate(d Deps, g *globals) *cobra.Command {
	req := engine.NewGenerateImages()
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
  mediagen images generate --dry-run --json "a red bicycle"
  echo "a red bicycle" | mediagen images generate -o - - > bicycle.png`,
		Annotations: map[string]string{exitCodes: exitStatus(paidCodes...)},
	}
	addFlags(cmd, req.Params(d.Words))
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		prompt := promptSources{args: args, flag: req.Prompt, given: cmd.Flags().Changed("prompt"), file: f.promptFile}
		return runImages(cmd, d, g, f, prompt, func(ctx context.Context, eng Session, text string, p engine.Progress) (*engine.Result, error) {
			req.Prompt = text
			if err := req.Params(d.Words).Check(); err != nil {
				return nil, err
			}
			return eng.GenerateImages(ctx, req, f.outputOf(eng.OutputDir), p)
		})
	}
	return cmd
}

func newEdit(d Deps, g *globals) *cobra.Command {
	req := engine.NewEditImages()
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
		Annotations: map[string]string{exitCodes: exitStatus(paidCodes...)},
	}
	addFlags(cmd, req.Params(d.Words))
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		prompt := promptSources{args: args, flag: req.Prompt, given: cmd.Flags().Changed("prompt"), file: f.promptFile}
		if prompt.usesStdin() && takesStdin(req) {
			return usageError{fault.New(fault.InvalidArgument, "stdin can be the prompt or a picture, not both")}
		}
		return runImages(cmd, d, g, f, prompt, func(ctx context.Context, eng Session, text string, p engine.Progress) (*engine.Result, error) {
			req.Prompt = text
			if err := req.Params(d.Words).Check(); err != nil {
				return nil, err
			}
			return eng.EditImages(ctx, req, f.outputOf(eng.OutputDir), p)
		})
	}
	return cmd
}

func takesStdin(req *engine.EditImages) bool {
	for _, ref := range append([]string{req.Mask, req.Markup}, req.Images...) {
		if ref == "-" {
			return true
		}
	}
	return false
}

type imageCall func(ctx context.Context, eng Session, prompt string, p engine.Progress) (*engine.Result, error)

// runImages is the common road of both commands: checks, engine, prompt, call, output.
func runImages(cmd *cobra.Command, d Deps, g *globals, f *imageFlags, prompt promptSources, call imageCall) error {
	ctx := cmd.Context()
	r := renderer{d: d, g: g, command: commandName(cmd)}
	if err := prompt.check(); err != nil {
		return err
	}
	if err := f.check(d, g); err != nil {
		return err
	}
	eng, err := d.Open(ctx, cmd.Flags(), g.open())
	if err != nil {
		return err
	}
	ctx, cancel := eng.bound(ctx)
	defer cancel()
	text, err := prompt.read(ctx, eng, d.Streams.In)
	if err != nil {
		return err
	}
	p, done := r.newProgress(ctx)
	res, err := call(ctx, eng, text, p)
	p.end(res, err)
	done()
	if res != nil {
		r.warn(res.Warnings)
	}
	return r.deliver(ctx, eng, f, res, err)
}

// deliver prints what was made, also when a part failed.
func (r renderer) deliver(ctx context.Context, eng Engine, f *imageFlags, res *engine.Result, err error) error {
	if err != nil {
		if res != nil && !r.g.json && f.output != "-" {
			if perr := r.paths(res.Assets, f.nul); perr != nil {
				r.note(perr.Error())
			}
		}
		return failed{error: err, res: res}
	}
	switch {
	case f.output == "-" && res.Plan == nil:
		if err := eng.Pipe(ctx, res, r.d.Streams.Out); err != nil {
			return failed{error: err, res: res}
		}
		return nil
	case r.g.json:
		return r.emit(r.result(res))
	case res.Plan != nil:
		return r.plan(res.Plan)
	}
	return r.paths(res.Assets, f.nul)
}

// plan prints a dry run for a person.
func (r renderer) plan(p *engine.Plan) error {
	estimate := p.Estimate.String()
	if p.UpperBound {
		estimate = "at most " + estimate
	}
	if p.Estimate.Micros == nil && p.Estimate.Why != "" {
		estimate += ": " + p.Estimate.Why
	}
	if p.AsOf != "" {
		estimate += ", prices of " + p.AsOf
	}
	rows := [][]string{
		{"would send", p.Op}, {"provider", p.Provider + " at " + p.Endpoint}, {"model", p.Model},
		{"pictures", pictures(p.N)[len("making "):]}, {"size", p.Size}, {"quality", p.Quality}, {"format", p.OutputFormat},
		{"cost", estimate},
	}
	var shown [][]string
	for _, row := range rows {
		if row[1] != "" {
			shown = append(shown, row)
		}
	}
	for i, path := range p.Paths {
		label := ""
		if i == 0 {
			label = "files"
		}
		shown = append(shown, []string{label, r.shown(path)})
	}
	shown = append(shown, []string{"nothing sent", ""})
	return table(r.d.Streams.Out, shown)
}
