// Package app puts the program together: settings become clients, clients become an engine, the engine goes to the
// command line, and signals become contexts.
//
// It holds no rule about media, money, paths or models, and prints nothing itself: it is the only place that sees every
// package, so that no other has to.
package app

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
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

// leaveTime is how long a process may take to note its job as unknown after the second signal.
const leaveTime = 3 * time.Second

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
	work, _ := os.Getwd()       //nolint:errcheck // empty means none
	home, _ := os.UserHomeDir() //nolint:errcheck // empty means none
	return Process{
		Args: os.Args[1:], Environ: os.Environ(), WorkDir: work, HomeDir: home,
		Streams: iostreams.System(os.Getenv), Now: time.Now, //nolint:forbidigo // the process environment enters here
	}
}

// Main runs the program and returns its exit code. The first SIGINT or SIGTERM ends waiting, the second ends paid
// requests that are under way.
func Main(p Process) int {
	soft, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	abort, leave := context.WithCancel(context.Background())
	defer leave()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	done := make(chan int, 1)
	go func() { done <- Run(soft, abort, p) }()
	return wait(done, signals, stop, leave)
}

// wait returns the program's exit code; after a second signal it does not wait for long.
func wait(done <-chan int, signals <-chan os.Signal, stop context.CancelCauseFunc, leave context.CancelFunc) int {
	var late <-chan time.Time
	code := 0
	for n := 0; ; {
		select {
		case c := <-done:
			return c
		case <-late:
			return code
		case sig := <-signals:
			n++
			kind := engine.KindInterrupted
			if sig == syscall.SIGTERM {
				kind = engine.KindTerminated
			}
			stop(&cli.Signal{Kind: kind})
			if n > 1 {
				leave()
				code = cli.ExitCode(kind)
				late = time.After(leaveTime)
			}
		}
	}
}

// Run runs one command line. ctx ends the wait, abort ends paid requests.
func Run(ctx, abort context.Context, p Process) int {
	a := &app{Process: p, abort: abort, scrub: redact.NewScrubber()}
	defer a.close()
	return cli.Execute(ctx, a.deps(), p.Args)
}

// Deps returns the command line's dependencies, for documentation that is made from the command tree.
func Deps(p Process) cli.Deps {
	a := &app{Process: p, abort: context.Background(), scrub: redact.NewScrubber()}
	return a.deps()
}

// app is one run of the program.
type app struct {
	Process
	abort context.Context //nolint:containedctx // the process's lifetime
	cfg   *config.Config
	scrub *redact.Scrubber
	log   *slog.Logger
	ws    *workspace.Workspace

	mu       sync.Mutex
	journal  *journal.Journal
	emulator *emulator.Server
}

func (a *app) deps() cli.Deps {
	words := sync.OnceValue(func() *catalog.Catalog {
		c, err := catalog.New(nil)
		if err != nil {
			panic("app: the built-in catalog is broken: " + err.Error())
		}
		return c
	})
	return cli.Deps{
		Streams:  a.Streams,
		Build:    buildinfo.Read(),
		Imaging:  engine.DescribeImaging,
		Settings: config.RegisterFlags,
		Words: func(param string) []string {
			if param == "provider" {
				return providerNames()
			}
			return words().WordsOf("image", "openai", param) // no other vendor makes images here yet
		},
		Open:          a.open,
		Scrub:         func(s string) string { return a.scrub.String(s) },
		Config:        cli.ConfigDeps{Show: a.showConfig, Path: a.configPath, Sample: config.Sample, Init: a.initConfig},
		Doctor:        a.doctor,
		StartEmulator: startEmulator,
		Faults:        faultDocs(),
		WorkDir:       a.WorkDir,
		Now:           a.Now,
	}
}

// source tells the settings where to look.
func (a *app) source(f *pflag.FlagSet) config.Source {
	return config.Source{Environ: a.Environ, WorkDir: a.WorkDir, HomeDir: a.HomeDir, Flags: f}
}

// load reads the settings. From here on the scrubber knows every key.
func (a *app) load(f *pflag.FlagSet) error {
	cfg, err := config.Load(a.source(f))
	if err != nil {
		return err
	}
	a.cfg = cfg
	a.scrub = redact.NewScrubber(cfg.Secrets()...)
	return nil
}

// open builds the engine for a shell command.
func (a *app) open(_ context.Context, f *pflag.FlagSet, o cli.OpenOptions) (cli.Session, error) {
	if err := a.load(f); err != nil {
		return cli.Session{}, err
	}
	a.log = a.newLogger(a.cfg.Log.Level, o)
	a.warn(a.cfg.Warnings(), o)
	cat, err := a.catalog()
	if err != nil {
		return cli.Session{}, err
	}
	if err := a.openWorkspace(); err != nil {
		return cli.Session{}, err
	}
	a.warn(a.ws.Warnings(), o)
	return cli.Session{
		Engine: engine.New(a.engineConfig(cat, o)), OutputDir: a.cfg.OutputDir, Timeout: a.cfg.Timeout,
	}, nil
}

func (a *app) engineConfig(cat *catalog.Catalog, o cli.OpenOptions) engine.Config {
	c := engine.Config{
		Workspace: a.ws,
		Catalog:   cat,
		Providers: &providers{app: a, o: o},
		Defaults: engine.Defaults{
			Model: a.cfg.Images.Model, EditModel: a.cfg.Images.EditModel, Quality: a.cfg.Images.Quality,
			Size: a.cfg.Images.Size, OutputFormat: a.cfg.Images.OutputFormat,
		},
		Bounds: bounds(),
		Shell:  true,
		Stdin:  a.Streams.In,
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
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.journal != nil {
		return a.journal, nil
	}
	j, err := journal.Open(ctx, a.cfg.Journal.Path, journal.Options{Now: a.Now, KeepPrompts: a.cfg.Journal.Prompts})
	if err != nil {
		return nil, err
	}
	a.journal = j
	return j, nil
}

// close releases what was opened. Everything that matters has been flushed by then.
func (a *app) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
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
