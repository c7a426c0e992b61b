//go:build unix && !linux

package workspace

import (
	"errors"
	"os"
)

// makeZeroDevice is only known how to be done on Linux.
func makeZeroDevice(string) error { return errors.ErrUnsupported }

// exchange swaps two names in three steps where the system cannot do it in one.
func exchange(a, b string) error {
	if err := os.Rename(a, a+"~"); err != nil {
		return err
	}
	if err := os.Rename(b, a); err != nil {
		return err
	}
	return os.Rename(a+"~", b)
}
