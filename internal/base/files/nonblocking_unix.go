//go:build unix

package files

import "syscall"

// nonBlocking makes opening a named pipe, which may have replaced the file after the first check, return at once. It
// has no effect on regular files.
const nonBlocking = syscall.O_NONBLOCK
