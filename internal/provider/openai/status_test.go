package openai_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
)

// answering serves one fixed answer.
func answering(t testing.TB, status int, contentType, body string, header ...string) *server {
	t.Helper()
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
}

// generate sends the plainest call.
func generate(t testing.TB, c *openai.Client, out *sink) (engine.ImageReply, error) {
	t.Helper()
	return c.GenerateImages(t.Context(), engine.ImageCall{Prompt: "a fox in the snow", Model: "m"}, out)
}

const jsonType = "application/json"

func TestErrorReplies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		status  int
		kind    string // Content-Type
		body    string
		header  []string
		want    outcome
		message string // the whole of it
		posts   int
		id      string
		after   time.Duration
	}{
		{
			name: "OpenAI's object", status: 400, kind: jsonType,
			body: `{"error":{"message":"Invalid size.","type":"invalid_request_error","param":"size",` +
				`"code":"invalid_value"}}`,
			want:    outcome{"invalid_request", "invalid_value", "no"},
			message: "answered 400 Bad Request: Invalid size. (parameter size)",
			header:  []string{"X-Request-Id", "req_1"}, id: "req_1",
		},
		{
			name: "an error that is a sentence", status: 400, kind: jsonType, body: `{"error":"no such sampler"}`,
			want: outcome{"invalid_request", "http_400", "no"}, message: "answered 400 Bad Request: no such sampler",
		},
		{
			name: "an error that is a list", status: 400, kind: jsonType, body: `{"error":["a"],"message":"outer"}`,
			want: outcome{"invalid_request", "http_400", "no"}, message: "answered 400 Bad Request: outer",
		},
		{
			name: "an object in a list", status: 400, kind: jsonType, body: `[{"error":{"message":"inner","code":"c1"}}]`,
			want: outcome{"invalid_request", "c1", "no"}, message: "answered 400 Bad Request: inner",
		},
		{
			name: "numeric code", status: 400, kind: jsonType,
			body: `{"error":{"message":"bad","code":400,"param":null,"type":7}}`,
			want: outcome{"invalid_request", "http_400", "no"}, message: "answered 400 Bad Request: bad",
		},
		{
			name: "fields at the top", status: 400, kind: jsonType, body: `{"object":"error","message":"bad","code":"nope"}`,
			want: outcome{"invalid_request", "nope", "no"}, message: "answered 400 Bad Request: bad",
		},
		{
			name: "detail is a sentence", status: 404, kind: jsonType, body: `{"detail":"Not Found"}`,
			want: outcome{"not_found", "http_404", "no"}, message: "answered 404 Not Found: Not Found",
		},
		{
			name: "detail is an object", status: 400, kind: jsonType, body: `{"detail":{"message":"deep","code":"c"}}`,
			want: outcome{"invalid_request", "http_400", "no"}, message: "answered 400 Bad Request: deep",
		},
		{
			name: "detail is a list", status: 422, kind: jsonType,
			body: `{"detail":[{"loc":["body","n",0],"msg":"too many","input":"a fox in the snow"},{"loc":[],` +
				`"msg":"also"},{"msg":7}]}`,
			want:    outcome{"invalid_request", "http_422", "no"},
			message: "answered 422 Unprocessable Entity: body.n.0: too many; also; 7",
		},
		{
			name: "empty body", status: 400, want: outcome{"invalid_request", "http_400", "no"},
			message: "answered 400 Bad Request",
		},
		{
			name: "plain text", status: 413, kind: "text/plain; charset=utf-8", body: "body too large\n",
			want: outcome{"invalid_request", "http_413", "no"}, message: "answered 413 Request Entity Too Large: body too large",
		},
		{
			name: "web page", status: 403, kind: "text/html", body: "<html>denied</html>",
			want: outcome{"auth", "http_403", "no"}, message: "answered 403 Forbidden",
		},
		{
			name: "JSON that breaks off", status: 400, kind: jsonType, body: `{"error":{"message":"bad`,
			want: outcome{"invalid_request", "http_400", "no"}, message: "answered 400 Bad Request",
		},
		{
			name: "fewer bytes than announced", status: 429, kind: jsonType, body: `{"error":{"message":"slow down"`, posts: 3,
			header: []string{"Content-Length", "5000"},
			want:   outcome{"rate_limited", "http_429", "no"}, message: "answered 429 Too Many Requests",
		},
		{
			name: "code of free words", status: 400, kind: jsonType,
			body: `{"error":{"message":"m","code":"a fox in the snow"}}`,
			want: outcome{"invalid_request", "http_400", "no"}, message: "answered 400 Bad Request: m",
		},
		{
			name: "codes count over the status", status: 403, kind: jsonType,
			body: `{"error":{"message":"m","code":"Content_Filter"}}`,
			want: outcome{"blocked", "Content_Filter", "no"}, message: "answered 403 Forbidden: m",
		},
		{
			name: "azure's filter in the inner error", status: 400, kind: jsonType,
			body: `{"error":{"message":"m","code":"BadRequest","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`,
			want: outcome{"blocked", "content_filter", "no"}, message: "answered 400 Bad Request: m",
		},
		{
			name: "azure's request id", status: 400, kind: jsonType, body: `{"error":{"message":"m","code":"contentFilter"}}`,
			header: []string{"Apim-Request-Id", "7b0c-1"}, id: "7b0c-1",
			want: outcome{"blocked", "contentFilter", "no"}, message: "answered 400 Bad Request: m",
		},
		{
			name: "quota by its type", status: 429, kind: jsonType,
			body: `{"error":{"message":"m","type":"insufficient_quota","code":"new_word"}}`,
			want: outcome{"quota", "new_word", "no"}, message: "answered 429 Too Many Requests: m",
		},
		{
			name: "billing limit by its words", status: 400, kind: jsonType,
			body: `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","code":null}}`,
			want: outcome{"quota", "http_400", "no"}, message: "answered 400 Bad Request: Billing hard limit has been reached",
		},
		{
			name: "moderation at the output stage", status: 400, kind: jsonType,
			body: `{"error":{"message":"m","code":"moderation_blocked","moderation_details":{"moderation_stage":"output",` +
				`"categories":[]}}}`,
			want:    outcome{"blocked", "moderation_blocked", "maybe"},
			message: "answered 400 Bad Request: m (blocked at the output stage)",
		},
		{
			name: "moderation at a stage that is not told", status: 400, kind: jsonType,
			body: `{"error":{"message":"m","code":"moderation_blocked","moderation_details":{"moderation_stage":"unknown"}}}`,
			want: outcome{"blocked", "moderation_blocked", "no"}, message: "answered 400 Bad Request: m",
		},
		{name: "payment", status: 402, want: outcome{"quota", "http_402", "no"}, message: "answered 402 Payment Required"},
		{
			name: "route is missing", status: 405, want: outcome{"not_found", "http_405", "no"},
			message: "answered 405 Method Not Allowed",
		},
		{name: "gone", status: 410, want: outcome{"not_found", "http_410", "no"}, message: "answered 410 Gone"},
		{
			name: "request timeout", status: 408, want: outcome{"unavailable", "http_408", "no"},
			message: "answered 408 Request Timeout",
		},
		{name: "conflict", status: 409, want: outcome{"unavailable", "http_409", "no"}, message: "answered 409 Conflict"},
		{name: "too early", status: 425, want: outcome{"unavailable", "http_425", "no"}, message: "answered 425 Too Early"},
		{
			name: "not implemented", status: 501, want: outcome{"unsupported", "http_501", "no"},
			message: "answered 501 Not Implemented",
		},
		{
			name: "server error", status: 500, want: outcome{"unavailable", "http_500", "maybe"},
			message: "answered 500 Internal Server Error",
		},
		{
			name: "gateway timeout", status: 504, want: outcome{"unavailable", "http_504", "maybe"},
			message: "answered 504 Gateway Timeout",
		},
		{
			name: "a status without a name", status: 529, want: outcome{"unavailable", "http_529", "maybe"},
			message: "answered 529",
		},
		{
			name: "unavailable", status: 503, posts: 3, header: []string{"Retry-After-Ms", "1500", "Retry-After", "9"},
			after: 1500 * time.Millisecond,
			want:  outcome{"unavailable", "http_503", "no"}, message: "answered 503 Service Unavailable",
		},
		{
			name: "the server says that waiting is no use", status: 429, header: []string{"X-Should-Retry", "false"},
			want: outcome{"rate_limited", "http_429", "no"}, message: "answered 429 Too Many Requests",
		},
		{
			name: "a server that wants a paid request again", status: 500,
			header: []string{"X-Should-Retry", "true", "Retry-After", "1"},
			want:   outcome{"unavailable", "http_500", "maybe"}, message: "answered 500 Internal Server Error",
			after: time.Second,
		},
		{
			name: "a request id that is none", status: 400, header: []string{"X-Request-Id", "a b\tc"},
			want: outcome{"invalid_request", "http_400", "no"}, message: "answered 400 Bad Request",
		},
		{
			name: "escape sequences and line breaks", status: 400, kind: jsonType,
			body: `{"error":{"message":"a\u001b[31mb\r\n\tc\u202ed\u0000\ud800","code":"c"}}`,
			want: outcome{"invalid_request", "c", "no"}, message: "answered 400 Bad Request: a[31mb cd\ufffd",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, out := answering(t, tt.status, tt.kind, tt.body, tt.header...), newSink()
			reply, err := generate(t, client(t, srv.URL), out)
			e, got := told(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%v: %s", err, diff)
			}
			if diff := cmp.Diff(tt.message, e.Message); diff != "" {
				t.Errorf("message: %s", diff)
			}
			if e.RequestID != tt.id || reply.RequestID != tt.id || e.RetryAfter != tt.after || e.Provider != "openai" {
				t.Errorf("request id %q and %q, retry after %s, provider %q", e.RequestID, reply.RequestID, e.RetryAfter,
					e.Provider)
			}
			if posts, _ := srv.counts(); posts != max(tt.posts, 1) {
				t.Errorf("%d requests, want %d", posts, max(tt.posts, 1))
			}
		})
	}
}

// TestRefusedKey tells a key that was refused from one that was not there, and promises nothing that the doctor does not
// do: it names where the key comes from and asks no server.
func TestRefusedKey(t *testing.T) {
	t.Parallel()
	const refused = "the server does not take this key; mediagen doctor names the file or variable that it comes from"
	for _, tt := range []struct {
		name          string
		status        int
		key           redact.Secret
		message, hint string
	}{
		{"refused", 401, redact.NewSecret(testKey), "answered 401 Unauthorized: the key was refused", refused},
		{
			"none", 401,
			redact.Secret{},
			"answered 401 Unauthorized: no key was sent",
			"no key was sent; set OPENAI_API_KEY",
		},
		{
			"no access", 403, redact.NewSecret(testKey), "answered 403 Forbidden: m",
			"the key has no access; use another project, or verify the organisation (which takes up to 30 minutes)",
		},
		{"no access without a key", 403, redact.Secret{}, "answered 403 Forbidden: m", "no key was sent; set OPENAI_API_KEY"},
	} {
		srv := answering(t, tt.status, jsonType, `{"error":{"message":"m"}}`)
		_, err := generate(t, client(t, srv.URL, func(c *openai.Config) { c.APIKey = tt.key }), newSink())
		e, _ := told(t, err)
		if diff := cmp.Diff([]string{tt.message, tt.hint}, []string{e.Message, e.Hint}); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestPauseBeyondTheTimeLimit names the limit: the server would have taken the request again later.
func TestPauseBeyondTheTimeLimit(t *testing.T) {
	t.Parallel()
	const limited = "answered 429 Too Many Requests; it may be sent again in 40s, after the time limit"
	for _, tt := range []struct {
		name, after string
		limit       time.Duration // of the caller; 0 is none
		message     string
		posts       int
	}{
		{"no limit", "40", 0, "answered 429 Too Many Requests", 3},
		{"a later limit", "40", time.Hour, "answered 429 Too Many Requests", 3},
		{"an earlier limit", "40", 30 * time.Second, limited, 1},
		{"no pause named", "", 30 * time.Second, "answered 429 Too Many Requests", 3},
	} {
		ctx, cancel := t.Context(), func() {}
		if tt.limit > 0 {
			ctx, cancel = context.WithTimeout(ctx, tt.limit)
		}
		srv := answering(t, 429, "", "", "Retry-After", tt.after)
		_, err := client(t, srv.URL).GenerateImages(ctx, engine.ImageCall{Prompt: "x", Model: "m"}, newSink())
		cancel()
		e, _ := told(t, err)
		posts, _ := srv.counts()
		if e.Message != tt.message || e.Kind != engine.KindRateLimited || posts != tt.posts {
			t.Errorf("%s: %s, %q, %d requests", tt.name, e.Kind, e.Message, posts)
		}
	}
}

func TestALongErrorReplyIsCut(t *testing.T) {
	t.Parallel()
	srv := answering(t, 400, jsonType, `{"error":{"message":"`+strings.Repeat("word \u00e4", 50_000)+`","code":"c"}}`)
	_, err := generate(t, client(t, srv.URL), newSink())
	e, _ := told(t, err)
	if n := len([]rune(e.Message)); n > 350 || !strings.HasSuffix(e.Message, "...") {
		t.Errorf("message of %d runes: %.60s", n, e.Message)
	}
	huge := answering(t, 400, jsonType, `{"error":{"message":"`+strings.Repeat("word ", 1<<20)+`"}}`)
	_, err = generate(t, client(t, huge.URL), newSink())
	if e, _ := told(t, err); e.Message != "answered 400 Bad Request" {
		t.Errorf("message = %.80q", e.Message)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := serve(t, http.NotFoundHandler())
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		// A client that would follow redirects, and would take the Api-Key header along.
		for _, follows := range []bool{false, true} {
			srv := answering(t, status, "", "",
				"Location", other.URL+"/v1/images/generations?sig=secret-word", "X-Request-Id", "r1")
			c := client(t, srv.URL, func(c *openai.Config) {
				if follows {
					c.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
					c.Azure = &openai.Azure{Endpoint: srv.URL, APIVersion: "v"}
				}
			})
			_, err := generate(t, c, newSink())
			e, got := told(t, err)
			want := outcome{engine.KindUnavailable, "redirected", engine.BilledNo}
			if status == 303 || status == 300 || status == 304 {
				want = outcome{engine.KindUnknownOutcome, "redirected", engine.BilledMaybe}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d: %v: %s", status, err, diff)
			}
			if strings.Contains(e.Message+e.Hint, "secret-word") || e.RequestID != "r1" {
				t.Errorf("%d: %s; %s", status, e.Message, e.Hint)
			}
			if want.Billed == engine.BilledNo && !strings.Contains(e.Hint, "leads to "+other.URL) {
				t.Errorf("%d: hint %q does not name the target", status, e.Hint)
			}
			if posts, _ := srv.counts(); posts != 1 {
				t.Errorf("%d: %d requests", status, posts)
			}
		}
	}
	if posts, gets := other.counts(); posts+gets > 0 {
		t.Errorf("%d requests went to the other origin", posts+gets)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	secure := serve(t, http.NotFoundHandler())
	selfSigned := httptest.NewTLSServer(http.NotFoundHandler())
	selfSigned.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // it complains about our refusal
	t.Cleanup(selfSigned.Close)
	tests := []struct {
		name, origin, message string
		pauses                int
	}{
		{"a refused connection", refused, "no server answers there", 2},
		{"an unknown certificate", selfSigned.URL, "its certificate is not trusted", 0},
		{
			"plain HTTP where TLS is wanted", strings.Replace(secure.URL, "http:", "https:", 1),
			"no connection could be set up", 0,
		},
		{"no such host", "http://mediagen-test.invalid", "", -1}, // a resolver may also be out of reach
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for op, send := range map[string]func(*openai.Client, *sink) error{
				"generate": func(c *openai.Client, s *sink) error { _, err := generate(t, c, s); return err },
				"edit": func(c *openai.Client, s *sink) error {
					_, err := c.EditImages(t.Context(),
						engine.ImageCall{Prompt: "p", Images: []engine.Input{input("a.png", "image/png", []byte("x"))}}, s)
					return err
				},
			} {
				out := newSink()
				err := send(client(t, tt.origin), out)
				e, got := told(t, err)
				if diff := cmp.Diff(outcome{engine.KindUnavailable, "connection_failed", engine.BilledNo}, got); diff != "" {
					t.Errorf("%s: %s", op, diff)
				}
				if !strings.Contains(e.Message, tt.message) || !strings.HasSuffix(e.Message, "nothing was billed") {
					t.Errorf("%s: message %q", op, e.Message)
				}
				if tt.pauses >= 0 && len(out.pauses) != tt.pauses {
					t.Errorf("%s: %d pauses, want %d", op, len(out.pauses), tt.pauses)
				}
			}
		})
	}
}
