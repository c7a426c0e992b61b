//go:build !linux

package engine_test

import "testing"

func stateDisk(t *testing.T, _ string) {
	t.Helper()
	t.Skip("small disks are mounted on Linux only")
}
