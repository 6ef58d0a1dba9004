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

// What TestMain makes once for all tests.
var (
	workDir string // removed at the end
	plain   string // path of the server's binary
	raced   string // path of the same with the race detector, if the tests have it
	region  string // path of the compiled map of Delaware; tests that change it take a copy
	extract string // path of the extract it was compiled from
)

// root is the repository's directory: tests run in that of their package.
var root = func() string {
	dir, err := filepath.Abs("..")
	if err != nil {
		panic(err)
	}
	return dir
}()

func TestMain(m *testing.M) {
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
	// now, not while some test looks at the clock
	for _, read := range []func() (*description, error){publicAPI, adminAPI} {
		if _, err := read(); err != nil {
			return 1, err
		}
	}
	code = m.Run()
	return code, errors.Join(stopShared(), searchSecrets())
}

// build makes all that tests share at once: linking one server leaves processors idle that link the other.
func build() error {
	plain = filepath.Join(workDir, "caddy.exe") // Windows wants the ending, nobody else minds
	raced = plain
	var making errgroup.Group
	making.Go(func() error {
		// As `make demo` builds it, or the quick tests, in which that has no part, so that it is compiled once.
		args, env := []string{"build", "-o", plain}, []string(nil)
		if testing.Short() {
			args = append(args, "-ldflags=-s -w")
		} else {
			args, env = append(args, "-trimpath"), []string{"CGO_ENABLED=0"}
		}
		if err := inRoot(env, "go", append(args, "./caddy")...); err != nil {
			return err
		}
		if err := inRoot(nil, "go", "mod", "download", testkit.Module); err != nil {
			return err
		}
		var err error
		if extract, err = testkit.FindExtract(testkit.Delaware); err != nil {
			return err
		}
		region = filepath.Join(workDir, "delaware.region")
		return inRoot(nil, plain, "maps", "build", extract, "--output", region)
	})
	if testkit.RaceDetector { // then the server is built with it too
		raced = filepath.Join(workDir, "race.exe")
		making.Go(func() error { return inRoot(nil, "go", "build", "-race", "-ldflags=-s -w", "-o", raced, "./caddy") })
	}
	return making.Wait()
}

// leaveOut skips a test that takes too long for the quick tests.
func leaveOut(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of the quick tests: " + why)
	}
}

func inRoot(env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
