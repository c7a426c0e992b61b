package openai

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"mediagen/internal/engine"
)

// delivery records how far a request got, which decides whether it may be sent again (design.md §8).
type delivery struct {
	connected atomic.Bool // a connection was there, so bytes may have left
	written   atomic.Bool // the whole request was handed to the network
}

func (d *delivery) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { d.connected.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				d.written.Store(true)
			}
		},
	})
}

// GenerateImages sends one POST images/generations and streams the pictures into sink.
func (c *Client) GenerateImages(
	ctx context.Context, call engine.ImageCall, sink engine.ImageSink,
) (engine.ImageReply, error) {
	params := generateParams(call)
	svc := sdk.ImageService{Options: c.sdk.Options}
	c.logCall(ctx, "images generate", call)
	return c.create(ctx, call, sink, func(ctx context.Context) (*http.Response, error) {
		var res *http.Response
		opts := []option.RequestOption{option.WithResponseBodyInto(&res), c.routed("generations", call.Model)}
		if streamed(call) {
			opts = append(opts, option.WithJSONSet("stream", true))
		}
		_, err := svc.Generate(ctx, params, opts...)
		return res, err
	})
}

// EditImages sends one POST images/edits as multipart, inputs streamed from their files, and streams the pictures
// into sink.
func (c *Client) EditImages(
	ctx context.Context, call engine.ImageCall, sink engine.ImageSink,
) (engine.ImageReply, error) {
	c.logCall(ctx, "images edit", call)
	return c.create(ctx, call, sink, func(ctx context.Context) (*http.Response, error) {
		return c.upload(ctx, call)
	})
}

// create sends a request until the server may have taken it, then reads the reply. It never sends again after that.
func (c *Client) create(
	ctx context.Context, call engine.ImageCall, sink engine.ImageSink, send func(context.Context) (*http.Response, error),
) (engine.ImageReply, error) {
	for attempt := 1; ; attempt++ {
		var d delivery
		res, err := send(d.trace(ctx))
		if err == nil {
			return c.receive(ctx, call, res, sink)
		}
		failure := c.classify(ctx, err, &d, call)
		if !failure.again || attempt >= c.cfg.Retry.Attempts {
			return engine.ImageReply{RequestID: failure.err.RequestID}, failure.err
		}
		pause, ok := c.cfg.Retry.pause(ctx, attempt, failure.err.RetryAfter)
		if !ok {
			return engine.ImageReply{RequestID: failure.err.RequestID}, failure.err
		}
		sink.Retrying(attempt, pause, failure.err)
		if err := c.cfg.Retry.Sleep(ctx, pause); err != nil {
			return engine.ImageReply{RequestID: failure.err.RequestID}, failure.err
		}
	}
}

// routed sends the call to the deployment's path where Azure wants one.
func (c *Client) routed(op, model string) option.RequestOption {
	return option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		req.URL.Path = c.base.Path + c.path(op, model)
		return next(req)
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
		User:             optString(call.User),
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
