//go:build race

package testkit

// RaceDetector is whether the test runs with the race detector, which makes work longer and takes memory.
const RaceDetector = true
