package roadgraphtest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
)

func writeDelaware(ctx context.Context, w *region.Writer, dir *scratch.Dir) error {
	path, err := testkit.FindExtract(testkit.Delaware)
	if err != nil {
		return err
	}
	return writeExtract(ctx, w, dir, path)
}

// delawareFile stays mapped until the tests end. The file itself goes at once where the system lets it.
var delawareFile = sync.OnceValues(func() (*region.File, error) {
	dir, err := os.MkdirTemp("", "delaware")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return compile(dir, writeDelaware, memory)
})

// CompileDelaware compiles the roads of Delaware again, within a number of bytes of memory.
func CompileDelaware(tb testing.TB, memory int64) *region.File {
	tb.Helper()
	return compiled(tb, writeDelaware, memory)
}

// CompileExtract compiles the roads of an extract.
func CompileExtract(tb testing.TB, path string) *region.File {
	tb.Helper()
	return compiled(tb, func(ctx context.Context, w *region.Writer, dir *scratch.Dir) error {
		return writeExtract(ctx, w, dir, path)
	}, memory)
}

// DelawareFile is a region file with only the roads of Delaware. All tests of a package share it.
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
	return Open(tb, DelawareFile(tb), region.Car)
}
