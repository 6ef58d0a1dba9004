package roadgraph

import (
	"cmp"
	"math"
	"slices"
)

// The snapping index is a packed Hilbert R-tree: the leaves in the order of the curve, and above them levels of bounding
// boxes, each over FanOut of the level below, the topmost level first in the file.

// Level is a level of boxes: the number of its first box, and how many it has.
type Level struct{ First, Count int }

// LevelsOf is the layout of the boxes above a number of leaves, from the top down. The lowest level has a box for every
// FanOut leaves.
func LevelsOf(leaves int) []Level {
	var levels []Level
	for n := leaves; n > 0; {
		n = (n + FanOut - 1) / FanOut
		levels = append(levels, Level{Count: n})
		if n == 1 {
			break
		}
	}
	slices.Reverse(levels)
	for i := 1; i < len(levels); i++ {
		levels[i].First = levels[i-1].First + levels[i-1].Count
	}
	return levels
}

// BoxCount is the number of boxes on all levels.
func BoxCount(levels []Level) int {
	if len(levels) == 0 {
		return 0
	}
	last := levels[len(levels)-1]
	return last.First + last.Count
}

func (b *Box) overlaps(o *Box) bool {
	return b.MinLat <= o.MaxLat && b.MaxLat >= o.MinLat && b.MinLon <= o.MaxLon && b.MaxLon >= o.MinLon
}

// around is the box that holds all positions within a number of metres of a position in degrees.
func around(lat, lon, radius float64) Box {
	dLat := radius/metresPerUnit + 1
	dLon := 1.8e9
	if farthest := math.Abs(lat) + dLat*1e-7; farthest < 90 {
		dLon = min(dLon, dLat/math.Cos(farthest*math.Pi/180))
	}
	return Box{
		int32(max(lat*1e7-dLat, -0.9e9)), int32(max(lon*1e7-dLon, -1.8e9)),
		int32(min(lat*1e7+dLat, 0.9e9)), int32(min(lon*1e7+dLon, 1.8e9)),
	}
}

// Hit is a place on a segment that is near a position.
type Hit struct {
	Segment  uint32
	Offset   uint32  // millimetres from the segment's first point
	Lat, Lon float64 // degrees
	Distance float64 // metres
}

// Near appends to hits the nearest place of each segment within radius metres of a position, in no particular order.
func (g *Graph) Near(lat, lon, radius float64, hits []Hit) []Hit {
	hits, _ = g.near(lat, lon, radius, hits, math.MaxInt)
	return hits
}

// Near does the same for a search, and counts as its work what it looks at beyond what is usual. When more is done
// than MaxWork, it returns what it has found until then.
func (s *Search) Near(g *Graph, lat, lon, radius float64, hits []Hit) []Hit {
	most := math.MaxInt
	if s.MaxWork > 0 {
		most = usualLooks + int(min(max(s.MaxWork-s.Work, 0), math.MaxInt32))
	}
	hits, looked := g.near(lat, lon, radius, hits, most)
	s.Work += int64(max(0, looked-usualLooks))
	return hits
}

// usualLooks is above how many boxes and leaves are looked at where streets are dense.
const usualLooks = 2000

// near looks at no more than most boxes and leaves, and a few.
func (g *Graph) near(lat, lon, radius float64, hits []Hit, most int) (all []Hit, looked int) {
	if g.leaves.Len() == 0 {
		return hits, 0
	}
	s := snapper{g: g, plane: newPlane(lat, lon), query: around(lat, lon, radius), limit: radius * radius, hits: hits,
		first: len(hits), most: most}
	s.descend(0, 0)
	s.compact()
	for i := s.first; i < len(s.hits); i++ {
		s.hits[i].Distance = math.Sqrt(s.hits[i].Distance)
	}
	return s.hits, s.looked
}

// snapper is one search; its hits have squared distances.
type snapper struct {
	g     *Graph
	plane plane
	query Box
	limit float64 // metres, squared
	hits  []Hit
	first int

	looked, most int // boxes and leaves
}

// descend looks at the boxes of one group of a level.
func (s *snapper) descend(depth, group int) {
	if s.looked++; s.looked > s.most {
		return
	}
	l := s.g.levels[depth]
	boxes := s.g.boxes.Range(l.First+group*FanOut, l.First+min((group+1)*FanOut, l.Count))
	for i := range boxes {
		if !boxes[i].overlaps(&s.query) {
			continue
		}
		child := group*FanOut + i
		if depth+1 < len(s.g.levels) {
			s.descend(depth+1, child)
			continue
		}
		leaves := s.g.leaves.Range(child*FanOut, min((child+1)*FanOut, s.g.leaves.Len()))
		for k := range leaves {
			if leaves[k].overlaps(&s.query) {
				s.look(&leaves[k])
			}
		}
	}
}

// look measures the pieces of a leaf.
func (s *snapper) look(l *Leaf) {
	s.looked += 1 + (len(s.hits)-s.first)/16 // which are gone through below
	end := min(int(l.Point)+LeafPieces+1, int(s.g.segments.At(int(l.Segment)+1).FirstPoint))
	points := s.g.points.Range(int(l.Point), end)
	best, piece, share := s.limit, -1, 0.0
	ax, ay := s.plane.xy(&points[0])
	for i := 1; i < len(points); i++ {
		bx, by := s.plane.xy(&points[i])
		if at, d := nearest(ax, ay, bx, by); d < best || d == best && piece < 0 {
			best, piece, share = d, i-1, at
		}
		ax, ay = bx, by
	}
	if piece < 0 {
		return
	}
	a, b := &points[piece], &points[piece+1]
	hit := Hit{
		Segment:  l.Segment,
		Offset:   a.Offset + uint32(math.Round(share*float64(b.Offset-a.Offset))),
		Lat:      (float64(a.Lat) + share*float64(b.Lat-a.Lat)) * 1e-7,
		Lon:      (float64(a.Lon) + share*float64(b.Lon-a.Lon)) * 1e-7,
		Distance: best,
	}
	for i := max(s.first, len(s.hits)-compared); i < len(s.hits); i++ {
		if s.hits[i].Segment == l.Segment {
			if best < s.hits[i].Distance {
				s.hits[i] = hit
			}
			return
		}
	}
	s.hits = append(s.hits, hit)
}

// compared is with how many hits before it a new one is compared. In all but the densest places these are all there
// are.
const compared = 256

// compact leaves of each segment the nearest hit, where look may have left more.
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
