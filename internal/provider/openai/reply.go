package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// readBuffer is how much of a reply is held at once, in bytes.
const readBuffer = 64 << 10

// receiver reads one reply into a sink.
type receiver struct {
	c       *Client
	ctx     context.Context //nolint:containedctx // lives as long as one reply is read
	call    engine.ImageCall
	sink    engine.ImageSink
	reply   engine.ImageReply
	slot    engine.Slot // where the next picture of a stream belongs
	foreign int         // pictures that lie at another origin
	broken  error       // why a picture that was there could not be used
}

// body is the part of a reply that is not a picture. Streamed events share its fields.
type body struct {
	Type         string     `json:"type"`
	Created      number     `json:"created"`
	CreatedAt    number     `json:"created_at"`
	Background   string     `json:"background"`
	OutputFormat string     `json:"output_format"`
	Quality      string     `json:"quality"`
	Size         string     `json:"size"`
	Data         []item     `json:"data"`
	Usage        *usage     `json:"usage"`
	Error        *errorBody `json:"error"`
}

type item struct {
	URL string `json:"url"`
}

type errorBody struct {
	Code    any    `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
}

type usage struct {
	InputTokens        number  `json:"input_tokens"`
	OutputTokens       number  `json:"output_tokens"`
	TotalTokens        number  `json:"total_tokens"`
	InputTokensDetails details `json:"input_tokens_details"`
	OutputTokenDetails details `json:"output_tokens_details"`
}

type details struct {
	TextTokens  number `json:"text_tokens"`
	ImageTokens number `json:"image_tokens"`
	Cached      struct {
		TextTokens  number `json:"text_tokens"`
		ImageTokens number `json:"image_tokens"`
	} `json:"cached_tokens_details"`
}

// number is a count that compatible servers send as 1, 1.0, "1" or null.
type number int64

// UnmarshalJSON never fails: a count that cannot be read is 0, for it must not cost a picture.
func (n *number) UnmarshalJSON(raw []byte) error {
	var f float64
	if json.Unmarshal(bytes.Trim(raw, `"`), &f) == nil && f > 0 && f < 1<<53 {
		*n = number(f)
	}
	return nil
}

// receive reads a 2xx or 3xx reply. Whatever goes wrong from here on may have been billed.
func (c *Client) receive(
	ctx context.Context, call engine.ImageCall, res *http.Response, sink engine.ImageSink,
) (engine.ImageReply, error) {
	defer func() { _ = res.Body.Close() }()
	r := &receiver{c: c, ctx: ctx, call: call, sink: sink, reply: engine.ImageReply{RequestID: requestID(res)}}
	if res.StatusCode >= http.StatusMultipleChoices {
		e := c.errorf(engine.KindUnavailable, "redirected", "answered %d %s; redirects are not followed, nothing was billed",
			res.StatusCode, http.StatusText(res.StatusCode)).
			WithHint("set the base URL to the address that answers itself")
		e.RequestID = r.reply.RequestID
		return r.reply, e
	}
	err := r.read(res)
	if err == nil {
		err = r.verdict()
	}
	if err == nil {
		return r.reply, nil
	}
	return r.reply, r.fail(err)
}

// read dispatches on what the bytes are: a stream of events, a JSON object, or something that is no answer.
func (r *receiver) read(res *http.Response) error {
	in := bufio.NewReaderSize(res.Body, readBuffer)
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media == "text/event-stream" {
		return r.events(in)
	}
	for {
		head, err := in.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the reply is empty")
		case err != nil:
			return err
		}
		switch head[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = in.Discard(1) // cannot fail: peeked
		case '{':
			b, err := r.object(in)
			if err != nil {
				return err
			}
			return r.finish(b)
		case '<':
			return errors.New("the reply is a web page, not JSON")
		default:
			return errors.New("the reply is not JSON")
		}
	}
}

// object reads one JSON object, pictures streamed out. Pictures before a cut are kept.
func (r *receiver) object(in *bufio.Reader) (body, error) {
	s := &scanner{in: in, take: r.picture}
	var b body
	if err := s.scan(); err != nil {
		return b, err
	}
	if err := json.Unmarshal(s.skeleton.Bytes(), &b); err != nil {
		return b, fmt.Errorf("the reply has an unexpected shape: %w", errSyntax)
	}
	return b, nil
}

// picture decodes one picture into the sink. Base64 that cannot be read costs that picture, not the others.
func (r *receiver) picture(index int, text io.Reader) error {
	slot := r.slot
	if slot.Partial == 0 && r.slot.Index == 0 {
		slot.Index = index
	}
	w, err := r.sink.Picture(slot)
	if err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, sniff.NewBase64Reader(text, false), make([]byte, readBuffer/2))
	if err == nil && n == 0 {
		err = errors.New("the picture is empty")
	}
	if err != nil {
		w.Abort()
		if fault.CodeOf(err) == fault.InvalidBase64 {
			r.broken = err
			return nil
		}
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	if slot.Partial == 0 {
		r.reply.Pictures++
	}
	return nil
}

// finish takes what the reply says beside its pictures and fetches the ones that it only names.
func (r *receiver) finish(b body) error {
	if b.Error != nil {
		return r.refused(b.Error)
	}
	r.note(b)
	for i, it := range b.Data {
		if it.URL == "" {
			continue
		}
		if err := r.link(i, it.URL); err != nil {
			return err
		}
	}
	return nil
}

// note keeps the resolved parameters and the usage. Streams report usage with each completed picture: it adds up.
func (r *receiver) note(b body) {
	r.reply.Size, r.reply.Quality = b.Size, b.Quality
	r.reply.Background, r.reply.OutputFormat = b.Background, b.OutputFormat
	if at := max(b.Created, b.CreatedAt); at > 0 {
		r.reply.Created = time.Unix(int64(at), 0).UTC()
	}
	if b.Usage == nil {
		return
	}
	u, in, out := &r.reply.Usage, b.Usage.InputTokensDetails, b.Usage.OutputTokenDetails
	u.Reported = true
	u.InputTokens += int64(b.Usage.InputTokens)
	u.OutputTokens += int64(b.Usage.OutputTokens)
	u.TotalTokens += int64(b.Usage.TotalTokens)
	u.InputTextTokens += int64(in.TextTokens)
	u.InputImageTokens += int64(in.ImageTokens)
	u.CachedTextTokens += int64(min(in.Cached.TextTokens, in.TextTokens))
	u.CachedImageTokens += int64(min(in.Cached.ImageTokens, in.ImageTokens))
	u.OutputTextTokens += int64(out.TextTokens)
	u.OutputImageTokens += int64(out.ImageTokens)
}

// refused is an error object inside of a 2xx reply or a stream.
func (r *receiver) refused(e *errorBody) error {
	code, _ := e.Code.(string)
	rule, known := byCode(code)
	if !known {
		rule = statusRule{kind: engine.KindUnknownOutcome}
	}
	if code == "" {
		code = "error_in_reply"
	}
	err := r.c.errorf(rule.kind, fault.Code(code), "answered with an error: %s", r.c.foreign(e.Message, r.call)).
		Bill(engine.BilledMaybe)
	if rule.hint != "" {
		err = err.WithHint("%s", rule.hint)
	}
	return err
}

// verdict decides whether a complete reply held what was asked for.
func (r *receiver) verdict() error {
	switch {
	case r.reply.Pictures > 0 && r.broken == nil:
		return nil
	case r.broken != nil:
		return fmt.Errorf("a picture of the reply cannot be decoded: %w", r.broken)
	case r.foreign > 0:
		return r.c.errorf(engine.KindUnknownOutcome, fault.URLNotAllowed,
			"the reply links to another origin, which is not read; the picture was made and the link is kept in the job").
			Bill(engine.BilledYes)
	}
	return errors.New("the reply holds no picture")
}

// fail wraps what went wrong after the request had been taken.
func (r *receiver) fail(err error) error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		if e.RequestID == "" {
			e.RequestID = r.reply.RequestID
		}
		return e
	}
	var out *engine.Error
	if r.ctx.Err() != nil || isTransport(err) {
		out = r.c.unknown(r.ctx, err)
		if isTransport(err) && r.ctx.Err() == nil {
			out.Message = "the reply broke off before it was complete; it may have been billed"
		}
	} else {
		out = r.c.errorf(engine.KindUnknownOutcome, "unusable_reply", "%s; it may have been billed", err.Error()).
			WithCause(err).Bill(engine.BilledMaybe)
	}
	out.RequestID = r.reply.RequestID
	return out
}

// isTransport reports whether reading the reply failed, as opposed to what it said. A transport error's own text may
// hold remote bytes, so it is never shown.
func isTransport(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, errSyntax) && !isOurs(err)
}

// isOurs reports whether the text of err was written here.
func isOurs(err error) bool {
	for _, prefix := range []string{"the reply ", "the picture ", "a picture "} {
		if strings.HasPrefix(err.Error(), prefix) {
			return true
		}
	}
	return false
}
