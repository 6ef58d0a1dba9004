//go:build unix

package stores

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDirectoryModes opens stores in directories of all kinds: one that others may write to is named, and left as
// it is; one that is made is only for this user.
func TestDirectoryModes(t *testing.T) {
	for mode, warned := range map[os.FileMode]bool{
		0o700: false, 0o755: false, 0o750: false, 0o777: true, 0o775: true, 0o702: true, 0o777 | os.ModeSticky: false,
	} {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if got := openIn(t, dir) > 0; got != warned {
			t.Errorf("mode %v: warned is %v, want %v", mode, got, warned)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode()&(os.ModePerm|os.ModeSticky) != mode {
			t.Errorf("mode %v has become %v, error %v", mode, info.Mode(), err)
		}
	}
	dir := filepath.Join(t.TempDir(), "made", "deep")
	if warnings := openIn(t, dir); warnings > 0 {
		t.Error("there is a warning of a directory that was just made")
	}
	for _, made := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(made); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, error %v", made, info.Mode(), err)
		}
	}
}
