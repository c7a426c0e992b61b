package openai

import (
	"encoding/json"
	"fmt"
	"io"

	sdk "github.com/openai/openai-go/v3"

	"mediagen/internal/engine"
)

// editParams translates a call into the SDK's multipart parameters. Each file goes with its sniffed type and a name: a
// bare reader would be sent as octet-stream, which OpenAI refuses. file stands in for an input's bytes.
func editParams(call engine.ImageCall, file func(engine.Input) io.Reader) (sdk.ImageEditParams, error) {
	p := sdk.ImageEditParams{
		Prompt:           call.Prompt,
		Model:            call.Model,
		N:                optInt(call.N),
		Size:             sdk.ImageEditParamsSize(call.Size),
		Quality:          sdk.ImageEditParamsQuality(call.Quality),
		Background:       sdk.ImageEditParamsBackground(call.Background),
		OutputFormat:     sdk.ImageEditParamsOutputFormat(call.OutputFormat),
		Complexity:       sdk.ImageEditParamsComplexity(call.Complexity),
		InputFidelity:    sdk.ImageEditParamsInputFidelity(call.InputFidelity),
		ResponseFormat:   sdk.ImageEditParamsResponseFormat(call.ResponseFormat),
		PartialImages:    optInt(call.Partials),
		FrameCount:       optInt(call.FrameCount),
		FrameDurationMs:  optInt(call.FrameDurationMS),
		SafetyIdentifier: optString(call.SafetyIdentifier),
		User:             optString(call.User), //nolint:staticcheck // compatible servers know no other
	}
	if call.OutputCompression != nil {
		p.OutputCompression = sdk.Int(int64(*call.OutputCompression))
	}
	p.Svg.Model = optString(call.SVGModel)
	p.Svg.Reasoning.Effort = call.SVGEffort
	extra, err := textFields(call)
	if err != nil {
		return p, err
	}
	if len(extra) > 0 {
		p.SetExtraFields(extra)
	}
	attach(&p, call, file)
	return p, nil
}

// attach puts the inputs into p: one picture as `image`, several as `image[]`.
func attach(p *sdk.ImageEditParams, call engine.ImageCall, file func(engine.Input) io.Reader) {
	part := func(in engine.Input) io.Reader { return sdk.File(file(in), in.Name, in.MIME) }
	if len(call.Images) == 1 {
		p.Image.OfFile = part(call.Images[0])
	} else {
		for _, in := range call.Images {
			p.Image.OfFileArray = append(p.Image.OfFileArray, part(in))
		}
	}
	if call.Mask != nil {
		p.Mask = part(*call.Mask)
	}
	if call.Markup != nil {
		p.Markup = part(*call.Markup)
	}
}

// textFields turns extra parameters into text: the SDK's multipart writer takes only strings and silently drops the
// rest after the first other value.
func textFields(call engine.ImageCall) (map[string]any, error) {
	fields := make(map[string]any, len(call.Extra)+1)
	for name, v := range call.Extra {
		if s, ok := v.(string); ok {
			fields[name] = s
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		fields[name] = string(text)
	}
	if streamed(call) {
		fields["stream"] = "true"
	}
	return fields, nil
}
