package roadgraph

import (
	"encoding/binary"
	"iter"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// Control is traffic control at a point of a base edge's shape. Where base edges meet, each of them has it.
type Control struct {
	BaseEdge uint32
	Point    uint16 // of the base edge's shape, from 0 on
	Flags    ControlFlags
	_        uint8
}

// ControlFlags say what there is at a point, and in which direction.
type ControlFlags uint8

// The flags of a point.
const (
	Signals ControlFlags = 1 << iota // traffic lights
	Stop
	GiveWay
	Crossing // for pedestrians
	// Along and Against limit all but the crossing to one direction: along or against the edge; in a node's tags, the way.
	Along
	Against
)

// Reversed returns the flags seen from the other direction.
func (f ControlFlags) Reversed() ControlFlags {
	turned := f &^ (Along | Against)
	if f&Along != 0 {
		turned |= Against
	}
	if f&Against != 0 {
		turned |= Along
	}
	return turned
}

// Details is where the details of a road are. Few roads have any.
type Details struct{ Road, Text uint32 }

// AppendDetail appends a tag to the details of a road: key and value, each after its length. Roads with the same
// details share one text.
func AppendDetail(text []byte, key, value string) []byte {
	for _, s := range [...]string{key, value} {
		text = append(binary.AppendUvarint(text, uint64(len(s))), s...)
	}
	return text
}

// extras are the sections that route searches do not need.
type extras struct {
	controls region.View[Control]
	details  region.View[Details]
	texts    region.View[byte]
}

// Controls appends the controls of an edge, with the numbers of their points in the edge's Shape.
func (g *Graph) Controls(edge uint32, controls []Control) []Control {
	points := 0
	for base := edge; ; base++ {
		for i := firstOf(&g.controls, base, func(c *Control) uint32 { return c.BaseEdge }); i < g.controls.Len(); i++ {
			c := *g.controls.At(i)
			if c.BaseEdge != base {
				break
			}
			if c.Point == 0 && base != edge {
				continue // the base edge before has it, too
			}
			c.Point += uint16(points)
			controls = append(controls, c)
		}
		points += g.segments(base)
		if !g.continues(edge, base) {
			return controls
		}
	}
}

// segments returns the number of segments of a base edge.
func (g *Graph) segments(base uint32) (n int) {
	e := g.baseEdges.At(int(base))
	at := position{e.Lat, e.Lon}
	for words := g.words(base, e); len(words) > 0; n++ {
		words = at.next(words)
	}
	return n
}

// Details yields further tags of a road, by its number in Point: lanes and where they lead, signposts, surface, size
// limits, and conditional restrictions.
func (g *Graph) Details(road uint32) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for key, value := range g.RawDetails(road) {
			if !yield(string(key), string(value)) {
				return
			}
		}
	}
}

// RawDetails is Details without copies: keys and values are parts of the mapped file, and read-only.
func (g *Graph) RawDetails(road uint32) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		i := firstOf(&g.details, road, func(d *Details) uint32 { return d.Road })
		if i == g.details.Len() || g.details.At(i).Road != road {
			return
		}
		text := textAt(&g.texts, g.details.At(i).Text)
		next := func() []byte {
			n, size := binary.Uvarint(text)
			if size <= 0 || n > uint64(len(text)-size) {
				g.corrupt("the details of a road end early")
			}
			s := text[size : size+int(n)]
			text = text[size+int(n):]
			return s
		}
		for len(text) > 0 {
			if key := next(); !yield(key, next()) {
				return
			}
		}
	}
}

// firstOf returns the index of the first element of a sorted section whose key is at least the given one.
func firstOf[T any](v *region.View[T], key uint32, of func(*T) uint32) int {
	i, j := 0, v.Len()
	for i < j {
		if h := int(uint(i+j) >> 1); of(v.At(h)) < key {
			i = h + 1
		} else {
			j = h
		}
	}
	return i
}
