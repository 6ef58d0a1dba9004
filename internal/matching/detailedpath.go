package matching

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// atCoordinate is the distance in metres along the drive up to which a point is at a coordinate. Answers have seven
// decimals, which is a centimetre.
const atCoordinate = 0.01

// detailedPath is the geometry of a drive with details: the coordinates of scratch.path and the snapped points of the
// trace.
type detailedPath struct {
	s    *scratch
	line orb.LineString
	ways runs

	tracepoints []Tracepoint
	order       []int32 // the points still to come, in the order of the drive

	metres float64   // so far, from coordinate to coordinate of scratch.path
	before orb.Point // the last one of these
	offset float64   // of the last coordinate, in metres from the beginning of its piece
	pace   float64   // of the piece, in seconds per metre
	times  []float64 // see Result.Times

	edge, road uint32 // of the segment that was entered last, which is a segment of the drive
	known      bool   // whether there is one
	name       roadName
}

// detailedPath sets a result's geometry, length and ways, and the coordinate of each tracepoint.
func (s *scratch) detailedPath(r *Result) error {
	c := detailedPath{s: s, tracepoints: r.Tracepoints, order: s.inOrder()}
	for i := range s.drive {
		if c.travel(int32(i)); len(c.line) > maxPath {
			return ErrWork
		}
	}
	if len(c.line) == 1 {
		c.line, c.times = append(c.line, c.line[0]), append(c.times, c.times[0])
	}
	r.Path, r.Distance, r.Ways, r.Times = c.line, c.metres, c.ways.finish(len(c.line)-1), c.times
	return nil
}

// inOrder returns the points that have a place, in the order of the drive.
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
func (c *detailedPath) travel(number int32) {
	p := &c.s.drive[number]
	c.s.shape = c.s.graph.Shape(p.arc>>1, c.s.shape[:0])
	shape := c.s.shape
	// The segment of a shape is what lies between its point of this number and the next one.
	segment, step, ahead, last := 0, 1, 1, len(shape)-2
	offset := func(i int) float64 { return float64(shape[i].Offset) / 1000 }
	if p.arc&1 == 1 {
		segment, step, ahead, last = last, -1, 0, 0
		length := c.s.length(p.arc)
		offset = func(i int) float64 { return length - float64(shape[i].Offset)/1000 }
	}
	for segment != last && offset(segment+ahead) <= p.from {
		segment += step
	}
	c.offset, c.pace = p.from, 0
	if arc := c.s.graph.Arc(p.arc); arc.Length > 0 {
		c.pace = float64(arc.Duration) / float64(arc.Length)
	}
	c.stop(number, p.from, c.s.at(p.arc, p.from), shape[segment].Road)
	for segment != last && offset(segment+ahead) < p.to {
		c.stop(number, offset(segment+ahead), shape[segment+ahead].Location(), shape[segment].Road)
		segment += step
	}
	c.stop(number, p.to, c.s.at(p.arc, p.to), shape[segment].Road)
	// Beyond the piece's end by more than rounding, if there is any.
	for len(c.order) > 0 && c.s.located[c.order[0]].piece <= number {
		c.snap()
	}
}

// stop continues along a road to a coordinate of the drive, by way of the points of the trace before it.
func (c *detailedPath) stop(piece int32, offset float64, at orb.Point, road uint32) {
	base := c.s.drive[piece].arc
	c.enter(base>>1, road)
	for len(c.order) > 0 {
		next := c.s.located[c.order[0]]
		if next.piece > piece || next.offset >= offset-atCoordinate {
			break
		}
		if next.offset > c.offset+atCoordinate {
			c.add(c.s.at(base, next.offset), next.offset)
		}
		c.snap()
	}
	if len(c.line) > 0 {
		c.metres += geo.Distance(c.before.Lat(), c.before.Lon(), at.Lat(), at.Lon())
	}
	c.add(at, offset)
	c.before = at
	for len(c.order) > 0 {
		next := c.s.located[c.order[0]]
		if next.piece > piece || next.offset > offset+atCoordinate {
			break
		}
		c.snap()
	}
}

// add appends a coordinate, which is at an offset of the piece.
func (c *detailedPath) add(at orb.Point, offset float64) {
	seconds := c.pace * max(0, offset-c.offset)
	if n := len(c.times); n > 0 {
		seconds += c.times[n-1]
	}
	c.line, c.offset = appendPoint(c.line, at), offset
	c.times = append(c.times[:len(c.line)-1], seconds)
}

// snap puts the next point at the last coordinate.
func (c *detailedPath) snap() {
	i := c.order[0]
	t := &c.tracepoints[i]
	t.Index = len(c.line) - 1
	t.Location = c.line[t.Index]
	t.Distance = pointDistance(&c.s.points[i], &trace.Point{Location: t.Location})
	c.order = c.order[1:]
}

// enter records the way that the drive takes from the last coordinate on, if it has come to another road.
func (c *detailedPath) enter(edge, road uint32) {
	if c.known && edge == c.edge && road == c.road {
		return
	}
	c.edge, c.road, c.known = edge, road, true
	name := func() string { return c.name.of(c.s.graph, edge) }
	c.ways.enter(c.s.graph.Way(road), max(len(c.line)-1, 0), name)
}

// runs are ways in the making. The last one's end is not known yet.
type runs []Way

// enter continues on a way from a coordinate on.
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
