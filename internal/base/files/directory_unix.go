//go:build unix

// Package directory looks at who may write to directories.
package files

import (
	"io/fs"
	"os"
)

// OthersMayReplace reports whether users beside its owner may put other files in the place of those in a
// directory, whatever the modes of these are. In a sticky directory, as /tmp, nobody replaces what is another's.
// It is false for one that cannot be looked at.
func OthersMayReplace(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0
}
