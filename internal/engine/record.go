package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// requestKey identifies a request: the same parameters and input bytes give the same key.
func (d *draft) requestKey() string {
	key := struct {
		Op, Provider, Endpoint string
		Call                   ImageCall
		Inputs                 []string
	}{Op: d.op, Provider: d.provider.Name(), Endpoint: d.provider.Endpoint(), Call: d.call}
	key.Call.Images, key.Call.Mask, key.Call.Markup = nil, nil, nil // their bytes count, not their names
	for _, in := range d.sources() {
		key.Inputs = append(key.Inputs, in.role+" "+in.SHA256)
	}
	sum := sha256.Sum256(mustJSON(key))
	return hex.EncodeToString(sum[:])
}

// journalParams is the request without its prompt, its bytes and the ids of end users.
func (d *draft) journalParams() json.RawMessage {
	c := d.call
	params := map[string]any{"n": c.N}
	for name, v := range map[string]string{
		"size": c.Size, "quality": c.Quality, "background": c.Background, "moderation": c.Moderation,
		"output_format": c.OutputFormat, "complexity": c.Complexity, "input_fidelity": c.InputFidelity,
		"svg_model": c.SVGModel, "svg_effort": c.SVGEffort, "response_format": c.ResponseFormat,
	} {
		if v != "" {
			params[name] = v
		}
	}
	for name, v := range map[string]int{
		"partials": c.Partials, "frame_count": c.FrameCount, "frame_duration_ms": c.FrameDurationMS,
	} {
		if v != 0 {
			params[name] = v
		}
	}
	if c.OutputCompression != nil {
		params["output_compression"] = *c.OutputCompression
	}
	if len(c.Extra) > 0 {
		params["param"] = c.Extra
	}
	var inputs []map[string]any
	for _, s := range d.sources() {
		inputs = append(inputs, map[string]any{
			"role": s.role, "name": s.Name, "media_type": s.Type.MIME, "bytes": s.Size, "sha256": s.SHA256,
		})
	}
	if inputs != nil {
		params["inputs"] = inputs
	}
	return mustJSON(params)
}

// roleSource is an input with what it is for.
type roleSource struct {
	*Source

	role string
}

// sources lists the inputs in the order in which they are sent.
func (d *draft) sources() []roleSource {
	if d.inputs == nil {
		return nil
	}
	var list []roleSource
	for _, s := range d.inputs.images {
		list = append(list, roleSource{s, "image"})
	}
	if d.inputs.mask != nil {
		list = append(list, roleSource{d.inputs.mask, "mask"})
	}
	if d.inputs.markup != nil {
		list = append(list, roleSource{d.inputs.markup, "markup"})
	}
	return list
}

// mustJSON encodes what was made of plain values and of JSON.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("engine: a record is not JSON: " + err.Error())
	}
	return raw
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
