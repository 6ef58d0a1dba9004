package matching

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// atCoordinate is how far along the drive a point may lie from a coordinate, in metres, to be there: coordinates are
// answered with seven decimals, which is a centimetre.
const atCoordinate = 0.01

// course is the geometry of a drive in detail: the coordinates of scratch.path and, among them, those to which the
// points of the trace were snapped.
type course struct {
	s    *scratch
	line orb.LineString
	ways runs

	tracepoints []Tracepoint
	order       []int32 // the points that are still to come, in the order of the drive

	metres float64   // so far, from coordinate to coordinate of scratch.path
	before orb.Point // the last one of these
	offset float64   // of the last coordinate, in metres from the beginning of its piece

	segment, road uint32 // of the edge that was entered last, which is an edge of the drive
	known         bool   // whether there is one
	name          roadName
}

// course gives a result its geometry, length and ways, and each of its tracepoints a coordinate.
func (s *scratch) course(r *Result) error {
	c := course{s: s, tracepoints: r.Tracepoints, order: s.inOrder()}
	for i := range s.drive {
		if c.travel(int32(i)); len(c.line) > maxPath {
			return ErrWork
		}
	}
	if len(c.line) == 1 {
		c.line = append(c.line, c.line[0])
	}
	r.Path, r.Distance, r.Ways = c.line, c.metres, c.ways.finish(len(c.line)-1)
	return nil
}

// inOrder lists the points that have a place, in the order of the drive.
func (s *scratch) inOrder() []int32 {
	s.order = s.order[:0]
	for i := range s.located {
		if s.located[i].piece >= 0 {
			s.order = append(s.order, int32(i))
		}
	}
	along := func(a, b int32) int {
		p, q := &s.located[a], &s.located[b]
		return cmp.Or(cmp.Compare(p.piece, q.piece), cmp.Compare(p.offset, q.offset))
	}
	if !slices.IsSortedFunc(s.order, along) {
		slices.SortStableFunc(s.order, along)
	}
	return s.order
}

// travel adds a piece of the drive.
func (c *course) travel(number int32) {
	p := &c.s.drive[number]
	c.s.shape = c.s.graph.Shape(p.base>>1, c.s.shape[:0])
	shape := c.s.shape
	// The edge of a shape is what lies between its point of this number and the next one.
	edge, step, ahead, last := 0, 1, 1, len(shape)-2
	offset := func(i int) float64 { return float64(shape[i].Offset) / 1000 }
	if p.base&1 == 1 {
		edge, step, ahead, last = last, -1, 0, 0
		length := c.s.length(p.base)
		offset = func(i int) float64 { return length - float64(shape[i].Offset)/1000 }
	}
	for edge != last && offset(edge+ahead) <= p.from {
		edge += step
	}
	c.offset = p.from
	c.stop(number, p.from, c.s.at(p.base, p.from), shape[edge].Road)
	for edge != last && offset(edge+ahead) < p.to {
		c.stop(number, offset(edge+ahead), shape[edge+ahead].Location(), shape[edge].Road)
		edge += step
	}
	c.stop(number, p.to, c.s.at(p.base, p.to), shape[edge].Road)
	// Beyond the piece's end by more than rounding, if there is any.
	for len(c.order) > 0 && c.s.located[c.order[0]].piece <= number {
		c.snap()
	}
}

// stop goes on along a road to a coordinate of the drive, by way of the points of the trace before it.
func (c *course) stop(piece int32, offset float64, at orb.Point, road uint32) {
	base := c.s.drive[piece].base
	c.enter(base>>1, road)
	for len(c.order) > 0 {
		next := c.s.located[c.order[0]]
		if next.piece > piece || next.offset >= offset-atCoordinate {
			break
		}
		if next.offset > c.offset+atCoordinate {
			c.line = appendPoint(c.line, c.s.at(base, next.offset))
			c.offset = next.offset
		}
		c.snap()
	}
	if len(c.line) > 0 {
		c.metres += geo.Distance(c.before.Lat(), c.before.Lon(), at.Lat(), at.Lon())
	}
	c.line, c.before, c.offset = appendPoint(c.line, at), at, offset
	for len(c.order) > 0 {
		next := c.s.located[c.order[0]]
		if next.piece > piece || next.offset > offset+atCoordinate {
			break
		}
		c.snap()
	}
}

// snap has the next point be at the last coordinate.
func (c *course) snap() {
	i := c.order[0]
	t := &c.tracepoints[i]
	t.Index = len(c.line) - 1
	t.Location = c.line[t.Index]
	t.Distance = pointDistance(&c.s.points[i], &trace.Point{Location: t.Location})
	c.order = c.order[1:]
}

// enter notes the way that the drive takes from the last coordinate on, where it has come to another road.
func (c *course) enter(segment, road uint32) {
	if c.known && segment == c.segment && road == c.road {
		return
	}
	c.segment, c.road, c.known = segment, road, true
	name := func() string { return c.name.of(c.s.graph, segment) }
	c.ways.enter(c.s.graph.Way(road), max(len(c.line)-1, 0), name)
}

// runs are ways in the making. The last one's end is not known yet.
type runs []Way

// enter goes on on a way from a coordinate on.
func (r *runs) enter(id int64, from int, name func() string) {
	ways := *r
	if n := len(ways); n > 0 && ways[n-1].ID != id && ways[n-1].From == from {
		ways = ways[:n-1] // nothing of the drive was on it
	}
	if n := len(ways); n == 0 || ways[n-1].ID != id {
		ways = append(ways, Way{ID: id, Name: name(), From: from})
	}
	*r = ways
}

// finish gives the runs their ends. The last coordinate has this index.
func (r runs) finish(last int) []Way {
	if n := len(r); n > 1 && r[n-1].From == last {
		r = r[:n-1]
	}
	for i := range r {
		if r[i].To = last; i+1 < len(r) {
			r[i].To = r[i+1].From
		}
	}
	return r
}
