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
	cfg, endpoint := p.app.cfg.Azure, p.azureEndpoint()
	if missing := p.azureLacks(); len(missing) > 0 {
		return nil, engine.Errorf(engine.KindAuth, "no_key", "Azure needs %s", strings.Join(missing, ", ")).
			WithHint("to try without a key: --provider emulator")
	}
	return p.client(openai.Config{
		Name: nameAzure, APIKey: cfg.APIKey,
		Azure: &openai.Azure{Endpoint: endpoint, APIVersion: cfg.APIVersion, Deployment: cfg.Deployment},
	})
}

func (p *providers) azureEndpoint() string {
	if endpoint := p.app.cfg.Azure.Endpoint; endpoint != "" {
		return endpoint
	}
	return p.app.cfg.OpenAI.BaseURL
}

// azureLacks names the variables that Azure still needs.
func (p *providers) azureLacks() []string {
	cfg, endpoint := p.app.cfg.Azure, p.azureEndpoint()
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
	return missing
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
	cfg.Scrub, cfg.LogScrub = a.scrub.String, a.logScrubber().String
	cfg.Log = a.providerLogger(p.o)
	cfg.LogBodies = p.o.LogRequests
	client, err := openai.New(cfg)
	if err != nil {
		return nil, err
	}
	a.log.Info("provider chosen", "name", client.Name(), "endpoint", client.Endpoint())
	return client, nil
}
