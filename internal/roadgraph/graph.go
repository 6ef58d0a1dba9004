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

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Graph is the road network of a region for one mode of travel. It is safe for use by any number of goroutines. Its
// methods read the region file: callers from outside the engines recover as package region says.
type Graph struct {
	path string
	mode region.Modes
	bit  int // of it in a set of modes
	// open are the flags of which an edge has any that the mode may travel, begins the flag of one that begins a segment.
	open, begins EdgeFlags

	edges  region.View[Edge]
	shape  region.View[uint32]
	turns  region.View[uint32]
	copies region.View[Copy]
	roads  region.View[Road]
	kinds  region.View[Kind]
	names  region.View[byte]
	index  []index // of its edges
	extras
}

// index is an index to snap by.
type index struct {
	leaves region.View[Leaf]
	groups region.View[uint32]
	boxes  region.View[geo.Box]
	tree   geo.Tree // over groups of leaves
}

// Open finds the network for cars in a region file. It costs the same whatever the region's size. A region without
// roads gives a graph without segments.
func Open(f *region.File) (*Graph, error) { return OpenMode(f, region.Car) }

// OpenMode finds the network for one mode of travel.
func OpenMode(f *region.File, mode region.Modes) (*Graph, error) {
	g := &Graph{path: f.Path(), mode: mode, bit: bits.TrailingZeros8(uint8(mode)),
		open:   FlagsOf(OpenForward, mode) | FlagsOf(OpenBackward, mode),
		begins: FlagsOf(Begins, mode)}
	for _, err := range []error{
		open(f, EdgesSection, &g.edges), open(f, ShapeSection, &g.shape), open(f, TurnsSection, &g.turns),
		open(f, CopiesSection, &g.copies), open(f, RoadsSection, &g.roads), open(f, NamesSection, &g.names),
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

// Edges is the number of edges of all modes. The numbers of segments are below it.
func (g *Graph) Edges() int { return max(g.edges.Len()-1, 0) }

// Arcs is a number that those of all arcs, copies included, are below.
func (g *Graph) Arcs() int { return 2*g.Edges() + max(g.copies.Len()-1, 0) }

// Begins reports whether a segment begins with an edge.
func (g *Graph) Begins(edge uint32) bool {
	return g.begin(g.edges.At(int(edge)).Flags)
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

func (g *Graph) begin(f EdgeFlags) bool { return f&g.open != 0 && f&g.begins != 0 }

// goesOn reports whether a segment goes on with the next edge after one of its edges.
func (g *Graph) goesOn(segment, edge uint32) bool {
	if !g.on(g.edges.At(int(edge) + 1).Flags) {
		return false
	}
	if edge-segment > MaxShape {
		g.foreign("a segment has too many edges")
	}
	return true
}

// on reports whether an edge goes on with the segment of the edge before it.
func (g *Graph) on(f EdgeFlags) bool { return f&g.open != 0 && f&g.begins == 0 }

// foreign ends the reading of a file that the compiler has not made.
func (g *Graph) foreign(problem string) {
	panic(&region.DamageError{Path: g.path, Problem: problem})
}

// Segment is a stretch of road between two junctions, or between a junction and a change of name, class, speed or other
// properties.
type Segment struct {
	Length    uint32 // millimetres
	Name, Ref uint32 // see Graph.Text
	Class     region.RoadClass
	Flags     Flags
	Layer     int8
	Arcs      [2]Arc // forward and backward
}

// Segment returns a segment.
func (g *Graph) Segment(i uint32) Segment {
	first := g.edges.At(int(i))
	head, last, length := g.run(i, first)
	r := g.roads.At(int(first.Road))
	kind := g.kind(r)
	end := g.end(head, last)
	along := first.Flags&Reversed == 0
	return Segment{
		Length: length, Name: r.Name, Ref: kind.Ref, Class: kind.Class, Layer: kind.Layer,
		Flags: Flags(kind.Flags)<<RoadFlags | g.flags(first.Flags),
		Arcs: [2]Arc{
			{length, duration(length, g.speed(kind, along)), 2 * i, Head{end.lat, end.lon, head}},
			{length, duration(length, g.speed(kind, !along)), 2*i + 1, Head{first.Lat, first.Lon, i}},
		},
	}
}

// flags are those of a segment that its first edge knows.
func (g *Graph) flags(f EdgeFlags) Flags {
	f >>= g.bit
	is := func(set int, flag Flags) Flags { return Flags(f>>set&1) * flag }
	return is(OpenForward, Forward) | is(OpenBackward, Backward) | is(Copied, HasCopies) |
		is(LocalForward, DestinationForward) | is(LocalBackward, DestinationBackward) |
		is(OwnedForward, PrivateForward) | is(OwnedBackward, PrivateBackward)
}

// run goes through the edges of a segment: its last one, and the length of all in millimetres.
func (g *Graph) run(segment uint32, first *Edge) (last uint32, edge *Edge, length uint32) {
	last, edge = segment, first
	sum := uint64(first.Length)
	for next := g.edges.At(int(last) + 1); g.on(next.Flags); next = g.edges.At(int(last) + 1) {
		if last++; last-segment > MaxShape {
			g.foreign("a segment has too many edges")
		}
		edge = next
		sum += uint64(edge.Length)
	}
	return last, edge, clamp(sum)
}

// Speed is the free speed on an arc in km/h.
func (g *Graph) Speed(arc uint32) uint8 {
	segment, forward := g.SegmentOf(arc)
	along := g.edges.At(int(segment)).Flags&Reversed == 0
	return g.speed(g.kind(g.road(segment)), along == forward)
}

// speed is the mode's free speed in km/h along a way or against it.
func (g *Graph) speed(k *Kind, along bool) uint8 {
	if g.mode != region.Car {
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
