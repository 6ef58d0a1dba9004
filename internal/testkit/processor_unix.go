//go:build unix

package testkit

import (
	"syscall"
	"time"
)

// ProcessorTime returns how long the processors have worked for this process.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // it takes no other arguments
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
