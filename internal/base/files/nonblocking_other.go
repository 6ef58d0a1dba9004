//go:build !unix

package files

const nonBlocking = 0 // named pipes of Windows are not in directories
