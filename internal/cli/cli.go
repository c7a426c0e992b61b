// Package cli is the command line: it turns arguments into engine requests and results into text, JSON or bytes.
//
// It does not read settings, know vendors, touch files or decide policy; it gets an engine and a few functions from the
// composition root. Data goes to stdout, everything else to stderr.
package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mediagen/internal/buildinfo"
	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
)

// Engine is what commands ask of the engine. Tests give their own to see requests without sending any.
type Engine interface {
	GenerateImages(context.Context, *engine.GenerateImages, engine.Output, engine.Progress) (*engine.Result, error)
	EditImages(context.Context, *engine.EditImages, engine.Output, engine.Progress) (*engine.Result, error)
	CompressImages(
		context.Context, *engine.CompressImages, engine.CompressOutput, engine.Progress,
	) (*engine.CompressResult, error)
	InspectMedia(ctx context.Context, refs []string) ([]engine.Inspection, error)
	ListJobs(context.Context, engine.JobFilter) ([]engine.Job, error)
	ShowJob(ctx context.Context, id string) (engine.Job, error)
	ForgetJobs(ctx context.Context, ids []string, force bool) (int, error)
	ResumeJob(ctx context.Context, id, dest string, overwrite bool) (*engine.Result, error)
	Models(kind, provider string, all bool) []engine.ModelInfo
	Model(id string) (engine.ModelInfo, error)
	TestPath(path string, write bool) engine.Verdict
	ReadText(path string) (string, error)
	Pipe(ctx context.Context, res *engine.Result, w io.Writer) error
}

var _ Engine = (*engine.Engine)(nil)

// Deps is what the composition root gives the command line. Functions are called when a command needs them, so that the
// others do not pay for them.
type Deps struct {
	Streams *iostreams.Streams
	Build   func() buildinfo.Info
	// Imaging describes the imaging engine; without detail by name and version alone, which starts nothing.
	Imaging func(detail bool) engine.Imaging
	// Settings adds the persistent flags that are settings.
	Settings func(*pflag.FlagSet)
	// SettingWords are the words that the flag of a setting takes; nil when it is no list of words.
	SettingWords func(flag string) []string
	// Words are the words that complete and document a parameter.
	Words func(param string) []string
	// Open loads the settings and returns an engine. It is called once, by commands that need one.
	Open func(ctx context.Context, f *pflag.FlagSet, o OpenOptions) (Session, error)
	// Scrub is the last filter of every error text.
	Scrub    func(string) string
	Config   ConfigDeps
	Complete CompleteDeps
	// Doctor returns what it found, also beside an error.
	Doctor func(ctx context.Context, f *pflag.FlagSet) (Report, error)
	// StartEmulator serves the emulator until it is closed.
	StartEmulator func(ctx context.Context, o EmulatorOptions) (Emulator, error)
	Faults        func() []FaultDoc
	WorkDir       string // paths below it are printed relative to it
	Now           func() time.Time
}

// Session is an engine with the settings that the command line itself follows.
type Session struct {
	Engine

	OutputDir string        // where files go without -o; "" for the workspace's own default
	Timeout   time.Duration // for the whole command; 0 for none
	Warnings  []string      // what settings and directories had to say
}

// bound applies the time limit of the whole command.
func (s Session) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.Timeout)
}

// OpenOptions are the global flags that change how an engine is built.
type OpenOptions struct {
	Verbose     int
	Quiet       bool
	LogRequests bool
}

// Execute runs one command line and returns its exit code. It never exits the process and panics only on programmer
// errors.
func Execute(ctx context.Context, d Deps, args []string) int {
	sh := &shell{Deps: d, ctx: ctx}
	root := newRoot(sh) //nolint:contextcheck // sh carries the context
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = sh.lost
	}
	if err == nil {
		return 0
	}
	sh.command = commandName(cmd)
	sh.flags.rescue(args)
	return sh.fail(err)
}

// NewRoot returns the whole command tree, for documentation: flags tell the words that they take.
func NewRoot(d Deps) *cobra.Command {
	sh := &shell{Deps: d, ctx: context.Background()}
	root := newRoot(sh)
	visit(root, func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = sh.usage(f) })
	})
	return root
}

func visit(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, c := range cmd.Commands() {
		visit(c, do)
	}
}

// shell is one execution of the command line: what it was given, its global flags, and what it has had to say so far.
type shell struct {
	Deps

	ctx      context.Context //nolint:containedctx // of the one command that this value runs
	flags    globals
	command  string   // "images generate"
	warnings []string // with --json they wait for the envelope
	lost     error    // help that stdout did not take

	bounded context.Context //nolint:containedctx // ctx under the command's time limit; nil before there is one
}

// withEngine opens the engine for a command, tells what that had to say, and bounds the command's time.
func (sh *shell) withEngine(cmd *cobra.Command, run func(ctx context.Context, s Session) error) error {
	s, err := sh.Open(sh.ctx, cmd.Flags(), sh.flags.open())
	if err != nil {
		return err
	}
	sh.warn(s.Warnings)
	ctx, cancel := s.bound(sh.ctx)
	defer cancel()
	sh.bounded = ctx
	return run(ctx, s)
}

// Signal is the cause of a context that a signal ended.
type Signal struct{ Kind engine.Kind }

// Error names the signal.
func (s *Signal) Error() string { return string(s.Kind) }

// SignalOf returns the signal that ended ctx, or nil.
func SignalOf(ctx context.Context) *Signal {
	s, ok := errors.AsType[*Signal](context.Cause(ctx))
	if !ok {
		return nil
	}
	return s
}
