package coast

import (
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// TestTooManyPoints: a cell whose coast would not fit into memory is named.
func TestTooManyPoints(t *testing.T) {
	line := make([]extract.Coord, mostPoints+2)
	for i := range line {
		line[i] = extract.Coord{Lon: int32(i%2) * 1000, Lat: int32(i%3) * 1000}
	}
	dir, err := scratch.Open(t.TempDir(), "out.region", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	_, err = New(dir, ways{line}, nil)
	if err == nil || !strings.Contains(err.Error(), "the tile 12/2048/2047") {
		t.Error(err)
	}
}
