// Package roadgraphtest makes road networks for tests: small ones by hand, and Delaware from the extract that the
// paulmach/osm module ships.
package roadgraphtest

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/build/roads"
	"github.com/mapsedge/caddy-maps/internal/build/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/sphere"
)

// The middle of a town: 0, 0 in its metres.
const (
	lat = 45.0
	lon = 9.0
)

const (
	degree = sphere.Radius * math.Pi / 180 // metres
	shrink = math.Sqrt2 / 2                // of a degree of longitude at 45°
)

// Town is a road network on a flat map, with coordinates in metres east and north of its middle.
type Town struct{ Data extract.Data }

// At is the position of a place.
func At(x, y float64) orb.Point { return orb.Point{lon + x/(degree*shrink), lat + y/degree} }

// XY are the coordinates of a position.
func XY(p orb.Point) (x, y float64) {
	return (p.Lon() - lon) * degree * shrink, (p.Lat() - lat) * degree
}

// Node adds a node.
func (t *Town) Node(x, y float64) int32 {
	p := At(x, y)
	t.Data.Nodes = append(t.Data.Nodes, extract.Node{ID: int64(len(t.Data.Nodes) + 1),
		Lat: int32(math.Round(p.Lat() * 1e7)), Lon: int32(math.Round(p.Lon() * 1e7))})
	t.Data.Bounds = orb.Bound{Min: At(-5000, -5000), Max: At(5000, 5000)}
	return int32(len(t.Data.Nodes) - 1)
}

// Road adds a residential street for everybody in both directions, 50 km/h, and returns it to be changed; it is valid
// until the next one is added.
func (t *Town) Road(name string, nodes ...int32) *extract.Road {
	t.Data.Roads = append(t.Data.Roads, extract.Road{Way: int64(len(t.Data.Roads) + 1), Nodes: nodes, Name: name,
		Class: mapdata.Residential, Forward: mapdata.Car | mapdata.Bicycle | mapdata.Foot,
		Backward: mapdata.Car | mapdata.Bicycle | mapdata.Foot, SpeedForward: 50, SpeedBackward: 50,
		BicycleSpeed: 18, FootSpeed: 5})
	return &t.Data.Roads[len(t.Data.Roads)-1]
}

// OneWay adds a street that cars may only take in its direction.
func (t *Town) OneWay(name string, nodes ...int32) *extract.Road {
	r := t.Road(name, nodes...)
	r.Backward = mapdata.Foot
	return r
}

// Street adds a street through places given as x, y, x, y, …
func (t *Town) Street(name string, xy ...float64) *extract.Road {
	var nodes []int32
	for i := 0; i+1 < len(xy); i += 2 {
		nodes = append(nodes, t.Node(xy[i], xy[i+1]))
	}
	return t.Road(name, nodes...)
}

// Segments are the numbers of all segments of a graph.
func Segments(g *roadgraph.Graph) []uint32 { return slices.Collect(g.Segments()) }

// Open compiles the town and opens its network for cars.
func (t *Town) Open(tb testing.TB) *roadgraph.Graph {
	tb.Helper()
	g, err := roadgraph.Open(Compile(tb, &t.Data))
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// Compile writes a region file of roads alone and opens it until the test ends.
func Compile(tb testing.TB, d *extract.Data) *region.File {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "test.region")
	f, err := compile(d, path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(f.Release)
	return f
}

func compile(d *extract.Data, path string) (*region.File, error) {
	dir, err := scratch.Open(filepath.Dir(path), filepath.Base(path), memory)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	w, err := region.Create(dir.Path(), func(name string) region.Spool { return scratch.NewStream(dir, name) })
	if err != nil {
		return nil, err
	}
	if err := roads.Write(w, d, dir); err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	if err := w.Commit(context.Background(), path, region.Meta{}); err != nil {
		return nil, err
	}
	return region.Open(path)
}

// memory is how much compiling may take, in bytes.
const memory = 64 << 20
