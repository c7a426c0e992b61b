//go:build !windows

package journal

import "io/fs"

// exposed reports whether others than the owner may touch the file.
func exposed(mode fs.FileMode) bool { return mode&0o077 != 0 }
