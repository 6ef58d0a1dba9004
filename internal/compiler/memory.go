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
	// LeastMemory is the least memory, in bytes, that a build needs.
	LeastMemory = 256 << 20
	// usual is the least memory, in bytes, that DefaultMemory returns.
	usual = 512 << 20
)

// DefaultMemory returns a quarter of the memory of the machine, or of the process's control group, in bytes. It is at
// least 512 MiB.
func DefaultMemory() int64 {
	total, err := memlimit.FromSystem()
	if n, failed := memlimit.FromCgroup(); failed == nil && (err != nil || n < total) {
		total = n
	}
	return max(int64(min(total, 1<<62)/4), usual)
}

// ParseMemory reads a size in bytes as operators write it, such as 1GiB, 800MB or a plain number. An empty text is
// DefaultMemory. It returns an error for what is no size, or less than LeastMemory.
func ParseMemory(text string) (int64, error) {
	if text == "" {
		return DefaultMemory(), nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size such as 1GiB, 800MB or a number of bytes", text)
	}
	if n < LeastMemory || n > 1<<62 {
		return 0, fmt.Errorf("%s is not at least %s, which a build needs", text, humanize.IBytes(LeastMemory))
	}
	return int64(n), nil
}

// LimitMemory makes the garbage collector keep the heap small enough for a build that may take so many bytes, and
// returns a function that undoes this. It leaves a sixteenth for memory that the runtime does not count, such as thread
// stacks.
func LimitMemory(bytes int64) (undo func()) {
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, bytes-bytes/16))
	return func() { debug.SetMemoryLimit(before) }
}

// UsedMemory returns the anonymous memory of this process in bytes: memory that is not backed by a file. On systems
// without /proc it returns the memory of the Go runtime.
func UsedMemory() int64 {
	if n := UsedMemoryOf(os.Getpid()); n > 0 {
		return n
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys - stats.HeapReleased)
}

// UsedMemoryOf returns the anonymous memory of a process in bytes, or 0 on systems without /proc.
func UsedMemoryOf(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	kib := int64(0)
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}
