package catalog

import (
	"encoding/json"
	"math"
	"testing"
	"testing/quick"
	"time"

	"go.yaml.in/yaml/v3"
)

func TestUSDFromYAML(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want USD
		ok   bool
	}{
		{"0", 0, true},
		{"30", 30_000_000, true},
		{"30.00", 30_000_000, true},
		{"1.25", 1_250_000, true},
		{"0.0336", 33_600, true},
		{"0.000001", 1, true},
		{"100000", maxUSD, true},
		{"100000.000001", 0, false},
		{"0.0000001", 0, false}, // a seventh place would be rounded in silence
		{"-1", 0, false},
		{"-0", 0, false},
		{"+1", 0, false},
		{"1e3", 0, false},
		{"0x10", 0, false},
		{".5", 0, false},
		{"5.", 0, false},
		{"1_000", 0, false},
		{".inf", 0, false},
		{".nan", 0, false},
		{"free", 0, false},
		{"''", 0, false},
		{"[1]", 0, false},
	}
	for _, tt := range tests {
		var got USD
		err := yaml.Unmarshal([]byte(tt.in), &got)
		if (err == nil) != tt.ok || got != tt.want {
			t.Errorf("%s: got %d, %v; want %d, %v", tt.in, got, err, tt.want, tt.ok)
		}
	}
}

func TestUSDString(t *testing.T) {
	t.Parallel()
	for in, want := range map[USD]string{
		0: "0", 1: "0.000001", 53_000: "0.053", 1_250_000: "1.25", 30_000_000: "30", -1_500_000: "-1.5",
		math.MinInt64: "-9223372036854.775808", math.MaxInt64: "9223372036854.775807",
	} {
		if got := in.String(); got != want {
			t.Errorf("%d: got %s, want %s", int64(in), got, want)
		}
	}
}

// TestUSDRoundTrip: an amount that was printed is read back as the same amount.
func TestUSDRoundTrip(t *testing.T) {
	t.Parallel()
	same := func(n uint64) bool {
		want := USD(n % uint64(maxUSD+1))
		raw, err := json.Marshal(want)
		got, ok := parseUSD(string(raw))
		return err == nil && ok && got == want
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want Date
		ok   bool
	}{
		{"2026-12-01", NewDate(2026, 12, 1), true},
		{`"2026-12-01"`, NewDate(2026, 12, 1), true},
		{`""`, Date{}, true},
		{"2026-13-01", Date{}, false},
		{"2026-02-30", Date{}, false},
		{"2026-12", Date{}, false},
		{"2026-12-01T10:00:00Z", Date{}, false},
		{"1999-01-01", Date{}, false},
		{"soon", Date{}, false},
		{"[2026-12-01]", Date{}, false},
	}
	for _, tt := range tests {
		var got Date
		err := yaml.Unmarshal([]byte(tt.in), &got)
		if (err == nil) != tt.ok || !got.Equal(tt.want) {
			t.Errorf("%s: got %s, %v; want %s, %v", tt.in, got, err, tt.want, tt.ok)
		}
	}
	raw, err := json.Marshal([]Date{NewDate(2026, 12, 1), {}})
	if err != nil || string(raw) != `["2026-12-01",""]` {
		t.Errorf("JSON is %s, %v", raw, err)
	}
	if got := NewDate(2026, 12, 1).Start(); !got.Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the day starts at %s", got)
	}
}
