package testkit

// ReservePort returns an address of loopback, host:port, for a server that is started later, and again. Until release
// is called, or the process ends, nobody else is given the port where the system allows that: not a test that runs
// beside this one, nor an outgoing connection. It matters the more as Caddy lets several processes listen on one port.
func ReservePort() (address string, release func(), err error) { return reserve() }
