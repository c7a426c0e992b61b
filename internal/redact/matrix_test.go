package redact_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"mediagen/internal/redact"
)

// shapes are values that no pattern knows by themselves, so that only their place gives them away.
func shapes() []string {
	return []string{
		"x", "hunter2", "0123456789abcdef0123456789abcdef", "dXNlcjpwYXNz", "a.b.c", "a+b/c==", "%41%42", "ünïcödé",
		"a,b", "(a)",
	}
}

// Every credential name in every syntax: the value goes, and what follows it stays.
func TestNamesInEverySyntax(t *testing.T) {
	t.Parallel()
	headers := []string{
		"Authorization", "proxy-authorization", "API-KEY", "x-api-key", "x-goog-api-key", "Ocp-Api-Key", "Cookie",
		"Set-Cookie", "X-Amz-Security-Token", "X-Auth-Token",
	}
	fields := []string{
		"api_key", "OPENAI_API_KEY", "apikey", "access_token", "refresh_token", "id_token", "client_secret",
		"private_key", "AWS_SECRET_ACCESS_KEY", "password", "db_password",
	}
	queries := []string{"key", "sig", "Signature", "TOKEN", "x-amz-signature", "X-Goog-Credential", "api_key"}
	syntaxes := []struct {
		names []string
		form  string
	}{
		{headers, "%s: %s\nKEEP"},
		{headers, "> %s:%s\r\nKEEP"},
		{headers, `{"%s":"%s","KEEP":1}`},
		{headers, `{"%s": ["%s"], "KEEP": 1}`},
		{headers, `{\"%s\":\"%s\",\"KEEP\":1}`},
		{headers, `http.Header{"%s":[]string{"%s"}, "KEEP":1}`},
		{headers, "map[%s:[%s] KEEP:[1]]"},
		{headers, `level=INFO %s="%s" KEEP=1`},
		{headers, `"%s: %s\r\nKEEP: 1"`},
		{headers, `{"msg":"%s: %s","KEEP":1}`},
		{fields, `{"%s":"%s","KEEP":1}`},
		{fields, `{'%s': '%s', 'KEEP': 1}`},
		{fields, `{\"%s\":\"%s\",\"KEEP\":1}`},
		{fields, "%s=%s KEEP"},
		{fields, "export %s='%s' KEEP"},
		{fields, "a=1&%s=%s&KEEP"},
		{queries, "https://h/p?%s=%s&KEEP"},
		{queries, "https://h/p?a=1&%s=%s#KEEP"},
		{queries, "https://h/p?a=1;%s=%s KEEP"},
		{queries, "<a href='https://h/p?a=1&amp;%s=%s&amp;KEEP'>"},
		{queries, `"https://h/p?a=1\u0026%s=%s\u0026KEEP"`},
		{queries, "?u=https%%3A%%2F%%2Fh%%3F%s%%3D%s%%26KEEP"},
		{queries, "?u=https%%3a%%2f%%2fh%%3fa%%3d1%%26%s%%3d%s&KEEP"},
		{queries, `Get "https://h/p?%s=%s": dial KEEP`},
	}
	s := redact.NewScrubber()
	for _, syntax := range syntaxes {
		for _, name := range syntax.names {
			for _, value := range shapes() {
				in := fmt.Sprintf(syntax.form, name, value)
				want := fmt.Sprintf(syntax.form, name, "[redacted]")
				if got := s.String(in); got != want {
					t.Errorf("%s\n got %s\nwant %s", in, got, want)
				}
			}
		}
	}
}

// Names that only look like those of credentials keep their values.
func TestOrdinaryNamesStay(t *testing.T) {
	t.Parallel()
	s := redact.NewScrubber()
	for _, name := range []string{
		"key", "monkey", "cookies", "design", "max_tokens", "output_tokens", "token_count", "authorizations", "keyboard",
		"signature_version", "sigma", "passwords", "public_key", "path", "model", "request_id",
	} {
		for _, form := range []string{"%s: 12 KEEP", "%s=12 KEEP", `{"%s":"12","KEEP":1}`, "https://h/p/%s/12?x=KEEP"} {
			if in := fmt.Sprintf(form, name); s.String(in) != in {
				t.Errorf("%s became %s", in, s.String(in))
			}
		}
	}
}

// secret-007 of the attack corpus: a panic prints its value and the arguments on the stack.
func TestPanicDoesNotLeak(t *testing.T) {
	t.Parallel()
	type config struct {
		Name string
		key  redact.Secret
	}
	var trace string
	func() {
		defer func() {
			trace = fmt.Sprint(recover()) + string(debug.Stack())
		}()
		fail := func(c config, s redact.Secret) { panic(fmt.Sprintf("bad config %+v, key %v", c, s)) }
		s := redact.NewSecret(value)
		fail(config{"openai", s}, s)
	}()
	if !strings.Contains(trace, "bad config") || !strings.Contains(trace, "[redacted]") {
		t.Errorf("the panic did not show: %s", trace)
	}
	wantNoLeak(t, "a panic", trace)
}

// A log handler that writes through the scrubber still writes one JSON object a line.
func TestScrubbedLogStaysJSON(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	w := redact.NewScrubber(redact.NewSecret("known-\"secret\"")).Writer(&b)
	l := slog.New(slog.NewJSONHandler(w, nil))
	for _, text := range []string{
		"Authorization: Bearer abc", "known-\"secret\"", "key sk-0123456789abc", "https://h/?key=abc&b=1",
		`{"api-key":"abc"}`,
		"data:image/png;base64,iVBORw0", long, "map[Api-Key:[abc]]",
		"POST / HTTP/1.1\r\nCookie: a=b; c=\"d\"\r\n\r\n",
	} {
		l.Info("call failed", "err", text, "list", []string{text, "x"}, "after", "KEEP")
	}
	for line := range strings.Lines(b.String()) {
		var record struct{ After string }
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.After != "KEEP" {
			t.Errorf("%v in %s", err, line)
		}
		if !strings.Contains(line, "[redacted]") && !strings.Contains(line, "[base64, ") {
			t.Errorf("nothing was scrubbed in %s", line)
		}
	}
}

// The skipping search finds the same runs as a plain one.
func FuzzBase64(f *testing.F) {
	plain := regexp.MustCompile(`(?:[A-Za-z0-9+/_-]|\\/)+`)
	runs := func(text string) []string {
		return slices.DeleteFunc(plain.FindAllString(text, -1), func(run string) bool { return len(run) <= 64 })
	}
	f.Add("a" + strings.Repeat("b", 64) + "== " + strings.Repeat("B/", 40) + "\n" + strings.Repeat(`x\/`, 30))
	f.Add(strings.Repeat("c", 64) + " " + strings.Repeat("d", 65) + "é" + long)
	f.Fuzz(func(t *testing.T, text string) {
		got := redact.Base64(text, 0)
		for _, run := range runs(got) {
			// What stays must read as a name, and names are not cut in any other place either.
			if redact.Base64(run, 0) != run {
				t.Errorf("%q keeps the run %q", text, run)
			}
		}
		if len(runs(text)) == 0 && got != text {
			t.Errorf("%q has no long run and became %q", text, got)
		}
	})
}
