// Package roadgraphtest makes road networks for tests: Sketch from a map drawn in text, Town from coordinates in
// metres, and Delaware from the extract that the paulmach/osm module ships.
package roadgraphtest

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/compiler/routes"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// The middle of a town: 0, 0 in its metres.
const (
	lat = 45.0
	lon = 9.0
)

const (
	degree = geo.EarthRadius * math.Pi / 180 // metres
	shrink = math.Sqrt2 / 2                  // of a degree of longitude at 45°
)

// Town is a road network on a flat map, with coordinates in metres east and north of its middle.
type Town struct {
	Data Data
	// Middle moves the town anywhere on Earth. Coordinates are then those of the tangent plane.
	Middle *orb.Point
}

// Data is the roads of an extract.
type Data struct {
	Nodes        []Node
	Roads        []Road
	Restrictions []Restriction
}

// Restriction is a turn restriction. Its ViaNode is NoNode if it is over ways.
type Restriction = network.Restriction

// NoNode means no node.
const NoNode = network.NoNode

// Node is a node of a road, with the modes that cannot pass it, and its control.
type Node struct {
	network.Node
	Barrier region.Modes
	Control roadgraph.ControlFlags
}

// Road is a road with its nodes, as indexes, and its texts.
type Road struct {
	network.Road
	Nodes     []uint32
	Name, Ref string
	Details   []byte // see roadgraph.AppendDetail
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
	x, y = x/geo.EarthRadius, y/geo.EarthRadius
	up := math.Sqrt(1 - x*x - y*y)
	out, north := up*cosLat-y*sinLat, up*sinLat+y*cosLat // from the Earth's axis, and along it
	east := t.Middle.Lon() + math.Atan2(x, out)*180/math.Pi
	return orb.Point{geo.LongitudeDegrees(east), math.Asin(north) * 180 / math.Pi}
}

// XY are the coordinates of a position, as At has them.
func (t *Town) XY(p orb.Point) (x, y float64) {
	if t.Middle == nil {
		return XY(p)
	}
	sin0, cos0 := math.Sincos(t.Middle.Lat() * math.Pi / 180)
	sinLat, cosLat := math.Sincos(p.Lat() * math.Pi / 180)
	sinLon, cosLon := math.Sincos((p.Lon() - t.Middle.Lon()) * math.Pi / 180)
	return geo.EarthRadius * cosLat * sinLon, geo.EarthRadius * (cos0*sinLat - sin0*cosLat*cosLon)
}

// Node adds a node.
func (t *Town) Node(x, y float64) uint32 {
	p := t.At(x, y)
	t.Data.Nodes = append(t.Data.Nodes, Node{Node: network.Node{
		Lat: int32(math.Round(p.Lat() * 1e7)), Lon: int32(math.Round(p.Lon() * 1e7))}})
	return uint32(len(t.Data.Nodes) - 1)
}

// Road adds a residential street for all modes in both directions, 50 km/h, and returns it to be changed; it is valid
// until the next one is added.
func (t *Town) Road(name string, nodes ...uint32) *Road {
	all := region.Car | region.Bicycle | region.Foot
	t.Data.Roads = append(t.Data.Roads, Road{Nodes: nodes, Name: name, Road: network.Road{
		Way: int64(len(t.Data.Roads) + 1), Attributes: profile.Attributes{Class: region.Residential,
			Forward: all, Backward: all, SpeedForward: 50, SpeedBackward: 50, BicycleSpeed: 18, FootSpeed: 5}}})
	return &t.Data.Roads[len(t.Data.Roads)-1]
}

// OneWay adds a street that cars may only take in its direction.
func (t *Town) OneWay(name string, nodes ...uint32) *Road {
	r := t.Road(name, nodes...)
	r.Backward = region.Foot
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

// Edges are the numbers of all edges of a graph.
func Edges(g *roadgraph.Graph) []uint32 { return slices.Collect(g.Edges()) }

// Open compiles the town and opens its network for cars.
func (t *Town) Open(tb testing.TB) *roadgraph.Graph {
	tb.Helper()
	return Open(tb, Compile(tb, &t.Data), region.Car)
}

// Compile compiles a region file with only roads, and opens it until the test ends.
func Compile(tb testing.TB, d *Data) *region.File {
	tb.Helper()
	return compiled(tb, d.write, memory)
}

// write compiles the roads.
func (d *Data) write(ctx context.Context, w *region.Writer, dir *scratch.Dir) error {
	out, err := network.NewData(dir)
	if err != nil {
		return err
	}
	for i, n := range d.Nodes {
		err = errors.Join(err, out.Nodes.Append(n.Node))
		if n.Barrier != 0 || n.Control != 0 {
			err = errors.Join(err, out.Special.Append(network.Special{Node: uint32(i), Stops: n.Barrier, Control: n.Control}))
		}
	}
	for i := range d.Roads {
		r := d.Roads[i].Road
		r.FirstNode = uint64(out.RoadNodes.Len())
		var failed [3]error
		r.Name, failed[0] = out.Texts.Add(d.Roads[i].Name)
		r.Ref, failed[1] = out.Texts.Add(d.Roads[i].Ref)
		r.Details, failed[2] = out.Texts.Add(string(d.Roads[i].Details))
		err = errors.Join(err, failed[0], failed[1], failed[2], out.Roads.Append(r),
			out.RoadNodes.Append(d.Roads[i].Nodes...))
	}
	if out.Restrictions = d.Restrictions; err != nil {
		return err
	}
	junctions, err := network.Write(ctx, w, out, dir, nil)
	if err != nil {
		return err
	}
	return routes.Write(ctx, w, dir, junctions, nil)
}

// writeExtract compiles the roads of an extract.
func writeExtract(ctx context.Context, w *region.Writer, dir *scratch.Dir, path string) error {
	c, err := roads.New(dir)
	if err != nil {
		return err
	}
	if _, err := osm.Read(ctx, dir, []string{path}, nil, c); err != nil {
		return err
	}
	junctions, err := c.Write(ctx, w, nil)
	if err != nil {
		return err
	}
	return routes.Write(ctx, w, dir, junctions, nil)
}

// memory is the limit of the compiler in bytes.
const memory = 64 << 20

// writer writes the sections of roads.
type writer func(ctx context.Context, w *region.Writer, dir *scratch.Dir) error

// compiled compiles roads, and opens them until the test ends.
func compiled(tb testing.TB, write writer, memory int64) *region.File {
	tb.Helper()
	f, err := compile(tb.TempDir(), write, memory)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(f.Release)
	return f
}

func compile(parent string, write writer, memory int64) (f *region.File, err error) {
	path := filepath.Join(parent, "test.region")
	dir, err := scratch.Open(parent, filepath.Base(path), memory)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	w, err := region.Create(dir.Path(), func(name string) region.Spool { return scratch.NewStream(dir, name) })
	if err != nil {
		return nil, err
	}
	if err := write(context.Background(), w, dir); err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	if err := w.Commit(context.Background(), path, region.Meta{}); err != nil {
		return nil, err
	}
	return region.Open(path)
}
