//go:build linux || darwin || freebsd

package mirror

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// freeSpace is how many bytes can be written beside a path, where the system tells.
func freeSpace(path string) (bytes int64, known bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &stat); err != nil {
		return 0, false
	}
	return int64(uint64(stat.Bavail) * uint64(stat.Bsize)), true //nolint:unconvert // types differ by system
}
