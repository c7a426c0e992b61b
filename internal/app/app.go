// Package app puts the program together: settings become clients, clients become an engine, the engine goes to the
// command line, and signals become contexts.
//
// It holds no rule about media, money, paths or models, and prints nothing itself: it is the only place that sees every
// package, so that no other has to.
package app

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"mediagen/internal/buildinfo"
	"mediagen/internal/catalog"
	"mediagen/internal/cli"
	"mediagen/internal/config"
	"mediagen/internal/emulator"
	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
	"mediagen/internal/journal"
	"mediagen/internal/redact"
	"mediagen/internal/workspace"
)

// Process is what the operating system gives a program. Tests make their own.
type Process struct {
	Args    []string // without the program's name
	Environ []string
	WorkDir string
	HomeDir string
	Streams *iostreams.Streams
	Now     func() time.Time
}

// System returns the real process.
func System() Process {
	// Without a working or home directory the settings that need one say so themselves.
	work, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	return Process{
		Args: os.Args[1:], Environ: os.Environ(), WorkDir: work, HomeDir: home,
		Streams: iostreams.System(os.Getenv), Now: time.Now,
	}
}

// Run runs one command line. ctx ends the wait, abort ends paid requests.
func Run(ctx, abort context.Context, p Process) int {
	a := newApp(abort, p)
	defer a.close()
	return cli.Execute(ctx, a.deps(), p.Args)
}

// Deps returns the command line's dependencies, for documentation that is made from the command tree.
func Deps(p Process) cli.Deps { return newApp(context.Background(), p).deps() }

// app is one run of the program.
type app struct {
	Process

	abort   context.Context //nolint:containedctx // the process's lifetime
	cfg     *config.Config
	scrub   *redact.Scrubber
	log     *slog.Logger
	ws      *workspace.Workspace
	closers []func()
	builtIn func() *catalog.Catalog
	imaging func(detail bool) engine.Imaging

	mu       sync.Mutex
	journal  *journal.Journal
	emulator *emulator.Server
}

func newApp(abort context.Context, p Process) *app {
	return &app{
		Process: p, abort: abort, scrub: redact.NewScrubber(), log: slog.New(slog.DiscardHandler),
		imaging: engine.DescribeImaging,
		builtIn: sync.OnceValue(func() *catalog.Catalog {
			c, err := catalog.New(nil)
			if err != nil {
				panic("app: the built-in catalog is broken: " + err.Error())
			}
			return c
		}),
	}
}

func (a *app) deps() cli.Deps {
	return cli.Deps{
		Streams:       a.Streams,
		Build:         buildinfo.Read,
		Imaging:       a.imaging,
		Settings:      config.RegisterFlags,
		SettingWords:  settingWords(),
		Words:         a.words,
		Open:          a.open,
		Scrub:         func(s string) string { return a.scrub.String(s) },
		Config:        cli.ConfigDeps{Show: a.showConfig, Path: a.configPath, Sample: config.Sample, Init: a.initConfig},
		Complete:      cli.CompleteDeps{Jobs: a.completeJobs, Models: a.completeModels},
		Doctor:        a.doctor,
		StartEmulator: a.startEmulator,
		Faults:        faultDocs,
		WorkDir:       a.WorkDir,
		Now:           a.Now,
	}
}

// words are what completes and documents a parameter of the image commands.
func (a *app) words(param string) []string {
	if param == "provider" {
		return providerNames()
	}
	return a.builtIn().WordsOf("image", "openai", param) // no other vendor makes images here yet
}

// open builds the engine for a shell command.
func (a *app) open(ctx context.Context, f *pflag.FlagSet, o cli.OpenOptions) (cli.Session, error) {
	if err := a.load(f); err != nil {
		return cli.Session{}, err
	}
	a.log = a.newLogger(a.logLevel(o))
	for _, file := range a.cfg.Files() {
		a.log.InfoContext(ctx, "settings read", "kind", file.Kind, "path", file.Path)
	}
	cat, err := a.catalog()
	if err != nil {
		return cli.Session{}, err
	}
	if err := a.openWorkspace(); err != nil {
		return cli.Session{}, err
	}
	a.log.InfoContext(ctx, "directories opened", "policy", a.ws.Describe().Policy, "output_dir", a.cfg.OutputDir)
	return cli.Session{
		Engine: engine.New(a.engineConfig(ctx, cat, o)), OutputDir: a.cfg.OutputDir, Timeout: a.cfg.Timeout,
		Warnings: append(a.cfg.Warnings(), a.ws.Warnings()...),
	}, nil
}

func (a *app) engineConfig(ctx context.Context, cat *catalog.Catalog, o cli.OpenOptions) engine.Config {
	c := engine.Config{
		Workspace: a.ws,
		Catalog:   cat,
		Providers: &providers{app: a, o: o},
		Defaults: engine.Defaults{
			Deployment: a.cfg.Azure.Deployment,
			Model:      a.cfg.Images.Model, EditModel: a.cfg.Images.EditModel, Quality: a.cfg.Images.Quality,
			Size: a.cfg.Images.Size, OutputFormat: a.cfg.Images.OutputFormat,
		},
		Bounds: bounds(),
		Shell:  true,
		Stdin:  a.stdin(ctx),
		Abort:  a.abort,
		Now:    a.Now,
		Log:    a.log,
	}
	if a.cfg.Cost.Max > 0 {
		c.Defaults.MaxCost = &a.cfg.Cost.Max
	}
	if a.cfg.Journal.Enabled {
		c.Journal = a.openJournal
	}
	return c
}

// stdin is the process's, which neither a signal nor the time limit leaves waiting.
func (a *app) stdin(ctx context.Context) io.Reader {
	if a.cfg.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
		a.closers = append(a.closers, cancel)
		ctx = bounded
	}
	return cli.Interruptible(ctx, a.Streams.In)
}

func (a *app) openWorkspace() error {
	ws, err := workspace.Open(workspace.Config{
		Dirs: a.cfg.Dirs, WorkDir: a.WorkDir, Shell: true, Strict: a.cfg.Policy.Strict, TempRoot: a.cfg.TempRoot,
		StateDir: a.cfg.StateDir, HomeDir: a.HomeDir, Now: a.Now,
	})
	if err != nil {
		return err
	}
	a.ws = ws
	return nil
}

// openJournal opens the journal once, when it is first needed: most commands never do.
func (a *app) openJournal(ctx context.Context) (*journal.Journal, error) {
	return a.openJournalWith(ctx, journal.Options{Now: a.Now, KeepPrompts: a.cfg.Journal.Prompts})
}

func (a *app) openJournalWith(ctx context.Context, o journal.Options) (*journal.Journal, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.journal != nil {
		return a.journal, nil
	}
	j, err := journal.Open(ctx, a.cfg.Journal.Path, o)
	if err != nil {
		return nil, err
	}
	a.log.InfoContext(ctx, "journal opened", "path", a.cfg.Journal.Path)
	a.journal = j
	return j, nil
}

// close releases what was opened. Everything that matters has been flushed by then.
func (a *app) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.closers {
		c()
	}
	if a.emulator != nil {
		_ = a.emulator.Close() // in-process, nothing to lose
	}
	if a.journal != nil {
		_ = a.journal.Close() // every update was durable when it returned
	}
	if a.ws != nil {
		_ = a.ws.Close() // directory handles
	}
}
