// Command vulngate reads govulncheck's JSON from standard input and decides: a vulnerability that mediagen's code can
// reach in a module fails, one in the standard library is only reported, because the cure is a newer Go and that is not
// in the hands of this repository.
//
// It does not run govulncheck and knows no database; scripts/vuln.sh does.
package main

import (
	"fmt"
	"os"
)

func main() {
	report, err := read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulngate:", err)
		os.Exit(2)
	}
	if err := report.print(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vulngate:", err)
		os.Exit(2)
	}
	if len(report.failing()) > 0 {
		os.Exit(1)
	}
}
