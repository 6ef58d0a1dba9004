// Package integration holds the tests of the finished server: they build it, start it on loopback with the example
// configuration and the map of Delaware, and use it over HTTP and by its commands.
package integration
