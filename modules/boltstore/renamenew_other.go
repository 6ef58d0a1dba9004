//go:build !linux

package boltstore

// renameNew renames a file and replaces nothing.
func renameNew(temp, path string) error { return linkNew(temp, path) }
