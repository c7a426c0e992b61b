package config_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"mediagen/internal/config"
	"mediagen/internal/fault"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	good := map[string]int64{
		"0": 0, "819200": 819_200, "300k": 300_000, "300K": 300_000, "300kB": 300_000, "10M": 10_000_000,
		"1.5M": 1_500_000, ".5k": 500, "0.001k": 1, "512Ki": 524_288, "44Mi": 46_137_344, "44MiB": 46_137_344,
		"44mib": 46_137_344, "1.5Ki": 1536, "4G": 4_000_000_000, "4Gi": 1 << 32, "2T": 2_000_000_000_000,
		"1Ti": 1 << 40, " 7 ": 7, "7 B": 7, "7 Mi": 7 << 20, "007": 7, "9223372036854775807": math.MaxInt64,
	}
	for text, want := range good {
		if got, err := config.ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", ".", "1.", "k", "-1", "+1", "1.5", "0.0001k", "1e3", "1_000", "1,5M", "10X", "10MM", "10Mib2", "1 2",
		"9223372036854775808", "8388608Ti", "0x10", "1..2", "1.2.3", "\u0661", strings.Repeat("1", 50), "i", "1i", "1bb",
	} {
		got, err := config.ParseSize(text)
		if err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("ParseSize(%q): code %q", text, fault.CodeOf(err))
		}
	}
}

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

func TestFormat(t *testing.T) {
	t.Parallel()
	sizes := map[int64]string{
		0: "0", 1: "1", 1000: "1k", 1024: "1Ki", 46_137_344: "44Mi", 10_000_000: "10M", 1500: "1500",
		1 << 40: "1Ti", 2_000_000_000: "2G",
	}
	for n, want := range sizes {
		if got := config.FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
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

func FuzzParseSize(f *testing.F) {
	for _, text := range []string{"0", "1.5M", "44MiB", "9223372036854775807", "8388608Ti", ".5k", "1e3", "-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := config.ParseSize(text)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("ParseSize(%q) = %d", text, n)
		}
		if again, err := config.ParseSize(config.FormatSize(n)); err != nil || again != n {
			t.Fatalf("ParseSize(FormatSize(%d)) = %d, %v", n, again, err)
		}
	})
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
