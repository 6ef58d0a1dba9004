//go:build linux

package geocoding_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// memoryEnv names the region that the child process of TestOpeningAndMemory opens.
const memoryEnv = "GEOCODING_TEST_REGION"

// TestOpeningAndMemory opens Delaware in a process of its own and looks up 10,000 positions all over it. What is
// resident then is all there is: the program with the countries, the heap, and the pages of the region file that were
// touched.
func TestOpeningAndMemory(t *testing.T) {
	if path := os.Getenv(memoryEnv); path != "" {
		lookUpMany(t, path)
		return
	}
	x := geocodingtest.Build(t, placestest.Read(t, testkit.Delaware))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOpeningAndMemory$", "-test.v")
	cmd.Env = append(os.Environ(), memoryEnv+"="+x.File.Path())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var opening time.Duration
	var kilobytes int
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "opening "); ok {
			if opening, err = time.ParseDuration(strings.TrimSpace(text)); err != nil {
				t.Fatal(err)
			}
		}
		if text, ok := strings.CutPrefix(line, "resident "); ok {
			if kilobytes, err = strconv.Atoi(strings.TrimSpace(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("opening took %v, %.1f MB are resident", opening, float64(kilobytes)/1024)
	if opening == 0 || opening > 50*time.Millisecond {
		t.Errorf("opening took %v, want at most 50 ms", opening)
	}
	if kilobytes == 0 || kilobytes > 64<<10 && !testkit.RaceDetector { // the race detector has shadow memory
		t.Errorf("%d kB are resident, want less than 64 MB", kilobytes)
	}
}

func lookUpMany(t *testing.T, path string) {
	start := time.Now()
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	x, err := geocoding.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("opening", time.Since(start))
	for _, p := range delawarePoints(10_000) {
		geocodingtest.Ask(t, x, p, geocoding.MaxSize)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("VmRSS:"))
	fmt.Println("resident", string(bytes.Fields(after)[0]))
}
