package openai

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"mediagen/internal/engine"
)

// TestAnErrorReplyThatNeverEnds is told by its status, soon.
func TestAnErrorReplyThatNeverEnds(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "not for you")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	c, err := New(Config{Name: "openai", BaseURL: srv.URL, HTTPClient: &http.Client{Transport: &http.Transport{}}})
	if err != nil {
		t.Fatal(err)
	}
	if c.patience != errorBodyTime {
		t.Errorf("patience = %s", c.patience)
	}
	c.patience = 50 * time.Millisecond
	_, err = c.GenerateImages(t.Context(), engine.ImageCall{Prompt: "p"}, nil)
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Kind != engine.KindAuth || e.Message != "answered 403 Forbidden: not for you" {
		t.Errorf("error = %v", err)
	}
}
