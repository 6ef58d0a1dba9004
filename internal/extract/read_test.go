package extract

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// osmModule is where the module with the real extracts is.
var osmModule = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/paulmach/osm").Output()
	return strings.TrimSpace(string(out)), err
})

func realExtract(t testing.TB, name string) string {
	t.Helper()
	dir, err := osmModule()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "testdata", name)
}

func BenchmarkReadDelaware(b *testing.B) {
	path := realExtract(b, "delaware-latest.osm.pbf")
	b.ReportAllocs()
	for b.Loop() {
		d, err := Read(context.Background(), []string{path}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%+v nodes %d, restrictions %d, interp %d, tiles %d, %v %v", d.Counts, len(d.Nodes), len(d.Restrictions), len(d.Interpolations), len(d.Tiles), d.Bounds, d.Timestamp)
	}
}
