package roadgraph

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// The snapping index is a packed R-tree over groups of leaves in the order of their base edges. All modes share it: a
// leaf lists its modes.

// Hit is a place on an edge near a position.
type Hit struct {
	Edge     uint32
	Offset   uint32  // millimetres from the edge's first node
	Distance float64 // metres
}

// Near appends the nearest place of each edge within radius metres of a position in degrees, in no particular order.
func (g *Graph) Near(lat, lon, radius float64, hits []Hit) []Hit {
	s := snapper{g: g, maxVisited: math.MaxInt, offsets: true}
	return s.near(lat, lon, radius, hits)
}

// Near is Graph.Near, and counts unusual effort as work of the search. Beyond MaxWork it returns what it has found so
// far.
func (s *Search) Near(g *Graph, lat, lon, radius float64, hits []Hit) []Hit {
	return s.near(g, lat, lon, radius, hits, true)
}

// NearEdges is Near without offsets, which are 0.
func (s *Search) NearEdges(g *Graph, lat, lon, radius float64, hits []Hit) []Hit {
	return s.near(g, lat, lon, radius, hits, false)
}

func (s *Search) near(g *Graph, lat, lon, radius float64, hits []Hit, offsets bool) []Hit {
	n := snapper{g: g, maxVisited: math.MaxInt, offsets: offsets}
	if s.MaxWork > 0 {
		n.maxVisited = usualVisits + int(min(max(s.MaxWork-s.Work, 0), math.MaxInt32))
	}
	hits = n.near(lat, lon, radius, hits)
	s.Work += int64(max(0, n.visited-usualVisits))
	return hits
}

// usualVisits is more boxes and leaves than a search visits even where streets are dense.
const usualVisits = 4000

// near visits hardly more than maxVisited boxes and leaves.
func (s *snapper) near(lat, lon, radius float64, hits []Hit) []Hit {
	s.plane, s.ruler, s.limit = newPlane(lat, lon), newRuler(int32(lat*1e7)), radius*radius
	s.hits, s.first = hits, len(hits)
	boxes, n := around(lat, lon, radius)
	for i := range s.g.index {
		s.index = &s.g.index[i]
		for _, s.query = range boxes[:n] {
			s.descend(s.index.tree.Height, 0, s.index.tree.Count[s.index.tree.Height])
		}
	}
	s.compact()
	for i := s.first; i < len(s.hits); i++ {
		s.hits[i].Distance = math.Sqrt(s.hits[i].Distance)
	}
	return s.hits
}

// around returns the box of all positions within radius metres of a position in degrees, or the two boxes east and west
// of the antimeridian.
func around(lat, lon, radius float64) (boxes [2]geo.Box, n int) {
	lat, lon = lat*1e7, lon*1e7
	dLat := radius/geo.MetresPerUnit + 1
	dLon := 2.0 * halfTurn
	if farthest := math.Abs(lat) + dLat; farthest < halfTurn/2 {
		dLon = dLat / math.Cos(farthest*unit)
	}
	boxes[0] = geo.Box{
		MinX: int32(max(lon-dLon, -halfTurn)), MinY: int32(max(lat-dLat, -halfTurn/2)),
		MaxX: int32(min(lon+dLon, halfTurn)), MaxY: int32(min(lat+dLat, halfTurn/2)),
	}
	if dLon >= halfTurn || lon-dLon >= -halfTurn && lon+dLon <= halfTurn {
		if dLon >= halfTurn {
			boxes[0].MinX, boxes[0].MaxX = -halfTurn, halfTurn
		}
		return boxes, 1
	}
	boxes[1] = boxes[0]
	if lon-dLon < -halfTurn {
		boxes[1].MinX, boxes[1].MaxX = int32(max(lon-dLon+2*halfTurn, -halfTurn)), halfTurn
	} else {
		boxes[1].MinX, boxes[1].MaxX = -halfTurn, int32(min(lon+dLon-2*halfTurn, halfTurn))
	}
	return boxes, 2
}

// snapper is one search of the index. Its hits have squared distances.
type snapper struct {
	found func(base uint32) // called instead of measuring the base edges whose boxes overlap the query

	g     *Graph
	index *index
	plane plane
	ruler ruler
	query geo.Box
	limit float64 // metres, squared
	hits  []Hit
	first int

	visited, maxVisited int  // boxes and leaves
	offsets             bool // whether hits need their offsets
}

// descend visits boxes of a level and what is below them. Level 0 is the groups of leaves.
func (s *snapper) descend(level int, from, to uint32) {
	if s.visited++; s.visited > s.maxVisited {
		return
	}
	first := uint32(0)
	if level > 0 {
		first = s.index.tree.Count[0] + s.index.tree.First[level]
	}
	boxes := s.index.boxes.Range(int(first+from), int(first+to))
	for i := range boxes {
		switch {
		case !boxes[i].Overlaps(&s.query):
		case level > 0:
			below, end := s.index.tree.Children(level, from+uint32(i))
			s.descend(level-1, below, end)
		default:
			s.group(from+uint32(i), &boxes[i])
		}
	}
}

// group visits the leaves of a group. Those of other modes cost hardly anything.
func (s *snapper) group(number uint32, box *geo.Box) {
	first := int(number) * geo.TreeFanout
	from := *s.index.groups.At(int(number))
	leaves := s.index.leaves.Range(first, min(first+geo.TreeFanout, s.index.leaves.Len()))
	minX, maxX := steps(s.query.MinX, s.query.MaxX, box.MinX, box.MaxX)
	minY, maxY := steps(s.query.MinY, s.query.MaxY, box.MinY, box.MaxY)
	for i := range leaves {
		l := &leaves[i]
		switch {
		case l.Info.modes()&s.g.mode == 0 ||
			int(l.MinX) > maxX || int(l.MaxX) < minX || int(l.MinY) > maxY || int(l.MaxY) < minY:
		case s.found != nil:
			s.found(from + uint32(l.BaseEdge))
		default:
			s.leaf(from+uint32(l.BaseEdge), l)
		}
	}
}

// steps returns the bounds of a query in BoxSteps of a box, a little too wide.
func steps(queryMin, queryMax, boxMin, boxMax int32) (from, to int) {
	size := float64(boxMax) - float64(boxMin)
	if size == 0 {
		return 0, BoxSteps
	}
	const slack = 1e-6
	from = int(math.Ceil((float64(queryMin)-float64(boxMin))*BoxSteps/size - slack))
	to = int(math.Floor((float64(queryMax)-float64(boxMin))*BoxSteps/size + slack))
	return from, to
}

// leaf measures the segments of a leaf of a base edge.
func (s *snapper) leaf(base uint32, l *Leaf) {
	s.visited += 1 + (len(s.hits)-s.first)/16 // hit compares with all of them
	e := s.g.baseEdges.At(int(base))
	shape := s.g.words(base, e)
	words := shape
	at := position{e.Lat, e.Lon}
	for rest := len(words) - int(l.Skip); len(words) > rest; {
		words = at.next(words)
	}
	start := len(words)
	best, segment, share := s.limit, -1, 0.0
	ax, ay := s.plane.xy(at)
	for range l.Info.segments() {
		left, word := len(words), words[0]
		var bx, by float64
		if word == farPoint || s.plane.polar {
			words = at.next(words)
			bx, by = s.plane.xy(at)
		} else {
			words = words[1:]
			bx, by = ax+float64(int32(word)>>16)*s.plane.perLon, ay+float64(int16(word))*geo.MetresPerUnit
		}
		if mayBeNearer(ax, ay, bx, by, best) {
			if part, d := closest(ax, ay, bx, by); d < best || d == best && segment < 0 {
				best, segment, share = d, start-left, part
			}
		}
		ax, ay = bx, by
	}
	if segment >= 0 {
		s.hit(base, e, shape, int(l.Skip)+segment, share, best)
	}
}

// hit records the place at a share of the segment behind some words of a base edge's shape, unless there is a nearer
// one on the same edge.
func (s *snapper) hit(base uint32, e *BaseEdge, words []uint32, skip int, share, squared float64) {
	edge := s.edge(base, e)
	known := -1
	for i := max(s.first, len(s.hits)-maxCompared); i < len(s.hits); i++ {
		if s.hits[i].Edge == edge {
			if squared >= s.hits[i].Distance {
				return
			}
			known = i
			break
		}
	}
	h := Hit{Edge: edge, Distance: squared}
	if s.offsets {
		h.Offset = s.offset(edge, base, e, words, skip, share)
	}
	if known >= 0 {
		s.hits[known] = h
	} else {
		s.hits = append(s.hits, h)
	}
}

// offset returns the offset of such a place on its edge.
func (s *snapper) offset(edge, base uint32, e *BaseEdge, words []uint32, skip int, share float64) uint32 {
	begin := uint64(0)
	for before := edge; before < base; before++ {
		begin += uint64(s.g.baseEdges.At(int(before)).Length)
	}
	metres, segment := s.ruler.along(position{e.Lat, e.Lon}, words, skip)
	return offsetAt(begin, metres+share*segment, e)
}

// edge returns the edge that a base edge is part of.
func (s *snapper) edge(base uint32, e *BaseEdge) uint32 {
	edge := base
	for e.Flags&s.g.begins == 0 {
		if edge == 0 || base-edge > MaxShape {
			s.g.corrupt("an edge has no beginning")
		}
		edge--
		e = s.g.baseEdges.At(int(edge))
	}
	s.visited += int(base-edge) / 16
	return edge
}

// maxCompared is the number of hits that a new one is compared with: all of them, but for the densest places.
const maxCompared = 256

// compact keeps the nearest hit of each edge, where there were too many for hit to compare.
func (s *snapper) compact() {
	hits := s.hits[s.first:]
	if len(hits) <= maxCompared {
		return
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Edge, b.Edge), cmp.Compare(a.Distance, b.Distance))
	})
	hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Edge == b.Edge })
	s.hits = s.hits[:s.first+len(hits)]
}
