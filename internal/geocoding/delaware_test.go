package geocoding

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// extracts reads the map data that the osm module ships for its own tests, once each.
var extracts = struct {
	sync.Mutex
	data map[string]*extract.Data
}{data: map[string]*extract.Data{}}

func readExtract(t testing.TB, name string) *extract.Data {
	t.Helper()
	extracts.Lock()
	defer extracts.Unlock()
	if d := extracts.data[name]; d != nil {
		return d
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/paulmach/osm").Output()
	if err != nil {
		t.Fatalf("where the osm module is: %v", err)
	}
	d, err := extract.Read(t.Context(), []string{filepath.Join(strings.TrimSpace(string(dir)), "testdata", name)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	extracts.data[name] = d
	return d
}

const (
	delaware = "delaware-latest.osm.pbf"
	andorra  = "andorra-latest.osm.bz2"
)

// build compiles data into a region file and opens it.
func build(t testing.TB, d *extract.Data) *Index {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.region")
	var w region.Writer
	if err := Write(&w, d); err != nil {
		t.Fatal(err)
	}
	region.AddCoverage(&w, d.Tiles)
	if err := w.Commit(t.Context(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	x, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
