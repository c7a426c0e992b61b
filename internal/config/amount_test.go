package config_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"mediagen/internal/config"
)

func TestParseMoney(t *testing.T) {
	t.Parallel()
	good := map[string]int64{
		"0": 0, "5": 5_000_000, "$5": 5_000_000, "0.25": 250_000, ".25": 250_000, "0.000001": 1, "1.10": 1_100_000,
		"0.10000000": 100_000, " 3 ": 3_000_000, "9223372036854.775807": math.MaxInt64,
		// 0.1 + 0.2 in floats is the classic; an amount is exact here.
		"0.3": 300_000, "1.005": 1_005_000, "4.35": 4_350_000,
	}
	for text, want := range good {
		if got, err := config.ParseMoney(text); err != nil || got != want {
			t.Errorf("ParseMoney(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "$", "-1", "+1", "1,50", "1.", "0.0000001", "1e2", "5 USD", "$$5", "5k", "9223372036854.775808", "NaN", "Inf",
	} {
		if got, err := config.ParseMoney(text); err == nil {
			t.Errorf("ParseMoney(%q) = %d, want an error", text, got)
		}
	}
}

func TestFormatMoney(t *testing.T) {
	t.Parallel()
	amounts := map[int64]string{
		0: "0", 1: "0.000001", 1_250_000: "1.25", 5_000_000: "5", -40_000: "-0.04",
		math.MinInt64: "-9223372036854.775808",
	}
	for n, want := range amounts {
		if got := config.FormatMoney(n); got != want {
			t.Errorf("FormatMoney(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestParseBool(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1", "true", "TRUE", "Yes", "on", " on "} {
		if got, err := config.ParseBool(text); err != nil || !got {
			t.Errorf("ParseBool(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "false", "No", "OFF"} {
		if got, err := config.ParseBool(text); err != nil || got {
			t.Errorf("ParseBool(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "t", "y", "2", "enabled", "truee"} {
		if _, err := config.ParseBool(text); err == nil {
			t.Errorf("ParseBool(%q) is accepted", text)
		}
	}
}

func FuzzParseMoney(f *testing.F) {
	for _, text := range []string{"0", "$1.50", "0.000001", "9223372036854.775807", "1.", "NaN", "1,50"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := config.ParseMoney(text)
		if err != nil {
			return
		}
		// An exact rational is the judge: what was accepted has exactly this value.
		want, ok := new(big.Rat).SetString(strings.TrimPrefix(strings.TrimSpace(text), "$"))
		if !ok || want.Cmp(big.NewRat(n, 1_000_000)) != 0 {
			t.Fatalf("ParseMoney(%q) = %d micro-dollars, want %v dollars", text, n, want)
		}
		if again, err := config.ParseMoney(config.FormatMoney(n)); err != nil || again != n {
			t.Fatalf("ParseMoney(FormatMoney(%d)) = %d, %v", n, again, err)
		}
	})
}
