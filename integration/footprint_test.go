package integration

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// footprint is what an idle server holds.
type footprint struct {
	goroutines int
	files      int // open ones; -1 where the system does not tell
	mapped     int // mappings of region files; -1 where the system does not tell
	heap       int // bytes in use after a collection
	resident   int // bytes; -1 where the system does not tell
}

func (f footprint) String() string {
	return fmt.Sprintf("%d goroutines, %d files, %d mapped regions, heap %.1f MB, resident %.1f MB",
		f.goroutines, f.files, f.mapped, float64(f.heap)/1e6, float64(f.resident)/1e6)
}

var (
	goroutineTotal = regexp.MustCompile(`goroutine profile: total (\d+)`)
	heapInUse      = regexp.MustCompile(`# HeapAlloc = (\d+)`)
	residentSize   = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
)

// footprint asks the admin endpoint, and the system where that tells.
func (s *server) footprint(t testing.TB) footprint {
	t.Helper()
	number := func(path string, pattern *regexp.Regexp) int {
		t.Helper()
		found := pattern.FindSubmatch(s.sendAdmin(t, call{path: path}).want(200).body)
		if found == nil {
			t.Fatalf("%s has no %v", path, pattern)
		}
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	s.sendAdmin(t, call{path: "/debug/pprof/heap?gc=1"}).want(200) // what has a finalizer is freed by the second collection
	f := footprint{files: -1, mapped: -1, resident: -1}
	f.heap = number("/debug/pprof/heap?gc=1&debug=1", heapInUse)
	f.goroutines = number("/debug/pprof/goroutine?debug=1", goroutineTotal)
	proc := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	if files, err := os.ReadDir(proc + "fd"); err == nil {
		f.files = len(files)
	}
	if maps, err := os.ReadFile(proc + "maps"); err == nil {
		f.mapped = strings.Count(string(maps), ".region")
	}
	if status, err := os.ReadFile(proc + "status"); err == nil {
		if found := residentSize.FindSubmatch(status); found != nil {
			kilobytes, _ := strconv.Atoi(string(found[1]))
			f.resident = kilobytes << 10
		}
	}
	return f
}

// wantFootprint waits until a server holds no more than it did before, but for what a connection or two may add.
func (s *server) wantFootprint(t testing.TB, before footprint) {
	t.Helper()
	const someHeap = 6 << 20
	deadline := time.Now().Add(time.Minute)
	for {
		httpClient.CloseIdleConnections()
		now := s.footprint(t)
		if now.goroutines <= before.goroutines+4 && now.files <= before.files+2 && now.mapped <= before.mapped && now.heap <= before.heap+someHeap {
			t.Logf("before: %v; after: %v", before, now)
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("before: %v; after: %v", before, now)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}
