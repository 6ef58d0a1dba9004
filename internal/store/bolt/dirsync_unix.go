//go:build unix

package bolt

import (
	"errors"
	"os"
)

// syncDir makes the name of a new file survive a loss of power.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
