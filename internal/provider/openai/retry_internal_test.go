package openai

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for _, tt := range []struct {
		ms, after string
		want      time.Duration
	}{
		{"", "", 0},
		{"", "2", 2 * time.Second},
		{"", " 2.5 ", 2500 * time.Millisecond},
		{"", "0.01", 10 * time.Millisecond},
		{"1500", "", 1500 * time.Millisecond},
		{"1500.5", "7", 1500500 * time.Microsecond},
		{"0", "7", 7 * time.Second},
		{"-3", "7", 7 * time.Second},
		{"soon", "7", 7 * time.Second},
		{"", "0", 0},
		{"", "-1", 0},
		{"", "soon", 0},
		{"", "NaN", 0},
		{"", "Inf", day},
		{"", "-Inf", 0},
		{"", "1e30", day},
		{"", "1e999", day},
		{"", "9223372036854775808", day},
		{"1e999", "", day},
		{"", "Mon, 30 Nov 2026 12:00:30 GMT", 30 * time.Second},
		{"", "Monday, 30-Nov-26 12:00:30 GMT", 30 * time.Second},
		{"", "Mon Nov 30 12:00:30 2026", 30 * time.Second},
		{"", "Mon, 30 Nov 2026 11:59:59 GMT", 0},
		{"", "Fri, 31 Dec 9999 23:59:59 GMT", day},
	} {
		h := http.Header{}
		h.Set("Retry-After", tt.after)
		h.Set("Retry-After-Ms", tt.ms)
		if got := retryAfter(h, now); got != tt.want {
			t.Errorf("Retry-After %q, Retry-After-Ms %q: %s, want %s", tt.after, tt.ms, got, tt.want)
		}
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	r := Retry{Base: time.Second, MaxPause: time.Minute}.withDefaults()
	for attempt, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second} {
		for range 50 {
			if d, ok := r.pause(t.Context(), attempt, 0); !ok || d > want || d < want*3/4 {
				t.Errorf("attempt %d: %s, want %s to %s", attempt, d, want*3/4, want)
			}
		}
	}
	for _, attempt := range []int{8, 40, 64, 1000} { // beyond the cap; a shift would overflow
		if d, ok := r.pause(t.Context(), attempt, 0); ok {
			t.Errorf("attempt %d: %s, want none", attempt, d)
		}
	}
	if _, ok := r.pause(t.Context(), 1, time.Minute+1); ok {
		t.Error("a pause above the cap is taken")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if d, ok := r.pause(ctx, 1, time.Minute); !ok || d != time.Minute {
		t.Errorf("pause = %s, %t", d, ok)
	}
	short, cancel2 := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel2()
	if _, ok := r.pause(short, 1, time.Minute); ok {
		t.Error("a pause beyond the deadline is taken")
	}
}

func TestDefaultsOfRetry(t *testing.T) {
	t.Parallel()
	r := Retry{}.withDefaults()
	if r.Attempts != 3 || r.Base != time.Second || r.MaxPause != time.Minute {
		t.Errorf("defaults = %+v", r)
	}
	if err := r.Sleep(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}
