package version

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What the documents tell to download, and compose.yaml to start, is the newest version of the changelog, of which
// docs/upgrading.md has a part.
func TestDocumentsNameTheNewestVersion(t *testing.T) {
	read := func(path ...string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	released := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$`)
	heading := released.FindStringSubmatch(read("CHANGELOG.md"))
	if heading == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	newest := heading[1]
	if !regexp.MustCompile(`(?m)^## To ` + regexp.QuoteMeta(newest) + `$`).MatchString(read("docs", "upgrading.md")) {
		t.Errorf("docs/upgrading.md has no part for %s", newest)
	}
	named := regexp.MustCompile(`(?:releases/download/v|caddy-maps_|mapsedge/caddy-maps:|MAPS_VERSION:-|git tag -s v)` +
		`(\d+\.\d+\.\d+)`)
	for _, path := range [][]string{
		{"docs", "tutorial.md"}, {"docs", "installing.md"}, {"docs", "upgrading.md"}, {"compose.yaml"}, {"CONTRIBUTING.md"},
	} {
		versions := named.FindAllStringSubmatch(read(path...), -1)
		if len(versions) == 0 {
			t.Errorf("%s names no version", filepath.Join(path...))
		}
		for _, m := range versions {
			if m[1] != newest {
				t.Errorf("%s: %s, and the newest version is %s", filepath.Join(path...), m[0], newest)
			}
		}
	}
}
