package roadgraph

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// The snapping index is a packed R-tree over groups of leaves, which lie in the order of their edges. All modes have
// it in common: a leaf says whose it is.

// Hit is a place on a segment that is near a position.
type Hit struct {
	Segment  uint32
	Offset   uint32  // millimetres from the segment's first point
	Distance float64 // metres
}

// Near appends to hits the nearest place of each segment within radius metres of a position, in no particular order.
func (g *Graph) Near(lat, lon, radius float64, hits []Hit) []Hit {
	s := snapper{g: g, most: math.MaxInt, offsets: true}
	return s.near(lat, lon, radius, hits)
}

// Near does the same for a search, and counts as its work what it looks at beyond what is usual. When more is done
// than MaxWork, it returns what it has found until then.
func (s *Search) Near(g *Graph, lat, lon, radius float64, hits []Hit) []Hit {
	return s.near(g, lat, lon, radius, hits, true)
}

// NearSegments does the same for who needs no Offset, which is then 0.
func (s *Search) NearSegments(g *Graph, lat, lon, radius float64, hits []Hit) []Hit {
	return s.near(g, lat, lon, radius, hits, false)
}

func (s *Search) near(g *Graph, lat, lon, radius float64, hits []Hit, offsets bool) []Hit {
	n := snapper{g: g, most: math.MaxInt, offsets: offsets}
	if s.MaxWork > 0 {
		n.most = usualLooks + int(min(max(s.MaxWork-s.Work, 0), math.MaxInt32))
	}
	hits = n.near(lat, lon, radius, hits)
	s.Work += int64(max(0, n.looked-usualLooks))
	return hits
}

// usualLooks is above how many boxes and leaves are looked at where streets are dense.
const usualLooks = 4000

// near looks at no more than most boxes and leaves, and a few.
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

// around is the box that holds all positions within a number of metres of a position in degrees; two boxes where it
// crosses the antimeridian.
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

// snapper is one search; its hits have squared distances.
type snapper struct {
	found func(edge uint32) // takes those of leaves whose boxes overlap the query; nil where they are to be measured

	g     *Graph
	index *index
	plane plane
	ruler ruler
	query geo.Box
	limit float64 // metres, squared
	hits  []Hit
	first int

	looked, most int  // boxes and leaves
	offsets      bool // whether those of the hits are wanted
}

// descend looks at some boxes of a level and at what is below them. Level 0 are the groups of leaves.
func (s *snapper) descend(level int, from, to uint32) {
	if s.looked++; s.looked > s.most {
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

// group looks at the leaves of a group. Those of other modes cost hardly anything.
func (s *snapper) group(number uint32, box *geo.Box) {
	first := int(number) * geo.TreeFanout
	from := *s.index.groups.At(int(number))
	leaves := s.index.leaves.Range(first, min(first+geo.TreeFanout, s.index.leaves.Len()))
	minX, maxX := parts(s.query.MinX, s.query.MaxX, box.MinX, box.MaxX)
	minY, maxY := parts(s.query.MinY, s.query.MaxY, box.MinY, box.MaxY)
	for i := range leaves {
		l := &leaves[i]
		switch {
		case l.About.modes()&s.g.mode == 0 ||
			int(l.MinX) > maxX || int(l.MaxX) < minX || int(l.MinY) > maxY || int(l.MaxY) < minY:
		case s.found != nil:
			s.found(from + uint32(l.Edge))
		default:
			s.leaf(from+uint32(l.Edge), l)
		}
	}
}

// parts are the bounds of a query in parts of a box, a little too wide.
func parts(queryMin, queryMax, boxMin, boxMax int32) (from, to int) {
	size := float64(boxMax) - float64(boxMin)
	if size == 0 {
		return 0, BoxParts
	}
	const slack = 1e-6
	from = int(math.Ceil((float64(queryMin)-float64(boxMin))*BoxParts/size - slack))
	to = int(math.Floor((float64(queryMax)-float64(boxMin))*BoxParts/size + slack))
	return from, to
}

// leaf measures the pieces of a leaf of an edge.
func (s *snapper) leaf(edge uint32, l *Leaf) {
	s.looked += 1 + (len(s.hits)-s.first)/16 // which are gone through below
	e := s.g.edges.At(int(edge))
	shape := s.g.words(edge, e)
	words := shape
	at := position{e.Lat, e.Lon}
	for rest := len(words) - int(l.Skip); len(words) > rest; {
		words = at.next(words)
	}
	start := len(words)
	best, piece, share := s.limit, -1, 0.0
	ax, ay := s.plane.xy(at)
	for range l.About.pieces() {
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
			if part, d := closest(ax, ay, bx, by); d < best || d == best && piece < 0 {
				best, piece, share = d, start-left, part
			}
		}
		ax, ay = bx, by
	}
	if piece >= 0 {
		s.hit(edge, e, shape, int(l.Skip)+piece, share, best)
	}
}

// hit notes the place at a share of a piece of an edge's shape, which begins behind some of its words, unless there
// is a nearer one on the same segment.
func (s *snapper) hit(edge uint32, e *Edge, words []uint32, skip int, share, squared float64) {
	segment := s.segment(edge, e)
	known := -1
	for i := max(s.first, len(s.hits)-compared); i < len(s.hits); i++ {
		if s.hits[i].Segment == segment {
			if squared >= s.hits[i].Distance {
				return
			}
			known = i
			break
		}
	}
	h := Hit{Segment: segment, Distance: squared}
	if s.offsets {
		h.Offset = s.offset(segment, edge, e, words, skip, share)
	}
	if known >= 0 {
		s.hits[known] = h
	} else {
		s.hits = append(s.hits, h)
	}
}

// offset is that of such a place on its segment.
func (s *snapper) offset(segment, edge uint32, e *Edge, words []uint32, skip int, share float64) uint32 {
	begin := uint64(0)
	for before := segment; before < edge; before++ {
		begin += uint64(s.g.edges.At(int(before)).Length)
	}
	metres, piece := s.ruler.along(position{e.Lat, e.Lon}, words, skip)
	return offsetAt(begin, metres+share*piece, e)
}

// segment is the one that an edge is part of.
func (s *snapper) segment(edge uint32, e *Edge) uint32 {
	segment := edge
	for e.Flags&s.g.begins == 0 {
		if segment == 0 || edge-segment > MaxShape {
			s.g.foreign("a segment has no beginning")
		}
		segment--
		e = s.g.edges.At(int(segment))
	}
	s.looked += int(edge-segment) / 16
	return segment
}

// compared is with how many hits before it a new one is compared. In all but the densest places these are all there
// are.
const compared = 256

// compact leaves of each segment the nearest hit, where hit may have left more.
func (s *snapper) compact() {
	hits := s.hits[s.first:]
	if len(hits) <= compared {
		return
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Distance, b.Distance))
	})
	hits = slices.CompactFunc(hits, func(a, b Hit) bool { return a.Segment == b.Segment })
	s.hits = s.hits[:s.first+len(hits)]
}
