//go:build !race

package matching_test

const raced = false
