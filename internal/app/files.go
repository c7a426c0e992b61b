package app

import (
	"io/fs"
	"os"

	"mediagen/internal/config"
)

// opens reports whether opening the file at path, and reading or writing it, waits for nobody: it is regular, it is not
// there, the person handed it over open, or it is the null device; with devices, also any other one that takes
// characters. What cannot be looked at is left to the opening.
func opens(path string, devices bool) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || config.IsDescriptor(path) {
		return true
	}
	if info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return devices || err == nil && os.SameFile(info, null)
}
