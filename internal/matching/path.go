package matching

import (
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// piece is the part of an arc that the drive travels, in metres from the arc's beginning; to is at least from.
type piece struct {
	arc      uint32
	from, to float64
}

// buildDrive turns the best steps into pieces, and records the place of each step.
func (s *scratch) buildDrive() {
	s.drive, s.places = s.drive[:0], s.places[:0]
	for _, at := range s.bestSteps {
		step := &s.steps[at]
		s.drive = s.appendStep(s.drive, step)
		last := len(s.drive) - 1
		s.places = append(s.places, place{int32(last), s.drive[last].to})
	}
}

// appendStep adds the way to a step.
func (s *scratch) appendStep(drive []piece, step *step) []piece {
	base, offset := s.graph.ArcOf(step.state), float64(step.offset)
	switch step.move {
	case moveBegin:
		return append(drive, piece{base, offset, offset})
	case moveForward:
		drive[len(drive)-1].to = offset
	case moveTurnBack:
		last := &drive[len(drive)-1]
		length := s.length(base)
		last.to = max(last.to, length-offset) // if the new place is ahead, the drive turns there
		return append(drive, piece{base, length - last.to, offset})
	case moveRoute:
		last := &drive[len(drive)-1]
		last.to = s.length(last.arc)
		first := len(drive)
		for node := step.route; node != 0; node = s.nodes[node].parent {
			arc := s.graph.ArcOf(s.nodes[node].state)
			drive = append(drive, piece{arc: arc, to: s.length(arc)})
		}
		drive[first].to = offset
		slices.Reverse(drive[first:])
	}
	return drive
}

// length returns the length of an arc in metres.
func (s *scratch) length(arc uint32) float64 { return float64(s.graph.Length(arc)) / 1000 }

// maxPath is the greatest number of coordinates of a drive: 64 MB, or some ten thousand kilometres.
const maxPath = 4 << 20

// path returns the geometry of the drive. A drive that does not move has the same point twice.
func (s *scratch) path() (orb.LineString, error) {
	var line orb.LineString
	for i := range s.drive {
		if line = s.appendShape(line, &s.drive[i]); len(line) > maxPath {
			return nil, ErrWork
		}
	}
	if len(line) == 1 {
		line = append(line, line[0])
	}
	return line, nil
}

// appendShape adds the geometry of a piece.
func (s *scratch) appendShape(line orb.LineString, p *piece) orb.LineString {
	line = appendPoint(line, s.at(p.arc, p.from))
	s.shape = s.graph.Shape(p.arc>>1, s.shape[:0])
	shape := s.shape
	if p.arc&1 == 0 {
		for i := range shape {
			if at := float64(shape[i].Offset) / 1000; at > p.from && at < p.to {
				line = appendPoint(line, shape[i].Location())
			}
		}
	} else {
		length := s.length(p.arc)
		for i := range slices.Backward(shape) {
			if at := length - float64(shape[i].Offset)/1000; at > p.from && at < p.to {
				line = appendPoint(line, shape[i].Location())
			}
		}
	}
	return appendPoint(line, s.at(p.arc, p.to))
}

// appendPoint adds a point unless it repeats the last one.
func appendPoint(line orb.LineString, p orb.Point) orb.LineString {
	if n := len(line); n > 0 && line[n-1] == p {
		return line
	}
	return append(line, p)
}

// at returns the position of a place on an arc, offset metres from the arc's beginning.
func (s *scratch) at(base uint32, offset float64) orb.Point {
	if base&1 == 1 {
		offset = s.length(base) - offset
	}
	return s.graph.At(base>>1, offset)
}

// lengthOf returns the length of a line in metres.
func lengthOf(line orb.LineString) float64 {
	length := 0.0
	for i := 1; i < len(line); i++ {
		length += geo.Distance(line[i-1].Lat(), line[i-1].Lon(), line[i].Lat(), line[i].Lon())
	}
	return length
}
