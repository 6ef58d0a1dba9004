//go:build linux

package geocoding_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// memoryEnv names the region that the child process of TestMemory opens.
const memoryEnv = "GEOCODING_TEST_REGION"

// TestMemory opens Delaware in a process of its own and looks up 10,000 positions all over it. Its resident memory is
// the program with the countries, the heap, and the touched pages of the region file.
func TestMemory(t *testing.T) {
	if path := os.Getenv(memoryEnv); path != "" {
		f, err := region.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Release()
		x, err := geocoding.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range delawarePoints(10_000) {
			geocodingtest.Ask(t, x, p, geocoding.MaxSize)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := bytes.Cut(status, []byte("VmRSS:"))
		fmt.Println("resident", string(bytes.Fields(after)[0]))
		return
	}
	x := geocodingtest.Build(t, placestest.Read(t, testkit.Delaware))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMemory$", "-test.v")
	cmd.Env = append(os.Environ(), memoryEnv+"="+x.File.Path())
	out, err := cmd.CombinedOutput()
	kilobytes := 0
	if _, after, ok := bytes.Cut(out, []byte("resident ")); ok {
		_, _ = fmt.Sscan(string(after), &kilobytes)
	}
	if err != nil || kilobytes == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%.1f MB are resident", float64(kilobytes)/1024)
	if kilobytes > 64<<10 && !testkit.RaceDetector { // the race detector has shadow memory
		t.Errorf("%d kB are resident, want less than 64 MB", kilobytes)
	}
}
