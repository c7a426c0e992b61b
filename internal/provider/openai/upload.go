package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"mediagen/internal/engine"
)

// upload sends an edit as multipart through a pipe, so that no input is held in memory. The SDK's own Edit method
// would build the whole body first.
func (c *Client) upload(ctx context.Context, call engine.ImageCall) (*http.Response, error) {
	length, boundary, err := measure(call)
	if err != nil {
		return nil, err
	}
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	if err := form.SetBoundary(boundary); err != nil {
		return nil, fmt.Errorf("set multipart boundary: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		pw.CloseWithError(writeForm(form, call, openInput))
	}()
	defer func() { <-done }()
	// Whatever ends the request also ends the goroutine: its next write to the pipe fails.
	defer func() { _ = pr.Close() }()

	var res *http.Response
	err = c.sdk.Post(ctx, "images/edits", pr, nil,
		option.WithResponseBodyInto(&res),
		option.WithHeader("Content-Type", form.FormDataContentType()),
		option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			// A known length spares servers and gateways that refuse chunked uploads.
			req.ContentLength = length
			req.URL.Path = c.base.Path + c.path("edits", call.Model)
			return next(req)
		}))
	return res, err
}

// opener opens one input of a form.
type opener func(in engine.Input) (io.ReadCloser, error)

func openInput(in engine.Input) (io.ReadCloser, error) { return in.Open() }

// measure returns the length of the form in bytes: its frame, written once with empty files, plus the inputs' sizes.
func measure(call engine.ImageCall) (length int64, boundary string, err error) {
	var frame bytes.Buffer
	form := multipart.NewWriter(&frame)
	empty := func(engine.Input) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(nil)), nil }
	if err := writeForm(form, call, empty); err != nil {
		return 0, "", err
	}
	length = int64(frame.Len())
	for _, in := range call.Images {
		length += in.Size
	}
	for _, in := range []*engine.Input{call.Mask, call.Markup} {
		if in != nil {
			length += in.Size
		}
	}
	return length, form.Boundary(), nil
}

// writeForm writes the form as the SDK orders it and closes it. Files are read while they are written.
func writeForm(form *multipart.Writer, call engine.ImageCall, open opener) error {
	params, files, err := editParams(call, open)
	defer func() {
		for _, f := range files {
			_ = f.Close() // opened for reading only
		}
	}()
	if err != nil {
		return err
	}
	if err := params.MarshalMultipartTo(form); err != nil {
		return fmt.Errorf("write multipart: %w", err)
	}
	return form.Close()
}

// editParams translates a call into the SDK's multipart parameters. Each file goes with its sniffed type and a name: a
// bare reader would be sent as octet-stream, which OpenAI refuses.
func editParams(call engine.ImageCall, open opener) (sdk.ImageEditParams, []io.Closer, error) {
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
		User:             optString(call.User),
	}
	if call.OutputCompression != nil {
		p.OutputCompression = sdk.Int(int64(*call.OutputCompression))
	}
	p.Svg.Model = optString(call.SVGModel)
	p.Svg.Reasoning.Effort = call.SVGEffort
	extra, err := textFields(call)
	if err != nil {
		return p, nil, err
	}
	if len(extra) > 0 {
		p.SetExtraFields(extra)
	}
	files, err := attach(&p, call, open)
	return p, files, err
}

// attach opens the inputs and puts them into p: one input as `image`, several as `image[]`.
func attach(p *sdk.ImageEditParams, call engine.ImageCall, open opener) ([]io.Closer, error) {
	var files []io.Closer
	part := func(in engine.Input) (io.Reader, error) {
		rc, err := open(in)
		if err != nil {
			return nil, fmt.Errorf("open input %s: %w", in.Name, err)
		}
		files = append(files, rc)
		return sdk.File(rc, in.Name, in.MIME), nil
	}
	var images []io.Reader
	for _, in := range call.Images {
		r, err := part(in)
		if err != nil {
			return files, err
		}
		images = append(images, r)
	}
	if len(images) == 1 {
		p.Image.OfFile = images[0]
	} else {
		p.Image.OfFileArray = images
	}
	for _, extra := range []struct {
		in  *engine.Input
		dst *io.Reader
	}{{call.Mask, &p.Mask}, {call.Markup, &p.Markup}} {
		if extra.in == nil {
			continue
		}
		r, err := part(*extra.in)
		if err != nil {
			return files, err
		}
		*extra.dst = r
	}
	return files, nil
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
