package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What TestMain makes once for all tests.
var (
	workDir string // removed at the end
	binary  string // path of the server's binary
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
	if err := build(); err != nil {
		return 1, err
	}
	code = m.Run()
	return code, errors.Join(stopShared(), searchSecrets())
}

func build() error {
	binary = filepath.Join(workDir, "caddy")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	args := []string{"build", "-o", binary}
	if raceBuild {
		args = append(args, "-race")
	}
	if err := inRoot("go", append(args, "./caddy")...); err != nil {
		return err
	}
	const osmModule = "github.com/paulmach/osm"
	if err := inRoot("go", "mod", "download", osmModule); err != nil {
		return err
	}
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", osmModule)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	extract = filepath.Join(strings.TrimSpace(string(out)), "testdata", "delaware-latest.osm.pbf")
	region = filepath.Join(workDir, "delaware.region")
	return inRoot(binary, "maps", "build", extract, "--output", region)
}

func inRoot(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
