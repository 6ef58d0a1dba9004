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

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
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
type Town struct {
	Data Data
	// Middle is where the town's middle is, if not where At has it: anywhere on Earth. Coordinates are then those of a
	// plane that touches it there.
	Middle *orb.Point
}

// Data are the roads of an extract, to be written down by hand.
type Data struct {
	Nodes        []Node
	Roads        []Road
	Restrictions []extract.Restriction
}

// Node is a node of a road, with the modes that cannot pass it.
type Node struct {
	extract.Node
	Barrier mapdata.Modes
}

// Road is a road with its nodes, as indexes, and its names.
type Road struct {
	extract.Road
	Nodes     []uint32
	Name, Ref string
}

// At is the position of a place.
func At(x, y float64) orb.Point { return orb.Point{lon + x/(degree*shrink), lat + y/degree} }

// XY are the coordinates of a position.
func XY(p orb.Point) (x, y float64) {
	return (p.Lon() - lon) * degree * shrink, (p.Lat() - lat) * degree
}

// At is the position of a place of the town.
func (t *Town) At(x, y float64) orb.Point {
	if t.Middle == nil {
		return At(x, y)
	}
	sinLat, cosLat := math.Sincos(t.Middle.Lat() * math.Pi / 180)
	x, y = x/sphere.Radius, y/sphere.Radius
	up := math.Sqrt(1 - x*x - y*y)
	out, north := up*cosLat-y*sinLat, up*sinLat+y*cosLat // from the Earth's axis, and along it
	east := t.Middle.Lon() + math.Atan2(x, out)*180/math.Pi
	return orb.Point{sphere.LongitudeDegrees(east), math.Asin(north) * 180 / math.Pi}
}

// XY are the coordinates of a position, as At has them.
func (t *Town) XY(p orb.Point) (x, y float64) {
	if t.Middle == nil {
		return XY(p)
	}
	sin0, cos0 := math.Sincos(t.Middle.Lat() * math.Pi / 180)
	sinLat, cosLat := math.Sincos(p.Lat() * math.Pi / 180)
	sinLon, cosLon := math.Sincos((p.Lon() - t.Middle.Lon()) * math.Pi / 180)
	return sphere.Radius * cosLat * sinLon, sphere.Radius * (cos0*sinLat - sin0*cosLat*cosLon)
}

// Node adds a node.
func (t *Town) Node(x, y float64) uint32 {
	p := t.At(x, y)
	t.Data.Nodes = append(t.Data.Nodes, Node{Node: extract.Node{
		Lat: int32(math.Round(p.Lat() * 1e7)), Lon: int32(math.Round(p.Lon() * 1e7))}})
	return uint32(len(t.Data.Nodes) - 1)
}

// Road adds a residential street for everybody in both directions, 50 km/h, and returns it to be changed; it is valid
// until the next one is added.
func (t *Town) Road(name string, nodes ...uint32) *Road {
	everybody := mapdata.Car | mapdata.Bicycle | mapdata.Foot
	t.Data.Roads = append(t.Data.Roads, Road{Nodes: nodes, Name: name, Road: extract.Road{
		Way: int64(len(t.Data.Roads) + 1), Class: mapdata.Residential, Forward: everybody, Backward: everybody,
		SpeedForward: 50, SpeedBackward: 50, BicycleSpeed: 18, FootSpeed: 5}})
	return &t.Data.Roads[len(t.Data.Roads)-1]
}

// OneWay adds a street that cars may only take in its direction.
func (t *Town) OneWay(name string, nodes ...uint32) *Road {
	r := t.Road(name, nodes...)
	r.Backward = mapdata.Foot
	return r
}

// Street adds a street through places given as x, y, x, y, …
func (t *Town) Street(name string, xy ...float64) *Road {
	var nodes []uint32
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
func Compile(tb testing.TB, d *Data) *region.File {
	tb.Helper()
	return compiled(tb, d.extract, memory)
}

// extract is the data as an extract has it.
func (d *Data) extract(dir *scratch.Dir) (*extract.Data, error) {
	out, err := extract.NewData(dir)
	if err != nil {
		return nil, err
	}
	for i := range d.Nodes {
		err = errors.Join(err, out.Nodes.Append(d.Nodes[i].Node))
		if stops := d.Nodes[i].Barrier; stops != 0 {
			err = errors.Join(err, out.Barriers.Append(extract.Barrier{Node: uint32(i), Stops: stops}))
		}
	}
	for i := range d.Roads {
		r := d.Roads[i].Road
		r.FirstNode = uint64(out.RoadNodes.Len())
		var failed [2]error
		r.Name, failed[0] = out.Texts.Add(d.Roads[i].Name)
		r.Ref, failed[1] = out.Texts.Add(d.Roads[i].Ref)
		err = errors.Join(err, failed[0], failed[1], out.Roads.Append(r))
		for _, node := range d.Roads[i].Nodes {
			err = errors.Join(err, out.RoadNodes.Append(node))
		}
	}
	out.Restrictions = d.Restrictions
	return out, err
}

// memory is what roads are compiled in, in bytes.
const memory = 64 << 20

// compiled compiles the roads of an extract that read fills, and opens them until the test ends.
func compiled(tb testing.TB, read func(*scratch.Dir) (*extract.Data, error), memory int64) *region.File {
	tb.Helper()
	f, err := compile(tb.TempDir(), read, memory)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(f.Release)
	return f
}

func compile(parent string, read func(*scratch.Dir) (*extract.Data, error), memory int64) (f *region.File,
	err error) {
	path := filepath.Join(parent, "test.region")
	dir, err := scratch.Open(parent, filepath.Base(path), memory)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	d, err := read(dir)
	if err != nil {
		return nil, err
	}
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
