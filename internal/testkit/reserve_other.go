//go:build !linux && !darwin

package testkit

import "net"

// reserve returns an address that was free a moment ago.
func reserve() (string, func(), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	defer l.Close()
	return l.Addr().String(), func() {}, nil
}
