package workspace

import (
	"path/filepath"
	"strings"
	"testing"

	"mediagen/internal/fault"
)

func TestCheckNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		code fault.Code
	}{
		{"a.png", ""},
		{"sub/dir/a.png", ""},
		{"./a.png", ""},
		{"a//b.png", ""},
		{"../a.png", ""}, // cleaning and the root decide
		{"..a.png", ""},
		{"...a", ""},
		{"写真 1.png", ""},
		{"Ünïcode – dash.png", ""},
		{"a~b.png", ""},
		{"photo~1.jpeg", ""}, // an extension of four letters is no 8.3 name
		{"longer-than-eight~1.png", ""},
		{"console.png", ""},
		{"com10.png", ""},
		{"comma", ""},
		{"lpt", ""},
		{"nul-terminated.png", ""},
		{strings.Repeat("a", 255), ""},
		{"", fault.PathInvalid},
		{"a\x00.png", fault.PathInvalid},
		{"a\xff.png", fault.PathInvalid},
		{strings.Repeat("a", 256), fault.PathInvalid},
		{"a/" + strings.Repeat("é", 128), fault.PathInvalid},
		{strings.Repeat("a/", 2049), fault.PathInvalid},
		{"a\tb", fault.PathDenied},
		{"a\x7fb", fault.PathDenied},
		{"a\u0085b", fault.PathDenied},
		{"a\u202egnp.exe", fault.PathDenied},
		{"zero\u200bwidth", fault.PathDenied},
		{"line\u2028separator", fault.PathDenied},
		{"\ufeffbom.png", fault.PathDenied},
		{`a\b`, fault.PathDenied},
		{`C:a`, fault.PathDenied},
		{"C:/a", fault.PathDenied},
		{"a:b", fault.PathDenied},
		{"//host/share", fault.PathDenied},
		{`\\?\C:\a`, fault.PathDenied},
		{"~", fault.PathDenied},
		{"~/a", fault.PathDenied},
		{"~root/a", fault.PathDenied},
		{"a.", fault.PathDenied},
		{"a /b", fault.PathDenied},
		{".../b", fault.PathDenied},
		{"nul", fault.PathDenied},
		{"NUL.png", fault.PathDenied},
		{"Aux .txt", fault.PathDenied},
		{"sub/com1/a", fault.PathDenied},
		{"LPT9.tar.gz", fault.PathDenied},
		{"lpt²", fault.PathDenied},
		{"CONIN$", fault.PathDenied},
		{"conout$.x", fault.PathDenied},
		{"PROGRA~1/a", fault.PathDenied},
		{"a~12.png", fault.PathDenied},
	}
	for _, tt := range tests {
		if got := fault.CodeOf(checkNames(tt.path)); got != tt.code {
			t.Errorf("checkNames(%q) = %q, want %q", tt.path, got, tt.code)
		}
	}
}

func TestCheckHidden(t *testing.T) {
	t.Parallel()
	allowed := []string{
		".", "a.png", "a/b.png", "..a", "...", "env", "environment.png", "pem", "my.key.png", "keys/a.png", "id_rsa.pub",
	}
	denied := []string{
		".env", "a/.git/config", ".ssh/id_rsa", ".mediagen-tmp-x", "id_rsa", "ID_ED25519", "a/secrets.yaml", "Secrets.YML",
		"server.pem", "tls.KEY", "store.jks", "prod.env", "credentials", "x/credentials.json", "vault.kdbx",
	}
	for _, p := range allowed {
		wantCode(t, checkHidden(p), "")
	}
	for _, p := range denied {
		if got := fault.CodeOf(checkHidden(p)); got != fault.PathDenied {
			t.Errorf("checkHidden(%q) = %q, want path_denied", p, got)
		}
	}
}

func TestFromFileURL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url, path string
		code      fault.Code
	}{
		{"file:///srv/a.png", "/srv/a.png", ""},
		{"FILE:///srv/a.png", "/srv/a.png", ""},
		{"file://localhost/srv/a.png", "/srv/a.png", ""},
		{"file://LOCALHOST/srv/a.png", "/srv/a.png", ""},
		{"file:/srv/a.png", "/srv/a.png", ""},
		{"file:///srv/a%20b.png", "/srv/a b.png", ""},
		{"file:///srv/%E5%86%99.png", "/srv/写.png", ""},
		{"file:///srv/a%252fb.png", "/srv/a%2fb.png", ""}, // decoded once
		{"file:///srv/%2e%2e/etc", "/srv/../etc", ""},     // cleaned by resolve
		{"file:///srv/a%3Fb%23c", "/srv/a?b#c", ""},
		{"file:a.png", "", fault.PathInvalid},
		{"file:", "", fault.PathInvalid},
		{"file://", "", fault.PathInvalid},
		{"file://a.png", "", fault.PathInvalid},
		{"file:///srv/a.png?x=1", "", fault.PathInvalid},
		{"file:///srv/a.png?", "", fault.PathInvalid},
		{"file:///srv/a.png#f", "", fault.PathInvalid},
		{"file:///srv/a.png#", "", fault.PathInvalid},
		{"file://user@localhost/srv/a.png", "", fault.PathInvalid},
		{"file:///srv/a%2Fb", "", fault.PathInvalid},
		{"file:///srv/a%5cb", "", fault.PathInvalid},
		{"file:///srv/a%5Cb", "", fault.PathInvalid},
		{`file:///srv/a\b`, "", fault.PathInvalid},
		{"file:///srv/a%00", "", fault.PathInvalid},
		{"file:///srv/a%zz", "", fault.PathInvalid},
		{"file:///srv/a\n", "", fault.PathInvalid},
		{"file://host/srv/a.png", "", fault.PathDenied},
		{"file://127.0.0.1/srv/a.png", "", fault.PathDenied},
		{"file:////host/share", "", fault.PathDenied},
		{"file://localhost//host/share", "", fault.PathDenied},
	}
	for _, tt := range tests {
		got, err := fromFileURL(tt.url)
		if fault.CodeOf(err) != tt.code || (err == nil && got != filepath.FromSlash(tt.path)) {
			t.Errorf("fromFileURL(%q) = %q, %v; want %q, %q", tt.url, got, err, tt.path, tt.code)
		}
		if err != nil && strings.Contains(err.Error(), "srv") {
			t.Errorf("the error repeats the URL: %v", err)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	got := quote("a\x1b[31m\n" + strings.Repeat("é", 100))
	if strings.ContainsAny(got, "\x1b\n") || len(got) > 180 || !strings.HasSuffix(got, `..."`) {
		t.Errorf("quote gives %q", got)
	}
	if got := cutRunes("aé", 2); got != "a" {
		t.Errorf("cutRunes splits a rune: %q", got)
	}
}
