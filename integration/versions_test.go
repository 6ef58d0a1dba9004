package integration

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocumentsNameTheNewestVersion: what the documents tell to download, and compose.yaml to start, is the newest version
// of the changelog; before the first release, it is the same one everywhere.
func TestDocumentsNameTheNewestVersion(t *testing.T) {
	read := func(path ...string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(append([]string{".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	newest := ""
	released := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$`)
	if heading := released.FindStringSubmatch(read("CHANGELOG.md")); heading != nil {
		newest = heading[1]
	}
	named := regexp.MustCompile(`(?:releases/download/v|caddy-maps_|mapsedge/caddy-maps:|MAPS_VERSION:-|git tag -s v)` +
		`(\d+\.\d+\.\d+)`)
	for _, path := range [][]string{
		{"docs", "start", "tutorial.md"}, {"docs", "start", "installing.md"}, {"compose.yaml"}, {"CONTRIBUTING.md"},
	} {
		versions := named.FindAllStringSubmatch(read(path...), -1)
		if len(versions) == 0 {
			t.Errorf("%s names no version", filepath.Join(path...))
		}
		for _, m := range versions {
			if newest = cmp.Or(newest, m[1]); m[1] != newest {
				t.Errorf("%s: %s, and the newest version is %s", filepath.Join(path...), m[0], newest)
			}
		}
	}
}
