package matching

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// result makes the Result of the best drive.
func (s *scratch) result(details bool) (*Result, error) {
	s.buildDrive()
	matched, err := s.locate()
	if err != nil {
		return nil, err
	}
	if matched < 2 || 2*matched < len(s.points) {
		return nil, ErrNoRoute
	}
	if s.exhausted() {
		return nil, ErrWork
	}
	if s.isStationary(matched) {
		return nil, errStationary
	}
	if !details {
		path, err := s.path()
		if err != nil {
			return nil, err
		}
		return &Result{Path: path, Distance: lengthOf(path)}, nil
	}
	r := &Result{Confidence: s.confidence(), Duration: s.duration(), Tracepoints: make([]Tracepoint, len(s.points))}
	var last roadName
	for i := range s.located {
		r.Tracepoints[i] = s.tracepoint(i, &last)
	}
	if err := s.detailedPath(r); err != nil {
		return nil, err
	}
	return r, nil
}

// place is a position along the drive.
type place struct {
	piece  int32   // in scratch.drive, -1 for none
	offset float64 // metres from the beginning of the piece's arc
}

// locate finds the place of each point along the drive, and counts those that have one. A point that the model left out
// is no outlier if the drive passes it as near as noise explains.
func (s *scratch) locate() (matched int, err error) {
	s.located = s.located[:0]
	for range s.points {
		s.located = append(s.located, place{piece: -1})
	}
	for i, at := range s.bestSteps {
		if step := &s.steps[at]; step.move != moveOutlier {
			s.located[step.point] = s.places[i]
			matched++
		}
	}
	var from place
	known := false // whether from is
	waiting := 0   // the points of used from here on have no place yet
	for i, point := range s.used {
		if to := s.located[point]; to.piece >= 0 {
			if !known {
				from = to
			}
			between, err := s.locateBetween(s.used[waiting:i], from, to)
			if err != nil {
				return 0, err
			}
			matched += between
			from, known, waiting = to, true, i+1
		}
	}
	behind, err := s.locateBetween(s.used[waiting:], from, from)
	return matched + behind, err
}

// locateBetween finds places for points along a stretch of the drive, and counts those near it.
func (s *scratch) locateBetween(points []int32, from, to place) (matched int, err error) {
	for _, point := range points {
		if err := s.spend(1 + int(to.piece-from.piece)/piecesPerWork); err != nil {
			return 0, err
		}
		if p, distance := s.project(point, from, to); distance <= min(s.maxRadius, nearby*s.sigma[point]) {
			s.located[point], from = p, p
			matched++
		}
	}
	return matched, nil
}

// maxDrift is how far apart, in sigma, the means of the two halves of a stationary trace may be. Receivers drift.
const maxDrift = 3.0

// isStationary reports whether a drive hardly moves although its points do. Else a trace against the only direction of
// its road would match as a waiting car.
func (s *scratch) isStationary(matched int) bool {
	driven := 0.0
	for i := range s.drive {
		driven += s.drive[i].to - s.drive[i].from
	}
	recorded := func(i int) orb.Point { return s.points[i].Location }
	return s.moves(matched, driven, recorded) && s.moves(matched, driven, s.besideRoad)
}

// besideRoad returns the place on a road nearest to a matched point. Points across from each other in a yard beside a
// road do not show movement along it.
func (s *scratch) besideRoad(i int) orb.Point {
	at := s.points[i].Location
	nearest, place := math.Inf(1), at
	s.hits = s.search.Near(s.graph, at.Lat(), at.Lon(), s.distance(int32(i))+1, s.hits[:0])
	for k := range s.hits {
		if h := &s.hits[k]; h.Distance < nearest {
			nearest, place = h.Distance, s.graph.At(h.Edge, float64(h.Offset)/1000)
		}
	}
	s.search.Work += 1 + int64(len(s.hits)/hitsPerWork)
	return place
}

// moves reports whether the matched points show a movement of more than driven metres, beyond their errors.
func (s *scratch) moves(matched int, driven float64, at func(i int) orb.Point) bool {
	var middle [2]orb.Point // relative to the first point, because of the antimeridian
	var first orb.Point
	half, n, sigma := 0, 0, 0.0
	for i := range s.points {
		if s.located[i].piece < 0 {
			continue
		}
		if n++; 2*n > matched && half == 0 {
			half = 1
		}
		p := at(i)
		if n == 1 {
			first = p
		}
		share := 1 / float64(matched/2)
		if half == 1 {
			share = 1 / float64(matched-matched/2)
		}
		middle[half][0] += geo.LongitudeDegrees(p[0]-first[0]) * share
		middle[half][1] += p[1] * share
		sigma = max(sigma, s.sigma[i])
	}
	moved := geo.Distance(middle[0].Lat(), middle[0].Lon(), middle[1].Lat(), middle[1].Lon())
	return moved > driven+maxDrift*sigma
}

// project returns the place on a stretch of the drive nearest to a point, and its distance in metres.
func (s *scratch) project(point int32, from, to place) (place, float64) {
	at := s.points[point].Location
	best, distance := from, math.Inf(1)
	for i := from.piece; i <= to.piece; i++ {
		p := s.drive[i]
		if i == from.piece {
			p.from = from.offset
		}
		if i == to.piece {
			p.to = max(to.offset, p.from)
		}
		length := s.length(p.arc)
		a, b := p.from, p.to
		if p.arc&1 == 1 {
			a, b = length-p.to, length-p.from
		}
		offset, d := s.graph.NearestOn(p.arc>>1, a, b, at)
		if p.arc&1 == 1 {
			offset = length - offset
		}
		if d < distance {
			best, distance = place{i, offset}, d
		}
	}
	return best, distance
}

// roadName caches the last name: most points are on the same road as the one before.
type roadName struct {
	edge  uint32
	name  string
	known bool
}

// of returns the name of an edge.
func (n *roadName) of(g *roadgraph.Graph, edge uint32) string {
	if !n.known || !g.SameName(edge, n.edge) {
		*n = roadName{edge, g.Name(edge), true}
	}
	return n.name
}

// tracepoint tells whether a point is matched, and the name of its road. detailedPath fills in the rest.
func (s *scratch) tracepoint(i int, last *roadName) Tracepoint {
	p := s.located[i]
	if p.piece < 0 {
		return Tracepoint{}
	}
	return Tracepoint{Matched: true, Name: last.of(s.graph, s.drive[p.piece].arc>>1)}
}

// pointDistance returns the distance between two points in metres.
func pointDistance(a, b *trace.Point) float64 {
	return geo.Distance(a.Location.Lat(), a.Location.Lon(), b.Location.Lat(), b.Location.Lon())
}

// duration returns the time in seconds that the drive takes at the roads' free speed.
func (s *scratch) duration() float64 {
	seconds := 0.0
	for _, p := range s.drive {
		if arc := s.graph.Arc(p.arc); arc.Length > 0 {
			seconds += float64(arc.Duration) * max(0, p.to-p.from) / float64(arc.Length)
		}
	}
	return seconds
}
