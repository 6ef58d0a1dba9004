package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// TestMain makes these once for all tests.
var (
	workDir string // removed at the end
	plain   string // path of the server's binary
	raced   string // path of the same with the race detector, if the tests have it
	region  string // path of the compiled map of Delaware; tests that change it take a copy
	extract string // path of the extract that it was compiled from
)

// root is the repository's directory. Tests run in the directory of their package.
var root = func() string {
	dir, err := filepath.Abs("..")
	if err != nil {
		panic(err)
	}
	return dir
}()

func TestMain(m *testing.M) {
	if standin(filepath.Base(os.Args[0]), os.Args[1:]) {
		return
	}
	testkit.Waiting()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if workDir, err = os.MkdirTemp("", "caddy-maps-integration-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(workDir)
	defer pgtest.Stop()
	if err := build(); err != nil {
		return 1, err
	}
	// Reading these takes a while, which tests that measure time must not include.
	for _, read := range []func() (*description, error){publicAPI, adminAPI} {
		if _, err := read(); err != nil {
			return 1, err
		}
	}
	code = m.Run()
	return code, errors.Join(stopShared(), searchSecrets())
}

// build makes everything that tests share, in parallel: a linker mostly uses one processor.
func build() error {
	plain = filepath.Join(workDir, "caddy.exe") // Windows needs the extension
	raced = plain
	var making errgroup.Group
	making.Go(func() error {
		// With the flags of the tests' own build and of `make demo`, so that nothing is compiled twice.
		if err := inRoot("go", "build", "-o", plain, "./caddy"); err != nil {
			return err
		}
		if err := inRoot("go", "mod", "download", testkit.Module); err != nil {
			return err
		}
		var err error
		if extract, err = testkit.FindExtract(testkit.Delaware); err != nil {
			return err
		}
		region = filepath.Join(workDir, "delaware.region")
		return inRoot(plain, "maps", "build", extract, "--output", region)
	})
	if testkit.RaceDetector { // then the server is built with it too
		raced = filepath.Join(workDir, "race.exe")
		making.Go(func() error { return inRoot("go", "build", "-race", "-o", raced, "./caddy") })
	}
	return making.Wait()
}

// leaveOut skips a test in short runs, because it needs more than Go or takes long.
func leaveOut(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short runs: " + why)
	}
}

func inRoot(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
