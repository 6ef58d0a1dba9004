// Package roadgraph is the road network of a region: directed, with every turn that is allowed, an index that finds the
// roads near a position, and shortest paths. It is written once by package build/roads, and read in place from the mapped region file.
//
// Routes run over arcs, not over junctions: what may follow an arc depends on the arc by which one came (turn
// restrictions, barriers, no turning back), and the list of an arc's turns says exactly that.
package roadgraph

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Graph is the road network of a region for one mode of travel. It is safe for use by any number of goroutines. Its
// methods read the region file: callers from outside the engines recover as package region says.
type Graph struct {
	path     string
	segments region.View[Segment]
	points   region.View[Point]
	ways     region.View[WayRun]
	arcs     region.View[Arc]
	turns    region.View[Turn]
	copies   region.View[uint32]
	leaves   region.View[Leaf]
	boxes    region.View[Box]
	names    region.View[byte]
	levels   []Level // of the index, from the top down
}

// Open finds the network for cars in a region file. It costs the same whatever the region's size. A region without roads
// gives a graph without segments.
func Open(f *region.File) (*Graph, error) { return OpenMode(f, mapdata.Car) }

// OpenMode finds the network for one mode of travel.
func OpenMode(f *region.File, mode mapdata.Modes) (*Graph, error) {
	names := SectionsOf(mode)
	g := &Graph{path: f.Path()}
	for _, err := range []error{
		open(f, names.Segments, &g.segments), open(f, names.Points, &g.points), open(f, names.Ways, &g.ways),
		open(f, names.Arcs, &g.arcs), open(f, names.Turns, &g.turns), open(f, names.Copies, &g.copies),
		open(f, names.Leaves, &g.leaves),
		open(f, names.Boxes, &g.boxes), open(f, NamesSection, &g.names),
	} {
		if err != nil {
			return nil, err
		}
	}
	g.levels = LevelsOf(g.leaves.Len())
	if n := BoxCount(g.levels); n != g.boxes.Len() {
		return nil, fmt.Errorf("%s is damaged: its road index has %d boxes, not %d", f.Path(), g.boxes.Len(), n)
	}
	if g.Segments() > 0 && g.arcs.Len() < 2*g.Segments()+1 {
		return nil, fmt.Errorf("%s is damaged: %d arcs for %d segments", f.Path(), g.arcs.Len(), g.Segments())
	}
	return g, nil
}

func open[T any](f *region.File, name string, v *region.View[T]) (err error) {
	*v, err = region.Section[T](f, name)
	return err
}

// Segments is the number of segments.
func (g *Graph) Segments() int { return max(g.segments.Len()-1, 0) }

// Arcs is the number of arcs, closed ones and copies included.
func (g *Graph) Arcs() int { return max(g.arcs.Len()-1, 0) }

// Segment returns a segment.
func (g *Graph) Segment(i uint32) *Segment { return g.segments.At(int(i)) }

// Arc returns an arc.
func (g *Graph) Arc(i uint32) *Arc { return g.arcs.At(int(i)) }

// SegmentOf is the segment that an arc travels, and whether it does so forward.
func (g *Graph) SegmentOf(arc uint32) (segment uint32, forward bool) {
	base := g.Arc(arc).Base
	return base >> 1, base&1 == 0
}

// What the compiler makes no more of. A file that has more was not made by it, whatever its checksums say.
const (
	MaxShape  = 4096    // points of a segment
	MaxTurns  = 1 << 20 // of an arc
	MaxCopies = 4096    // of an arc
)

// foreign ends the reading of a file that the compiler has not made.
func (g *Graph) foreign(problem string) {
	panic(&region.DamageError{Path: g.path, Problem: problem})
}

// Turns are the ways to go on at an arc's end.
func (g *Graph) Turns(arc uint32) []Turn {
	first, end := int(g.arcs.At(int(arc)).FirstTurn), int(g.arcs.At(int(arc)+1).FirstTurn)
	if end-first > MaxTurns {
		g.foreign("an arc has too many turns")
	}
	return g.turns.Range(first, end)
}

// Shape is the line of a segment, from its first end to its last; at least two points.
func (g *Graph) Shape(segment uint32) []Point {
	first, end := int(g.segments.At(int(segment)).FirstPoint), int(g.segments.At(int(segment)+1).FirstPoint)
	if end-first > MaxShape {
		g.foreign("a segment has too many points")
	}
	return g.points.Range(first, end)
}

// Copies are the copies of an arc that travels a segment with HasCopies; see Arc.
func (g *Graph) Copies(base uint32) (first, last uint32) {
	originals := uint32(2 * g.Segments())
	i, j := 0, g.copies.Len()
	for i < j {
		if h := int(uint(i+j) >> 1); *g.copies.At(h) < base {
			i = h + 1
		} else {
			j = h
		}
	}
	for j < g.copies.Len() && *g.copies.At(j) == base {
		if j++; j-i > MaxCopies {
			g.foreign("an arc has too many copies")
		}
	}
	return originals + uint32(i), originals + uint32(j)
}

// Text is a name or a reference number by the number that a segment has for it.
func (g *Graph) Text(i uint32) string {
	if i == 0 {
		return ""
	}
	n := g.names.Range(int(i), int(i)+2)
	length := int(n[0]) | int(n[1])<<8
	return string(g.names.Range(int(i)+2, int(i)+2+length))
}

// Name is what to call a segment: its name, or else its reference number; may be empty.
func (g *Graph) Name(segment uint32) string {
	s := g.Segment(segment)
	if s.Name != 0 {
		return g.Text(s.Name)
	}
	return g.Text(s.Ref)
}

// SameName reports whether two segments have the same Name for the same reason.
func (g *Graph) SameName(a, b uint32) bool {
	s, t := g.Segment(a), g.Segment(b)
	return s.Name == t.Name && (s.Name != 0 || s.Ref == t.Ref)
}
