package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"mediagen/internal/engine"
	"mediagen/internal/redact"
	"mediagen/internal/sniff"
)

// readBuffer is how much of a reply is held at once, in bytes.
const readBuffer = 64 << 10

// maxPictures bounds the pictures of one reply, partial ones and links included. OpenAI makes 10 with 3 partials each;
// a reply without an end must not fill a folder with files.
const maxPictures = 128

const errTooMany = replyError("the reply holds more than 128 pictures")

// lastCreated is the end of the year 9999, where RFC 3339 ends, in Unix seconds. Servers that count milliseconds are
// beyond it.
const lastCreated = 253402300799

// receiver reads one reply into a sink.
type receiver struct {
	c     *Client
	ctx   context.Context // lives as long as the reply is read
	call  engine.ImageCall
	sink  engine.ImageSink
	reply engine.ImageReply

	seen     int           // pictures so far, partial ones and links included
	base     int           // index of the first picture of the object that is being read
	used     int           // pictures of that object, whether they made it or not
	partials int           // partial pictures that came since the last final one
	have     map[int]bool  // final pictures that are safe
	lost     map[int]error // final pictures that came, or were named, and are not safe
}

// receive reads a 2xx or 3xx reply, which its caller closes. Whatever goes wrong from here on may have been billed.
func (c *Client) receive(
	ctx context.Context, call engine.ImageCall, res *http.Response, sink engine.ImageSink,
) (engine.ImageReply, error) {
	r := &receiver{
		c: c, ctx: ctx, call: call, sink: sink, have: map[int]bool{}, lost: map[int]error{},
		reply: engine.ImageReply{RequestID: c.requestID(res.Header)},
	}
	var err error
	if res.StatusCode >= http.StatusMultipleChoices {
		err = r.redirected(res)
	} else {
		err = r.read(res)
	}
	if err == nil {
		err = r.verdict()
	}
	if err == nil {
		return r.reply, nil
	}
	failed := r.fail(err)
	if r.enough(failed) {
		sink.Warn("all pictures came, but the end of the reply did not: " + failed.Message)
		return r.reply, nil
	}
	return r.reply, failed
}

// enough reports whether everything that was asked for is safe, so that a reply that ends badly behind it is no
// failure.
// An error that the server itself tells of is one.
func (r *receiver) enough(failed *engine.Error) bool {
	ended := failed.Code == codeNoAnswer || failed.Code == codeUnusable
	return ended && len(r.lost) == 0 && r.reply.Pictures >= max(r.call.N, 1)
}

// redirected tells about an answer that sends us elsewhere. 303 says that the request was done and where to see what
// came of it (RFC 9110 §15.4.4); the others that it is to be made there.
func (r *receiver) redirected(res *http.Response) error {
	line := statusLine(res.StatusCode)
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.c.errorf(engine.KindUnavailable, "redirected", "%s; redirects are not followed, nothing was billed", line).
			WithHint("set the base URL to the address that answers itself%s", target(res))
	}
	return r.c.errorf(engine.KindUnknownOutcome, "redirected", "%s instead of pictures; it may have been billed", line).
		Bill(engine.BilledMaybe)
}

// target names the origin that a redirect points to.
func target(res *http.Response) string {
	u, err := res.Location()
	if err != nil || u.Host == "" {
		return ""
	}
	return "; the redirect leads to " + redact.URL(u.Scheme+"://"+u.Host)
}

// read dispatches on what the bytes are: a JSON object, a stream of events, a picture, or something that is no answer.
// Content types of compatible servers and gateways are not to be relied on.
func (r *receiver) read(res *http.Response) error {
	in := bufio.NewReaderSize(http.MaxBytesReader(nil, res.Body, sniff.DefaultBounds().Reply), readBuffer)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = in.Discard(3) // cannot fail: peeked
	}
	first, err := firstByte(in)
	switch media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case errors.Is(err, io.EOF):
		return replyError("the reply is empty")
	case err != nil:
		return err
	case first == '{':
		b, err := r.object(in, nil)
		if err == nil {
			_, err = r.finish(b)
		}
		return err
	case media == "text/event-stream" || startsStream(in):
		return r.events(in)
	case first == '<':
		return replyError("the reply is a web page, not JSON")
	}
	return r.bare(in)
}

// startsStream reports whether what comes looks like server-sent events.
func startsStream(in *bufio.Reader) bool {
	const longest = "event:"
	head, _ := in.Peek(len(longest)) // a reply that is shorter is none
	for _, field := range []string{":", "data:", longest} {
		if bytes.HasPrefix(head, []byte(field)) {
			return true
		}
	}
	return false
}

// bare takes a reply that is one picture without any JSON, as some servers send it when they are asked for a file.
func (r *receiver) bare(in *bufio.Reader) error {
	head, err := in.Peek(sniff.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if sniff.Detect(head).Kind != sniff.KindImage {
		return replyError("the reply is not JSON")
	}
	return r.settle(engine.Slot{}, r.store(engine.Slot{}, in))
}

// object reads one JSON object, pictures streamed out. Pictures before a cut are kept. stream is the event that it
// belongs to, nil outside of a stream.
func (r *receiver) object(in *bufio.Reader, stream *eventStream) (replyBody, error) {
	r.used = 0
	s := &scanner{in: in}
	partial := func() bool {
		return stream != nil &&
			(strings.HasSuffix(s.kind, "partial_image") || strings.HasSuffix(stream.name, "partial_image"))
	}
	s.take = func(index int, text io.Reader) error {
		slot := engine.Slot{Index: r.base + index}
		if partial() {
			slot.Partial = r.partials + 1
		}
		return r.picture(slot, text)
	}
	if err := s.scan(); err != nil {
		return replyBody{}, err
	}
	event := ""
	if stream != nil {
		event = stream.name
	}
	b, err := decodeBody(s.skeleton.Bytes(), event)
	b.partial = partial()
	return b, err
}

// picture decodes one picture into the sink. One that is there already, for some servers send it twice, is passed over.
func (r *receiver) picture(slot engine.Slot, text io.Reader) error {
	if slot.Partial == 0 {
		r.used = max(r.used, slot.Index-r.base+1)
	}
	if slot.Partial == 0 && r.have[slot.Index] {
		return nil
	}
	if r.seen++; r.seen > maxPictures {
		return errTooMany
	}
	// Some servers wrap lines as mail does.
	return r.settle(slot, r.store(slot, sniff.NewBase64Reader(text, true)))
}

// finish takes what an object says beside its pictures and fetches the ones that it only names. It reports whether the
// object held, or named, a final picture.
func (r *receiver) finish(b replyBody) (final bool, err error) {
	if b.partial && b.refusal == nil {
		r.partials++
		r.base += r.used // a partial that was not known as one in time has a place of its own
		return false, nil
	}
	r.note(b)
	items := b.items()
	for i, it := range items {
		if it.URL == "" || r.have[r.base+i] {
			continue
		}
		if r.seen++; r.seen > maxPictures {
			return false, errTooMany
		}
		r.link(r.base+i, it.URL)
	}
	if b.refusal != nil {
		return false, r.refused(*b.refusal)
	}
	final = r.used > 0 || len(items) > 0
	r.base += max(r.used, len(items))
	if final {
		r.partials = 0
	}
	return final, nil
}

// note keeps the resolved parameters and the usage. Streams report usage with each completed picture: it adds up.
func (r *receiver) note(b replyBody) {
	r.reply.Size, r.reply.Quality = b.Size, b.Quality
	r.reply.Background, r.reply.OutputFormat = b.Background, b.OutputFormat
	if at := max(b.Created, b.CreatedAt); at > 0 && at <= lastCreated {
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

// refused is an error inside of a 2xx reply or a stream.
func (r *receiver) refused(s said) error {
	rule, known := s.rule()
	if !known {
		rule.kind = engine.KindUnknownOutcome
	}
	text := "answered with an error"
	if s.message != "" {
		text += ": " + r.c.foreign(s.message, r.call)
	}
	err := r.c.errorf(rule.kind, r.c.codeOr(s.code, "error_in_reply"), "%s", text).Bill(engine.BilledMaybe)
	if rule.hint != "" {
		err = err.WithHint("%s", rule.hint)
	}
	return err
}

// verdict decides whether a complete reply held what was asked for.
func (r *receiver) verdict() error {
	if len(r.lost) > 0 {
		return r.lost[slices.Min(slices.Collect(maps.Keys(r.lost)))]
	}
	if r.reply.Pictures == 0 {
		return replyError("the reply holds no picture")
	}
	return nil
}

// fail tells what went wrong after the request had been taken.
func (r *receiver) fail(err error) *engine.Error {
	var out *engine.Error
	told, isTold := errors.AsType[*engine.Error](err)
	sunk, isSunk := errors.AsType[*sinkError](err)
	_, isOurs := errors.AsType[replyError](err)
	tooLong, isTooLong := errors.AsType[*http.MaxBytesError](err)
	switch {
	case isSunk:
		out = engine.AsError(sunk.cause).Bill(engine.BilledYes)
	case isTold:
		e := *told
		out = &e
	case isOurs:
		out = r.c.errorf(engine.KindUnknownOutcome, codeUnusable, "%s; it may have been billed", err.Error()).
			WithCause(err).Bill(engine.BilledMaybe)
	case isTooLong:
		out = r.c.errorf(engine.KindUnknownOutcome, codeUnusable, "the reply has more than %d bytes; it may have been billed",
			tooLong.Limit).WithCause(err).Bill(engine.BilledMaybe)
	default:
		out = r.c.unknown(r.ctx, err)
		if r.ctx.Err() == nil && !timedOut(err) {
			out.Message = "the reply broke off before it was complete; it may have been billed"
		}
	}
	out.RequestID = r.reply.RequestID
	return out
}
