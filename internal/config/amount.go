package config

import (
	"math/big"
	"strconv"
	"strings"

	"mediagen/internal/fault"
	"mediagen/internal/param"
)

// ParseMoney reads an amount in dollars such as 5, 0.25 or $1.50 as integer micro-dollars. It is exact and takes at
// most six decimals that count. Errors are fault.InvalidArgument.
func ParseMoney(text string) (int64, error) {
	n, ok := param.Scale(strings.TrimPrefix(strings.TrimSpace(text), "$"), 1_000_000)
	if !ok {
		return 0, fault.New(fault.InvalidArgument,
			"not an amount in dollars; write it with a point and at most six decimals, like 5 or 0.25")
	}
	return n, nil
}

// FormatMoney writes micro-dollars as dollars without trailing zeros, so that ParseMoney reads the same amount.
func FormatMoney(micros int64) string {
	sign := ""
	if micros < 0 {
		sign = "-"
	}
	abs := new(big.Int).Abs(big.NewInt(micros))
	whole, rest := new(big.Int).QuoRem(abs, big.NewInt(1_000_000), new(big.Int))
	out := sign + whole.String()
	if rest.Sign() == 0 {
		return out
	}
	digits := strconv.FormatInt(rest.Int64()+1_000_000, 10)[1:]
	return out + "." + strings.TrimRight(digits, "0")
}
