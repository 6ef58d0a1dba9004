//go:build unix

package files

import (
	"io/fs"
	"os"
)

// OthersMayReplace reports whether other users than its owner may replace files in a directory, independent of the
// modes of the files. In a sticky directory, such as /tmp, they may not. It is false if the directory cannot be read.
func OthersMayReplace(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0
}
