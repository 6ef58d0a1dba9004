package matching

import (
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// piece is a part of an arc that the drive travels, in metres from the arc's beginning; to is at least from.
type piece struct {
	base     uint32
	from, to float64
}

// travel turns the best drive into pieces, and notes the place of each step of the chain.
func (s *scratch) travel() {
	s.drive, s.places = s.drive[:0], s.places[:0]
	for _, at := range s.chain {
		step := &s.steps[at]
		s.drive = s.append(s.drive, step)
		last := len(s.drive) - 1
		s.places = append(s.places, place{int32(last), s.drive[last].to})
	}
}

// append adds the way to a step.
func (s *scratch) append(drive []piece, step *step) []piece {
	base, offset := s.graph.Base(step.arc), float64(step.offset)
	switch step.move {
	case begin:
		return append(drive, piece{base, offset, offset})
	case forward:
		drive[len(drive)-1].to = offset
	case turn:
		last := &drive[len(drive)-1]
		length := s.length(base)
		last.to = max(last.to, length-offset) // where the new place is ahead, the drive turns there
		return append(drive, piece{base, length - last.to, offset})
	case route:
		last := &drive[len(drive)-1]
		last.to = s.length(last.base)
		first := len(drive)
		for node := step.route; node != 0; node = s.nodes[node].parent {
			arc := s.graph.Base(s.nodes[node].arc)
			drive = append(drive, piece{base: arc, to: s.length(arc)})
		}
		drive[first].to = offset
		slices.Reverse(drive[first:])
	}
	return drive
}

// length of an arc in metres.
func (s *scratch) length(arc uint32) float64 { return float64(s.graph.Length(arc)) / 1000 }

// maxPath is how many points the geometry of a drive may have: 64 MB of them, of a drive of some ten thousand
// kilometres.
const maxPath = 4 << 20

// path is the geometry of the drive. It has at least two points: where the drive does not move, the same one twice.
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
	line = appendPoint(line, s.at(p.base, p.from))
	s.shape = s.graph.Shape(p.base>>1, s.shape[:0])
	shape := s.shape
	if p.base&1 == 0 {
		for i := range shape {
			if at := float64(shape[i].Offset) / 1000; at > p.from && at < p.to {
				line = appendPoint(line, shape[i].Location())
			}
		}
	} else {
		length := s.length(p.base)
		for i := range slices.Backward(shape) {
			if at := length - float64(shape[i].Offset)/1000; at > p.from && at < p.to {
				line = appendPoint(line, shape[i].Location())
			}
		}
	}
	return appendPoint(line, s.at(p.base, p.to))
}

// appendPoint adds a point that is not the last one again.
func appendPoint(line orb.LineString, p orb.Point) orb.LineString {
	if n := len(line); n > 0 && line[n-1] == p {
		return line
	}
	return append(line, p)
}

// at is the position of a place on an arc.
func (s *scratch) at(base uint32, offset float64) orb.Point {
	if base&1 == 1 {
		offset = s.length(base) - offset
	}
	return s.graph.At(base>>1, offset)
}

// lengthOf is the length of a line in metres.
func lengthOf(line orb.LineString) float64 {
	length := 0.0
	for i := 1; i < len(line); i++ {
		length += geo.Distance(line[i-1].Lat(), line[i-1].Lon(), line[i].Lat(), line[i].Lon())
	}
	return length
}
