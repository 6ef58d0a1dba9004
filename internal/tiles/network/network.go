// Package network encodes the road network of a region as vector tiles: roads with directions and speeds, and forbidden
// turns. They show why a drive was matched, or was not. It draws no map: see package tiles. Start with AppendTile.
package network

import (
	"bytes"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

const (
	// MinZoom is the lowest zoom of a tile. Below it, a single tile would have all streets of a city.
	MinZoom = 12
	// MaxZoom is the highest zoom. There, a step of a tile is a unit of the world.
	MaxZoom = 16
)

const (
	extent = geo.World >> MaxZoom
	// buffer is how far a tile reaches beyond its border, in steps.
	buffer = 64
	// version is the major version of the vector tile specification.
	version = 2
)

// The layers of a tile.
const (
	RoadsLayer = "roads"
	TurnsLayer = "turns"
)

// AppendTile appends a tile of a network, compressed by gzip, or nothing if the tile has no roads. The zoom is between
// MinZoom and MaxZoom. The layer "roads" has a line for each stretch of a way between two junctions. The line of a
// one-way road runs in the allowed direction.
//
//   - way: the id of the OpenStreetMap way
//   - name: its name, or else its reference number; absent if it has neither
//   - class: the kind of road, as values of OpenStreetMap's highway have it, and "ferry"
//   - speed: the free speed along the line, in km/h
//   - speed_backward: the same against it, if it differs
//   - oneway: whether it may be travelled in that direction only
//
// The layer "turns" has a point for each turn that is forbidden where roads meet:
//
//   - from, to: the ids of the ways that the turn leads from and to
//   - via: true if the turn is forbidden only after certain others, by a via-way restriction
//
// The meter counts the work, and its error ends it. AppendTile reads the region file: callers recover with
// region.Recover.
func AppendTile(dst []byte, g *roadgraph.Graph, z uint8, x, y uint32, meter roadgraph.Meter) ([]byte, error) {
	t := newTile(z, x, y)
	b := builder{tile: t, graph: g}
	for i, edge := range g.Within(t.box(), nil) {
		if i%edgesAtOnce == 0 {
			if err := meter.Spend(edgesAtOnce * edgeWork); err != nil {
				return dst, err
			}
		}
		b.edge(edge)
	}
	if err := b.forbiddenTurns(meter); err != nil {
		return dst, err
	}
	var layers mvt.Layers
	for _, l := range []*mvt.Layer{{Name: RoadsLayer, Features: b.roads}, {Name: TurnsLayer, Features: b.turns}} {
		if l.Version, l.Extent = version, extent; len(l.Features) > 0 {
			layers = append(layers, l)
		}
	}
	if layers == nil {
		return dst, nil
	}
	encoded, err := mvt.Marshal(layers)
	if err != nil {
		return dst, err
	}
	return compress(dst, encoded)
}

const (
	// edgeWork is what an edge costs, as admission counts it: about 3 µs.
	edgeWork    = 10
	edgesAtOnce = 256
)

var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func compress(dst, data []byte) ([]byte, error) {
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	out := bytes.NewBuffer(dst)
	w.Reset(out)
	if _, err := w.Write(data); err != nil {
		return dst, err
	}
	if err := w.Close(); err != nil {
		return dst, err
	}
	return out.Bytes(), nil
}

// builder collects the features of a tile.
type builder struct {
	tile  tile
	graph *roadgraph.Graph
	shape []roadgraph.Point
	ends  []end
	roads []*geojson.Feature
	turns []*geojson.Feature
}

// tile is a square of the world.
type tile struct {
	origin geo.Projected // its north-western corner
	size   int32         // in units of the world
}

func newTile(z uint8, x, y uint32) tile {
	size := int32(geo.World >> z)
	return tile{geo.Projected{X: int32(x) * size, Y: int32(y) * size}, size}
}

// box is what the tile and its buffer cover, in 1e-7 degrees; it ends at the antimeridian.
func (t tile) box() geo.Box {
	more := t.size / extent * buffer
	clamp := func(v int32) int32 { return max(0, min(v, geo.World)) }
	nw := geo.Projected{X: clamp(t.origin.X - more), Y: clamp(t.origin.Y - more)}.Degrees()
	se := geo.Projected{X: clamp(t.origin.X + t.size + more), Y: clamp(t.origin.Y + t.size + more)}.Degrees()
	down := func(v float64) int32 { return int32(math.Floor(v * 1e7)) }
	up := func(v float64) int32 { return int32(math.Ceil(v * 1e7)) }
	return geo.Box{MinX: down(nw[0]), MinY: down(se[1]), MaxX: up(se[0]), MaxY: up(nw[1])}
}

// bound returns the tile with its buffer, in steps.
func (t tile) bound() orb.Bound {
	return orb.Bound{Min: orb.Point{-buffer, -buffer}, Max: orb.Point{extent + buffer, extent + buffer}}
}

// at returns a position in steps from the tile's corner, and its X in units of the world. Both are the short way round
// from another X.
func (t tile) at(p *roadgraph.Point, from int32) (at orb.Point, x int32) {
	w := geo.Project(p.Location())
	switch d := int64(w.X) - int64(from); {
	case d > geo.World/2:
		w.X -= geo.World
	case d < -geo.World/2:
		w.X += geo.World
	}
	step := float64(t.size) / extent
	return orb.Point{float64(w.X-t.origin.X) / step, float64(w.Y-t.origin.Y) / step}, w.X
}

// middle returns the X of the tile's middle.
func (t tile) middle() int32 { return t.origin.X + t.size/2 }

// Layers describes the layers of a tile.
func Layers() []schema.VectorLayer {
	layer := func(name, description string, fields map[string]string) schema.VectorLayer {
		return schema.VectorLayer{ID: name, Description: description, MinZoom: MinZoom, MaxZoom: MaxZoom, Fields: fields}
	}
	return []schema.VectorLayer{
		layer(RoadsLayer, "Roads that may be travelled, in the direction of their lines or in both.", map[string]string{
			"way": "Number", "name": "String", "class": "String", "speed": "Number", "speed_backward": "Number",
			"oneway": "Boolean"}),
		layer(TurnsLayer, "Turns that are forbidden where roads meet.", map[string]string{
			"from": "Number", "to": "Number", "via": "Boolean"}),
	}
}
