package openai_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"mediagen/internal/engine"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
)

// canaryPrompt and canaryPicture must turn up nowhere. The prompt is long enough to be quoted in parts.
const canaryPrompt = "Ein Kanarienvogel singt \"leise\" im Käfig,\n\tdie Katze hört zu & <wartet> auf ihre Stunde"

var canaryPicture = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("canary picture bytes ", 12)))

// traces are the parts of the canaries that count as leaked.
func traces() map[string]string {
	return map[string]string{
		"key": testKey, "half of the key": testKey[10:], "beginning of the key": testKey[:11],
		"beginning of the prompt": "Kanarienvogel singt",
		"end of the prompt":       "auf ihre Stunde", "prompt in other case": "kanarienvogel singt",
		"escaped prompt": `wartet\u003e auf ihre`,
		"picture":        canaryPicture[:70], "middle of the picture": canaryPicture[80:150], "signature": "sig=secret-word",
	}
}

// leaks reports what of the canaries a text holds.
func leaks(text string) (found []string) {
	for name, trace := range traces() {
		if strings.Contains(text, trace) {
			found = append(found, name)
		}
	}
	return found
}

// everything renders an error in all ways in which one gets into a log or onto a terminal.
func everything(err error) string {
	var b bytes.Buffer
	for e := err; e != nil; e = errors.Unwrap(e) {
		_, _ = fmt.Fprintf(&b, "%v\n%+v\n%q\n", e, e, e)
	}
	if e, ok := errors.AsType[*engine.Error](err); ok {
		_, _ = fmt.Fprintf(&b, "%s %s %s %s %s %s", e.Kind, e.Code, e.Message, e.Hint, e.RequestID, e.Provider)
	}
	log := slog.New(slog.NewJSONHandler(&b, nil))
	log.Error("failed", "error", err)
	return b.String()
}

// hostileServers answer in ways that repeat what they were sent.
func hostileServers() map[string]http.HandlerFunc {
	echo := func(status int, kind string, body func(prompt, key string) string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", kind)
			w.Header().Set("X-Request-Id", "req-"+key)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body(canaryPrompt, key))
		}
	}
	object := func(message, param, code string) string {
		b, err := json.Marshal(map[string]any{"error": map[string]any{
			"message": message, "param": param, "code": code, "type": message,
			"moderation_details": map[string]any{"moderation_stage": param},
		}})
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	servers := map[string]http.HandlerFunc{}
	for _, status := range []int{200, 400, 401, 403, 404, 429, 500, 503} {
		servers[fmt.Sprint("everything with ", status)] = echo(status, jsonType, func(prompt, key string) string {
			return object("no: "+prompt+" key "+key+" data:image/png;base64,"+canaryPicture+" "+canaryPicture, prompt, key)
		})
	}
	for name, message := range map[string]func(prompt, key string) string{
		"upper case":        func(p, _ string) string { return "PROMPT " + strings.ToUpper(p) + " IS BAD" },
		"a part of it":      func(p, _ string) string { return "near '" + p[10:60] + "...'" },
		"other white space": func(p, _ string) string { return "bad: " + strings.Join(strings.Fields(p), "\r\n  ") },
		"escaped":           func(p, _ string) string { b, _ := json.Marshal(p); return "bad: " + string(b) },
		"Go quoted":         func(p, _ string) string { return fmt.Sprintf("bad: %q", p) },
		"in pieces":         func(p, _ string) string { return p[:30] + " and " + p[25:] },
		"a header":          func(_, k string) string { return "got Authorization: Bearer " + k },
		"key in base64": func(_, k string) string {
			return "got " + base64.StdEncoding.EncodeToString([]byte("user:"+k))
		},
		"key in a URL": func(_, k string) string {
			return "see https://x.example/?key=" + url.QueryEscape(k) + "&sig=secret-word"
		},
		"picture alone":        func(_, _ string) string { return canaryPicture },
		"very long":            func(p, k string) string { return strings.Repeat(p+k+" ", 400) },
		"key behind a stop":    func(_, k string) string { return strings.Repeat(" ", 8180) + k },
		"key after many words": func(_, k string) string { return strings.Repeat("w ", 140) + k },
	} {
		servers["400: "+name] = echo(400, jsonType, func(p, k string) string { return object(message(p, k), "x", "c") })
		servers["detail: "+name] = echo(422, jsonType, func(p, k string) string {
			b, err := json.Marshal(map[string]any{"detail": []any{map[string]any{
				"loc": []any{"body", p}, "msg": message(p, k),
				"input": p,
			}}})
			if err != nil {
				panic(err)
			}
			return string(b)
		})
		servers["text: "+name] = echo(400, "text/plain", message)
		servers["stream: "+name] = echo(200, sseType,
			func(p, k string) string { return "data: " + object(message(p, k), "x", k) + "\n\n" })
		servers["no JSON: "+name] = echo(200, "text/plain", message)
	}
	servers["redirect"] = func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Location", "https://elsewhere.invalid/"+url.PathEscape(canaryPrompt)+"?key="+key)
		w.WriteHeader(http.StatusFound)
	}
	servers["foreign link"] = echo(200, jsonType, func(_, k string) string {
		return `{"data":[{"url":"https://elsewhere.invalid/a?sig=secret-word&key=` + k + `"}]}`
	})
	servers["own link that fails"] = echo(200, jsonType,
		func(_, _ string) string { return `{"data":[{"url":"/a?sig=secret-word"}]}` })
	servers["bad base64"] = echo(200, jsonType,
		func(_, _ string) string { return `{"data":[{"b64_json":"` + canaryPicture + `*"}]}` })
	servers["cut"] = echo(200, jsonType, func(_, _ string) string { return `{"data":[{"b64_json":"` + canaryPicture })
	return servers
}

func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	origin, _ := raw(t, func(_ int, c *net.TCPConn) {
		buf := make([]byte, 64<<10)
		n, _ := c.Read(buf)
		_, _ = c.Write(buf[:n]) // an echo server
	})
	origins := map[string]string{"echo server": origin}
	for name, h := range hostileServers() {
		origins[name] = serve(t, h).URL
	}
	for name, origin := range origins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			c := client(t, origin, func(c *openai.Config) {
				c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			call := engine.ImageCall{
				Prompt: canaryPrompt, Model: "m", Extra: map[string]any{"image": canaryPicture},
				Images: []engine.Input{input("a.png", "image/png", []byte(canaryPicture))},
			}
			for op, send := range map[string]func(engine.ImageSink) (engine.ImageReply, error){
				"generate": func(s engine.ImageSink) (engine.ImageReply, error) { return c.GenerateImages(t.Context(), call, s) },
				"edit":     func(s engine.ImageSink) (engine.ImageReply, error) { return c.EditImages(t.Context(), call, s) },
			} {
				out := newSink()
				reply, err := send(out)
				if err == nil {
					t.Fatal("no error")
				}
				text := everything(err) + fmt.Sprint(reply, out.warnings, out.causes)
				if found := leaks(text); len(found) > 0 {
					t.Errorf("%s: the error holds %v:\n%.2000s", op, found, text)
				}
			}
			if found := leaks(log.String()); len(found) > 0 || log.Len() == 0 {
				t.Errorf("the log holds %v: %.2000s", found, log.String())
			}
		})
	}
}

// TestShortPrompts are blanked where a server quotes them, and leave other words alone.
func TestShortPrompts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ prompt, message, want string }{
		{
			"a", "a bad value 'a' for a \"a\", `a`, \u201ca\u201d",
			"a bad value '[prompt]' for a \"[prompt]\", `[prompt]`, \u201c[prompt]\u201d",
		},
		{"cat", "the category 'cat' is bad", "the category '[prompt]' is bad"},
		{"  cat\n", "value \"cat\"", "value \"[prompt]\""},
		{"size", "Size is not a SIZE", "[prompt] is not a [prompt]"},
		{"", "words", "words"},
		{" \n", "words", "words"},
		{"a cat on a mat at", "it is a cat on a mat at a CAT ON A MAT AT, a cat on", "it is [prompt] [prompt], a cat on"},
		{"0123456789abcdefghij", "x0123456789abcdefghijx 456789abcdefghij", "x[prompt]x [prompt]"},
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": tt.message, "code": "c"}})
		if err != nil {
			t.Fatal(err)
		}
		srv := answering(t, 400, jsonType, string(body))
		_, err = client(t, srv.URL).GenerateImages(t.Context(), engine.ImageCall{Prompt: tt.prompt, Model: "m"}, newSink())
		e, _ := told(t, err)
		if want := "answered 400 Bad Request: " + tt.want; e.Message != want {
			t.Errorf("prompt %q: message %q, want %q", tt.prompt, e.Message, want)
		}
	}
}

func TestScrubIsTheLastFilter(t *testing.T) {
	t.Parallel()
	srv := answering(t, 400, jsonType, `{"error":{"message":"other-secret `+testKey+`","code":"other-secret"}}`)
	_, err := generate(t, client(t, srv.URL, func(c *openai.Config) {
		c.Scrub = func(s string) string { return strings.ReplaceAll(s, "other-secret", "[x]") }
	}), newSink())
	e, _ := told(t, err)
	if e.Message != "answered 400 Bad Request: [x] [redacted]" || e.Code != "http_400" {
		t.Errorf("message %q, code %q", e.Message, e.Code)
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	for _, bodies := range []bool{false, true} {
		t.Run(fmt.Sprint("bodies ", bodies), func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			srv := linking(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(one) }, "/file?sig=secret-word")
			c := client(t, srv.URL, func(c *openai.Config) {
				c.LogBodies = bodies
				c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			call := engine.ImageCall{
				Prompt: "the prompt words " + testKey, Model: "m", N: 2, Size: "64x64",
				Extra: map[string]any{
					"seed": 7, "image": "data:image/png;base64," + canaryPicture, "token": testKey,
					"list": []string{canaryPicture},
				},
				Images: []engine.Input{input("a.png", "image/png", []byte(canaryPicture)), input(testKey, "image/png", one)},
			}
			if _, err := c.GenerateImages(t.Context(), call, newSink()); err != nil {
				t.Fatal(err)
			}
			call.Extra = map[string]any{"f": func() {}}
			if _, err := c.EditImages(t.Context(), call, newSink()); err == nil {
				t.Fatal("no error")
			}
			call.Extra = nil
			if _, err := c.EditImages(t.Context(), call, newSink()); err != nil {
				t.Fatal(err)
			}
			text := log.String()
			if found := leaks(text); len(found) > 0 {
				t.Errorf("the log holds %v:\n%s", found, text)
			}
			if got := strings.Contains(text, "the prompt words"); got != bodies {
				t.Errorf("the log has the prompt: %t, want %t", got, bodies)
			}
			if n := strings.Count(text, `"msg":"request answered"`); n != 4 { // two creates, two downloads
				t.Errorf("%d lines about requests, want 4:\n%s", n, text)
			}
			if !bodies {
				return
			}
			for _, want := range []string{
				`"inputs":["a.png image/png"`, `"extra":"{`, `\"seed\":7`, `"size":"64x64"`,
				`"op":"images edit"`,
			} {
				if !strings.Contains(text, want) {
					t.Errorf("the log lacks %s:\n%s", want, text)
				}
			}
		})
	}
}

func TestLinesOfTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	srv := emulated(t, "rate-limit:times=1", "cut-after-body:times=1")
	c := client(t, srv.URL, func(c *openai.Config) {
		c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	call := engine.ImageCall{
		Prompt: "p", Model: "m",
		Images: []engine.Input{input("a.png", "image/png", pngOf(t, 32, 32, false))},
	}
	_, err := c.EditImages(t.Context(), call, newSink())
	_, _ = told(t, err)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), log.String())
	}
	var first struct {
		Msg, Method, Path string
		Status            int
		RequestID         string `json:"request_id"`
		RequestBytes      int64  `json:"request_bytes"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	if first.Msg != "request answered" || first.Status != 429 || first.Path != "/v1/images/edits" ||
		first.RequestID != "req_emulated_00000001" || first.RequestBytes < 500 || first.Method != http.MethodPost {
		t.Errorf("line = %+v", first)
	}
	if !strings.Contains(lines[1], `"msg":"request failed"`) {
		t.Errorf("line = %s", lines[1])
	}
}

// TestHalfAKeyIsNotShown cuts a server's words where a key begins, which has no shape by which a half is known.
func TestHalfAKeyIsNotShown(t *testing.T) {
	t.Parallel()
	const key = "4f1canary9b20c57e"
	for lead := 8<<10 - len(key); lead <= 8<<10; lead++ {
		body := `{"error":{"message":"` + strings.Repeat(" ", lead-3) + `no ` + key + `","code":"c"}}`
		c := client(t, answering(t, 400, jsonType, body).URL, func(c *openai.Config) { c.APIKey = redact.NewSecret(key) })
		_, err := generate(t, c, newSink())
		if e, _ := told(t, err); strings.Contains(e.Message, key[:2]) {
			t.Errorf("lead %d: message %q", lead, e.Message)
		}
	}
}
