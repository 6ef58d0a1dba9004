//go:build !unix

package testkit

import "time"

var started = time.Now()

// ProcessorTime returns the time by the clock.
func ProcessorTime() time.Duration { return time.Since(started) }
