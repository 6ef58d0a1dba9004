// Package roadgraph is the road network of a region: directed, with every turn that is allowed, an index that finds the
// roads near a position, and shortest paths. It is written once by package build/roads, and read in place from the mapped
// region file.
//
// Routes run over arcs, not over junctions: what may follow an arc depends on the arc by which one came (turn
// restrictions, barriers, no turning back), and the list of an arc's turns says exactly that.
package roadgraph

import (
	"fmt"
	"iter"
	"math"
	"math/bits"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Graph is the road network of a region for one mode of travel. It is safe for use by any number of goroutines. Its
// methods read the region file: callers from outside the engines recover as package region says.
type Graph struct {
	path string
	mode mapdata.Modes
	open EdgeFlags // of an edge that the mode may travel, any

	edges  region.View[Edge]
	shape  region.View[uint32]
	turns  region.View[uint32]
	copies region.View[Copy]
	roads  region.View[Road]
	names  region.View[byte]
	leaves region.View[Leaf]
	boxes  region.View[boxtree.Box]
	tree   boxtree.Tree // over groups of leaves
}

// Open finds the network for cars in a region file. It costs the same whatever the region's size. A region without roads
// gives a graph without segments.
func Open(f *region.File) (*Graph, error) { return OpenMode(f, mapdata.Car) }

// OpenMode finds the network for one mode of travel.
func OpenMode(f *region.File, mode mapdata.Modes) (*Graph, error) {
	g := &Graph{path: f.Path(), mode: mode, open: FlagsOf(OpenForward, mode) | FlagsOf(OpenBackward, mode)}
	for _, err := range []error{
		open(f, EdgesSection, &g.edges), open(f, ShapeSection, &g.shape), open(f, TurnsSection, &g.turns),
		open(f, CopiesSection, &g.copies), open(f, RoadsSection, &g.roads), open(f, NamesSection, &g.names),
		open(f, LeavesSection, &g.leaves), open(f, BoxesSection, &g.boxes),
	} {
		if err != nil {
			return nil, err
		}
	}
	groups := (g.leaves.Len() + boxtree.Fanout - 1) / boxtree.Fanout
	g.tree = boxtree.New(uint32(groups))
	if n := groups + g.tree.Boxes(); n != g.boxes.Len() {
		return nil, fmt.Errorf("%s is damaged: its road index has %d boxes, not %d", f.Path(), g.boxes.Len(), n)
	}
	return g, nil
}

func open[T any](f *region.File, name string, v *region.View[T]) (err error) {
	*v, err = region.Section[T](f, name)
	return err
}

// Edges is the number of edges of all modes. The numbers of segments are below it.
func (g *Graph) Edges() int { return max(g.edges.Len()-1, 0) }

// Arcs is a number that those of all arcs, copies included, are below.
func (g *Graph) Arcs() int { return 2*g.Edges() + max(g.copies.Len()-1, 0) }

// Begins reports whether a segment begins with an edge.
func (g *Graph) Begins(edge uint32) bool {
	flags := g.edges.At(int(edge)).Flags
	return flags&g.open != 0 && flags.Modes(Begins)&g.mode != 0
}

// Segments yields all segments in the order of their numbers.
func (g *Graph) Segments() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for edge := range uint32(g.Edges()) {
			if g.Begins(edge) && !yield(edge) {
				return
			}
		}
	}
}

// goesOn reports whether a segment goes on with the next edge after one of its edges.
func (g *Graph) goesOn(segment, edge uint32) bool {
	flags := g.edges.At(int(edge) + 1).Flags
	if flags&g.open == 0 || flags.Modes(Begins)&g.mode != 0 {
		return false
	}
	if edge-segment > MaxShape {
		g.foreign("a segment has too many edges")
	}
	return true
}

// foreign ends the reading of a file that the compiler has not made.
func (g *Graph) foreign(problem string) {
	panic(&region.DamageError{Path: g.path, Problem: problem})
}

// Segment is a stretch of road between two junctions, or between a junction and a change of name, class, speed or other
// properties.
type Segment struct {
	Length    uint32 // millimetres
	Name, Ref uint32 // see Graph.Text
	Class     mapdata.RoadClass
	Flags     Flags
	Layer     int8
	// Durations are the times in milliseconds that it takes forward and backward, at the road's free speed.
	Durations [2]uint32
}

// Segment returns a segment.
func (g *Graph) Segment(i uint32) Segment {
	first := g.edges.At(int(i))
	_, _, length := g.run(i, first)
	r := g.roads.At(int(first.Road))
	s := Segment{Length: length, Name: r.Name, Ref: r.Ref, Class: r.Class, Layer: r.Layer,
		Flags: Flags(r.Flags)<<RoadFlags | g.flags(first.Flags)}
	for direction := range s.Durations {
		s.Durations[direction] = duration(length, g.speed(r, direction == 0 != (first.Flags&Reversed != 0)))
	}
	return s
}

// flags are those of a segment that its first edge knows.
func (g *Graph) flags(f EdgeFlags) (flags Flags) {
	for _, of := range [...]struct {
		set  int
		flag Flags
	}{
		{OpenForward, Forward}, {OpenBackward, Backward},
		{LocalForward, DestinationForward}, {LocalBackward, DestinationBackward}, {Copied, HasCopies},
	} {
		if f.Modes(of.set)&g.mode != 0 {
			flags |= of.flag
		}
	}
	return flags
}

// run goes through the edges of a segment: its last one, and the length of all in millimetres.
func (g *Graph) run(segment uint32, first *Edge) (last uint32, edge *Edge, length uint32) {
	last, edge = segment, first
	sum := uint64(first.Length)
	for g.goesOn(segment, last) {
		last++
		edge = g.edges.At(int(last))
		sum += uint64(edge.Length)
	}
	return last, edge, clamp(sum)
}

// speed is the mode's free speed in km/h along a way or against it.
func (g *Graph) speed(r *Road, along bool) uint8 {
	if g.mode != mapdata.Car {
		return r.Speeds[1+bits.TrailingZeros8(uint8(g.mode))]
	}
	if along {
		return r.Speeds[0]
	}
	return r.Speeds[1]
}

// duration is the time in milliseconds for a length in millimetres at a speed in km/h.
func duration(length uint32, speed uint8) uint32 {
	return uint32(min(math.Round(float64(length)*3.6/float64(max(speed, 1))), math.MaxUint32))
}
