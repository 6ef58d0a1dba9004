package roadgraph

import (
	"iter"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// Way returns the id of the OpenStreetMap way of a road, by its number in Point.
func (g *Graph) Way(road uint32) int64 { return g.roads.At(int(road)).Way() }

// Text returns a name or a reference number, by its number in Edge.
func (g *Graph) Text(i uint32) string {
	if i == 0 {
		return ""
	}
	return string(textAt(&g.names, i))
}

// textAt reads a text: its length in two bytes, then its bytes.
func textAt(section *region.View[byte], i uint32) []byte {
	n := section.Range(int(i), int(i)+2)
	length := int(n[0]) | int(n[1])<<8
	return section.Range(int(i)+2, int(i)+2+length)
}

// Name returns the name of an edge, or else its reference number; may be empty.
func (g *Graph) Name(edge uint32) string {
	r := g.road(edge)
	if r.Name != 0 {
		return g.Text(r.Name)
	}
	return g.Text(g.kind(r).Ref)
}

// SameName reports whether two edges have the same name or, if neither has a name, the same reference number.
func (g *Graph) SameName(a, b uint32) bool {
	r, s := g.road(a), g.road(b)
	return r.Name == s.Name && (r.Name != 0 || g.kind(r).Ref == g.kind(s).Ref)
}

// WayPart is the part of an edge on one OpenStreetMap way.
type WayPart struct {
	ID       int64
	Length   uint32 // millimetres
	Reversed bool   // whether the edge runs against the way
}

// Ways yields the ways of an edge. Parts of one way that follow one another may come one by one.
func (g *Graph) Ways(edge uint32) iter.Seq[WayPart] {
	return func(yield func(WayPart) bool) {
		for base := edge; ; base++ {
			e := g.baseEdges.At(int(base))
			if !yield(WayPart{g.roads.At(int(e.Road)).Way(), e.Length, e.Flags&Reversed != 0}) || !g.continues(edge, base) {
				return
			}
		}
	}
}

// RoadOf returns the number of the road on which an edge begins; see Details.
func (g *Graph) RoadOf(edge uint32) uint32 { return g.baseEdges.At(int(edge)).Road }

func (g *Graph) road(edge uint32) *Road { return g.roads.At(int(g.baseEdges.At(int(edge)).Road)) }

func (g *Graph) kind(r *Road) *Kind { return g.kinds.At(int(r.Kind)) }
