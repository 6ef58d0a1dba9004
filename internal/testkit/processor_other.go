//go:build !unix

package testkit

import "time"

var started = time.Now()

// processorTime is the time by the clock.
func processorTime() time.Duration { return time.Since(started) }
