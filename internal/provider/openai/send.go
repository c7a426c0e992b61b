package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3/option"

	"mediagen/internal/engine"
)

const (
	maxErrorBody  = 1 << 20          // bytes of an error reply that are read
	errorBodyTime = 10 * time.Second // how long they may take
)

// delivery records how far one request got, which decides whether it may be sent again (design.md §8).
type delivery struct {
	dialed    atomic.Bool // the network was asked for a connection
	connected atomic.Bool // a connection was there, so bytes may have left
	written   atomic.Bool // the whole request was handed to the network
	answer    *answer     // the server refused; nil when it did not
	patience  time.Duration
}

// answer is a reply with a status of 400 or more.
type answer struct {
	status int
	header http.Header
	body   []byte // its first maxErrorBody bytes, or what came of them
}

// Error says the status and nothing of the body.
func (a *answer) Error() string { return statusLine(a.status) }

// trace follows a request. net/http reports WroteRequest before it returns an error, so that a request that was written
// is never taken for one that was not.
func (d *delivery) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { d.dialed.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { d.connected.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				d.written.Store(true)
			}
		},
	})
}

// refuse takes error replies away from the SDK, which reads them whole and reports one that breaks off, or whose error
// is no object, as if there had been no reply: then a 400 would pass for an unknown outcome.
func (d *delivery) refuse(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil || res.StatusCode < http.StatusBadRequest {
		return res, err
	}
	defer func() { _ = res.Body.Close() }()
	// What can be read is enough: the status has said the most. Closing ends a read that waits.
	timer := time.AfterFunc(d.patience, func() { _ = res.Body.Close() })
	defer timer.Stop()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	d.answer = &answer{status: res.StatusCode, header: res.Header, body: body}
	return nil, d.answer
}

// Ends of an attempt of net/http's own.
var (
	errSent  = errors.New("the request was sent already")
	errOften = errors.New("the server refused the request again and again")
)

// maxBodies is how often one attempt may begin to send its request. Two of them happen in good order: a server that is
// about to restart refuses a request, and net/http asks for a body for the old connection and for the new one.
const maxBodies = 3

// once keeps net/http from sending a request again that was written whole: HTTP/2 does that after some resets of which
// nobody knows what the server had done before. Before that, another body is fine, for the server has half a request
// at most; but a server that refuses every head (GOAWAY, RFC 9113 section 6.8) would get one after the other, without
// end. A 307 asks for a body, too, which is not used then, so the first one after the request fails only when it is
// read.
func (d *delivery) once(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	open := req.GetBody
	if open == nil {
		return next(req)
	}
	bodies, spent := 1, false
	req.GetBody = func() (io.ReadCloser, error) {
		switch bodies++; {
		case d.written.Load() && !spent:
			spent = true
			return io.NopCloser(readerFunc(func([]byte) (int, error) { return 0, errSent })), nil
		case d.written.Load():
			return nil, errSent
		case bodies > maxBodies:
			return nil, errOften
		}
		return open()
	}
	return next(req)
}

// post sends one request through the SDK and returns a reply whose status is below 400, its body unread.
func (c *Client) post(
	ctx context.Context, d *delivery, path string, body any, opts ...option.RequestOption,
) (*http.Response, error) {
	var res *http.Response
	opts = append([]option.RequestOption{
		option.WithResponseBodyInto(&res),
		option.WithMiddleware(d.refuse, c.observe),
	}, opts...)
	opts = append(opts, option.WithMiddleware(d.once))
	if err := c.sdk.Post(d.trace(ctx), path, body, nil, opts...); err != nil {
		return nil, err
	}
	return res, nil
}

// sender makes one attempt.
type sender func(ctx context.Context, d *delivery) (*http.Response, error)

// create sends a request until the server may have taken it, then reads the reply. It never sends again after that.
func (c *Client) create(
	ctx context.Context, call engine.ImageCall, sink engine.ImageSink, send sender,
) (engine.ImageReply, error) {
	for attempt := 1; ; attempt++ {
		d := delivery{patience: c.patience}
		res, err := send(ctx, &d)
		if err == nil {
			defer func() { _ = res.Body.Close() }()
			return c.receive(ctx, call, res, sink)
		}
		failed := c.classify(ctx, err, &d, call)
		reply := engine.ImageReply{RequestID: failed.err.RequestID}
		if !failed.again || attempt >= c.cfg.Retry.Attempts {
			return reply, failed.err
		}
		pause, ok := c.cfg.Retry.pause(ctx, attempt, failed.err.RetryAfter)
		if !ok {
			return reply, failed.err
		}
		sink.Retrying(attempt, pause, failed.err)
		if c.cfg.Retry.Sleep(ctx, pause) == nil {
			continue
		}
		if context.Cause(ctx) != nil && !timedOut(ctx.Err()) {
			return reply, c.stopped(ctx.Err())
		}
		return reply, failed.err
	}
}
