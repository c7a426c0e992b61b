package emulator_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/emulator"
	"mediagen/internal/fault"
)

func TestParseFault(t *testing.T) {
	t.Parallel()
	tests := []struct {
		spec string
		want emulator.Fault
	}{
		{"unavailable", emulator.Fault{Name: "unavailable"}},
		{"503:times=1", emulator.Fault{Name: "unavailable", Times: 1}},
		{" rate-limit:2.5 ", emulator.Fault{Name: "rate-limit", Arg: "2.5"}},
		{"429:0.01:times=3", emulator.Fault{Name: "rate-limit", Arg: "0.01", Times: 3}},
		{"url-foreign:https://a.invalid:8443", emulator.Fault{Name: "url-foreign", Arg: "https://a.invalid:8443"}},
		{
			"url-foreign:http://pictures.invalid:times=2",
			emulator.Fault{Name: "url-foreign", Arg: "http://pictures.invalid", Times: 2},
		},
		{"big:3", emulator.Fault{Name: "big", Arg: "3"}},
		{"slow:1500ms", emulator.Fault{Name: "slow", Arg: "1500ms"}},
		{"moderation:output", emulator.Fault{Name: "moderation", Arg: "output"}},
		{"truncated-json:reset", emulator.Fault{Name: "truncated-json", Arg: "reset"}},
		{"401", emulator.Fault{Name: "bad-key"}},
		{"403", emulator.Fault{Name: "unverified"}},
		{"404", emulator.Fault{Name: "model-not-found"}},
		{"422", emulator.Fault{Name: "422-detail"}},
		{"500", emulator.Fault{Name: "server-error"}},
		{"502", emulator.Fault{Name: "bad-gateway-html"}},
	}
	for _, tt := range tests {
		got, err := emulator.ParseFault(tt.spec)
		if err != nil {
			t.Errorf("%q: %v", tt.spec, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", tt.spec, diff)
		}
		again, err := emulator.ParseFault(got.String())
		if err != nil || again != got {
			t.Errorf("%q: String gives %q, which reads as %v, %v", tt.spec, got, again, err)
		}
	}
}

func TestParseFaultRefuses(t *testing.T) {
	t.Parallel()
	for spec, part := range map[string]string{
		"":                          "known are moderation, bad-key",
		"nonsense":                  `unknown fault "nonsense"`,
		"quota:5":                   "takes no argument",
		"empty:now":                 "takes no argument",
		"unavailable:times=0":       "1 or more",
		"unavailable:times=x":       "1 or more",
		"rate-limit:soon":           "seconds",
		"rate-limit:-1":             "seconds",
		"rate-limit:NaN":            "seconds",
		"rate-limit:Inf":            "seconds",
		"slow":                      "duration",
		"slow:0s":                   "duration",
		"slow:11m":                  "up to 10m0s",
		"slow-headers:fast":         "duration",
		"big":                       "megabytes",
		"big:0":                     "megabytes",
		"big:5000":                  "megabytes",
		"moderation:later":          "input, output or unknown",
		"cut-stream:maybe":          "clean or reset",
		"url-foreign:ftp://x.org":   "origin",
		"url-foreign:https://x/p":   "origin",
		"url-foreign:nothing":       "origin",
		strings.Repeat("n", 10_000): "unknown fault",
	} {
		_, err := emulator.ParseFault(spec)
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), part) || len(err.Error()) > 800 {
			t.Errorf("%.40q: error = %v, want code %s and %q", spec, err, fault.InvalidArgument, part)
		}
	}
}

func TestFaultDocsSayWhatNamesDo(t *testing.T) {
	t.Parallel()
	names := emulator.FaultNames()
	seen := map[string]bool{}
	for i, d := range emulator.FaultDocs() {
		if d.Name != names[i] || seen[d.Name] {
			t.Errorf("entry %d: name %q, want the unique %q", i, d.Name, names[i])
		}
		seen[d.Name] = true
		if d.Usage == "" || strings.HasSuffix(d.Usage, ".") || strings.Contains(d.Usage, "\n") {
			t.Errorf("%s: usage %q must be one line without a full stop", d.Name, d.Usage)
		}
	}
}

// TestParseFaultReadsWhatItWrites tries specs that are put together at random. It is no fuzz target because this
// package's tests link openai-go, which takes minutes to instrument.
func TestParseFaultReadsWhatItWrites(t *testing.T) {
	t.Parallel()
	pieces := append(emulator.FaultNames(),
		":", ":", ":", "times=", "times=1", "0", "2", "2s", "-", "reset", "http://a:1", "\x00", " ", "é")
	rng := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 20_000 {
		var spec strings.Builder
		for range 1 + rng.IntN(6) {
			spec.WriteString(pieces[rng.IntN(len(pieces))])
		}
		got, err := emulator.ParseFault(spec.String())
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Fatalf("%q: error without code: %v", spec.String(), err)
			}
			continue
		}
		read++
		if again, err := emulator.ParseFault(got.String()); err != nil || again != got {
			t.Fatalf("%q: %+v reads back as %+v, %v", spec.String(), got, again, err)
		}
	}
	if read < 100 {
		t.Errorf("only %d specs could be read", read)
	}
}
