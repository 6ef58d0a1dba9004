package matching

import (
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// result makes the answer from the best drive.
func (s *scratch) result(details bool) (*Result, error) {
	s.travel()
	tracepoints, matched := s.tracepoints()
	if matched < 2 || 2*matched < len(s.points) {
		return nil, ErrNoRoute
	}
	r := &Result{Path: s.path()}
	r.Distance = lengthOf(r.Path)
	if details {
		r.Tracepoints = tracepoints
		r.Duration = s.duration()
		r.Confidence = s.confidence(matched)
		for i := range tracepoints {
			if tracepoints[i].Matched {
				tracepoints[i].Name = s.graph.Name(s.roads[i])
			}
		}
	}
	return r, nil
}

// tracepoints says what became of each point, and counts those that are matched. A point that the model left out, but
// that the drive passes within reach, is matched all the same: it is no outlier, only inexact.
func (s *scratch) tracepoints() (all []Tracepoint, matched int) {
	all = make([]Tracepoint, len(s.points))
	if cap(s.roads) < len(all) {
		s.roads = make([]uint32, len(all))
	}
	s.roads = s.roads[:len(all)]
	for i, at := range s.chain {
		st := &s.steps[at]
		if st.move == skip {
			continue
		}
		p := s.places[i]
		base := s.drive[p.piece].base
		all[st.point] = s.tracepoint(st.point, base, p.offset)
		s.roads[st.point] = base >> 1
		matched++
	}
	return all, matched
}

func (s *scratch) tracepoint(point int32, base uint32, offset float64) Tracepoint {
	at, from := s.at(base, offset), s.points[point].Location
	return Tracepoint{Matched: true, Location: at, Distance: roadgraph.Distance(from.Lat(), from.Lon(), at.Lat(), at.Lon())}
}

// duration is the time in seconds that the drive takes at the roads' free speed.
func (s *scratch) duration() float64 {
	seconds := 0.0
	for i := range s.drive {
		if arc := s.graph.Arc(s.drive[i].base); arc.Length > 0 {
			seconds += float64(arc.Duration) * (s.drive[i].to - s.drive[i].from) / float64(arc.Length)
		}
	}
	return seconds
}

func (s *scratch) confidence(matched int) float64 { return float64(matched) / float64(len(s.points)) }
