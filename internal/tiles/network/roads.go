package network

import (
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/geojson"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// edge adds an edge to the layer of roads, and its ends to those where turns may be forbidden.
func (b *builder) edge(number uint32) {
	s := b.graph.Edge(number)
	b.shape = b.graph.Shape(number, b.shape[:0])
	b.addEnds(number, &s)
	line := make(orb.LineString, len(b.shape))
	x := b.tile.middle()
	for i := range b.shape {
		line[i], x = b.tile.at(&b.shape[i], x)
	}
	// An edge may be of several ways that have everything in common but their numbers.
	for first := 0; first < len(line)-1; {
		last := first + 1
		for last < len(line)-1 && b.shape[last].Road == b.shape[first].Road {
			last++
		}
		b.road(number, &s, b.graph.Way(b.shape[first].Road), line[first:last+1])
		first = last
	}
}

// road adds a part of an edge that is of one way.
func (b *builder) road(number uint32, s *roadgraph.Edge, way int64, line orb.LineString) {
	parts := rounded(clip.LineString(b.tile.bound(), line))
	if len(parts) == 0 {
		return
	}
	along, against := b.graph.Speed(2*number), b.graph.Speed(2*number+1)
	f := &geojson.Feature{Properties: geojson.Properties{
		"way": way, "class": s.Class.String(), "oneway": !s.Flags.Has(bothWays),
	}}
	switch {
	case !s.Flags.Has(roadgraph.Forward):
		slices.Reverse(parts)
		for _, part := range parts {
			slices.Reverse(part)
		}
		along = against
	case s.Flags.Has(roadgraph.Backward) && along != against:
		f.Properties["speed_backward"] = int64(against)
	}
	f.Properties["speed"] = int64(along)
	if name := b.graph.Name(number); name != "" {
		f.Properties["name"] = name
	}
	if f.Geometry = parts; len(parts) == 1 {
		f.Geometry = parts[0]
	}
	b.roads = append(b.roads, f)
}

const bothWays = roadgraph.Forward | roadgraph.Backward

// rounded rounds lines to the grid of the tile, and drops those that become a point.
func rounded(lines orb.MultiLineString) (kept orb.MultiLineString) {
	for _, line := range lines {
		for i := range line {
			line[i] = round(line[i])
		}
		if line = slices.Compact(line); len(line) > 1 {
			kept = append(kept, line)
		}
	}
	return kept
}

func round(p orb.Point) orb.Point { return orb.Point{math.Round(p[0]), math.Round(p[1])} }
