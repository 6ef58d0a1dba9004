//go:build !linux

package bolt

// renameNew renames a file and replaces nothing.
func renameNew(temp, path string) error { return linkNew(temp, path) }
