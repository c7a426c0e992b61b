package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"mediagen/internal/catalog"
	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
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
	call     ImageCall
	convert  string // format to convert to, when the model cannot make it itself
	inputs   *editInputs
	mask     string // sha256 of the mask, for the request key
	estimate Cost
	priced   catalog.Estimate
	spec     workspace.OutputSpec
	warnings []string
}

func (d *draft) close() {
	if d.inputs != nil {
		d.inputs.close()
	}
}

// resolve fills empty fields, picks model and provider and checks all that can be checked without writing or sending.
func (e *Engine) resolve(op operation, img *Image, out Output) (*draft, error) {
	d := &draft{operation: op, out: out}
	if out.Tool != "" {
		d.tool = out.Tool
	}
	if strings.TrimSpace(img.Prompt) == "" {
		return nil, fault.New(fault.InvalidArgument, "a prompt is required")
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
		Model: d.model.ID, Prompt: img.Prompt, N: max(img.N, 1), Size: e.size(d, img), Quality: e.quality(d, img),
		Background: img.Background, OutputFormat: img.OutputFormat, OutputCompression: img.OutputCompression,
		Complexity: img.Complexity, Partials: img.Partials, FrameCount: img.FrameCount,
		FrameDurationMS: img.FrameDurationMS, SVGModel: img.SVGModel, SVGEffort: img.SVGEffort,
		SafetyIdentifier: img.SafetyIdentifier, User: img.User, Extra: extra,
	}
	if !d.known && !d.provider.Native() {
		d.call.ResponseFormat = compatibleFormat(extra)
	}
	return d, e.format(d)
}

// compatibleFormat asks a compatible server for bytes: several answer with links of their own otherwise (provider-facts
// §2.3). A value that the user passes through wins.
func compatibleFormat(extra map[string]any) string {
	if _, ok := extra["response_format"]; ok {
		return ""
	}
	return "b64_json"
}

// pick chooses the model, then the provider: by flag, by model, then by which key is there.
func (e *Engine) pick(d *draft, img *Image) error {
	name := img.Provider
	model := img.Model
	if model == "" {
		model = e.cfg.Defaults.Model
		if d.name == opEdit.name {
			model = e.cfg.Defaults.EditModel
		}
	}
	if name == "" {
		var err error
		if name, err = e.chooseProvider(model); err != nil {
			return err
		}
	} else if !slices.Contains(e.cfg.Providers.Names(), name) {
		return fault.New(fault.InvalidArgument, "provider %s is unknown; there are %s", field(name),
			strings.Join(e.cfg.Providers.Names(), ", "))
	}
	p, err := e.cfg.Providers.Image(name)
	if err != nil {
		return err
	}
	if model == "" {
		model = e.cfg.Catalog.Default(vendor(name), "image", d.name)
	}
	d.provider = p
	d.model, d.known = e.cfg.Catalog.Resolve(model)
	if d.model.ID == "" {
		d.model.ID = model
	}
	if by, ok := e.cfg.Catalog.ProviderOf(model); ok && by != vendor(name) {
		return fault.New(fault.UnsupportedOperation, "model %s belongs to %s, not to %s", field(model), by, name)
	}
	return e.checkModel(d)
}

// vendor returns the catalog's provider for one of our provider names: Azure and the emulator serve OpenAI's models.
func vendor(provider string) string {
	if provider == "azure" || provider == "emulator" {
		return "openai"
	}
	return provider
}

func (e *Engine) chooseProvider(model string) (string, error) {
	keyed := e.cfg.Providers.Keyed()
	if model == "" {
		if len(keyed) > 0 {
			return keyed[0], nil
		}
		return "openai", nil // its missing key is the error to show
	}
	by, ok := e.cfg.Catalog.ProviderOf(model)
	if !ok {
		by = "openai"
	}
	for _, name := range keyed {
		if vendor(name) == by {
			return name, nil
		}
	}
	return by, nil
}

// checkModel refuses a retired model on its vendor's own host, and a model that does something else.
func (e *Engine) checkModel(d *draft) error {
	now := e.cfg.Now()
	if r, gone := d.model.Retired(now); gone {
		if d.provider.Native() {
			err := Errorf(KindModelRetired, "model_retired", "%s", r.String())
			if r.Replacement != "" {
				err = err.WithHint("use --model %s", r.Replacement)
			}
			return err
		}
	}
	if d.known && d.model.Kind != "" && d.model.Kind != "image" {
		return fault.New(fault.UnsupportedOperation, "model %s makes %ss, not images", field(d.model.ID), d.model.Kind)
	}
	if d.known && len(d.model.Ops) > 0 && !slices.Contains(d.model.Ops, d.name) {
		return fault.New(fault.UnsupportedOperation, "model %s cannot %s; it can %s", field(d.model.ID), d.name,
			strings.Join(d.model.Ops, ", "))
	}
	if !d.known {
		d.warnings = append(d.warnings, fmt.Sprintf("model %s is not in the catalog; its limits and price are not known", d.model.ID))
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
	return allowed(d.known, d.model.Qualities, contractQuality)
}

// size follows the same order as quality.
func (e *Engine) size(d *draft, img *Image) string {
	if img.Size != "" {
		return img.Size
	}
	if e.cfg.Defaults.Size != "" {
		return e.cfg.Defaults.Size
	}
	if d.known && d.model.SizeRule != nil {
		return contractSize
	}
	return allowed(d.known, d.model.Sizes, contractSize)
}

// allowed returns want if a known model lists it, "auto" if it lists that, else nothing: the provider decides.
func allowed(known bool, list []string, want string) string {
	for _, word := range []string{want, "auto"} {
		if known && slices.Contains(list, word) {
			return word
		}
	}
	return ""
}

// format settles the output format: the flag, the ending of the file named with -o, the setting, else the provider's.
func (e *Engine) format(d *draft) error {
	ext := d.destExt()
	if ext == "" {
		if d.call.OutputFormat == "" {
			d.call.OutputFormat = e.cfg.Defaults.OutputFormat
		}
		return nil
	}
	t, ok := sniff.ByExt(ext)
	if !ok || t.Kind != sniff.KindImage && t.MIME != "image/svg+xml" {
		return fault.New(fault.InvalidArgument, "-o ends in .%s, which is no picture format; use .png, .jpg or .webp", ext)
	}
	if want := d.call.OutputFormat; want != "" {
		if asked, ok := sniff.ByExt(want); ok && asked.MIME != t.MIME {
			return fault.New(fault.InvalidArgument, "-o ends in .%s, but the output format is %s; make both the same", ext, want)
		}
		return nil
	}
	d.convert = t.Ext
	if !d.known || len(d.model.Formats) == 0 || slices.Contains(d.model.Formats, t.Ext) {
		d.call.OutputFormat = t.Ext
		return nil
	}
	if !slices.Contains(imaging.Describe().Write, t.Ext) {
		return fault.New(fault.UnsupportedOperation, "neither model %s nor this build can write .%s; use .%s", d.model.ID, ext,
			strings.Join(d.model.Formats, ", ."))
	}
	return nil
}

// destExt returns the extension of a file named with -o, without dot; "" for a directory.
func (d *draft) destExt() string {
	dest := d.out.Dest
	if dest == "" || d.out.Stream || strings.HasSuffix(dest, "/") || d.out.Template != "" {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(dest)), ".")
}

// check asks the catalog for every rule of the model.
func (e *Engine) check(d *draft, p catalog.ImageParams) error {
	faults := d.model.CheckImage(p)
	if len(faults) == 0 {
		d.warnings = append(d.warnings, d.model.Warnings(p, e.cfg.Now())...)
		return nil
	}
	texts := make([]string, 0, len(faults))
	for _, f := range faults {
		texts = append(texts, f.Message)
	}
	return fault.New(faults[0].Code, "%s", strings.Join(texts, "; ")).WithHint("%s", faults[0].Hint)
}

func (d *draft) params(moderation string) catalog.ImageParams {
	c := d.call
	p := catalog.ImageParams{
		Op: d.name, Prompt: c.Prompt, Size: c.Size, Quality: c.Quality, Background: c.Background, Moderation: moderation,
		OutputFormat: c.OutputFormat, Complexity: c.Complexity, InputFidelity: c.InputFidelity, N: c.N, Partials: c.Partials,
		FrameCount: c.FrameCount, FrameDurationMS: c.FrameDurationMS, OutputCompression: c.OutputCompression,
		Stream: c.Stream || c.Partials > 0, SVGModel: c.SVGModel, SVGEffort: c.SVGEffort,
	}
	if d.inputs != nil {
		p.Inputs, p.Mask, p.Markup = len(d.inputs.images), d.inputs.mask != nil, d.inputs.markup != nil
	}
	return p
}

// price estimates the call and holds it against the cap, before anything is sent.
func (e *Engine) price(d *draft, p catalog.ImageParams) error {
	d.priced = e.cfg.Catalog.EstimateImage(d.model.ID, p)
	d.estimate = Cost{Basis: BasisUnknown, Why: d.priced.Why}
	if d.priced.Known {
		d.estimate = Cost{Micros: &d.priced.Micros, Basis: BasisEstimated, Assumed: d.priced.Assumed}
	}
	if d.provider.Name() == "emulator" {
		d.estimate = Cost{Micros: new(int64), Basis: BasisEstimated}
	}
	limit := d.out.MaxCost
	if limit == nil {
		limit = e.cfg.Defaults.MaxCost
	}
	if limit == nil {
		return nil
	}
	if d.estimate.Micros == nil {
		if d.out.AllowUnknownCost {
			return nil
		}
		return Errorf(KindOverBudget, "cost_unknown", "the cost of this call is unknown (%s), so a cap cannot hold it", d.priced.Why).
			WithHint("--allow-unknown-cost sends it all the same")
	}
	if *d.estimate.Micros > *limit {
		return Errorf(KindOverBudget, "over_budget", "the call is estimated at %s, above the cap of $%s", d.estimate,
			Dollars(*limit)).WithHint("a cheaper quality, a smaller size or fewer pictures cost less")
	}
	return nil
}

// output describes where the pictures go.
func (d *draft) output(id string) workspace.OutputSpec {
	return workspace.OutputSpec{
		Dest: d.out.Dest, Template: d.out.Template, Tool: d.tool, ID: id, Count: d.call.N, Ext: d.ext(),
		Overwrite: d.out.Overwrite, NeedBytes: int64(d.call.N) * spaceAPicture,
		Vars: map[string]string{
			"model": d.call.Model, "provider": d.provider.Name(), "size": d.call.Size, "quality": d.call.Quality,
			"slug": slug(d.call.Prompt),
		},
	}
}

// ext is the planned extension; the bytes decide in the end.
func (d *draft) ext() string {
	switch {
	case d.convert != "":
		return d.convert
	case d.call.OutputFormat != "":
		return d.call.OutputFormat
	}
	return "png" // what providers send when not asked
}

// spaceAPicture is the free space, in bytes, that a picture should find before it is paid for: a 4K PNG with reserve.
const spaceAPicture = 32 << 20

// slug makes a short file-name part of a prompt: its first words, lower case, joined by dashes.
func slug(prompt string) string {
	const words, runes = 6, 40
	var parts []string
	for _, w := range strings.FieldsFunc(strings.ToLower(prompt), notWord) {
		if parts = append(parts, w); len(parts) == words {
			break
		}
	}
	r := []rune(strings.Join(parts, "-"))
	text := strings.Trim(string(r[:min(len(r), runes)]), "-")
	if text == "" {
		return "picture"
	}
	return text
}

// requestKey identifies a request: the same parameters and input bytes give the same key.
func (d *draft) requestKey() string {
	c := d.call
	key := struct {
		Op, Provider, Endpoint string
		Call                   ImageCall
		Inputs                 []string
	}{Op: d.op, Provider: d.provider.Name(), Endpoint: d.provider.Endpoint(), Call: c}
	key.Call.Images, key.Call.Mask, key.Call.Markup = nil, nil, nil
	if d.inputs != nil {
		for _, s := range d.inputs.all() {
			key.Inputs = append(key.Inputs, s.SHA256)
		}
		key.Inputs = append(key.Inputs, fmt.Sprint(d.inputs.mask != nil, d.inputs.markup != nil))
	}
	raw, err := json.Marshal(key)
	if err != nil {
		// Every field is a plain value; Extra came from JSON.
		panic("engine: request is not JSON: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// plan is what --dry-run prints.
func (d *draft) plan(paths []string) *Plan {
	return &Plan{
		Op: d.op, Provider: d.provider.Name(), Endpoint: d.provider.Endpoint(), Model: d.call.Model, N: d.call.N,
		Size: d.call.Size, Quality: d.call.Quality, OutputFormat: d.call.OutputFormat, Paths: paths,
		Estimate: d.estimate, UpperBound: d.priced.UpperBound, Source: d.priced.Source, AsOf: d.priced.AsOf,
		RequestKey: d.requestKey(), DryRun: true,
	}
}

// newID returns the id of one call's files: a random UUID, as the contract has it.
func newID() string { return uuid.NewString() }
