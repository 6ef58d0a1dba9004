package testkit

import (
	"net"
	"testing"
)

func TestReservePort(t *testing.T) {
	address, release, err := ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for range 2 { // a server that is started, ended and started again
		if _, err := net.Dial("tcp", address); err == nil {
			t.Error("the port has a listener")
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		l.Close()
	}
	for range 1000 {
		other, release, err := ReservePort()
		if err != nil {
			t.Fatal(err)
		}
		release()
		if other == address {
			t.Fatal("reserved twice")
		}
	}
}
