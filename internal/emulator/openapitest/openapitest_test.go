package openapitest_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"mediagen/internal/emulator/openapitest"
)

// spy is a testing.TB that notes failures instead of failing.
type spy struct {
	testing.TB
	failures []string
}

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) {
	s.failures = append(s.failures, fmt.Sprintf(format, args...))
}

func document(t *testing.T) []byte {
	t.Helper()
	doc, err := os.ReadFile("../../../testdata/cases/openai-openapi-media.json")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

const (
	goodRequest = `{"prompt":"x","model":"m","n":2,"complexity":"low","output_format":"svg",` +
		`"svg":{"reasoning":{"effort":"low"}}}`
	goodUsage = `"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3,` +
		`"input_tokens_details":{"text_tokens":1,"image_tokens":0}}}`
	goodReply = `{"created":1,"background":"opaque","data":[{"b64_json":"AA=="}],"output_format":"png","quality":"max",` +
		`"size":"1280x720","safety_identifier":null,` + goodUsage
	goodEvent = "event: image_generation.completed\ndata: " +
		`{"type":"image_generation.completed","b64_json":"AA==","created_at":1,"size":"64x64","quality":"low",` +
		`"background":"opaque","output_format":"png",` + goodUsage + "\n\n"
	goodError = `{"error":{"message":"no","type":"t","param":null,"code":"c"}}`
)

// exchange sends one request through the handler and returns what it complains about.
func exchange(t *testing.T, r *http.Request, status int, contentType, body string, header ...string) string {
	t.Helper()
	s := &spy{TB: t}
	h := openapitest.Handler(s, document(t), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sink bytes.Buffer
		if _, err := sink.ReadFrom(r.Body); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", contentType)
		for _, name := range header {
			w.Header().Set(name, "x")
		}
		w.WriteHeader(status)
		if _, err := w.Write([]byte(body)); err != nil {
			t.Error(err)
		}
	}))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	if rec.Code != status || rec.Body.String() != body {
		t.Errorf("the handler changed the reply: %d %q", rec.Code, rec.Body.String())
	}
	return strings.Join(s.failures, "\n")
}

func post(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func edit(t *testing.T, values map[string]string, files ...string) *http.Request {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range files {
		part, err := w.CreateFormFile(name, "a.png")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte("bytes")); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range values {
		if err := w.WriteField(k, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/images/edits", &b)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return r
}

func TestHandlerAcceptsWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	const generations, jsonType = "/v1/images/generations", "application/json"
	for name, got := range map[string]string{
		"create": exchange(t, post(generations, goodRequest), 200, jsonType, goodReply),
		"azure":  exchange(t, post("/openai/deployments/d/images/generations", goodRequest), 200, jsonType, goodReply),
		"stream": exchange(t, post(generations, goodRequest), 200, "text/event-stream", goodEvent+goodEvent),
		"error":  exchange(t, post(generations, `{"n":"bad"}`), 400, jsonType, goodError),
		"fault":  exchange(t, post(generations, goodRequest), 200, "text/html", "<html>", "X-Emulator-Fault"),
		"edit": exchange(t, edit(t, map[string]string{
			"prompt": "x", "n": "2", "stream": "true", "partial_images": "1", "svg[reasoning][effort]": "low",
		}, "image[]", "image[]", "mask", "markup"), 200, jsonType, goodReply),
		"one image": exchange(t, edit(t, map[string]string{"prompt": "x"}, "image"), 200, jsonType, goodReply),
		"models": exchange(t, httptest.NewRequest(http.MethodGet, "/v1/models", nil), 200, jsonType,
			`{"object":"list","data":[{"id":"a","object":"model","created":1,"owned_by":"b","shutdown_date":null}]}`),
	} {
		if got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestHandlerRefusesTheRest(t *testing.T) {
	t.Parallel()
	const generations, jsonType = "/v1/images/generations", "application/json"
	change := func(s, old, new string) string {
		if !strings.Contains(s, old) {
			t.Errorf("%q is not in the sample", old)
		}
		return strings.Replace(s, old, new, 1)
	}
	request := func(body string) string { return exchange(t, post(generations, body), 200, jsonType, goodReply) }
	reply := func(body string) string { return exchange(t, post(generations, goodRequest), 200, jsonType, body) }
	stream := func(body string) string {
		return exchange(t, post(generations, goodRequest), 200, "text/event-stream", body)
	}
	formOf := func(field, value string, files ...string) string {
		return exchange(t, edit(t, map[string]string{"prompt": "x", field: value}, files...), 200, jsonType, goodReply)
	}
	get := httptest.NewRequest(http.MethodGet, generations, nil)
	for name, got := range map[string]string{
		"unknown request field":  request(change(goodRequest, `"n"`, `"nn"`)),
		"unknown request value":  request(change(goodRequest, `"svg",`, `"bmp",`)),
		"request type":           request(change(goodRequest, `2`, `"2"`)),
		"request is no json":     request(`{`),
		"unknown nested field":   request(change(goodRequest, `effort`, `force`)),
		"unknown reply field":    reply(change(goodReply, `"created"`, `"made":1,"created"`)),
		"missing reply field":    reply(change(goodReply, `"created":1,`, ``)),
		"reply quality auto":     reply(change(goodReply, `max`, `auto`)),
		"reply size auto":        reply(change(goodReply, `1280x720`, `auto`)),
		"reply url":              reply(change(goodReply, `"b64_json":"AA=="`, `"url":"/relative"`)),
		"reply type":             exchange(t, post(generations, goodRequest), 200, "text/html", "<html>"),
		"status":                 exchange(t, post(generations, goodRequest), 201, jsonType, goodReply),
		"event name":             stream(change(goodEvent, "completed\n", "complete\n")),
		"event without usage":    stream(change(goodEvent, `"usage"`, `"used"`)),
		"event is no json":       stream("data: {\n\n"),
		"stray line in a stream": stream("hello\n\n"),
		"error shape":            exchange(t, post(generations, goodRequest), 400, jsonType, `{"error":{"message":"no"}}`),
		"error is html":          exchange(t, post(generations, goodRequest), 500, "text/html", "<html>"),
		"unknown path":           exchange(t, post("/v1/images/paint", goodRequest), 200, jsonType, goodReply),
		"unknown method":         exchange(t, get, 200, jsonType, goodReply),
		"form field":             formOf("moderation", "low", "image"),
		"form number":            formOf("n", "two", "image"),
		"form range":             formOf("n", "11", "image"),
		"form without image":     formOf("n", "1"),
		"seventeen images":       formOf("n", "1", slices.Repeat([]string{"image[]"}, 17)...),
	} {
		if got == "" {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestHandlerNeedsADocument(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "[]", "{}", `{"components":{"schemas":{}}}`} {
		s := &fatalSpy{TB: t}
		func() {
			defer func() { _ = recover() }()
			openapitest.Handler(s, []byte(doc), http.NotFoundHandler())
		}()
		if !s.fatal {
			t.Errorf("document %q is taken", doc)
		}
	}
}

// fatalSpy notes Fatalf and leaves the function by panicking.
type fatalSpy struct {
	testing.TB
	fatal bool
}

func (s *fatalSpy) Helper() {}

func (s *fatalSpy) Fatalf(string, ...any) {
	s.fatal = true
	panic("fatal")
}
