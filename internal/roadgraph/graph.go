package roadgraph

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Graph is the road network of a region for one mode of travel. It is safe for concurrent use. Its methods read the
// region file: callers outside the engines recover with region.Recover.
type Graph struct {
	path string
	mode region.Modes
	bit  int // of the mode in a set of modes
	// A base edge that the mode may travel has one of the flags open; the first one of an edge has begins.
	open, begins BaseEdgeFlags

	baseEdges region.View[BaseEdge]
	shape     region.View[uint32]
	turns     region.View[uint32]
	states    region.View[State]
	roads     region.View[Road]
	kinds     region.View[Kind]
	names     region.View[byte]
	index     []index
	known     atomic.Pointer[knownJunctions]
	extras
}

// index is a snapping index.
type index struct {
	leaves region.View[Leaf]
	groups region.View[uint32]
	boxes  region.View[geo.Box]
	tree   geo.Tree // over groups of leaves
}

// Open finds the network for cars in a region file. Its cost does not depend on the size of the region. A region
// without roads has a graph without edges.
func Open(f *region.File) (*Graph, error) { return OpenMode(f, region.Car) }

// OpenMode finds the network for one mode of travel.
func OpenMode(f *region.File, mode region.Modes) (*Graph, error) {
	g := &Graph{path: f.Path(), mode: mode, bit: bits.TrailingZeros8(uint8(mode)),
		open:   FlagsOf(OpenForwardSet, mode) | FlagsOf(OpenBackwardSet, mode),
		begins: FlagsOf(BeginsEdgeSet, mode)}
	for _, err := range []error{
		open(f, BaseEdgesSection, &g.baseEdges), open(f, ShapeSection, &g.shape), open(f, TurnsSection, &g.turns),
		open(f, StatesSection, &g.states), open(f, RoadsSection, &g.roads), open(f, NamesSection, &g.names),
		open(f, KindsSection, &g.kinds),
		open(f, ControlsSection, &g.controls), open(f, DetailsSection, &g.details), open(f, DetailTextSection, &g.texts),
	} {
		if err != nil {
			return nil, err
		}
	}
	for i := range Indexes {
		if i > 0 && mode == region.Car {
			break
		}
		if err := g.addIndex(f, &Indexes[i]); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *Graph) addIndex(f *region.File, names *Index) error {
	var x index
	err := cmp.Or(open(f, names.Leaves, &x.leaves), open(f, names.Groups, &x.groups), open(f, names.Boxes, &x.boxes))
	if err != nil {
		return err
	}
	if x.leaves.Len() == 0 {
		return nil
	}
	groups := (x.leaves.Len() + geo.TreeFanout - 1) / geo.TreeFanout
	x.tree = geo.NewTree(uint32(groups))
	if n := groups + x.tree.Boxes(); n != x.boxes.Len() || groups != x.groups.Len() {
		return fmt.Errorf("%s is damaged: its road index has %d boxes of %d groups, not %d of %d", f.Path(),
			x.boxes.Len(), x.groups.Len(), n, groups)
	}
	g.index = append(g.index, x)
	return nil
}

func open[T any](f *region.File, name string, v *region.View[T]) (err error) {
	*v, err = region.Section[T](f, name)
	return err
}

// NumBaseEdges returns the number of base edges. All edges have lower numbers.
func (g *Graph) NumBaseEdges() int { return max(g.baseEdges.Len()-1, 0) }

// NumStates returns the number of states of all modes, arcs included. All states have lower numbers.
func (g *Graph) NumStates() int { return 2*g.NumBaseEdges() + max(g.states.Len()-1, 0) }

// BeginsEdge reports whether a base edge is the first one of an edge.
func (g *Graph) BeginsEdge(base uint32) bool {
	return g.beginsEdge(g.baseEdges.At(int(base)).Flags)
}

// Edges yields the numbers of all edges in ascending order.
func (g *Graph) Edges() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for base := range uint32(g.NumBaseEdges()) {
			if g.BeginsEdge(base) && !yield(base) {
				return
			}
		}
	}
}

func (g *Graph) beginsEdge(f BaseEdgeFlags) bool { return f&g.open != 0 && f&g.begins != 0 }

// continues reports whether the base edge after one of an edge's is part of the edge, too.
func (g *Graph) continues(edge, base uint32) bool {
	if !g.continuesWith(g.baseEdges.At(int(base) + 1).Flags) {
		return false
	}
	if base-edge > MaxShape {
		g.corrupt("an edge has too many base edges")
	}
	return true
}

// continuesWith reports whether a base edge with these flags belongs to the same edge as the one before it.
func (g *Graph) continuesWith(f BaseEdgeFlags) bool { return f&g.open != 0 && f&g.begins == 0 }

// corrupt panics with a *region.DamageError.
func (g *Graph) corrupt(problem string) {
	panic(&region.DamageError{Path: g.path, Problem: problem})
}

// Edge is a stretch of road between two junctions for one mode.
type Edge struct {
	Length    uint32 // millimetres
	Name, Ref uint32 // see Graph.Text
	Class     region.RoadClass
	Flags     Flags
	Layer     int8
	Arcs      [2]Arc // forward and backward
}

// Edge returns the edge of a number.
func (g *Graph) Edge(i uint32) Edge {
	first := g.baseEdges.At(int(i))
	head, last, length := g.run(i, first)
	r := g.roads.At(int(first.Road))
	kind := g.kind(r)
	end := g.end(head, last)
	along := first.Flags&Reversed == 0
	return Edge{
		Length: length, Name: r.Name, Ref: kind.Ref, Class: kind.Class, Layer: kind.Layer,
		Flags: Flags(kind.Flags)<<RoadFlags | g.flags(first.Flags),
		Arcs: [2]Arc{
			{length, duration(length, g.speed(kind, along)), 2 * i, Head{end.lat, end.lon, head}},
			{length, duration(length, g.speed(kind, !along)), 2*i + 1, Head{first.Lat, first.Lon, i}},
		},
	}
}

// flags translates the flags of an edge's first base edge.
func (g *Graph) flags(f BaseEdgeFlags) Flags {
	f >>= g.bit
	is := func(set int, flag Flags) Flags { return Flags(f>>set&1) * flag }
	return is(OpenForwardSet, Forward) | is(OpenBackwardSet, Backward) | is(HasStatesSet, HasStates) |
		is(DestinationOnlyForwardSet, DestinationOnlyForward) | is(DestinationOnlyBackwardSet, DestinationOnlyBackward) |
		is(PrivateForwardSet, PrivateForward) | is(PrivateBackwardSet, PrivateBackward)
}

// run finds the last base edge of an edge, and the length of all in millimetres.
func (g *Graph) run(edge uint32, first *BaseEdge) (last uint32, base *BaseEdge, length uint32) {
	last, base = edge, first
	sum := uint64(first.Length)
	for next := g.baseEdges.At(int(last) + 1); g.continuesWith(next.Flags); next = g.baseEdges.At(int(last) + 1) {
		if last++; last-edge > MaxShape {
			g.corrupt("an edge has too many base edges")
		}
		base = next
		sum += uint64(base.Length)
	}
	return last, base, clamp(sum)
}

// LastBaseEdge returns the last base edge of an edge.
func (g *Graph) LastBaseEdge(edge uint32) uint32 {
	last, _, _ := g.run(edge, g.baseEdges.At(int(edge)))
	return last
}

// EdgeWith returns the edge that a base edge is part of, or false if the mode may not travel it.
func (g *Graph) EdgeWith(base uint32) (edge uint32, ok bool) {
	for edge = base; ; edge-- {
		switch f := g.baseEdges.At(int(edge)).Flags; {
		case f&g.open == 0:
			return 0, false
		case f&g.begins != 0:
			return edge, true
		case edge == 0 || base-edge > MaxShape:
			g.corrupt("an edge has no beginning")
		}
	}
}

// Speed returns the free speed of a state's arc in km/h.
func (g *Graph) Speed(state uint32) uint8 {
	edge, forward := g.EdgeOf(state)
	along := g.baseEdges.At(int(edge)).Flags&Reversed == 0
	return g.speed(g.kind(g.road(edge)), along == forward)
}

// speed returns the mode's free speed in km/h along a way or against it.
func (g *Graph) speed(k *Kind, along bool) uint8 {
	if g.mode != region.Car {
		return k.Speeds[1+g.bit]
	}
	if along {
		return k.Speeds[0]
	}
	return k.Speeds[1]
}

// pace has the milliseconds per millimetre at each speed in km/h.
var pace = func() (table [256]float64) {
	for speed := range table {
		table[speed] = 3.6 / float64(max(speed, 1))
	}
	return table
}()

// duration returns the milliseconds for a length in millimetres at a speed in km/h.
func duration(length uint32, speed uint8) uint32 {
	return clamp(uint64(float64(length)*pace[speed] + 0.5))
}
