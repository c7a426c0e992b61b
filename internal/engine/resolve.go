package engine

import (
	"slices"
	"strings"

	"mediagen/internal/catalog"
	"mediagen/internal/fault"
	"mediagen/internal/param"
)

// operation names what is done, for the catalog, the journal and file names.
type operation struct {
	name string // "generate" or "edit", as the catalog has it
	op   string // "images generate", as messages have it
	tool string // the MCP tool whose name file names carry when the door names none
}

var (
	opGenerate = operation{"generate", "images generate", "openai-images-generate"} //nolint:gochecknoglobals // constant
	opEdit     = operation{"edit", "images edit", "openai-images-edit"}             //nolint:gochecknoglobals // constant
)

// draft is a request while it is being resolved: everything that is known before the journal hears of it.
type draft struct {
	operation

	out      Output
	provider ImageProvider
	model    catalog.Model
	known    bool // the catalog has a row for the model
	foreign  bool // a gateway serves another vendor's model: that vendor's limits and prices are not the gateway's
	call     ImageCall
	convert  string // format to convert to when the provider sends another one, as the name given with -o asks
	inputs   *editInputs
	checked  catalog.ImageParams
	estimate Cost
	priced   catalog.Estimate
	warnings []string
}

func (d *draft) close() {
	if d.inputs != nil {
		d.inputs.close()
	}
}

// checkFields measures a request against the descriptors of its parameters. Both doors do so too, to speak of flags and
// arguments; here it protects callers that are no door.
func checkFields(set param.Set, prompt string) error {
	if err := set.Check(); err != nil {
		return err
	}
	if strings.Contains(prompt, "\x00") {
		return fault.New(fault.InvalidArgument, "prompt must not contain NUL characters")
	}
	return nil
}

func noWords(string) []string { return nil }

// resolve fills empty fields, picks model and provider and checks all that can be checked without writing or sending.
func (e *Engine) resolve(op operation, img *Image, out Output) (*draft, error) {
	d := &draft{operation: op, out: out}
	if out.Tool != "" {
		d.tool = out.Tool
	}
	if err := out.check(img.N, img.Partials); err != nil {
		return nil, err
	}
	extra, err := img.extra()
	if err != nil {
		return nil, err
	}
	if err := e.pick(d, img); err != nil {
		return nil, err
	}
	d.call = ImageCall{
		Model: d.model.ID, Prompt: img.Prompt, N: max(img.N, 1), Background: img.Background, OutputFormat: img.OutputFormat,
		OutputCompression: img.OutputCompression, Complexity: img.Complexity, Partials: img.Partials,
		FrameCount: img.FrameCount, FrameDurationMS: img.FrameDurationMS, SVGModel: img.SVGModel, SVGEffort: img.SVGEffort,
		SafetyIdentifier: img.SafetyIdentifier, User: img.User, Extra: extra,
	}
	if err := e.format(d); err != nil {
		return nil, err
	}
	d.call.Size, d.call.Quality = e.size(d, img), e.quality(d, img)
	d.call.ResponseFormat = d.responseFormat()
	return d, nil
}

// responseFormat asks a compatible server for bytes: several answer with links of their own otherwise (provider-facts
// §2.3). GPT image models refuse the parameter wherever they run, so models of a known vendor and deployments at Azure
// are not asked. A value that the user passes through wins.
func (d *draft) responseFormat() string {
	_, given := d.call.Extra["response_format"]
	if given || d.provider.Native() || d.provider.Name() == azure || d.model.Provider != "" {
		return ""
	}
	return "b64_json"
}

// The names of providers that the engine treats apart.
const (
	azure    = "azure"
	emulated = "emulator"
)

// pick chooses the model, then the provider: by flag, by model, then by which key is there.
func (e *Engine) pick(d *draft, img *Image) error {
	name, model := img.Provider, img.Model
	if model == "" {
		model = e.cfg.Defaults.Model
		if d.name == opEdit.name {
			model = e.cfg.Defaults.EditModel
		}
	}
	if name == "" {
		name = e.chooseProvider(model)
	} else if !slices.Contains(e.cfg.Providers.Names(), name) {
		return fault.New(fault.InvalidArgument, "provider %s is unknown; there are %s", field(name),
			strings.Join(e.cfg.Providers.Names(), ", "))
	}
	if model == "" && name == azure {
		model = e.cfg.Defaults.Deployment
	}
	if model == "" {
		model = e.cfg.Catalog.Default(vendor(name), "image", d.name)
	}
	if model == "" {
		return fault.New(fault.InvalidArgument, "provider %s has no default model to %s images with; name one with model",
			name, d.name)
	}
	p, err := e.cfg.Providers.Image(name)
	if err != nil {
		return err
	}
	d.provider = p
	d.model, d.known = e.cfg.Catalog.Resolve(model)
	if by, ok := e.cfg.Catalog.ProviderOf(model); ok && by != vendor(name) {
		if !gateway(p) {
			return fault.New(fault.UnsupportedOperation, "model %s belongs to %s, not to %s", field(model), by, name)
		}
		d.model, d.known, d.foreign = catalog.Model{ID: model, Permissive: true}, false, true
	}
	return e.checkModel(d)
}

// gateway reports whether a provider is a server of somebody's own, which may serve models of any vendor.
func gateway(p ImageProvider) bool { return !p.Native() && p.Name() != azure && p.Name() != emulated }

// vendor returns the catalog's provider for one of our provider names: Azure and the emulator serve OpenAI's models.
func vendor(provider string) string {
	if provider == azure || provider == emulated {
		return "openai"
	}
	return provider
}

// chooseProvider returns the first provider that has its key and serves the model's vendor. Without any it returns the
// vendor itself: its missing key is the error to show.
func (e *Engine) chooseProvider(model string) string {
	keyed := e.cfg.Providers.Keyed()
	if model == "" && len(keyed) > 0 {
		return keyed[0]
	}
	by, ok := e.cfg.Catalog.ProviderOf(model)
	if !ok {
		by = "openai"
	}
	for _, name := range keyed {
		if vendor(name) == by {
			return name
		}
	}
	return by
}

// checkModel refuses a retired model on its vendor's own host, and a model that does something else.
func (e *Engine) checkModel(d *draft) error {
	if r, gone := d.model.Retired(e.cfg.Now()); gone && d.provider.Native() {
		err := Errorf(KindModelRetired, "model_retired", "%s", r.String())
		if r.Replacement != "" {
			err = err.WithHint("use --model %s", r.Replacement)
		}
		return err
	}
	if d.known && d.model.Kind != "" && d.model.Kind != "image" {
		return fault.New(fault.UnsupportedOperation, "model %s makes %ss, not images", field(d.model.ID), d.model.Kind)
	}
	if d.known && len(d.model.Ops) > 0 && !slices.Contains(d.model.Ops, d.name) {
		return fault.New(fault.UnsupportedOperation, "model %s cannot %s; it can %s", field(d.model.ID), d.name,
			strings.Join(d.model.Ops, ", "))
	}
	return nil
}

// quality is the request's, else the configured one, else the contract's where the model allows it, else "auto".
func (e *Engine) quality(d *draft, img *Image) string {
	if img.Quality != "" {
		return img.Quality
	}
	if e.cfg.Defaults.Quality != "" {
		return e.cfg.Defaults.Quality
	}
	return d.allowed(d.model.Qualities, contractQuality)
}

// size follows the same order as quality. The limits of animated pictures are not documented, so they get "auto".
func (e *Engine) size(d *draft, img *Image) string {
	switch {
	case img.Size != "":
		return img.Size
	case e.cfg.Defaults.Size != "":
		return e.cfg.Defaults.Size
	case d.call.OutputFormat == "gif":
		return d.allowed(d.model.Sizes, "auto")
	case d.known && d.model.SizeRule != nil:
		return contractSize
	}
	return d.allowed(d.model.Sizes, contractSize)
}

// allowed returns want if a known model lists it, "auto" if it lists that, else nothing: the provider decides.
func (d *draft) allowed(list []string, want string) string {
	for _, word := range []string{want, "auto"} {
		if d.known && slices.Contains(list, word) {
			return word
		}
	}
	return ""
}

// check asks the catalog for every rule of the model, then for the price.
func (e *Engine) check(d *draft) error {
	d.checked = d.params()
	faults := d.model.CheckImage(d.checked)
	if len(faults) == 0 {
		d.warnings = append(d.warnings, d.model.Warnings(d.checked, e.cfg.Now())...)
		return e.price(d)
	}
	texts := make([]string, 0, len(faults))
	for _, f := range faults {
		texts = append(texts, f.Message)
	}
	return fault.New(faults[0].Code, "%s", strings.Join(texts, "; ")).WithHint("%s", faults[0].Hint)
}

// params is the call in the catalog's terms.
func (d *draft) params() catalog.ImageParams {
	c := d.call
	p := catalog.ImageParams{
		Op: d.name, Prompt: c.Prompt, Size: c.Size, Quality: c.Quality, Background: c.Background, Moderation: c.Moderation,
		OutputFormat: c.OutputFormat, Complexity: c.Complexity, InputFidelity: c.InputFidelity, N: c.N, Partials: c.Partials,
		FrameCount: c.FrameCount, FrameDurationMS: c.FrameDurationMS, OutputCompression: c.OutputCompression,
		Stream: c.Stream || c.Partials > 0, SVGModel: c.SVGModel, SVGEffort: c.SVGEffort,
	}
	if d.inputs != nil {
		p.Inputs, p.Mask, p.Markup = len(d.inputs.images), d.inputs.mask != nil, d.inputs.markup != nil
	}
	return p
}
