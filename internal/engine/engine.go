package engine

import (
	"context"
	"io"
	"log/slog"
	"time"

	"mediagen/internal/catalog"
	"mediagen/internal/journal"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// paidLimit is how long a sent request may run when the caller names no longer time limit: providers need up to two
// minutes for a complex picture, and network paths have been seen to hold on for five.
const paidLimit = 10 * time.Minute

// Defaults are the configured values for fields that a request leaves empty.
type Defaults struct {
	Deployment   string // at Azure, where it is the model's name when no other is said
	Model        string
	EditModel    string
	Quality      string
	Size         string
	OutputFormat string
	MaxCost      *int64 // micro-dollars; nil means no cap
}

// The contract's defaults, taken where the model allows them (tool-contract §2.1).
const (
	contractQuality = "high"
	contractSize    = "1024x1536"
)

// Providers gives the engine its endpoints. The composition root implements it; clients are made when first asked for.
type Providers interface {
	// Image returns the provider with that name: "openai", "azure", "emulator". A missing key is a KindAuth error that
	// names the variables.
	Image(name string) (ImageProvider, error)
	// Keyed returns the names of the providers that have what they need, in order of preference.
	Keyed() []string
	// Names returns all names that Image knows.
	Names() []string
}

// Config is what the composition root gives the engine.
type Config struct {
	Workspace *workspace.Workspace
	// Journal opens the journal when it is first needed; nil means --no-journal.
	Journal   func(ctx context.Context) (*journal.Journal, error)
	Catalog   *catalog.Catalog
	Providers Providers
	Defaults  Defaults
	Bounds    sniff.Bounds
	Shell     bool      // inputs come from a person's own shell: the models' own limits apply, and - is stdin
	Stdin     io.Reader // for "-" as a source; nil refuses it
	// Abort ends paid requests that are under way. It is the second Ctrl-C; nil means never.
	Abort context.Context //nolint:containedctx // the process's lifetime, not a call's
	Now   func() time.Time
	Log   *slog.Logger
}

// Engine runs requests. It is safe for concurrent use.
type Engine struct {
	cfg Config
}

// New returns an engine. It opens nothing.
func New(cfg Config) *Engine {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Engine{cfg: cfg}
}

// Catalog returns the model catalog.
func (e *Engine) Catalog() *catalog.Catalog { return e.cfg.Catalog }

// Workspace returns the workspace.
func (e *Engine) Workspace() *workspace.Workspace { return e.cfg.Workspace }

// Words returns the words that complete and document an image parameter.
func (e *Engine) Words(param string) []string {
	if param == "provider" {
		return e.cfg.Providers.Names()
	}
	return e.cfg.Catalog.Words(param)
}

// paidContext returns the context of a request that costs money. It outlives the caller's interest: a first Ctrl-C or a
// closed client stops the wait, not the request. A time limit of the caller and Abort do end it.
func (e *Engine) paidContext(ctx context.Context) (context.Context, context.CancelFunc) {
	paid := context.WithoutCancel(ctx)
	end := time.Now().Add(paidLimit)
	if d, ok := ctx.Deadline(); ok {
		end = d
	}
	paid, cancel := context.WithDeadline(paid, end)
	if e.cfg.Abort == nil {
		return paid, cancel
	}
	stop := context.AfterFunc(e.cfg.Abort, cancel)
	return paid, func() { stop(); cancel() }
}

// openJournal returns the journal, or nil when there is none.
func (e *Engine) openJournal(ctx context.Context) (*journal.Journal, error) {
	if e.cfg.Journal == nil {
		return nil, nil //nolint:nilnil // no journal was asked for
	}
	return e.cfg.Journal(ctx)
}

// send is a nil-safe Progress.
func send(p Progress, ev Event) {
	if p != nil {
		p.Event(ev)
	}
}
