package param_test

import (
	"math"
	"strings"
	"testing"

	"mediagen/internal/fault"
	"mediagen/internal/param"
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
		if got, err := param.ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", ".", "1.", "k", "-1", "+1", "1.5", "0.0001k", "1e3", "1_000", "1,5M", "10X", "10MM", "10Mib2", "1 2",
		"9223372036854775808", "8388608Ti", "0x10", "1..2", "1.2.3", "\u0661", strings.Repeat("1", 50), "i", "1i", "1bb",
	} {
		got, err := param.ParseSize(text)
		if err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("ParseSize(%q): code %q", text, fault.CodeOf(err))
		}
	}
}

func TestFormatSize(t *testing.T) {
	t.Parallel()
	sizes := map[int64]string{
		0: "0", 1: "1", 1000: "1k", 1024: "1Ki", 46_137_344: "44Mi", 10_000_000: "10M", 1500: "1500",
		1 << 40: "1Ti", 2_000_000_000: "2G",
	}
	for n, want := range sizes {
		if got := param.FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, text := range []string{"0", "1.5M", "44MiB", "9223372036854775807", "8388608Ti", ".5k", "1e3", "-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := param.ParseSize(text)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("ParseSize(%q) = %d", text, n)
		}
		if again, err := param.ParseSize(param.FormatSize(n)); err != nil || again != n {
			t.Fatalf("ParseSize(FormatSize(%d)) = %d, %v", n, again, err)
		}
	})
}

// TestSizeParam takes a unit, holds the range against it, and speaks in units.
func TestSizeParam(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in, err string
		want    int64
	}{
		{"200k", "", 200_000},
		{"1Mi", "", 1 << 20},
		{"1024", "", 1024},
		{"1023", "max_bytes must be between 1Ki and 1G, not 1023", 0},
		{"0", "max_bytes must be between 1Ki and 1G, not 0", 0},
		{"2G", "max_bytes must be between 1Ki and 1G, not 2G", 0},
		{"-1", "max_bytes must be a whole number, such as 819200, 500k, 10M (1000) or 512Ki, 44Mi (1024)", 0},
		{"x", "max_bytes must be a whole number, such as 819200, 500k, 10M (1000) or 512Ki, 44Mi (1024)", 0},
	}
	for _, tt := range tests {
		var n int64
		p := param.Size(&n, "max_bytes", "budget").Between(1024, 1e9)
		err := p.Set(tt.in)
		if tt.err != "" {
			wantFault(t, err, tt.err)
		} else if err != nil || p.Type() != "size" || p.Set(p.String()) != nil {
			t.Errorf("%s: %v, type %s", tt.in, err, p.Type())
		}
		if n != tt.want {
			t.Errorf("%s is %d, want %d", tt.in, n, tt.want)
		}
	}
}

// TestSetPairs takes the words of flags, a switch by its name alone, and names what is wrong.
func TestSetPairs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in, err string
		n       int
		on      bool
		format  string
	}{
		{in: "n=3, on,output-format=png", n: 3, on: true, format: "png"},
		{in: "output_format=jpeg,on=false", format: "jpeg"},
		{in: "", err: "there is nothing in it; give pairs such as output-format=WORD,n=NUMBER"},
		{in: "n", err: "n needs a value, as in n=NUMBER"},
		{in: "n=30", err: "n must be between 1 and 10, not 30"},
		{in: "n=3,n=4", err: "n is given twice; give it once"},
		{in: "m=3", err: `"m" is not known; known are output-format, n and on`},
	}
	for _, tt := range tests {
		var n int
		var on bool
		var format string
		set := param.Set{
			param.Enum(&format, "output_format", "format", "png", "jpeg"), param.Int(&n, "n", "how many").Between(1, 10),
			param.Bool(&on, "on", "on"),
		}
		err := set.SetPairs(tt.in)
		if tt.err != "" {
			wantFault(t, err, tt.err)
			continue
		}
		if err != nil || n != tt.n || on != tt.on || format != tt.format {
			t.Errorf("%q: %v: n %d, on %v, format %q", tt.in, err, n, on, format)
		}
	}
}

// FuzzSetPairs never panics, and what it takes is set.
func FuzzSetPairs(f *testing.F) {
	for _, text := range []string{"n=3,on", "=", ",", "n=", "n==3", "on=maybe", "output-format=png,n=10", "\xff=\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n int
		var on bool
		var format string
		set := param.Set{
			param.Enum(&format, "output_format", "format", "png", "jpeg"), param.Int(&n, "n", "how many").Between(1, 10),
			param.Bool(&on, "on", "on"),
		}
		err := set.SetPairs(text)
		if err == nil && n == 0 && !on && format == "" && !strings.Contains(text, "on") && !strings.Contains(text, "output") {
			t.Fatalf("SetPairs(%q) set nothing", text)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Fatalf("SetPairs(%q): %v", text, err)
		}
		if check := set.Check(); check != nil {
			t.Fatalf("SetPairs(%q) left what Check refuses: %v", text, check)
		}
	})
}
