package app

import (
	"context"
	"net/url"
	"strings"

	"mediagen/internal/buildinfo"
	"mediagen/internal/cli"
	"mediagen/internal/emulator"
	"mediagen/internal/engine"
	"mediagen/internal/fetch"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
	"mediagen/internal/sniff"
)

// The names of the providers, in order of preference.
const (
	nameAzure    = "azure"
	nameOpenAI   = "openai"
	nameEmulator = "emulator"
)

func providerNames() []string { return []string{nameOpenAI, nameAzure, nameEmulator} }

func bounds() sniff.Bounds { return sniff.DefaultBounds() }

// providers makes clients when the engine first asks for them.
type providers struct {
	app *app
	o   cli.OpenOptions
}

var _ engine.Providers = (*providers)(nil)

// Names returns all names that Image knows.
func (p *providers) Names() []string { return providerNames() }

// Keyed returns the providers that have what they need. The emulator is never among them: it is only used by name.
func (p *providers) Keyed() []string {
	var names []string
	if p.app.cfg.Azure.APIKey.IsSet() {
		names = append(names, nameAzure)
	}
	if p.app.cfg.OpenAI.APIKey.IsSet() || p.compatible() {
		names = append(names, nameOpenAI)
	}
	return names
}

// compatible reports whether the base URL names another server than OpenAI's, which may need no key.
func (p *providers) compatible() bool {
	base := p.app.cfg.OpenAI.BaseURL
	if base == "" {
		return false
	}
	u, err := url.Parse(base)
	native, nerr := url.Parse(openai.DefaultBaseURL)
	return err == nil && nerr == nil && !strings.EqualFold(u.Hostname(), native.Hostname())
}

// Image returns the client of one provider.
func (p *providers) Image(name string) (engine.ImageProvider, error) {
	switch name {
	case nameAzure:
		return p.azure()
	case nameEmulator:
		return p.emulated()
	case nameOpenAI:
		return p.openAI()
	}
	return nil, engine.Errorf(engine.KindUnsupported, "unsupported_operation",
		"images of provider %q are not built in; there are %s", name, strings.Join(providerNames(), ", "))
}

func (p *providers) openAI() (engine.ImageProvider, error) {
	cfg := p.app.cfg.OpenAI
	if !cfg.APIKey.IsSet() && !p.compatible() {
		return nil, engine.Errorf(engine.KindAuth, "no_key",
			"no API key: set OPENAI_API_KEY, or AZURE_OPENAI_API_KEY for Azure, or put one into a secrets file").
			WithHint("to try without a key: --provider emulator")
	}
	return p.client(openai.Config{
		Name: nameOpenAI, BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, OrgID: cfg.OrgID, ProjectID: cfg.ProjectID,
	})
}

func (p *providers) azure() (engine.ImageProvider, error) {
	cfg := p.app.cfg.Azure
	endpoint := cfg.Endpoint
	if endpoint == "" {
		endpoint = p.app.cfg.OpenAI.BaseURL
	}
	var missing []string
	if !cfg.APIKey.IsSet() {
		missing = append(missing, "AZURE_OPENAI_API_KEY")
	}
	if endpoint == "" {
		missing = append(missing, "AZURE_OPENAI_ENDPOINT")
	}
	if cfg.APIVersion == "" && !strings.Contains(endpoint, "/openai/v1") {
		missing = append(missing, "OPENAI_API_VERSION")
	}
	if len(missing) > 0 {
		return nil, engine.Errorf(engine.KindAuth, "no_key", "Azure needs %s", strings.Join(missing, ", ")).
			WithHint("to try without a key: --provider emulator")
	}
	return p.client(openai.Config{
		Name: nameAzure, APIKey: cfg.APIKey,
		Azure: &openai.Azure{Endpoint: endpoint, APIVersion: cfg.APIVersion, Deployment: cfg.Deployment},
	})
}

// emulated starts the emulator inside the process and talks to it as to any server, over real HTTP.
func (p *providers) emulated() (engine.ImageProvider, error) {
	a := p.app
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.emulator == nil {
		srv, err := emulator.Start(context.WithoutCancel(a.abort), emulator.Options{Addr: "127.0.0.1:0", Now: a.Now})
		if err != nil {
			return nil, err
		}
		a.emulator = srv
	}
	return p.client(openai.Config{
		Name: nameEmulator, BaseURL: a.emulator.URL() + "/v1", APIKey: redact.NewSecret("emulator"), ActsNative: true,
	})
}

func (p *providers) client(cfg openai.Config) (engine.ImageProvider, error) {
	a := p.app
	cfg.HTTPClient = fetch.NewProviderClient(fetch.ProviderConfig{UserAgent: "mediagen/" + buildinfo.Read().Version})
	cfg.Scrub = a.scrub.String
	cfg.Log = a.providerLogger(p.o)
	cfg.LogBodies = p.o.LogRequests
	return openai.New(cfg)
}

func startEmulator(ctx context.Context, o cli.EmulatorOptions) (cli.Emulator, error) {
	opt := emulator.Options{Addr: o.Addr, Log: o.Log}
	for _, spec := range o.Faults {
		f, err := emulator.ParseFault(spec)
		if err != nil {
			return nil, err
		}
		opt.Faults = append(opt.Faults, f)
	}
	return emulator.Start(context.WithoutCancel(ctx), opt)
}

func faultDocs() []cli.FaultDoc {
	var docs []cli.FaultDoc
	for _, f := range emulator.FaultDocs() {
		docs = append(docs, cli.FaultDoc{Name: f.Name, Usage: f.Usage})
	}
	return docs
}
