//go:build !unix

package files

// OthersMayReplace is always false on this system, where the mode of a directory does not say who may write to it.
func OthersMayReplace(string) bool { return false }
