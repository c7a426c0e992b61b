package openai

import (
	"context"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"mediagen/internal/engine"
)

// GenerateImages sends one POST images/generations and streams the pictures into sink.
func (c *Client) GenerateImages(
	ctx context.Context, call engine.ImageCall, sink engine.ImageSink,
) (engine.ImageReply, error) {
	call.Model = c.deployment(call.Model) // Azure's newer surface finds it by this field
	body, err := generateParams(call).MarshalJSON()
	if err != nil {
		return engine.ImageReply{}, c.unbuilt(err)
	}
	var opts []option.RequestOption
	if streamed(call) {
		opts = append(opts, option.WithJSONSet("stream", true))
	}
	if call.SVGModel == "" && call.SVGEffort != "" {
		opts = append(opts, option.WithJSONDel("svg.model")) // the SDK sends it empty
	}
	c.logCall(ctx, "images generate", call)
	return c.create(ctx, call, sink, func(ctx context.Context, d *delivery) (*http.Response, error) {
		return c.post(ctx, d, c.path("generations", call.Model), body, opts...)
	})
}

// EditImages sends one POST images/edits as multipart, inputs streamed from their files, and streams the pictures
// into sink. When it returns, no input is read any more.
func (c *Client) EditImages(
	ctx context.Context, call engine.ImageCall, sink engine.ImageSink,
) (engine.ImageReply, error) {
	call.Model = c.deployment(call.Model)
	f, err := newForm(call)
	if err != nil {
		return engine.ImageReply{}, c.unbuilt(err)
	}
	defer f.close()
	c.logCall(ctx, "images edit", call)
	return c.create(ctx, call, sink, func(ctx context.Context, d *delivery) (*http.Response, error) {
		return c.post(ctx, d, c.path("edits", call.Model), f.open(),
			option.WithHeader("Content-Type", f.contentType), option.WithMiddleware(f.frameRequest))
	})
}

func streamed(call engine.ImageCall) bool { return call.Stream || call.Partials > 0 }

// generateParams translates a call into the SDK's JSON parameters; zero values are left out.
func generateParams(call engine.ImageCall) sdk.ImageGenerateParams {
	p := sdk.ImageGenerateParams{
		Prompt:           call.Prompt,
		Model:            call.Model,
		N:                optInt(call.N),
		Size:             sdk.ImageGenerateParamsSize(call.Size),
		Quality:          sdk.ImageGenerateParamsQuality(call.Quality),
		Background:       sdk.ImageGenerateParamsBackground(call.Background),
		Moderation:       sdk.ImageGenerateParamsModeration(call.Moderation),
		OutputFormat:     sdk.ImageGenerateParamsOutputFormat(call.OutputFormat),
		Complexity:       sdk.ImageGenerateParamsComplexity(call.Complexity),
		ResponseFormat:   sdk.ImageGenerateParamsResponseFormat(call.ResponseFormat),
		PartialImages:    optInt(call.Partials),
		FrameCount:       optInt(call.FrameCount),
		FrameDurationMs:  optInt(call.FrameDurationMS),
		SafetyIdentifier: optString(call.SafetyIdentifier),
		User:             optString(call.User), //nolint:staticcheck // compatible servers know no other
	}
	if call.OutputCompression != nil {
		p.OutputCompression = sdk.Int(int64(*call.OutputCompression))
	}
	p.Svg.Model = call.SVGModel
	p.Svg.Reasoning.Effort = call.SVGEffort
	if len(call.Extra) > 0 {
		p.SetExtraFields(call.Extra)
	}
	return p
}

func optInt(n int) param.Opt[int64] {
	if n == 0 {
		return param.Opt[int64]{}
	}
	return sdk.Int(int64(n))
}

func optString(s string) param.Opt[string] {
	if s == "" {
		return param.Opt[string]{}
	}
	return sdk.String(s)
}
