package compiler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingOpen: of its temporary files a build keeps none open or mapped, which would take their room on the disk
// until the process ends.
func TestNothingOpen(t *testing.T) {
	dir := t.TempDir()
	in := writeFile(t, filepath.Join(dir, "village.osm"), village)
	if _, err := Build(t.Context(), Options{Inputs: []string{in}, Output: filepath.Join(dir, "out")}); err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, dir) {
			t.Errorf("mapped: %s", line)
		}
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range open {
		if path, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.HasPrefix(path, dir) {
			t.Errorf("open: %s", path)
		}
	}
}
