package testkit

// ReservePort returns a loopback address, host:port, for a server that is started later, perhaps several times. Where
// the system allows it, no other test and no outgoing connection gets the port until release is called or the process
// ends. Without that, two servers could share a port unnoticed, since Caddy sets SO_REUSEPORT.
func ReservePort() (address string, release func(), err error) { return reserve() }
