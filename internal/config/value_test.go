package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/redact"
)

// What each kind takes, and as what. What it refuses is in TestBadValues, through Load.
func TestParseKinds(t *testing.T) {
	t.Parallel()
	src := Source{WorkDir: "/w", HomeDir: "/h"}
	tests := []struct {
		name string
		kind Kind
		text string
		want any
	}{
		{"plain", KindString, "a b", "a b"},
		{"address", KindURL, "https://api.example.com/v1", "https://api.example.com/v1"},
		{"address with port and query", KindURL, "http://[::1]:8080/x?y=1", "http://[::1]:8080/x?y=1"},
		{"proxy with password", KindProxy, "http://u:p@proxy.example:3128", "http://u:p@proxy.example:3128"},
		{"socks proxy", KindProxy, "socks5://127.0.0.1:1080", "socks5://127.0.0.1:1080"},
		{"path", KindPath, "~/a/../b", "/h/b"},
		{"sizes", KindBytes, "1.5Mi", int64(1_572_864)},
		{"no cap", KindMoney, "None", int64(0)},
		{"ports", KindPorts, "80,8080,65535", []int{80, 8080, 65535}},
		{"paths stay relative", KindPaths, "a, ~/b ,/c/**/d/", []string{"a", "/h/b", "/c/**/d/"}},
		{"host", KindHosts, "Media.Example.com", []string{"media.example.com"}},
		{"host and port", KindHosts, "media.example.com:8443", []string{"media.example.com:8443"}},
		{"address as host", KindHosts, "10.0.0.5,10.0.0.5:80", []string{"10.0.0.5", "10.0.0.5:80"}},
		{"IPv6 as host", KindHosts, "::1,[::1],[fd00::1]:81", []string{"::1", "[::1]", "[fd00::1]:81"}},
		{"range", KindCIDRs, "10.0.0.0/8,fd00::/8", []string{"10.0.0.0/8", "fd00::/8"}},
		{"one address", KindCIDRs, "192.168.1.7,::1", []string{"192.168.1.7/32", "::1/128"}},
		{"every address", KindCIDRs, "0.0.0.0/0", []string{"0.0.0.0/0"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Setting{Kind: test.kind}.parse(scalar(test.text), src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every error of a value continues a sentence and does not repeat the value.
func TestParseErrorsDoNotQuote(t *testing.T) {
	t.Parallel()
	const value = "Zq7!/zq7 \x01"
	for kind := KindString; kind <= KindPorts; kind++ {
		s := Setting{Kind: kind, Words: []string{"one", "two"}}
		got, err := s.parse(scalar(value+"x"), Source{})
		if kind == KindPath {
			continue // takes anything but NUL
		}
		if err == nil {
			t.Errorf("kind %d takes %v", kind, got)
			continue
		}
		if strings.Contains(strings.ToLower(err.Error()), "zq7") {
			t.Errorf("kind %d quotes the value: %v", kind, err)
		}
		if first, _, _ := strings.Cut(err.Error(), " "); !strings.Contains("is has contains carries", first) {
			t.Errorf("kind %d: %q does not continue a sentence", kind, err)
		}
	}
}

func TestBlank(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " \t\n", "<your-api-key-here>", "<your-here>", "<your-x-here> ", "${VAR}", "${user_config.key}", "{{ key }}",
	} {
		if !blank(text) {
			t.Errorf("%q counts as a value", text)
		}
	}
	for _, text := range []string{
		"x", "<my-key>", "your-key-here", "$VAR", "a${VAR}", "${VAR}b", "{x}", "<your-key", "{{x}",
	} {
		if blank(text) {
			t.Errorf("%q counts as unset", text)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind  Kind
		value any
		want  string
	}{
		{KindSecret, redact.NewSecret("k"), "[redacted]"},
		{KindURL, "https://u:p@h.example:81/v1?sig=x#f", "https://h.example:81/v1"},
		{KindProxy, "http://u:p@h.example:3128", "http://h.example:3128"},
		{KindURLs, []string{"https://a.example/x?k=1", "https://b.example/"}, "https://a.example/x,https://b.example/"},
		{KindURL, "", ""},
		{KindBytes, int64(46_137_344), "44Mi"},
		{KindMoney, int64(0), "none"},
		{KindMoney, int64(40_000), "0.04"},
		{KindPorts, []int{80, 443}, "80,443"},
		{KindString, nil, ""},
	}
	for _, test := range tests {
		if got := (Setting{Kind: test.kind}).show(test.value); got != test.want {
			t.Errorf("kind %d: %q, want %q", test.kind, got, test.want)
		}
	}
	if got := (Setting{Kind: KindSecret, Secret: true}).show(nil); got != "[unset]" {
		t.Errorf("unset secret: %q", got)
	}
}

func TestQuotedIsShortAndScrubbed(t *testing.T) {
	t.Parallel()
	if got := quoted(strings.Repeat("ä ", 200)); len([]rune(got)) > 70 || !strings.HasSuffix(got, `..."`) {
		t.Errorf("long text: %s", got)
	}
	if got := quoted("a\x1b[31mb"); strings.Contains(got, "\x1b") {
		t.Errorf("control character: %s", got)
	}
}

func TestFlatten(t *testing.T) {
	t.Parallel()
	s := newSchema([]string{"a", "g.b", "g.h.c"}, func(string) string { return "" })
	tests := []struct {
		name, file string
		want       []entry
		faults     []string
	}{
		{"nothing", "", nil, nil},
		{"order and lines", "g:\n  h: {c: 1}\n  b: x\na: y\n", []entry{
			{"g.h.c", raw{text: "1"}, 2}, {"g.b", raw{text: "x"}, 3}, {"a", raw{text: "y"}, 4},
		}, nil},
		{"text stays text", "a: 007\ng.b: 1e3\ng.h.c: 2026-11-30\n", []entry{
			{"a", raw{text: "007"}, 1}, {"g.b", raw{text: "1e3"}, 2}, {"g.h.c", raw{text: "2026-11-30"}, 3},
		}, nil},
		{"quoted null is text", "a: 'null'\n", []entry{{"a", raw{text: "null"}, 1}}, nil},
		{"empty text", "a: ''\n", []entry{{"a", raw{}, 1}}, nil},
		{"list", "a: [x, ' y ', 3]\n", []entry{{"a", raw{items: []string{"x", "y", "3"}, list: true}, 1}}, nil},
		{"alias", "a: &x 1\ng: {b: *x}\n", []entry{{"a", raw{text: "1"}, 1}, {"g.b", raw{text: "1"}, 1}}, nil},
		{"alias in itself", "g: &g {h: *g}\n", nil, []string{`unknown key "g.h.h"`}},
		{"merge key", "<<: {a: 1}\n", nil, []string{`unknown key "<<"`}},
		{"several faults", "x: 1\na: {b: 1}\ng: 2\n", nil, []string{`line 1: unknown key "x"`, "line 2:", "line 3:"}},
		{"good beside bad", "x: 1\na: 2\n", []entry{{"a", raw{text: "2"}, 2}}, []string{"line 1:"}},
		{"unknown anchor", "a: *none\n", nil, []string{"not valid YAML"}},
		{"binary", "a: \x00\n", nil, []string{"not valid YAML"}},
		{"bad second document", "a: 1\n---\nb: [\n", nil, []string{"not valid YAML"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, faults := s.flatten([]byte(test.file))
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(entry{}, raw{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(faults) != len(test.faults) {
				t.Fatalf("faults %v, want %d", faults, len(test.faults))
			}
			for i, want := range test.faults {
				if !strings.Contains(faults[i].Error(), want) {
					t.Errorf("fault %q does not say %q", faults[i], want)
				}
			}
		})
	}
}
