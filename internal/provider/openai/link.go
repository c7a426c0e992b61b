package openai

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mediagen/internal/engine"
)

// linkAttempts is how often a finished picture is asked for: reading costs nothing, losing it does.
const linkAttempts = 4

// link reads a picture that the reply only names: from the configured origin with the provider's own client and key, as
// design.md §8 says. A link to another origin is handed to the sink and not followed.
func (r *receiver) link(index int, raw string) error {
	ref, err := url.Parse(raw)
	if err != nil {
		return r.otherOrigin(index, raw)
	}
	u := r.c.base.ResolveReference(ref)
	if u.Scheme != r.c.base.Scheme || !strings.EqualFold(u.Host, r.c.base.Host) || u.User != nil {
		return r.otherOrigin(index, raw)
	}
	for attempt := 1; ; attempt++ {
		err := r.download(index, u)
		if err == nil {
			r.reply.Pictures++
			return nil
		}
		if r.ctx.Err() != nil || attempt == linkAttempts {
			r.sink.Link(index, raw)
			return r.c.errorf(engine.KindUnknownOutcome, "download_failed",
				"the picture was made, but reading it from the server failed; the link is kept in the job").
				WithCause(err).Bill(engine.BilledYes)
		}
		pause, ok := r.c.cfg.Retry.pause(r.ctx, attempt, 0)
		if !ok {
			pause = time.Millisecond
		}
		if err := r.c.cfg.Retry.Sleep(r.ctx, pause); err != nil {
			return err
		}
	}
}

func (r *receiver) otherOrigin(index int, raw string) error {
	r.foreign++
	r.sink.Link(index, raw)
	return nil
}

func (r *receiver) download(index int, u *url.URL) error {
	res, err := r.c.get(r.ctx, u)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return &statusError{res.StatusCode}
	}
	w, err := r.sink.Picture(engine.Slot{Index: index})
	if err != nil {
		return err
	}
	n, err := io.Copy(struct{ io.Writer }{w}, res.Body)
	if err != nil {
		w.Abort()
		return err
	}
	if n == 0 {
		w.Abort()
		return io.ErrUnexpectedEOF
	}
	return w.Commit()
}

// get asks the configured origin for a picture. The caller has checked the origin and closes the body.
func (c *Client) get(ctx context.Context, u *url.URL) (*http.Response, error) {
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
	return c.cfg.HTTPClient.Do(req)
}

// statusError is a download that was answered with another status than 200.
type statusError struct{ status int }

func (e *statusError) Error() string { return "status " + http.StatusText(e.status) }
