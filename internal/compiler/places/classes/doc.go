// Package classes reads tags: what an object is, what it is called, what it says of its own address, and its part in
// the addresses of others.
package classes
