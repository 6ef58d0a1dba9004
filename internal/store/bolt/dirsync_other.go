//go:build !unix

package bolt

// syncDir does nothing here: directories of this system cannot be synced.
func syncDir(string) error { return nil }
