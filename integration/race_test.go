//go:build race

package integration

// raceBuild has the server built with the race detector too, when the tests run with it.
const raceBuild = true
