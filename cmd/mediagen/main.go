// Command mediagen generates and edits media and lands every paid result in a file. What it does is in internal/app.
package main

import (
	"os"

	"mediagen/internal/app"
)

func main() { os.Exit(app.Main(app.System())) }
