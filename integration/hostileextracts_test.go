package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract/extracttest"
)

// Extracts that were made to hurt `maps build` end in bounded work and memory, as a region or with one clear line.
// They are small here; MAPS_TEST_HOSTILE=1 makes them as large as is worth it.
func TestHostileExtracts(t *testing.T) {
	leaveOut(t, "it compiles fifty extracts")
	t.Parallel()
	share, limit := 0.05, 30*time.Second // of processor time, which others that run take nothing of
	if os.Getenv("MAPS_TEST_HOSTILE") != "" {
		share, limit = 1, 5*time.Minute
	}
	const most = 1 << 30 // bytes of memory
	dir := t.TempDir()
	var slowest, largest string
	var longest time.Duration
	var peak int64
	for _, h := range extracttest.HostileExtracts {
		t.Run(h.Name, func(t *testing.T) {
			path, target := filepath.Join(dir, "hostile.osm"), filepath.Join(dir, "hostile.region")
			content := h.Make(share)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*limit)
			defer cancel()
			cmd := exec.CommandContext(ctx, plain, "maps", "build", path, "--output", target)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			peakOf := watchMemory(cmd.Process.Pid)
			err := cmd.Wait()
			took, memory := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), peakOf()
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			last := lines[len(lines)-1]
			t.Logf("%d bytes: %v, %d MB: %s", len(content), took.Round(10*time.Millisecond), memory>>20, last)
			if ctx.Err() != nil || took > limit {
				t.Errorf("it took %v of processor time, %v", took, ctx.Err())
			}
			if memory > most {
				t.Errorf("it took %d MB", memory>>20)
			}
			if err != nil && (cmd.ProcessState.ExitCode() != 1 || strings.Contains(stderr.String(), "goroutine ")) {
				t.Errorf("%v: %.2000s", err, stderr.String())
			}
			if took > longest {
				longest, slowest = took, h.Name
			}
			if memory > peak {
				peak, largest = memory, h.Name
			}
		})
	}
	t.Logf("the slowest of %d is %q with %v, the largest %q with %d MB", len(extracttest.HostileExtracts), slowest,
		longest, largest, peak>>20)
}

// watchMemory follows the memory of a process until the function that it returns is called, which tells the most that
// there was, in bytes; 0 where the system does not tell.
func watchMemory(pid int) (peak func() int64) {
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		peak := int64(0)
		for {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // not there on other systems, or at the end
			for line := range strings.Lines(string(text)) {
				var kb int64
				if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kb); n == 1 {
					peak = max(peak, kb<<10)
				}
			}
			select {
			case <-tick.C:
			case <-stop:
				most <- peak
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-most
	}
}
