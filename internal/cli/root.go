package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/fault"
	"mediagen/internal/iostreams"
)

// globals are the flags that every command takes and that are not settings.
type globals struct {
	json        bool
	jq          string
	quiet       bool
	verbose     int
	progress    string
	logRequests bool
}

func (g *globals) open() OpenOptions {
	return OpenOptions{Verbose: g.verbose, Quiet: g.quiet, LogRequests: g.logRequests}
}

// newRoot builds the tree afresh, so that no value survives from one execution to the next.
func newRoot(d Deps, g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:   "mediagen",
		Short: "Generate and edit images, and keep what was paid for",
		Long: "mediagen makes and edits images through OpenAI, Azure and compatible servers, and lands every paid picture " +
			"in a file: each call stands in a journal before it is sent, and its price is known.",
		Example: `  mediagen images generate "a red bicycle"
  mediagen images generate --provider emulator -n 3 --output-format webp -o out/ "a red bicycle"
  mediagen images edit -i room.jpg --mask mask.png "a green sofa"
  mediagen jobs list`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              noUnknownCommand,

		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&g.json, "json", false, "print one JSON object, on failure too (see: mediagen help formatting)")
	f.StringVar(&g.jq, "jq", "", "filter the JSON object with a jq `EXPRESSION` (implies --json)")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress and no warnings; errors stay")
	f.CountVarP(&g.verbose, "verbose", "v", "log what is done to stderr; twice for every request")
	f.StringVar(&g.progress, "progress", string(iostreams.ModeAuto), "show progress as {auto|bar|plain|none}")
	f.BoolVar(&g.logRequests, "log-requests", false, "log prompts and parameters of requests; never keys or pictures")
	d.Settings(f)
	mustComplete(root, "progress", "auto", "bar", "plain", "none")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return g.check() }
	root.SetOut(d.Streams.Out)
	root.SetErr(d.Streams.Err)
	root.SetIn(d.Streams.In)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		newImages(d, g), newJobs(d, g), newModels(d, g), newPolicy(d, g), newConfig(d, g), newDoctor(d, g),
		newEmulator(d, g), newVersion(d, g),
	)
	root.AddCommand(newTopics()...)
	dressHelp(root)
	return root
}

func (g *globals) check() error {
	switch iostreams.Mode(g.progress) {
	case iostreams.ModeAuto, iostreams.ModeBar, iostreams.ModePlain, iostreams.ModeNone:
	default:
		return usageError{fault.New(fault.InvalidArgument, "progress must be auto, bar, plain or none, not %q", g.progress)}
	}
	if g.jq == "" {
		return nil
	}
	g.json = true
	if _, err := parseJQ(g.jq); err != nil {
		return err
	}
	return nil
}

// usageError is a mistake in the command line itself; it gets a pointer to --help.
type usageError struct{ error }

// Unwrap keeps the cause's code.
func (e usageError) Unwrap() error { return e.error }

// noUnknownCommand refuses words that are no command; Cobra's suggestions stay.
func noUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := "unknown command " + quoted(args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		msg += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageError{fault.New(fault.InvalidArgument, "%s", msg)}
}

// newGroup returns a command that only holds others.
func newGroup(use, short, long, example string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: noUnknownCommand, SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(subs...)
	return c
}

// commandName is the path below the root: "images generate".
func commandName(cmd *cobra.Command) string {
	if cmd == nil {
		return ""
	}
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return usageError{fault.New(fault.InvalidArgument, "want %s, got %d arguments", what, len(args))}
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return usageError{fault.New(fault.InvalidArgument, "name at least one %s", what)}
	}
}

func none(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fault.New(fault.InvalidArgument, "unexpected argument %s", quoted(args[0]))}
}

// mustComplete registers completion words; a wrong flag name is a programmer error.
func mustComplete(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("cli: " + err.Error())
	}
}
