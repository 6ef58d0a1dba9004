//go:build !race

package testpace

const detector = 1
