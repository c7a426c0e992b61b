package openai

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

const (
	linkAttempts = 4 // how often a finished picture is asked for: reading costs nothing, losing it does
	linkHops     = 3 // redirects within the origin
)

// link reads a picture that the reply only names: from the configured origin with the provider's own client and key, as
// design.md §8 says. A link to another origin is handed to the sink and not followed.
func (r *receiver) link(index int, raw string) {
	u, whole, own := r.c.resolve(r.c.base, raw)
	if !own {
		r.elsewhere(index, whole)
		return
	}
	var err error
	for attempt := 1; ; attempt++ {
		if err = r.download(index, u); err == nil {
			return
		}
		if moved, ok := errors.AsType[*movedError](err); ok {
			r.elsewhere(index, moved.to)
			return
		}
		if _, local := errors.AsType[*sinkError](err); local {
			r.sink.Link(index, whole)
			r.lost[index] = err
			return
		}
		if attempt == linkAttempts || !r.rest(attempt, err) {
			break
		}
	}
	r.sink.Link(index, whole)
	r.lost[index] = r.c.errorf(engine.KindUnknownOutcome, "download_failed",
		"the picture was made, but reading it from the server failed; the link is kept in the job").
		WithCause(err).Bill(engine.BilledYes)
}

// rest waits before the next attempt. It reports false when there is to be none.
func (r *receiver) rest(attempt int, err error) bool {
	var asked time.Duration
	if e, ok := errors.AsType[*statusError](err); ok {
		asked = e.after
	}
	pause, ok := r.c.cfg.Retry.pause(r.ctx, attempt, asked)
	return ok && r.c.cfg.Retry.Sleep(r.ctx, pause) == nil
}

// elsewhere keeps a link that is not followed here.
func (r *receiver) elsewhere(index int, raw string) {
	r.sink.Link(index, raw)
	r.lost[index] = r.c.errorf(engine.KindUnknownOutcome, fault.URLNotAllowed,
		"the reply links to another origin, which is not read; the picture was made and the link is kept in the job").
		Bill(engine.BilledYes)
}

// resolve reads a link against the address where it was found. It returns the link with scheme and host, as far as it
// can be read, and reports whether it leads to the configured origin; u is nil when it cannot be read.
func (c *Client) resolve(at *url.URL, raw string) (u *url.URL, whole string, own bool) {
	ref, err := url.Parse(raw)
	if err != nil {
		return nil, raw, false
	}
	u, whole = at.ResolveReference(ref), raw // a signature may cover the very spelling
	if !ref.IsAbs() {
		whole = u.String()
	}
	same := u.Scheme == c.base.Scheme && strings.EqualFold(u.Hostname(), c.base.Hostname()) && port(u) == port(c.base)
	return u, whole, same && u.User == nil
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// download asks for a picture once.
func (r *receiver) download(index int, u *url.URL) error {
	res, err := r.c.get(r.ctx, u)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return &statusError{res.StatusCode, retryAfter(res.Header, time.Now())}
	}
	in := bufio.NewReaderSize(res.Body, readBuffer)
	head, err := in.Peek(sniff.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if t := sniff.Detect(head).MIME; t == "text/html" || t == "application/json" {
		return replyError("the server sent a page or an error with status 200")
	}
	return r.store(engine.Slot{Index: index}, in)
}

// get asks the configured origin for a picture and follows redirects within it. The caller closes the body.
func (c *Client) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	for range linkHops {
		res, err := c.getOnce(ctx, u)
		if err != nil || res.StatusCode < 300 || res.Header.Get("Location") == "" {
			return res, err
		}
		_ = res.Body.Close() // nothing of it is needed
		next, whole, own := c.resolve(u, res.Header.Get("Location"))
		if !own {
			return nil, &movedError{whole}
		}
		u = next
	}
	return nil, replyError("the server redirects too often")
}

func (c *Client) getOnce(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	if c.cfg.APIKey.IsSet() {
		if c.cfg.Azure != nil {
			req.Header.Set("Api-Key", c.cfg.APIKey.Reveal())
		} else {
			req.Header.Set("Authorization", "Bearer "+c.cfg.APIKey.Reveal())
		}
	}
	return c.observe(req, c.http.Do)
}

// statusError is a download that was answered with another status than 200.
type statusError struct {
	status int
	after  time.Duration // how long the server asks to wait
}

// Error says the status.
func (e *statusError) Error() string { return statusLine(e.status) }

// movedError is a redirect to another origin.
type movedError struct{ to string }

// Error does not say where: the address may carry a signature.
func (e *movedError) Error() string { return "redirected to another origin" }
