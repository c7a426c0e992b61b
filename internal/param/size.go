package param

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"mediagen/internal/fault"
)

// maxAmount bounds the text of a number; the largest int64 has 19 digits.
const maxAmount = 40

// ParseSize reads a number of bytes: digits, if need be with a point, and a unit: none or B, k M G T = powers of 1000,
// Ki Mi Gi Ti = powers of 1024, each with or without a B and in any case. The result is exact: 1.5k is 1500, and 1.5 is
// an error. Errors are fault.InvalidArgument.
func ParseSize(text string) (int64, error) {
	number, factor := splitUnit(strings.TrimSpace(text))
	n, ok := Scale(number, factor)
	if !ok {
		return 0, fault.New(fault.InvalidArgument,
			"not a size in whole bytes; write it like 819200, 500k, 10M (1000) or 512Ki, 44Mi (1024)")
	}
	return n, nil
}

// splitUnit cuts the unit off and returns what it multiplies by; 0 when it is unknown.
func splitUnit(text string) (number string, factor int64) {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		return text, 1
	}
	number = text[:end]
	unit := strings.ToLower(strings.TrimSpace(text[end:]))
	unit = strings.TrimSuffix(unit, "b")
	if unit == "" {
		return number, 1
	}
	base := int64(1000)
	if trimmed, ok := strings.CutSuffix(unit, "i"); ok {
		unit, base = trimmed, 1024
	}
	switch unit {
	case "k":
		return number, base
	case "m":
		return number, base * base
	case "g":
		return number, base * base * base
	case "t":
		return number, base * base * base * base
	}
	return number, 0
}

// FormatSize writes n bytes so that ParseSize reads the same number: in the largest unit that divides it.
func FormatSize(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{
		{"Ti", 1 << 40},
		{"T", 1e12},
		{"Gi", 1 << 30},
		{"G", 1e9},
		{"Mi", 1 << 20},
		{"M", 1e6},
		{"Ki", 1 << 10},
		{"k", 1e3},
	} {
		if n != 0 && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// Scale multiplies a plain decimal number by factor, exactly. It is false for anything but digits with at most one
// point between or before digits, for a result that is not whole, and for one above the range of int64.
func Scale(number string, factor int64) (int64, bool) {
	whole, fraction, point := strings.Cut(number, ".")
	if factor <= 0 || len(number) > maxAmount || (point && fraction == "") || whole+fraction == "" {
		return 0, false
	}
	digits := whole + fraction
	if strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return 0, false
	}
	n.Mul(n, big.NewInt(factor))
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)
	q, rest := new(big.Int).QuoRem(n, unit, new(big.Int))
	if rest.Sign() != 0 || q.Cmp(big.NewInt(math.MaxInt64)) > 0 {
		return 0, false
	}
	return q.Int64(), true
}
