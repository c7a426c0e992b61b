package emulator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/emulator"
)

// errorCase expects an error object and a status.
func errorCase(status int, kind, code, param string) func(t *testing.T, r reply, err error) {
	return func(t *testing.T, r reply, err error) {
		t.Helper()
		if err != nil || r.status != status {
			t.Fatalf("status = %d, error = %v, want %d", r.status, err, status)
		}
		if diff := cmp.Diff([3]string{kind, code, param}, apiError(t, r.body)); diff != "" {
			t.Error(diff)
		}
	}
}

// bodyCase expects a status, a content type and a part of the body.
func bodyCase(status int, contentType, part string) func(t *testing.T, r reply, err error) {
	return func(t *testing.T, r reply, err error) {
		t.Helper()
		if err != nil || r.status != status || !strings.HasPrefix(r.header.Get("Content-Type"), contentType) {
			t.Fatalf("status = %d, type %q, error = %v, want %d and %s",
				r.status, r.header.Get("Content-Type"), err, status, contentType)
		}
		if !bytes.Contains(r.body, []byte(part)) {
			t.Errorf("body lacks %q: %.200s", part, r.body)
		}
	}
}

// dataCase expects status 200 and looks at the parsed reply.
func dataCase(look func(t *testing.T, r imagesReply, raw []byte)) func(t *testing.T, r reply, err error) {
	return func(t *testing.T, r reply, err error) {
		t.Helper()
		if err != nil || r.status != http.StatusOK {
			t.Fatalf("status = %d, error = %v, want 200", r.status, err)
		}
		look(t, parse(t, r.body), r.body)
	}
}

func resetCase(t *testing.T, r reply, err error) {
	t.Helper()
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("status = %d, error = %v, want a connection reset", r.status, err)
	}
}

func moderationCase(t *testing.T, r reply, err error) {
	t.Helper()
	errorCase(400, "image_generation_user_error", "moderation_blocked", "")(t, r, err)
	const details = `"moderation_details":{"moderation_stage":"output","categories":["emulated"]}`
	bodyCase(400, "application/json", details)(t, r, err)
}

func rateLimitCase(t *testing.T, r reply, err error) {
	t.Helper()
	errorCase(429, "requests", "rate_limit_exceeded", "")(t, r, err)
	if got := r.header.Get("Retry-After"); got != "0.5" {
		t.Errorf("Retry-After = %q, want 0.5", got)
	}
}

func countCase(want int) func(t *testing.T, r reply, err error) {
	return dataCase(func(t *testing.T, r imagesReply, _ []byte) {
		t.Helper()
		if r.Data == nil || len(r.Data) != want {
			t.Errorf("%d pictures, want %d", len(r.Data), want)
		}
	})
}

func urlCase(prefix string) func(t *testing.T, r reply, err error) {
	return dataCase(func(t *testing.T, r imagesReply, _ []byte) {
		t.Helper()
		for _, d := range r.Data {
			if !strings.HasPrefix(d.URL, prefix) || d.B64 != "" {
				t.Errorf("url = %q with %d bytes of base64, want a url that begins with %q", d.URL, len(d.B64), prefix)
			}
		}
	})
}

func typeCase(magic string) func(t *testing.T, r reply, err error) {
	return dataCase(func(t *testing.T, r imagesReply, _ []byte) {
		t.Helper()
		if got := unbase64(t, r.Data[0].B64); !strings.HasPrefix(string(got), magic) {
			t.Errorf("picture begins with %q, want %q", got[:4], magic)
		}
	})
}

func truncatedCase(wantErr error) func(t *testing.T, r reply, err error) {
	return func(t *testing.T, r reply, err error) {
		t.Helper()
		if !errors.Is(err, wantErr) {
			t.Errorf("reading the body: %v, want %v", err, wantErr)
		}
		if n := bytes.Count(r.body, []byte("b64_json")); n != 2 || bytes.HasSuffix(r.body, []byte("}")) {
			t.Errorf("%d pictures begun, body ends with %q, want 2 and an open string", n, r.body[max(0, len(r.body)-8):])
		}
	}
}

// faultCases has at least one row for each fault: what two pictures asked for as PNG come to.
var faultCases = []struct {
	spec  string
	check func(t *testing.T, r reply, err error)
}{
	{"moderation:output", moderationCase},
	{"bad-key", errorCase(401, "invalid_request_error", "invalid_api_key", "")},
	{"unverified", errorCase(403, "invalid_request_error", "", "")},
	{"model-not-found", errorCase(404, "invalid_request_error", "model_not_found", "model")},
	{"rate-limit:0.5", rateLimitCase},
	{"quota", errorCase(429, "insufficient_quota", "insufficient_quota", "")},
	{"server-error", errorCase(500, "server_error", "server_error", "")},
	{"bad-gateway-html", bodyCase(502, "text/html", "<h1>502 Bad Gateway</h1>")},
	{"unavailable", errorCase(503, "service_unavailable_error", "server_is_overloaded", "")},
	{"cut-before-body", resetCase},
	{"cut-after-body", resetCase},
	{"html", bodyCase(200, "text/html", "<html>")},
	{"422-detail", bodyCase(422, "application/json", `{"detail":[{`)},
	{"400-object", bodyCase(400, "application/json", `{"object":"error"`)},
	{"empty", countCase(0)},
	{"fewer", countCase(1)},
	{"wrong-type", typeCase("\xff\xd8\xff")},
	{"url-same-origin", urlCase("http://127.0.0.1:")},
	{"url-relative", urlCase("/emulator/pictures/")},
	{"url-foreign", urlCase("http://127.0.0.1:")},
	{"url-foreign:https://pictures.invalid", urlCase("https://pictures.invalid/emulator/pictures/")},
	{"data-prefix", dataCase(func(t *testing.T, r imagesReply, _ []byte) {
		t.Helper()
		rest, ok := strings.CutPrefix(r.Data[1].B64, "data:image/png;base64,")
		if !ok || !bytes.HasPrefix(unbase64(t, rest), []byte("\x89PNG")) {
			t.Errorf("b64_json begins with %.30q, want a data URL of a PNG", r.Data[1].B64)
		}
	})},
	{"bad-base64", dataCase(func(t *testing.T, r imagesReply, _ []byte) {
		t.Helper()
		if n := strings.Count(r.Data[0].B64, "*"); n != 1 {
			t.Errorf("%d wrong characters, want 1", n)
		}
	})},
	{"escaped-slashes", dataCase(func(t *testing.T, r imagesReply, raw []byte) {
		t.Helper()
		unbase64(t, r.Data[0].B64)
		_, data, _ := bytes.Cut(raw, []byte("b64_json"))
		data, _, _ = bytes.Cut(data, []byte("output_format"))
		if all, escaped := bytes.Count(data, []byte("/")), bytes.Count(data, []byte(`\/`)); all == 0 || all != escaped {
			t.Errorf("%d of %d slashes are escaped, want all", escaped, all)
		}
	})},
	{"truncated-json", truncatedCase(nil)},
	{"truncated-json:reset", truncatedCase(io.ErrUnexpectedEOF)},
	{"big:2", dataCase(func(t *testing.T, r imagesReply, _ []byte) {
		t.Helper()
		for _, d := range r.Data {
			if n := len(unbase64(t, d.B64)); n != 2_000_000 {
				t.Errorf("picture has %d bytes, want 2000000", n)
			}
		}
	})},
	{"slow:40ms", countCase(2)},
	{"slow-headers:40ms", countCase(2)},
	{"json-for-stream", countCase(2)},
	{"cut-stream", countCase(2)}, // a fault of streams only
	{"stream-error", countCase(2)},
}

func TestEveryFault(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, tt := range faultCases {
		f := must[emulator.Fault](t)(emulator.ParseFault(tt.spec))
		covered[f.Name] = true
		t.Run("option/"+tt.spec, func(t *testing.T) {
			t.Parallel()
			origin, log := start(t, emulator.Options{Faults: []emulator.Fault{f}})
			r, err := create(t, origin, map[string]any{"n": 2}, nil)
			tt.check(t, r, err)
			if got := log.entries(t)[0]["fault"]; got != f.Name {
				t.Errorf("log names fault %v, want %s", got, f.Name)
			}
		})
		t.Run("header/"+tt.spec, func(t *testing.T) {
			t.Parallel()
			origin, _ := start(t, emulator.Options{})
			r, err := create(t, origin, map[string]any{"n": 2}, map[string]string{emulator.FaultHeader: tt.spec})
			tt.check(t, r, err)
			if err == nil && r.header.Get(emulator.FaultHeader) != f.Name {
				t.Errorf("reply names fault %q, want %s", r.header.Get(emulator.FaultHeader), f.Name)
			}
		})
		if f.Name == "cut-before-body" {
			continue
		}
		t.Run("prompt/"+tt.spec, func(t *testing.T) {
			t.Parallel()
			origin, _ := start(t, emulator.Options{})
			r, err := create(t, origin, map[string]any{"n": 2, "prompt": "[[fault:" + tt.spec + "]] a fox"}, nil)
			tt.check(t, r, err)
		})
	}
	for _, name := range emulator.FaultNames() {
		if !covered[name] {
			t.Errorf("fault %s has no test", name)
		}
	}
}

func TestFaultPrefixIsNotPartOfThePrompt(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	plain := must[reply](t)(create(t, origin, map[string]any{"prompt": "a fox"}, nil))
	marked := must[reply](t)(create(t, origin, map[string]any{"prompt": "[[fault:slow:1ms]] a fox"}, nil))
	if !bytes.Equal(plain.body, marked.body) {
		t.Error("the prefix changes the picture")
	}
	open := must[reply](t)(create(t, origin, map[string]any{"prompt": "[[fault:empty a fox"}, nil))
	if n := len(parse(t, open.body).Data); n != 1 {
		t.Errorf("an open bracket is no prefix: %d pictures, want 1", n)
	}
}

func TestUnknownFaultIsNamed(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	for _, r := range []reply{
		must[reply](t)(create(t, origin, nil, map[string]string{emulator.FaultHeader: "nonsense"})),
		must[reply](t)(create(t, origin, map[string]any{"prompt": "[[fault:nonsense]]x"}, nil)),
		must[reply](t)(create(t, origin, map[string]any{"prompt": "[[fault:cut-before-body]]x"}, nil)),
	} {
		if got := apiError(t, r.body)[1]; r.status != 400 || got != "unknown_fault" {
			t.Errorf("status = %d, code %q, want 400 unknown_fault: %s", r.status, got, r.body)
		}
	}
}

func TestTimesLimitsAFault(t *testing.T) {
	t.Parallel()
	statuses := func(t *testing.T, origin string, n int, params map[string]any, header map[string]string) []int {
		t.Helper()
		var got []int
		for range n {
			r, err := create(t, origin, params, header)
			if err != nil {
				r.status = -1
			}
			got = append(got, r.status)
		}
		return got
	}
	t.Run("options in order", func(t *testing.T) {
		t.Parallel()
		origin, _ := start(t, emulator.Options{Faults: []emulator.Fault{
			{Name: "unavailable", Times: 2}, {Name: "cut-before-body", Times: 1}, {Name: "rate-limit", Times: 1},
		}})
		if diff := cmp.Diff([]int{503, 503, -1, 429, 200, 200}, statuses(t, origin, 6, nil, nil)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("header", func(t *testing.T) {
		t.Parallel()
		origin, _ := start(t, emulator.Options{})
		header := map[string]string{emulator.FaultHeader: "503:times=2"}
		if diff := cmp.Diff([]int{503, 503, 200}, statuses(t, origin, 3, nil, header)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("each prompt for itself", func(t *testing.T) {
		t.Parallel()
		origin, _ := start(t, emulator.Options{})
		for _, prompt := range []string{"[[fault:500:times=1]]a", "[[fault:500:times=1]]b"} {
			got := statuses(t, origin, 3, map[string]any{"prompt": prompt}, nil)
			if diff := cmp.Diff([]int{500, 200, 200}, got); diff != "" {
				t.Errorf("%s: %s", prompt, diff)
			}
		}
	})
}

func TestFaultsOfOtherRoutes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault string
		want  int
	}{{"bad-key", 401}, {"unavailable", 503}, {"quota", 200}, {"fewer", 200}, {"cut-before-body", -1}} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			origin, _ := start(t, emulator.Options{Faults: []emulator.Fault{{Name: tt.fault}}})
			if got := get(t, origin+"/v1/models", testKey).status; got != tt.want {
				t.Errorf("status = %d, want %d", got, tt.want)
			}
		})
	}
}

// get fetches a URL; status -1 stands for a transport error.
func get(t *testing.T, address, key string) reply {
	t.Helper()
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return reply{status: -1}
	}
	defer func() { _ = res.Body.Close() }()
	return reply{res.StatusCode, res.Header, must[[]byte](t)(io.ReadAll(res.Body))}
}

func TestPicturesByURL(t *testing.T) {
	t.Parallel()
	origin, log := start(t, emulator.Options{})
	inline := parse(t, must[reply](t)(create(t, origin, nil, nil)).body)
	want := unbase64(t, inline.Data[0].B64)
	hosts := map[string]string{}
	for _, spec := range []string{"url-same-origin", "url-relative", "url-foreign"} {
		r := parse(t, must[reply](t)(create(t, origin, nil, map[string]string{emulator.FaultHeader: spec})).body)
		base := must[*url.URL](t)(url.Parse(origin + "/v1/"))
		u := must[*url.URL](t)(base.Parse(r.Data[0].URL))
		hosts[spec] = "http://" + u.Host
		got := get(t, u.String(), "")
		if got.status != 200 || got.header.Get("Content-Type") != "image/png" || !bytes.Equal(got.body, want) {
			t.Errorf("%s: status %d, %v, %d bytes, want the same PNG", spec, got.status, got.header, len(got.body))
		}
	}
	if hosts["url-same-origin"] != origin || hosts["url-relative"] != origin || hosts["url-foreign"] == origin {
		t.Errorf("origins %v, want the emulator's %s twice and another", hosts, origin)
	}
	if r := get(t, hosts["url-foreign"]+"/v1/models", testKey); r.status != 404 {
		t.Errorf("foreign origin serves the API: status %d", r.status)
	}
	entries := log.entries(t)
	if last := entries[len(entries)-1]; last["credential"] != "authorization" || last["status"] != 404.0 {
		t.Errorf("log of the foreign origin = %v, want a key to be noted", last)
	}
	if strings.Contains(log.String(), "sig=") {
		t.Error("log holds a query")
	}
	if r := get(t, origin+"/emulator/pictures/nothing.png", ""); r.status != 404 {
		t.Errorf("unknown picture: status %d, want 404", r.status)
	}
}

func TestShelfForgetsOldPictures(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{Faults: []emulator.Fault{{Name: "url-same-origin"}}})
	var urls []string
	for i := range 40 {
		r := must[reply](t)(create(t, origin, map[string]any{"prompt": fmt.Sprint("p", i), "size": "16x16"}, nil))
		urls = append(urls, parse(t, r.body).Data[0].URL)
	}
	if a, b := get(t, urls[0], "").status, get(t, urls[39], "").status; a != 404 || b != 200 {
		t.Errorf("first picture %d, last %d, want 404 and 200", a, b)
	}
}

func TestForeignOriginWithoutListener(t *testing.T) {
	t.Parallel()
	origin := checked(t, emulator.Fault{Name: "url-foreign"})
	r := parse(t, must[reply](t)(create(t, origin, nil, nil)).body)
	if !strings.HasPrefix(r.Data[0].URL, "http://pictures.emulator.invalid/") {
		t.Errorf("url = %s, want a host that does not exist", r.Data[0].URL)
	}
}

func TestSlowBodyArrivesInPieces(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	began := time.Now()
	r := must[reply](t)(create(t, origin, nil, map[string]string{emulator.FaultHeader: "slow:200ms"}))
	if spent := time.Since(began); spent < 180*time.Millisecond {
		t.Errorf("body took %s, want about 200ms", spent)
	}
	plain := must[reply](t)(create(t, origin, nil, nil))
	if !bytes.Equal(plain.body, r.body) {
		t.Error("a slow body differs from a fast one")
	}
}

func TestClientThatLeavesEndsAPause(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"slow:5m", "slow-headers:5m"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			origin, _ := start(t, emulator.Options{}) // its Close waits for nothing that lasts five minutes
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := send(ctx, origin+"/v1/images/generations", "application/json",
				strings.NewReader(`{"prompt":"x","model":"m","size":"64x64"}`), map[string]string{emulator.FaultHeader: spec})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error = %v, want the client's deadline", err)
			}
		})
	}
}

func TestCutBeforeBodyLeavesTheBodyUnread(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{Faults: []emulator.Fault{{Name: "cut-before-body"}}})
	var sent counter
	_, err := send(t.Context(), origin+"/v1/images/generations", "application/json",
		io.TeeReader(io.LimitReader(zeros{}, 256<<20), &sent), nil)
	if err == nil {
		t.Fatal("no error from a connection that was cut")
	}
	if sent > 64<<20 {
		t.Errorf("the server took %d bytes of the body", sent)
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestCutAfterBodyReadsAllOfIt(t *testing.T) {
	t.Parallel()
	origin, log := start(t, emulator.Options{Faults: []emulator.Fault{{Name: "cut-after-body"}}})
	data := append(pngOf(t, 64, 64, false), make([]byte, 8<<20)...)
	body, contentType := form(t, map[string]string{"prompt": "x", "model": "m"}, file{"image", "a.png", "image/png", data})
	_, err := send(t.Context(), origin+"/v1/images/edits", contentType, body, nil)
	resetCase(t, reply{}, err)
	parts, ok := log.entries(t)[0]["parts"].([]any)
	if !ok || !slices.ContainsFunc(parts, func(p any) bool {
		m, ok := p.(map[string]any)
		return ok && m["name"] == "prompt"
	}) {
		t.Errorf("the last part was not read: %v", parts)
	}
}
