//go:build !linux

package scratch

import "os"

// reserve has the system set room aside for a part of a file, so that writing to its mapping cannot fail.
func reserve(f *os.File, from, to int64) error { return writeZeros(f, from, to) }
