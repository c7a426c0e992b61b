package emulator_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"mediagen/internal/emulator"
	"mediagen/internal/emulator/openapitest"
)

const testKey = "sk-test-4f0c8f2f7d1b"

// clock is the time of every test server.
func clock() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// logBuffer is a request log that can be read while the server writes.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// entries returns the log as objects.
func (l *logBuffer) entries(t *testing.T) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(l.String()) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		list = append(list, e)
	}
	return list
}

// start runs a server and returns its origin and log.
func start(t *testing.T, o emulator.Options) (string, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	o.Log, o.Now = log, clock
	s, err := emulator.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s.URL(), log
}

// checked runs a server whose traffic is held against OpenAI's document, and returns its origin.
func checked(t *testing.T, faults ...emulator.Fault) string {
	t.Helper()
	doc, err := os.ReadFile("../../testdata/cases/openai-openapi-media.json")
	if err != nil {
		t.Fatal(err)
	}
	h, err := emulator.NewHandler(emulator.Options{Faults: faults, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(openapitest.Handler(t, doc, h))
	t.Cleanup(s.Close)
	return s.URL
}

// sdk returns the real client for an origin, without retries.
func sdk(origin string) openai.ImageService {
	return openai.NewImageService(
		option.WithBaseURL(origin+"/v1/"), option.WithAPIKey(testKey), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: &http.Transport{}}))
}

// reply is an answer as it came over the wire.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send posts a body and returns the answer. The error is that of the transport or of reading the body.
func send(ctx context.Context, url, contentType string, body io.Reader, header map[string]string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+testKey)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, data}, err
}

// create posts a JSON create request: a small picture of a model without OpenAI's rules, unless params say otherwise.
func create(t *testing.T, origin string, params map[string]any, header map[string]string) (reply, error) {
	t.Helper()
	all := map[string]any{"prompt": "a red fox", "model": "test-model", "size": "96x64"}
	maps.Copy(all, params)
	body, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return send(t.Context(), origin+"/v1/images/generations", "application/json", bytes.NewReader(body), header)
}

// must fails the test on an error.
func must[T any](t *testing.T) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// imagesReply is the JSON answer.
type imagesReply struct {
	Created    int64
	Background string
	Format     string `json:"output_format"`
	Quality    string
	Size       string
	Data       []struct {
		B64 string `json:"b64_json"`
		URL string
	}
	Usage struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	}
}

func parse(t *testing.T, body []byte) imagesReply {
	t.Helper()
	var r imagesReply
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("reply is not JSON: %v", err)
	}
	return r
}

func unbase64(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		t.Fatalf("base64: %v", err)
	}
	return b
}

// apiError returns the error object of a reply as [type, code, param], with null as "".
func apiError(t *testing.T, body []byte) [3]string {
	t.Helper()
	var e struct {
		Error *struct {
			Message string
			Type    string
			Code    *string
			Param   *string
		}
	}
	if err := json.Unmarshal(body, &e); err != nil || e.Error == nil || e.Error.Message == "" {
		t.Fatalf("no error object: %v in %.200s", err, body)
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return [3]string{e.Error.Type, text(e.Error.Code), text(e.Error.Param)}
}

// pngOf returns a PNG of one colour; with hole, its left half is transparent.
func pngOf(t *testing.T, w, h int, hole bool) []byte {
	t.Helper()
	return pngIn(t, w, h, hole, color.NRGBA{40, 90, 160, 255})
}

func pngIn(t *testing.T, w, h int, hole bool, ink color.NRGBA) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := ink
			if hole && x < w/2 {
				c.A = 0
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
