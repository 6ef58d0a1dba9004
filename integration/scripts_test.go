package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

var osrmPrograms = []string{"osrm-extract", "osrm-partition", "osrm-customize", "osrm-routed"}

// link puts this test into a directory under the names of programs: see standin.
func link(t *testing.T, dir string, programs ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// script runs a script with a PATH, and returns what it prints and how the stand-ins were called.
func script(t *testing.T, path string, ok bool, name string, args ...string) (printed, calls string) {
	t.Helper()
	called := filepath.Join(t.TempDir(), "calls")
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(root, "scripts", name)}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+path, "STANDIN_CALLS="+called, "OSRM_PROFILE=car.lua",
		"STANDIN_ANSWER="+filepath.Join(root, "internal", "testkit", "testdata", "osrm", "match_ok_1.json"))
	for _, name := range []string{"MAPS_PORT", "OSRM_PORT"} {
		address, release, err := testkit.ReservePort()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		cmd.Env = append(cmd.Env, name+"="+portOf(address))
	}
	out, err := cmd.CombinedOutput()
	if (err == nil) != ok {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	text, err := os.ReadFile(called)
	if err != nil && ok {
		t.Fatal(err)
	}
	return string(out), string(text)
}

// The script compares OSRM's figure with ours. The stand-in goes straight from one point to the next, so that it is much
// the worse.
func TestOSRMScript(t *testing.T) {
	leaveOut(t, "needs bash and curl")
	t.Parallel()
	dir := t.TempDir()
	link(t, dir, osrmPrograms...)
	printed, calls := script(t, dir+":"+os.Getenv("PATH"), true, "osrm.sh", "", "-drives", "1")
	found := regexp.MustCompile(`(?m)^\| mean +\| ([0-9.]+) .*\| ([0-9.]+) +\|$`).FindStringSubmatch(printed)
	if found == nil {
		t.Fatalf("no table with a mean:\n%s", printed)
	}
	theirs, _ := strconv.ParseFloat(found[1], 64)
	ours, _ := strconv.ParseFloat(found[2], 64)
	if ours <= 0 || ours > 0.05 || theirs < 0.1 {
		t.Errorf("the means are %v of the stand-in and %v of the engine here:\n%s", theirs, ours, printed)
	}
	for i, want := range []string{"osrm-extract -p car.lua map.osm.pbf", "osrm-partition map.osrm",
		"osrm-customize map.osrm", "osrm-routed --algorithm mld --ip 127.0.0.1 --port "} {
		if lines := strings.Split(calls, "\n"); len(lines) < i+1 || !strings.HasPrefix(lines[i], want) {
			t.Errorf("call %d is not %q:\n%s", i, want, calls)
		}
	}
}

// Scripts name what is missing before they do anything.
func TestScriptsSayWhatIsMissing(t *testing.T) {
	leaveOut(t, "needs bash and curl")
	t.Parallel()
	bare := t.TempDir() // neither an engine nor docker
	for _, name := range []string{"bash", "basename", "dirname", "mktemp", "rm", "go", "make", "curl"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(bare, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(t, bare, osrmPrograms[1:]...)
	printed, _ := script(t, bare, false, "osrm.sh")
	if !strings.Contains(printed, "neither osrm-extract nor docker is on PATH") {
		t.Errorf("without osrm-extract: %s", printed)
	}
	link(t, bare, osrmPrograms[0])
	printed, calls := script(t, bare, false, "osrm.sh", "delaware.zip")
	if !strings.Contains(printed, "delaware.zip is not an extract in PBF") || calls != "" {
		t.Errorf("no extract: %s, called %s", printed, calls)
	}
	if err := os.Remove(filepath.Join(bare, "curl")); err != nil {
		t.Fatal(err)
	}
	if printed, _ = script(t, bare, false, "osrm.sh"); !strings.Contains(printed, "curl is not on PATH") {
		t.Errorf("without curl: %s", printed)
	}
}
