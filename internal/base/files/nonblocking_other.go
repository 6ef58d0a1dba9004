//go:build !unix

package files

const nonBlocking = 0 // the pipes of Windows have names of their own
