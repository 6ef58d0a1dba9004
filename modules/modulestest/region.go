package modulestest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// Village is a small place in Delaware as an OpenStreetMap extract. Main Street goes east, Oak Street north, and they
// cross at 39.16,-75.52; Far Road, 5 km to the east, is joined to nothing. There is a café at the crossing, a school on
// Oak Street, a house on Main Street, and all of it lies in the town of Testville.
var Village = string(testkit.Data("village.osm"))

// Renamed is Village with another name of the town.
func Renamed(town string) string { return strings.Replace(Village, "Testville", town, 1) }

// BuildRegion compiles an extract in XML into a region file, renamed into place.
func BuildRegion(t testing.TB, path, osm string) {
	t.Helper()
	extract := filepath.Join(t.TempDir(), "village.osm")
	if err := os.WriteFile(extract, []byte(osm), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := compiler.Build(t.Context(), compiler.Options{Inputs: []string{extract}, Output: path}); err != nil {
		t.Fatal(err)
	}
}
