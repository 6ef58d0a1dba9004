// Package memory says how much memory a build may take, sees to it that the garbage collector knows, and measures
// what it does take.
package compiler

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
)

const (
	// LeastMemory is the least memory, in bytes, that a build gets along with.
	LeastMemory = 256 << 20
	// usual is the least memory that it takes where nobody says how much.
	usual = 512 << 20
)

// DefaultMemory is a quarter of the memory of the machine, or of the control group that the process is in, and at least 512
// MiB.
func DefaultMemory() int64 {
	total, err := memlimit.FromSystem()
	if n, failed := memlimit.FromCgroup(); failed == nil && (err != nil || n < total) {
		total = n
	}
	return max(int64(min(total, 1<<62)/4), usual)
}

// ParseMemory reads a size as operators write it, such as 1GiB, 800MB or a number of bytes; an empty text is Default.
func ParseMemory(text string) (int64, error) {
	if text == "" {
		return DefaultMemory(), nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no size such as 1GiB, 800MB or a number of bytes", text)
	}
	if n < LeastMemory || n > 1<<62 {
		return 0, fmt.Errorf("%s is not a size from %s up: with less, a build cannot work", text, humanize.IBytes(LeastMemory))
	}
	return int64(n), nil
}

// LimitMemory has the garbage collector keep the heap small enough for a build that may take some bytes in all, and returns
// how to undo that. What the runtime does not count, such as the threads' stacks of the system, is left some room.
func LimitMemory(bytes int64) (undo func()) {
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, bytes-bytes/16))
	return func() { debug.SetMemoryLimit(before) }
}

// UsedMemory is how much anonymous memory the process takes now, in bytes: what is not backed by a file. Where the system
// does not tell, it is what the Go runtime has taken.
func UsedMemory() int64 {
	if n := UsedMemoryOf(os.Getpid()); n > 0 {
		return n
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys - stats.HeapReleased)
}

// UsedMemoryOf is how much anonymous memory a process takes, in bytes; 0 where the system does not tell.
func UsedMemoryOf(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	kib := int64(0)
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}
