//go:build !unix

package regularfile

const nonBlocking = 0 // the pipes of Windows have names of their own
