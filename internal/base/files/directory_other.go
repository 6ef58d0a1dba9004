//go:build !unix

// Package directory looks at who may write to directories.
package files

// OthersMayReplace is false here: who may write to a directory is not in its mode.
func OthersMayReplace(string) bool { return false }
