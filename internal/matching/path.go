package matching

import (
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// piece is a part of an arc that the drive travels, in metres from the arc's beginning.
type piece struct {
	base     uint32
	from, to float64
}

// travel turns the best drive into pieces. For each step of the chain it notes in places where along the pieces it is.
func (s *scratch) travel() {
	s.drive, s.places = s.drive[:0], s.places[:0]
	for _, at := range s.chain {
		st := &s.steps[at]
		base, offset := s.graph.Arc(st.arc).Base, float64(st.offset)
		switch st.move {
		case begin:
			s.drive = append(s.drive, piece{base, offset, offset})
		case forward:
			s.drive[len(s.drive)-1].to = offset
		case turn:
			last := &s.drive[len(s.drive)-1]
			length := float64(s.graph.Arc(base).Length) / 1000
			if length-last.to > offset { // the place to turn at is ahead
				last.to = length - offset
			}
			s.drive = append(s.drive, piece{base, length - last.to, offset})
		case route:
			last := &s.drive[len(s.drive)-1]
			last.to = float64(s.graph.Arc(last.base).Length) / 1000
			first := len(s.drive)
			for node := st.route; node != 0; node = s.nodes[node].parent {
				arc := s.graph.Arc(s.nodes[node].arc)
				s.drive = append(s.drive, piece{base: arc.Base, to: float64(arc.Length) / 1000})
			}
			s.drive[first].to = offset
			slices.Reverse(s.drive[first:])
		}
		s.places = append(s.places, place{int32(len(s.drive) - 1), s.drive[len(s.drive)-1].to})
	}
}

// place is a place along the drive: a piece, and metres from the beginning of its arc.
type place struct {
	piece  int32
	offset float64
}

// path is the geometry of the drive. It has at least two points: where the drive does not move, the same one twice.
func (s *scratch) path() orb.LineString {
	var line orb.LineString
	for i := range s.drive {
		line = s.appendPiece(line, &s.drive[i])
	}
	if len(line) == 1 {
		line = append(line, line[0])
	}
	return line
}

// appendPiece adds the geometry of a piece, without repeating a point.
func (s *scratch) appendPiece(line orb.LineString, p *piece) orb.LineString {
	line = appendPoint(line, s.at(p.base, p.from))
	shape := s.graph.Shape(p.base >> 1)
	if p.base&1 == 0 {
		for i := range shape {
			if at := float64(shape[i].Offset) / 1000; at > p.from && at < p.to {
				line = appendPoint(line, shape[i].Location())
			}
		}
	} else {
		length := float64(shape[len(shape)-1].Offset) / 1000
		for i := range slices.Backward(shape) {
			if at := length - float64(shape[i].Offset)/1000; at > p.from && at < p.to {
				line = appendPoint(line, shape[i].Location())
			}
		}
	}
	return appendPoint(line, s.at(p.base, p.to))
}

func appendPoint(line orb.LineString, p orb.Point) orb.LineString {
	if n := len(line); n > 0 && line[n-1] == p {
		return line
	}
	return append(line, p)
}

// at is the position of a place on an arc.
func (s *scratch) at(base uint32, offset float64) orb.Point {
	segment := base >> 1
	if base&1 == 1 {
		offset = float64(s.graph.Segment(segment).Length)/1000 - offset
	}
	return s.graph.At(segment, offset)
}

// lengthOf is the length of a line in metres.
func lengthOf(line orb.LineString) float64 {
	length := 0.0
	for i := 1; i < len(line); i++ {
		length += roadgraph.Distance(line[i-1].Lat(), line[i-1].Lon(), line[i].Lat(), line[i].Lon())
	}
	return length
}
