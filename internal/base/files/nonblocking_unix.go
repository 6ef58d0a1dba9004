//go:build unix

package files

import "syscall"

// nonBlocking makes opening a named pipe, which may have come after the first look, return at once. It means nothing
// to a regular file.
const nonBlocking = syscall.O_NONBLOCK
