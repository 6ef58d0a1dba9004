package roadgraph

import (
	"encoding/binary"
	"iter"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// Control is what a point of an base edge's shape makes those do who pass it. Where base edges meet, each of them has it.
type Control struct {
	BaseEdge uint32
	Point    uint16 // of the base edge's shape, from 0 on
	Flags    ControlFlags
	_        uint8
}

// ControlFlags say what there is at a point, and for whom.
type ControlFlags uint8

// The flags of a point.
const (
	Signals ControlFlags = 1 << iota // traffic lights
	Stop
	GiveWay
	Crossing // where people walk across
	// Along and Against say that all but the crossing is only for those who travel in this direction: in the file and in
	// a edge along and against the base edge, in a node's tags along and against the way.
	Along
	Against
)

// Reversed are the flags of a point of a way that is travelled against it.
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

// Details says where the details of a road are, which few roads have.
type Details struct{ Road, Text uint32 }

// AppendDetail appends a tag to the details of a road: key and value, each after its length. Roads that have the same
// details share one text of them.
func AppendDetail(text []byte, key, value string) []byte {
	for _, s := range [...]string{key, value} {
		text = append(binary.AppendUvarint(text, uint64(len(s))), s...)
	}
	return text
}

// extras are the sections that neither matching nor routing along base edges needs.
type extras struct {
	controls region.View[Control]
	details  region.View[Details]
	texts    region.View[byte]
}

// Controls appends the controls of a edge, with the numbers of their points in the edge's Shape.
func (g *Graph) Controls(edge uint32, controls []Control) []Control {
	points := 0
	for base := edge; ; base++ {
		for i := firstOf(&g.controls, base, func(c *Control) uint32 { return c.BaseEdge }); i < g.controls.Len(); i++ {
			c := *g.controls.At(i)
			if c.BaseEdge != base {
				break
			}
			if c.Point == 0 && base != edge {
				continue // the base edge before has it as its last one
			}
			c.Point += uint16(points)
			controls = append(controls, c)
		}
		points += g.edges(base)
		if !g.continues(edge, base) {
			return controls
		}
	}
}

// segments is how many segments the shape of an base edge has.
func (g *Graph) edges(base uint32) (n int) {
	e := g.baseEdges.At(int(base))
	at := position{e.Lat, e.Lon}
	for words := g.words(base, e); len(words) > 0; n++ {
		words = at.next(words)
	}
	return n
}

// Details yields the tags of a road that only some who read the network need, by the number that a point of a shape has
// for it: lanes and where they lead, signposts, surface, sizes, and what holds at certain times.
func (g *Graph) Details(road uint32) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		i := firstOf(&g.details, road, func(d *Details) uint32 { return d.Road })
		if i == g.details.Len() || g.details.At(i).Road != road {
			return
		}
		text := textAt(&g.texts, g.details.At(i).Text)
		next := func() string {
			n, size := binary.Uvarint(text)
			if size <= 0 || n > uint64(len(text)-size) {
				g.corrupt("the details of a road end early")
			}
			s := text[size : size+int(n)]
			text = text[size+int(n):]
			return string(s)
		}
		for len(text) > 0 {
			if key := next(); !yield(key, next()) {
				return
			}
		}
	}
}

// firstOf finds the first element of a sorted section that has a key, or where it would be.
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
