package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"mediagen/internal/redact"
)

const (
	gibberish = "hQ7Zx" // five characters of no secret
	long      = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

func TestScrubPatterns(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{
			"header",
			"POST /v1 HTTP/1.1\r\nAuthorization: Bearer abc\r\nHost: x",
			"POST /v1 HTTP/1.1\r\nAuthorization: [redacted]\r\nHost: x",
		},
		{"header case", "x-GOOG-api-KEY: abc def\nnext", "x-GOOG-api-KEY: [redacted]\nnext"},
		{"azure header", "api-key: 0123456789abcdef", "api-key: [redacted]"},
		{"cookie", "Cookie: a=b; c=\"d e\"; f=g\nX: y", "Cookie: [redacted]\nX: y"},
		{"set-cookie", "Set-Cookie: id=1; Path=/", "Set-Cookie: [redacted]"},
		{"proxy", "Proxy-Authorization: Basic dTpw", "Proxy-Authorization: [redacted]"},
		{
			"header map",
			"map[Accept:[*/*] Authorization:[Bearer abc] Cookie:[a=b; c=d] User-Agent:[u]]",
			"map[Accept:[*/*] Authorization:[[redacted]] Cookie:[[redacted]] User-Agent:[u]]",
		},
		{
			"header go syntax",
			`http.Header{"Api-Key":[]string{"abc"}, "X":[]string{"y"}}`,
			`http.Header{"Api-Key":[]string{"[redacted]"}, "X":[]string{"y"}}`,
		},
		{"header json", `{"Authorization":["Bearer a]b","c"],"X":["y"]}`, `{"Authorization":["[redacted]"],"X":["y"]}`},
		{"header json string", `{"api-key":"abc","x":1}`, `{"api-key":"[redacted]","x":1}`},
		{"header json in json", `{"m":"{\"api-key\":\"abc\",\"x\":1}"}`, `{"m":"{\"api-key\":\"[redacted]\",\"x\":1}"}`},
		{
			"dump in json",
			`{"m":"Authorization: Basic abc\r\nHost: x","n":1}`,
			`{"m":"Authorization: [redacted]\r\nHost: x","n":1}`,
		},
		{"header ends json string", `{"m":"api-key: abc","n":1}`, `{"m":"api-key: [redacted]","n":1}`},
		{"logfmt header", `level=info authorization="Bearer abc" x=y`, `level=info authorization="[redacted]" x=y`},
		{"logfmt header unquoted", `authorization=Bearer abc`, `authorization=[redacted]`},
		{"env", "OPENAI_API_KEY=abc other=1", "OPENAI_API_KEY=[redacted] other=1"},
		{"json field", `{"client_secret": "a\"b", "client_id": "c"}`, `{"client_secret": "[redacted]", "client_id": "c"}`},
		{"field in a message stays", "openai.api_key: must not be empty", "openai.api_key: must not be empty"},
		{"unset stays", `"api_key":"[unset]"`, `"api_key":"[unset]"`},
		{"query", `Get "https://x/y?alt=sse&key=abc&z=1": dial`, `Get "https://x/y?alt=sse&key=[redacted]&z=1": dial`},
		{"query sig", "https://x/?sig=a%2Bb;c&se=1", "https://x/?sig=[redacted]&se=1"},
		{
			"amazon",
			"https://x/?X-Amz-Credential=AK%2F1&X-Amz-Signature=abc#f",
			"https://x/?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]#f",
		},
		{"google", "(https://x/?x-goog-signature=abc)", "(https://x/?x-goog-signature=[redacted]"},
		{"html", "?a=1&amp;token=abc&amp;b=2", "?a=1&amp;token=[redacted]&amp;b=2"},
		{"json ampersand", `"?a=1\u0026token=abc\u0026b=2"`, `"?a=1\u0026token=[redacted]\u0026b=2"`},
		{"nested url", "?u=https%3A%2F%2Fx%3Fkey%3Dabc%26b%3D2&c=3", "?u=https%3A%2F%2Fx%3Fkey%3D[redacted]%26b%3D2&c=3"},
		{"word key stays", "key=images.model changed, token=3 left", "key=images.model changed, token=3 left"},
		{
			"openai key",
			"Incorrect API key provided: sk-abcd***********wxyz. Find",
			"Incorrect API key provided: [redacted] Find",
		},
		{"openai key in json", `{"m":"key\nsk-proj-abc_DEF-123"}`, `{"m":"key\n[redacted]"}`},
		{"openai key in url", "a%20sk-abcdefgh12", "a%20[redacted]"},
		{"sk in a word", "task-management desk-lampshade disk-encryption", "task-management desk-lampshade disk-encryption"},
		{"short sk", "keys begin with sk-...", "keys begin with sk-..."},
		{"google key", "API key not valid: AIzaSyA0123456789abcdefg", "API key not valid: [redacted]"},
		{"google token", "ya29.a0AfH6SMBx-0123", "[redacted]"},
		{"google new key", "key AQ.Ab8RN6" + strings.Repeat("x1", 20), "key [redacted]"},
		{"jwt", "t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln x", "t [redacted] x"},
		{"jwt in json", `{"m":"t\neyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0"}`, `{"m":"t\n[redacted]"}`},
		{"bearer", "sent BEARER abcdefgh1 to", "sent BEARER [redacted] to"},
		{"bearer prose", "a bearer token; bearer authentication", "a bearer token; bearer authentication"},
		{
			"pem",
			"x -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- y",
			"x -----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY----- y",
		},
		{"pem cut", "-----BEGIN PRIVATE KEY-----\nMIIE", "-----BEGIN PRIVATE KEY-----[redacted]"},
		{"certificate stays", "-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE"},
		{"data url", `<img src="data:image/png;base64,iVBORw0"/>`, `<img src="data:image/png;base64,[redacted]"/>`},
		{"data url text", "at data:,a%20brief%20hist end", "at data:,[redacted] end"},
		{
			"event stream stays",
			"data: {\"type\":\"x\"}, data:foo,bar metadata:a/b,c",
			"data: {\"type\":\"x\"}, data:foo,bar metadata:a/b,c",
		},
		{"base64", `{"b64_json":"` + long + `"}`, `{"b64_json":"[base64, 96 chars]"}`},
		{"base64 slashes escaped", strings.Repeat(`aB3\/`, 20), "[base64, 100 chars]"},
		{"base64 of 64", strings.Repeat("aB3/", 16) + " x", strings.Repeat("aB3/", 16) + " x"},
		{"sha256", strings.Repeat("0123456789abcdef", 4), strings.Repeat("0123456789abcdef", 4)},
		{
			"path",
			"/home/ada/Pictures/output_1764000000_media-gen__google-images-generate_0123456789ab_1.png",
			"/home/ada/Pictures/output_1764000000_media-gen__google-images-generate_0123456789ab_1.png",
		},
		{
			"hash path",
			"/var/cache/mediagen/blobs/" + strings.Repeat("0123456789abcdef", 4),
			"/var/cache/mediagen/blobs/" + strings.Repeat("0123456789abcdef", 4),
		},
		{"rule", strings.Repeat("-", 100), strings.Repeat("-", 100)},
		{
			"plain",
			"saved 3 images in 12.5 s: cost $0.12 (reported), 100% done",
			"saved 3 images in 12.5 s: cost $0.12 (reported), 100% done",
		},
		{"empty", "", ""},
	}
	s := redact.NewScrubber()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := s.String(tt.in)
			if got != tt.want {
				t.Errorf("scrubbed\n%s\n got %s\nwant %s", tt.in, got, tt.want)
			}
			if again := s.String(got); again != got {
				t.Errorf("scrubbing again changed\n%s\ninto %s", got, again)
			}
		})
	}
}

func TestScrubKnownValues(t *testing.T) {
	t.Parallel()
	const secret = `p"a<s>s w/o+rd&é` + gibberish
	s := redact.NewScrubber(redact.NewSecret(secret), redact.Secret{}, redact.NewSecret("abc"))
	escaped, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]string{
		"exact": secret,
		"query": url.QueryEscape(secret),
		"path":  url.PathEscape(secret),
		"lower": `p%22a%3cs%3es+w%2fo%2brd%26%c3%a9` + gibberish,
		"json":  string(escaped),
		"go":    strconv.Quote(secret),
	}
	for before := range 4 {
		text := strings.Repeat("u", before) + secret + ":p"
		inputs[fmt.Sprint("base64 ", before)] = base64.StdEncoding.EncodeToString([]byte(text))
		inputs[fmt.Sprint("base64url ", before)] = base64.URLEncoding.EncodeToString([]byte(text))
	}
	for name, in := range inputs {
		got := s.String("<" + in + ">")
		if !strings.Contains(got, "[redacted]") || strings.Contains(got, gibberish) {
			t.Errorf("%s: %s became %s", name, in, got)
		}
	}
	if got := s.String("abc stays"); got != "abc stays" {
		t.Errorf("a value of 3 bytes was looked for: %s", got)
	}
}

func TestScrubOverlappingValues(t *testing.T) {
	t.Parallel()
	s := redact.NewScrubber(
		redact.NewSecret("first-sec"), redact.NewSecret("second-one"), redact.NewSecret("first-second-one!"),
	)
	for in, want := range map[string]string{
		"first-second-one":               "[redacted]",
		"first-second-one!":              "[redacted]",
		"first-secfirst-sec":             "[redacted]",
		"first-sec second-one first-sec": "[redacted] [redacted] [redacted]",
		"first-se second-on":             "first-se second-on",
	} {
		if got := s.String(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestScrubLinesOfAValue(t *testing.T) {
	t.Parallel()
	s := redact.NewScrubber(redact.NewSecret("  line-one-0123456789\nend\r\nline-two-0123456789\n"))
	got := s.String("a line-two-0123456789 b end c line-one-0123456789")
	if want := "a [redacted] b end c [redacted]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestScrubKeysWithoutTheirPrefix finds what is left of a key, plain and in base64.
func TestScrubKeysWithoutTheirPrefix(t *testing.T) {
	t.Parallel()
	for key, tails := range map[string][]string{
		"sk-Zx81qPl0Rt5uVw2y":                 {"Zx81qPl0Rt5uVw2y"},
		"sk-proj-Zx81qPl0Rt5uVw2y":            {"proj-Zx81qPl0Rt5uVw2y", "Zx81qPl0Rt5uVw2y"},
		"sk-svcacct-Zx81qPl0_Rt5uVw2yKm3nBv4": {"Zx81qPl0_Rt5uVw2yKm3nBv4", "Rt5uVw2yKm3nBv4"},
	} {
		s := redact.NewScrubber(redact.NewSecret(key))
		for _, tail := range tails {
			for before := range 3 {
				text := strings.Repeat("u", before) + tail + ":p"
				for _, in := range []string{
					"key " + text, base64.StdEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text)),
				} {
					if got := s.String(in); !strings.Contains(got, "[redacted]") || strings.Contains(got, tail) {
						t.Errorf("%s: %s became %s", key, in, got)
					}
				}
			}
		}
	}
	s := redact.NewScrubber(redact.NewSecret("sk-proj-short-one"), redact.NewSecret("a pass-phrase of some length"))
	for _, in := range []string{"short-one", "one", "phrase of some length"} {
		if got := s.String(in); got != in {
			t.Errorf("%s became %s", in, got)
		}
	}
}

func TestScrubRealRequest(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://u:pw@h/p?key=abcdef&x=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer abcdef")
	r.Header.Set("X-Goog-Api-Key", "abcdef")
	r.AddCookie(&http.Cookie{Name: "session", Value: "abcdef"})
	var wire strings.Builder
	if err := r.Write(&wire); err != nil {
		t.Fatal(err)
	}
	s := redact.NewScrubber()
	for _, text := range []string{
		wire.String(), fmt.Sprintf("%q", wire.String()), fmt.Sprint(r.Header), fmt.Sprintf("%#v", r.Header), r.URL.String(),
	} {
		if got := s.String(text); strings.Contains(got, "abcdef") {
			t.Errorf("leak in %s", got)
		}
	}
}

// A megabyte of each would take minutes if any pattern read the rest of the text at every hit.
func TestScrubIsLinear(t *testing.T) {
	t.Parallel()
	s := redact.NewScrubber(redact.NewSecret("aaaaaaaaaaaaaaaaaaaaaaaaaaaab"))
	for _, unit := range []string{
		"-eyJ", "eyJ.", "\\neyJ", "?key=a&", "?key=[redacted]&", "key%3Da%26", "Cookie:[a] ", "cookie:", `cookie:"`,
		`"cookie":"a",`, `cookie:["a","b"] `, "cookie:[[redacted]] ", "cookie:[redacted]\"", "data:a/b,", "data:,",
		"data:a/b;base64,x ", "bearer ", "bearer authorization ", "bearer", "sk-", "-sk-a ", "AIza", "ya29.", "AQ.",
		"-----BEGIN ", "-----BEGIN PRIVATE KEY----------END ", ":", "=", `\"':`, "%3D", "a", "A/", "aB3d", "a-", "\\/",
		"password=",
	} {
		s.String(strings.Repeat(unit, 1<<20/len(unit)))
	}
}

func FuzzScrub(f *testing.F) {
	for _, seed := range []string{
		"Authorization: Bearer %s\nx", "map[Cookie:[%s]]", "?key=%s&b", `{"api-key":"%s"}`, "data:a/b;base64,%s",
		"[redacted]%s", "sk-%s", "Cookie: [", "authorization=[redacted", `api-key:\"`, "-----BEGIN PRIVATE KEY-----%s",
		"x%%3Dkey%%3D%s", "eyJ%s.", long, "cookie:[[redacted]]x", `{"Cookie":["%s","%s"]}`, "bearer %s", "key%3D",
	} {
		f.Add(seed, "correct-horse-battery")
	}
	f.Fuzz(func(t *testing.T, text, secret string) {
		s := redact.NewScrubber(redact.NewSecret(secret))
		in := strings.ReplaceAll(text, "%s", secret)
		got := s.String(in)
		if again := s.String(got); again != got && known(secret, got) == 0 {
			t.Errorf("%q became %q, then %q", in, got, again)
		}
		if utf8.ValidString(in) && utf8.ValidString(secret) && !utf8.ValidString(got) {
			t.Errorf("%q became invalid UTF-8 %q", in, got)
		}
		if len(secret) >= 4 && !partOfMark(secret) && strings.Contains(got, secret) {
			t.Errorf("%q still holds the secret: %q", in, got)
		}
	})
}

// known counts the places where got holds the secret.
func known(secret, got string) int {
	if secret == "" {
		return 0
	}
	return strings.Count(got, secret)
}

// partOfMark reports whether a mark, alone or with its neighbours, can spell the secret: none could tell.
func partOfMark(secret string) bool {
	return strings.ContainsAny(secret, "[]") || known(secret, "[redacted] [base64, 0123456789 chars]") > 0
}

func BenchmarkScrub(b *testing.B) {
	s := redact.NewScrubber(redact.NewSecret("sk-proj-0123456789abcdef"), redact.NewSecret("AIzaSyA0123456789abcdef"))
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog and sets nothing on fire; a good day. ", 1000)
	line := `{"time":"2026-11-30T16:35:00Z","level":"INFO","msg":"saved","path":"/home/ada/a.png","bytes":123456}` + "\n"
	record := strings.Repeat(line, 1000)
	media := `{"b64_json":"` + strings.Repeat(long[:94], 2000) + `"}`
	for name, text := range map[string]string{"prose": prose, "json": record, "base64": media, "line": line} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s.String(text)
			}
		})
	}
}

// TestWithMedia: base64 and data URLs stay, and no secret does, not even inside of them.
func TestWithMedia(t *testing.T) {
	t.Parallel()
	key := redact.NewSecret("the-key-that-nobody-may-see")
	s := redact.NewScrubber(key).WithMedia()
	in64 := base64.StdEncoding.EncodeToString([]byte(long + key.Reveal() + long))
	tests := []struct{ name, in, want string }{
		{"base64", "b64_json " + long, "b64_json " + long},
		{"data URL", "data:image/png;base64," + long, "data:image/png;base64," + long},
		{"data URL in JSON", `{"a":"data:image/png;base64,` + long + `"}`, `{"a":"data:image/png;base64,` + long + `"}`},
		{"header", "Authorization: Bearer abcdefgh", "Authorization: [redacted]"},
		{"known", long + " " + key.Reveal(), long + " [redacted]"},
	}
	for _, tt := range tests {
		if got := s.String(tt.in); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
	if got := s.String(in64); !strings.Contains(got, "[redacted]") || len(got) < len(in64)/2 {
		t.Errorf("the key inside base64: %q", got)
	}
}
