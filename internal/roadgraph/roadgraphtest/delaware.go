package roadgraphtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/build/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

func readDelaware(dir *scratch.Dir) (*extract.Data, error) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/paulmach/osm").Output()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(strings.TrimSpace(string(module)), "testdata", "delaware-latest.osm.pbf")
	return extract.Read(context.Background(), dir, []string{path}, nil)
}

// delawareFile stays mapped until the tests end. The file itself goes at once where the system lets it.
var delawareFile = sync.OnceValues(func() (*region.File, error) {
	dir, err := os.MkdirTemp("", "delaware")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return compile(dir, readDelaware, memory)
})

// CompileDelaware compiles the roads of Delaware anew, in so many bytes of memory.
func CompileDelaware(tb testing.TB, memory int64) *region.File {
	tb.Helper()
	return compiled(tb, readDelaware, memory)
}

// DelawareFile is a region file of Delaware's roads alone. All tests of a package share it.
func DelawareFile(tb testing.TB) *region.File {
	tb.Helper()
	f, err := delawareFile()
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// Delaware is the network for cars of Delaware.
func Delaware(tb testing.TB) *roadgraph.Graph {
	tb.Helper()
	g, err := roadgraph.Open(DelawareFile(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return g
}
