//go:build race

package testpace

// detector is by how much the race detector makes work longer, at most.
const detector = 8
