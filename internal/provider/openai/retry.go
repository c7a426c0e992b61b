package openai

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Retry says how often a request is sent that the server provably did not take.
type Retry struct {
	Attempts int           // requests in all; 0 means 3
	Base     time.Duration // first pause without a Retry-After; 0 means 1 s, doubled each time
	MaxPause time.Duration // a longer Retry-After ends the attempts; 0 means 60 s
	// Sleep waits for d or until ctx ends; nil means a timer. Tests inject it.
	Sleep func(ctx context.Context, d time.Duration) error
}

func (r Retry) withDefaults() Retry {
	if r.Attempts == 0 {
		r.Attempts = 3
	}
	if r.Base == 0 {
		r.Base = time.Second
	}
	if r.MaxPause == 0 {
		r.MaxPause = time.Minute
	}
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	return r
}

// pause returns how long to wait before the next attempt, and false when waiting is no use.
func (r Retry) pause(ctx context.Context, attempt int, asked time.Duration) (time.Duration, bool) {
	d := asked
	if d == 0 {
		backoff := r.Base << min(attempt-1, 10)
		d = backoff - time.Duration(rand.Int64N(int64(backoff)/4+1)) //nolint:gosec // jitter needs no secrecy
	}
	if d > r.MaxPause {
		return 0, false
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return 0, false
	}
	return d, true
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// retryAfter reads Retry-After-Ms and Retry-After (seconds, fractions, or an HTTP date: RFC 9110 §10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, ok := positive(h.Get("Retry-After-Ms")); ok {
		return seconds(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, ok := positive(v); ok {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return seconds(at.Sub(now).Seconds())
	}
	return 0
}

// positive reads a number above 0; one that is too large for a float64 is infinite.
func positive(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil
	}
	return v, err == nil && v > 0
}

// seconds converts a server's number, which may be absurd, without overflow: at most a day.
func seconds(s float64) time.Duration {
	const day = 24 * 3600
	return time.Duration(min(s, day) * float64(time.Second))
}
