// Package roadgraph is the road network of a region: directed, with every turn that is allowed, an index that finds
// the roads near a position, and shortest paths. It is written once by package compiler/roads, and read in place from
// the mapped region file.
//
// Routes run over arcs, not over junctions: what may follow an arc depends on the arc by which one came (turn
// restrictions, barriers, no turning back), and the list of an arc's turns says exactly that.
package roadgraph

import (
	"cmp"
	"fmt"
	"iter"
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
	bit  int // of it in a set of modes
	// open are the flags of which an base edge has any that the mode may travel, begins the flag of one that begins a edge.
	open, begins BaseEdgeFlags

	baseEdges region.View[BaseEdge]
	shape     region.View[uint32]
	turns     region.View[uint32]
	states    region.View[State]
	roads     region.View[Road]
	kinds     region.View[Kind]
	names     region.View[byte]
	index     []index // of its base edges
	extras
}

// index is an index to snap by.
type index struct {
	leaves region.View[Leaf]
	groups region.View[uint32]
	boxes  region.View[boxtree.Box]
	tree   boxtree.Tree // over groups of leaves
}

// Open finds the network for cars in a region file. It costs the same whatever the region's size. A region without
// roads gives a graph without edges.
func Open(f *region.File) (*Graph, error) { return OpenMode(f, mapdata.Car) }

// OpenMode finds the network for one mode of travel.
func OpenMode(f *region.File, mode mapdata.Modes) (*Graph, error) {
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
		if i > 0 && mode == mapdata.Car {
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
	groups := (x.leaves.Len() + boxtree.Fanout - 1) / boxtree.Fanout
	x.tree = boxtree.New(uint32(groups))
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

// Edges is the number of base edges of all modes. The numbers of edges are below it.
func (g *Graph) NumBaseEdges() int { return max(g.baseEdges.Len()-1, 0) }

// Arcs is a number that those of all arcs, copies included, are below.
func (g *Graph) NumStates() int { return 2*g.NumBaseEdges() + max(g.states.Len()-1, 0) }

// Begins reports whether a edge begins with an base edge.
func (g *Graph) BeginsEdge(base uint32) bool {
	return g.beginsEdge(g.baseEdges.At(int(base)).Flags)
}

// Edges yields all edges in the order of their numbers.
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

// goesOn reports whether a edge goes on with the next base edge after one of its base edges.
func (g *Graph) continues(edge, base uint32) bool {
	if !g.continuesWith(g.baseEdges.At(int(base) + 1).Flags) {
		return false
	}
	if base-edge > MaxShape {
		g.corrupt("a edge has too many edges")
	}
	return true
}

// on reports whether an base edge goes on with the edge of the base edge before it.
func (g *Graph) continuesWith(f BaseEdgeFlags) bool { return f&g.open != 0 && f&g.begins == 0 }

// foreign ends the reading of a file that the compiler has not made.
func (g *Graph) corrupt(problem string) {
	panic(&region.DamageError{Path: g.path, Problem: problem})
}

// Edge is a stretch of road between two junctions, or between a junction and a change of name, class, speed or other
// properties.
type Edge struct {
	Length    uint32 // millimetres
	Name, Ref uint32 // see Graph.Text
	Class     mapdata.RoadClass
	Flags     Flags
	Layer     int8
	Arcs      [2]Arc // forward and backward
}

// Edge returns a edge.
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

// flags are those of a edge that its first base edge knows.
func (g *Graph) flags(f BaseEdgeFlags) Flags {
	f >>= g.bit
	is := func(set int, flag Flags) Flags { return Flags(f>>set&1) * flag }
	return is(OpenForwardSet, Forward) | is(OpenBackwardSet, Backward) | is(HasStatesSet, HasStates) |
		is(DestinationOnlyForwardSet, DestinationOnlyForward) | is(DestinationOnlyBackwardSet, DestinationOnlyBackward) |
		is(PrivateForwardSet, PrivateForward) | is(PrivateBackwardSet, PrivateBackward)
}

// run goes through the base edges of a edge: its last one, and the length of all in millimetres.
func (g *Graph) run(edge uint32, first *BaseEdge) (last uint32, base *BaseEdge, length uint32) {
	last, base = edge, first
	sum := uint64(first.Length)
	for next := g.baseEdges.At(int(last) + 1); g.continuesWith(next.Flags); next = g.baseEdges.At(int(last) + 1) {
		if last++; last-edge > MaxShape {
			g.corrupt("a edge has too many edges")
		}
		base = next
		sum += uint64(base.Length)
	}
	return last, base, clamp(sum)
}

// Speed is the free speed on an arc in km/h.
func (g *Graph) Speed(arc uint32) uint8 {
	edge, forward := g.EdgeOf(arc)
	along := g.baseEdges.At(int(edge)).Flags&Reversed == 0
	return g.speed(g.kind(g.road(edge)), along == forward)
}

// speed is the mode's free speed in km/h along a way or against it.
func (g *Graph) speed(k *Kind, along bool) uint8 {
	if g.mode != mapdata.Car {
		return k.Speeds[1+g.bit]
	}
	if along {
		return k.Speeds[0]
	}
	return k.Speeds[1]
}

// pace is how many milliseconds a millimetre takes at each speed.
var pace = func() (table [256]float64) {
	for speed := range table {
		table[speed] = 3.6 / float64(max(speed, 1))
	}
	return table
}()

// duration is the time in milliseconds for a length in millimetres at a speed in km/h.
func duration(length uint32, speed uint8) uint32 {
	return clamp(uint64(float64(length)*pace[speed] + 0.5))
}
