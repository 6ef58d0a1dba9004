package testkit

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Module has the extracts among its test data.
const Module = "github.com/paulmach/osm"

// The extracts by the names of their files.
const (
	Delaware = "delaware-latest.osm.pbf" // the US state, 2016
	Andorra  = "andorra-latest.osm.bz2"  // the country, 2018
)

var dir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", Module).Output()
	if err != nil {
		return "", fmt.Errorf("where %s is: %w", Module, err)
	}
	path := strings.TrimSpace(string(out))
	if path == "" {
		return "", errors.New("go mod download " + Module + " has to be run first")
	}
	return filepath.Join(path, "testdata"), nil
})

// FindExtract returns the path of an extract. The error says that the module cannot be found from the current
// directory, which has to be in this repository.
func FindExtract(name string) (string, error) {
	testdata, err := dir()
	return filepath.Join(testdata, name), err
}

// Extract returns the path of an extract.
func Extract(t testing.TB, name string) string {
	t.Helper()
	path, err := FindExtract(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
