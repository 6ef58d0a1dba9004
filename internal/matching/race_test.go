//go:build race

package matching_test

// raced: the race detector slows everything down several times, and allocates.
const raced = true
