// Package scripts tests the scripts that ask other engines, with stand-ins for these that answer on loopback.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

func TestMain(m *testing.M) {
	if standin(filepath.Base(os.Args[0]), os.Args[1:]) {
		return
	}
	os.Exit(m.Run())
}

var osrmPrograms = []string{"osrm-extract", "osrm-partition", "osrm-customize", "osrm-routed"}

// link puts this test into a directory under the names of programs.
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

// run runs a script with a PATH, and returns what it prints and how the stand-ins were called.
func run(t *testing.T, path, image string, ok bool, script string, args ...string) (printed, calls string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a POSIX system")
	}
	called := filepath.Join(t.TempDir(), "calls")
	testdata, err := filepath.Abs("../internal/testkit/testdata")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+path, "STANDIN_CALLS="+called, "STANDIN_IMAGE="+image,
		"STANDIN_TESTDATA="+testdata,
		"OSRM_PROFILE=car.lua")
	for _, name := range []string{"MAPS_PORT", "OSRM_PORT", "VALHALLA_PORT"} {
		address, release, err := testkit.ReservePort()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		_, port, _ := strings.Cut(address, ":")
		cmd.Env = append(cmd.Env, name+"="+port)
	}
	out, err := cmd.CombinedOutput()
	if (err == nil) != ok {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	text, err := os.ReadFile(called)
	if err != nil && ok {
		t.Fatal(err)
	}
	return string(out), string(text)
}

// The engine's figure and ours stand side by side. The stand-ins go straight from one point to the next, so that theirs
// is much the worse.
var mean = regexp.MustCompile(`(?m)^\| mean +\| ([0-9.]+) .*\| ([0-9.]+) +\|$`)

func checkTable(t *testing.T, printed string) {
	t.Helper()
	found := mean.FindStringSubmatch(printed)
	if found == nil {
		t.Fatalf("no table with a mean:\n%s", printed)
	}
	theirs, _ := strconv.ParseFloat(found[1], 64)
	ours, _ := strconv.ParseFloat(found[2], 64)
	if ours <= 0 || ours > 0.05 || theirs < 0.1 {
		t.Errorf("the means are %v of the stand-in and %v of the engine here:\n%s", theirs, ours, printed)
	}
}

func TestOSRMScript(t *testing.T) {
	dir := t.TempDir()
	link(t, dir, osrmPrograms...)
	printed, calls := run(t, dir+":"+os.Getenv("PATH"), "", true, "osrm.sh", "", "-drives", "1")
	checkTable(t, printed)
	for i, want := range []string{"osrm-extract -p car.lua map.osm.pbf", "osrm-partition map.osrm",
		"osrm-customize map.osrm", "osrm-routed --algorithm mld --ip 127.0.0.1 --port "} {
		if lines := strings.Split(calls, "\n"); len(lines) < i+1 || !strings.HasPrefix(lines[i], want) {
			t.Errorf("call %d is not %q:\n%s", i, want, calls)
		}
	}
}

func TestValhallaScriptInDocker(t *testing.T) {
	dir, image := t.TempDir(), t.TempDir()
	link(t, dir, "docker")
	link(t, image, "valhalla_build_config", "valhalla_build_tiles", "valhalla_service")
	printed, calls := run(t, dir+":"+os.Getenv("PATH"), image, true, "valhalla.sh", "", "-drives", "1")
	checkTable(t, printed)
	for _, want := range []string{"valhalla_build_tiles -c valhalla.json map.osm.pbf\n",
		"valhalla_service valhalla.json 1\n",
		"docker stop -t 2 caddy-maps-valhalla-", " -p 127.0.0.1:"} {
		if !strings.Contains(calls, want) {
			t.Errorf("no %q in\n%s", want, calls)
		}
	}
}

// What is missing is said before anything is done.
func TestScriptsSayWhatIsMissing(t *testing.T) {
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
	printed, _ := run(t, bare, "", false, "osrm.sh")
	if !strings.Contains(printed, "neither osrm-extract nor docker is on PATH") {
		t.Errorf("without osrm-extract: %s", printed)
	}
	link(t, bare, osrmPrograms[0])
	printed, calls := run(t, bare, "", false, "osrm.sh", "delaware.zip")
	if !strings.Contains(printed, "delaware.zip is not an extract in PBF") || calls != "" {
		t.Errorf("no extract: %s, called %s", printed, calls)
	}
	if err := os.Remove(filepath.Join(bare, "curl")); err != nil {
		t.Fatal(err)
	}
	if printed, _ = run(t, bare, "", false, "osrm.sh"); !strings.Contains(printed, "curl is not on PATH") {
		t.Errorf("without curl: %s", printed)
	}
}

func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not on PATH")
	}
	scripts, err := filepath.Glob("*.sh")
	if err != nil || len(scripts) < 3 {
		t.Fatalf("the scripts are %v, %v", scripts, err)
	}
	cmd := exec.CommandContext(t.Context(), "shellcheck",
		append([]string{"--external-sources", "--source-path=SCRIPTDIR/.."}, scripts...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
