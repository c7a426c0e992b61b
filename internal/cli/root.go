package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// wantsJSON reports whether stdout takes the envelope.
func (g *globals) wantsJSON() bool { return g.json || g.jq != "" }

// progressModes are the words of --progress.
func progressModes() []string {
	return []string{
		string(iostreams.ModeAuto), string(iostreams.ModeBar), string(iostreams.ModePlain), string(iostreams.ModeNone),
	}
}

// newRoot builds the tree afresh, so that no value survives from one execution to the next.
func newRoot(sh *shell) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "mediagen",
		Short: "Generate, edit and compress images, and keep what was paid for",
		Long: "mediagen makes and edits images through OpenAI, Azure and compatible servers, and lands every paid picture " +
			"in a file: each call stands in a journal before it is sent, and its price is known.",
		Example: `  mediagen images generate "a red bicycle"
  mediagen images generate --provider emulator -n 3 --output-format webp -o out/ "a red bicycle"
  mediagen images edit -i room.jpg --mask mask.png "a green sofa"
  mediagen jobs list`,
		Annotations:       map[string]string{exitCodes: exitStatus(0, 1, 2)},
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              noUnknownCommand,

		SuggestionsMinimumDistance: 2,
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if version {
			sh.command = "version"
			return sh.showVersion()
		}
		return sh.group(cmd)
	}
	sh.addGlobals(root)
	root.Flags().BoolVar(&version, "version", false, "print the version, as the command version does")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		sh.command = commandName(cmd)
		return sh.flags.check()
	}
	root.SetOut(sh.Streams.Out)
	root.SetErr(sh.Streams.Err)
	root.SetIn(sh.Streams.In)
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newImages(sh), newJobs(sh), newModels(sh), newPolicy(sh), newConfig(sh), newDoctor(sh),
		newEmulator(sh), newCompletion(sh), newVersion(sh),
	)
	root.AddCommand(newTopics()...)
	root.SetHelpCommand(newHelp())
	sh.dressHelp(root)
	return root
}

// addGlobals adds the flags that every command takes.
func (sh *shell) addGlobals(root *cobra.Command) {
	g, f := &sh.flags, root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&g.json, "json", false, "print one JSON object, on failure too (see: mediagen help formatting)")
	f.StringVar(&g.jq, "jq", "", "filter the JSON object with a jq `EXPRESSION` (implies --json)")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress and no warnings; errors stay")
	f.CountVarP(&g.verbose, "verbose", "v", "log what is done to stderr; twice for every request")
	f.StringVar(&g.progress, "progress", string(iostreams.ModeAuto), "show progress as `MODE`: {auto|bar|plain|none}")
	f.BoolVar(&g.logRequests, "log-requests", false, "log prompts and parameters of requests; never keys or pictures")
	before := map[string]bool{}
	f.VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	sh.Settings(f)
	completeWords(root, "progress", progressModes)
	completeWords(root, "jq", noWords)
	f.VisitAll(func(f *pflag.Flag) {
		if before[f.Name] || f.Value.Type() == "FILE" {
			return
		}
		completeWords(root, f.Name, func() []string { return sh.SettingWords(f.Name) })
	})
}

// check finds mistakes in the global flags before anything is opened.
func (g *globals) check() error {
	if !slices.Contains(progressModes(), g.progress) {
		return usageError{fault.New(fault.InvalidArgument, "progress must be auto, bar, plain or none, not %q", g.progress)}
	}
	if g.jq == "" {
		return nil
	}
	_, err := parseJQ(g.jq)
	return err
}

// rescue looks for --json and --jq among arguments that could not be parsed to their end, so that whoever asked for
// JSON gets the failure as JSON too.
func (g *globals) rescue(args []string) {
	for i, arg := range args {
		switch {
		case arg == "--":
			return
		case arg == "--json":
			g.json = true
		case arg == "--jq" && i+1 < len(args) && g.jq == "":
			g.jq = args[i+1]
		case strings.HasPrefix(arg, "--jq=") && g.jq == "":
			g.jq = strings.TrimPrefix(arg, "--jq=")
		}
	}
}

// usageError is a mistake in the command line itself; it gets a pointer to --help.
type usageError struct{ error }

// Unwrap keeps the cause's code.
func (e usageError) Unwrap() error { return e.error }

// flagError says what is wrong with a flag. A wrong command before it is the real mistake; an unknown flag gets the
// nearest known one.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return noUnknownCommand(cmd, args)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usageError{err}
	}
	if unknown.GetSpecifiedShortnames() != "" {
		return noSuchFlag(cmd, err.Error())
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	name := unknown.GetSpecifiedName()
	if near := nearest(name, known); near != "" {
		return usageError{fault.New(fault.InvalidArgument, "unknown flag --%s; did you mean --%s?", name, near)}
	}
	return noSuchFlag(cmd, "unknown flag --"+name)
}

// noSuchFlag is the mistake of a flag that looks like none. Where a prompt is taken, it may be the beginning of one.
func noSuchFlag(cmd *cobra.Command, msg string) error {
	err := fault.New(fault.InvalidArgument, "%s", msg)
	if strings.Contains(cmd.Use, "PROMPT") {
		err = err.WithHint("see: %s --help; put -- before a prompt that begins with a dash", cmd.CommandPath())
	}
	return usageError{err}
}

// noUnknownCommand refuses words that are no command and names what may have been meant.
func noUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := "unknown command " + quoted(args[0])
	if near := suggestions(cmd, args[0]); len(near) > 0 {
		msg += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageError{fault.New(fault.InvalidArgument, "%s", msg)}
}

// suggestions are the commands that look like the word, and those of that name in other groups.
func suggestions(cmd *cobra.Command, word string) []string {
	near := cmd.SuggestionsFor(word)
	if cmd.HasParent() {
		return near
	}
	for _, group := range cmd.Commands() {
		for _, c := range group.Commands() {
			if c.Name() == word {
				near = append(near, commandName(c))
			}
		}
	}
	return near
}

// newGroup returns a command that only holds others.
func newGroup(sh *shell, use, short, long, example string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: noUnknownCommand, SuggestionsMinimumDistance: 2,
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2)},
		RunE:        func(cmd *cobra.Command, _ []string) error { return sh.group(cmd) },
	}
	c.AddCommand(subs...)
	return c
}

// group shows what a group holds. A program that asked for JSON forgot the command.
func (sh *shell) group(cmd *cobra.Command) error {
	if !sh.flags.wantsJSON() {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Runnable() {
			names = append(names, c.Name())
		}
	}
	return usageError{fault.New(fault.InvalidArgument, "name a command: %s", strings.Join(names, ", "))}
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
