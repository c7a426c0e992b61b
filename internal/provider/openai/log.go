package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3/option"

	"mediagen/internal/engine"
)

// observe logs one line a request: method, path, status, request id, time; never headers, query or body.
func (c *Client) observe(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	start := time.Now()
	res, err := next(req)
	attrs := []any{
		"provider", c.cfg.Name, "method", req.Method, "path", c.clean(req.URL.Path),
		"ms", time.Since(start).Milliseconds(), "request_bytes", req.ContentLength,
	}
	if err != nil {
		c.cfg.Log.DebugContext(req.Context(), "request failed", attrs...)
		return res, err
	}
	attrs = append(attrs,
		"status", res.StatusCode, "request_id", c.requestID(res.Header), "reply_bytes", res.ContentLength)
	c.cfg.Log.DebugContext(req.Context(), "request answered", attrs...)
	return res, nil
}

// logCall logs the parameters of a call, which include the prompt, when the user asked for that. Whatever a user may
// have put into them, keys are taken out, and base64 too unless LogScrub lets it.
func (c *Client) logCall(ctx context.Context, op string, call engine.ImageCall) {
	if !c.cfg.LogBodies {
		return
	}
	var inputs []string
	for _, in := range call.Images {
		inputs = append(inputs, c.spell(in.Name+" "+in.MIME))
	}
	c.cfg.Log.InfoContext(ctx, "request body", "provider", c.cfg.Name, "op", op, "model", c.spell(call.Model),
		"prompt", c.spell(call.Prompt), "n", call.N, "size", call.Size, "quality", call.Quality,
		"background", call.Background, "output_format", call.OutputFormat, "inputs", inputs,
		"mask", call.Mask != nil, "markup", call.Markup != nil, "extra", c.extraText(call.Extra))
}

// extraText renders extra parameters for the log.
func (c *Client) extraText(extra map[string]any) string {
	if len(extra) == 0 {
		return ""
	}
	text, err := json.Marshal(extra)
	if err != nil {
		return fmt.Sprintf("%d parameters that are not JSON", len(extra))
	}
	return c.spell(string(text))
}
