//go:build linux || darwin

package testkit

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// reserve keeps a socket bound that does not listen. A server may listen on the port beside it, since Go and Caddy set
// the same options, but the system no longer chooses the port for anyone.
func reserve() (string, func(), error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", nil, err
	}
	unix.CloseOnExec(fd)
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
			unix.Close(fd)
			return "", nil, err
		}
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		unix.Close(fd)
		return "", nil, err
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		unix.Close(fd)
		return "", nil, err
	}
	return fmt.Sprintf("127.0.0.1:%d", bound.(*unix.SockaddrInet4).Port), func() { unix.Close(fd) }, nil
}
