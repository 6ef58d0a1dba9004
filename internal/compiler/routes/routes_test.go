package routes_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

var modes = []region.Modes{region.Car, region.Bicycle, region.Foot}

// sections are those that a test reads.
type sections struct {
	file    *region.File
	edges   []routing.EdgeInfo
	pairs   []routing.Ends
	blocks  []uint32
	leaves  []routing.Leaf
	members []byte
	counts  [routing.Levels]int // of the cells of each level
}

func read[T any](t *testing.T, f *region.File, name string) []T {
	t.Helper()
	v, err := region.Section[T](f, name)
	if err != nil {
		t.Fatal(err)
	}
	return v.All()
}

func readAll(t *testing.T, f *region.File) *sections {
	t.Helper()
	s := &sections{file: f, edges: read[routing.EdgeInfo](t, f, routing.EdgesSection),
		pairs: read[routing.Ends](t, f, routing.EndsSection), blocks: read[uint32](t, f, routing.BlocksSection),
		leaves: read[routing.Leaf](t, f, routing.LeavesSection), members: read[byte](t, f, routing.MembersSection)}
	s.counts[0] = len(s.leaves) - 1
	for level := 1; level < routing.Levels; level++ {
		s.counts[level] = int(s.leaves[s.counts[0]-1].Parents[level-1]) + 1
	}
	return s
}

// ends are the leaf cells of a base edge.
func (s *sections) ends(base uint32) routing.Ends {
	return s.pairs[int(s.blocks[base/routing.EdgeBlock])+s.edges[base].Ends()]
}

// of returns the leaf cells in which a state begins and ends.
func (s *sections) of(g *roadgraph.Graph, state uint32) (from, to uint32) {
	edge, forward := g.EdgeOf(state)
	from, to = s.ends(edge).First, s.ends(g.LastBaseEdge(edge)).Last
	if !forward {
		return to, from
	}
	return from, to
}

// cellOf returns the number of the cell of a level that has a leaf cell.
func (s *sections) cellOf(level int, leaf uint32) int {
	if level == 0 {
		return int(leaf)
	}
	return int(s.leaves[leaf].Parents[level-1])
}

// statesOf returns all states of a mode in ascending order.
func statesOf(g *roadgraph.Graph) (states []uint32) {
	for edge := range g.Edges() {
		flags := g.Edge(edge).Flags
		for way, open := range []roadgraph.Flags{roadgraph.Forward, roadgraph.Backward} {
			if flags.Has(open) {
				states = append(states, 2*edge+uint32(way))
			}
			first, last := g.StatesOf(2*edge + uint32(way))
			for s := first; s < last; s++ {
				states = append(states, s)
			}
		}
	}
	slices.Sort(states)
	return states
}

// each runs a test with several regions.
func each(t *testing.T, test func(t *testing.T, s *sections)) {
	t.Run("Delaware", func(t *testing.T) { test(t, readAll(t, roadgraphtest.DelawareFile(t))) })
	for seed, size := range []int{3, 12, 20, 40} {
		t.Run(fmt.Sprint("city of ", size), func(t *testing.T) {
			test(t, readAll(t, roadgraphtest.Compile(t, &roadgraphtest.City(uint64(seed), size).Data)))
		})
	}
}

// TestMembers: each base edge is a member of the leaf cells of its ends, in ascending order, and of no other.
func TestMembers(t *testing.T) {
	each(t, func(t *testing.T, s *sections) {
		want := make([][]string, s.counts[0])
		for base := range uint32(len(s.edges)) {
			e := s.ends(base)
			for _, leaf := range slices.Compact([]uint32{e.First, e.Last}) {
				want[leaf] = append(want[leaf], fmt.Sprint(base, e.First == leaf, e.Last == leaf))
			}
		}
		for leaf := range want {
			var got []string
			base := uint64(0)
			for text := s.members[s.leaves[leaf].Members:s.leaves[leaf+1].Members]; len(text) > 0; {
				word, n := binary.Uvarint(text)
				text = text[n:]
				base += word >> 2
				got = append(got, fmt.Sprint(base, word&routing.FirstInside != 0, word&routing.LastInside != 0))
			}
			if !slices.Equal(got, want[leaf]) || len(got) == 0 {
				t.Fatalf("leaf cell %d has %v, want %v", leaf, got, want[leaf])
			}
		}
	})
}

// TestCells: all roads that meet at a junction are in one leaf cell there. Cells have no more junctions than they may,
// and not far fewer. Those of each level are numbered in the order of their leaf cells.
func TestCells(t *testing.T) {
	each(t, func(t *testing.T, s *sections) {
		type junction struct {
			roadgraph.Point
			leaf uint32
		}
		junctions := map[junction]bool{}
		for _, mode := range modes {
			g := roadgraphtest.Open(t, s.file, mode)
			for _, state := range statesOf(g) {
				from, to := s.of(g, state)
				for _, turn := range g.Turns(state, nil) {
					if next, _ := s.of(g, turn.To); next != to {
						t.Fatalf("mode %d: a turn leads from leaf cell %d to %d", mode, to, next)
					}
				}
				a := g.Arc(state)
				junctions[junction{roadgraph.Point{Lat: a.EndLat, Lon: a.EndLon}, to}] = true
				edge, forward := g.EdgeOf(state)
				if p := g.Shape(edge, nil)[0]; forward {
					junctions[junction{roadgraph.Point{Lat: p.Lat, Lon: p.Lon}, from}] = true
				}
			}
		}
		for level := range routing.Levels {
			size := make([]int, s.counts[level])
			for j := range junctions {
				size[s.cellOf(level, j.leaf)]++
			}
			limit := routing.LeafSize << (3 * level)
			if most := slices.Max(size); most > limit || len(size) > 1 && len(junctions)/len(size) < limit/4 {
				t.Errorf("level %d: %d cells of %d junctions, the largest of %d", level, len(size), len(junctions), most)
			}
			for leaf := 1; leaf < s.counts[0]; leaf++ {
				before, now := s.cellOf(level, uint32(leaf)-1), s.cellOf(level, uint32(leaf))
				if now < before || now > before+1 {
					t.Fatalf("level %d: cell %d is followed by %d", level, before, now)
				}
			}
		}
	})
}

// TestBorders: the boundary of each mode has all states that lead from one leaf cell into another, and each cell has
// those that enter and leave it.
func TestBorders(t *testing.T) {
	further := false
	each(t, func(t *testing.T, s *sections) {
		for _, mode := range modes {
			g := roadgraphtest.Open(t, s.file, mode)
			var want []routing.BoundaryArc
			for _, state := range statesOf(g) {
				if from, to := s.of(g, state); from != to {
					want = append(want, routing.BoundaryArc{State: state, From: from, To: to})
					further = further || g.ArcOf(state) != state
				}
			}
			slices.SortStableFunc(want, func(a, b routing.BoundaryArc) int { return cmp.Compare(a.To, b.To) })
			names := routing.SectionsOf(mode)
			boundary := read[routing.BoundaryArc](t, s.file, names.Boundary)
			if !slices.Equal(boundary, want) {
				t.Fatalf("mode %d: the boundary has %d states, want %d", mode, len(boundary), len(want))
			}
			cells, arcs := read[routing.Cell](t, s.file, names.Cells), read[uint32](t, s.file, names.Arcs)
			first := 0
			for level := range routing.Levels {
				entries, exits := make([][]uint32, s.counts[level]), make([][]uint32, s.counts[level])
				for i, a := range boundary {
					if from, to := s.cellOf(level, a.From), s.cellOf(level, a.To); from != to {
						exits[from] = append(exits[from], uint32(i))
						entries[to] = append(entries[to], uint32(i))
					}
				}
				for i := range entries {
					c := &cells[first+i]
					if got := arcs[c.Arcs:cells[first+i+1].Arcs]; !slices.Equal(got[:c.Entries()], entries[i]) ||
						!slices.Equal(got[c.Entries():], exits[i]) {
						t.Fatalf("mode %d, level %d, cell %d: %d entries and exits, want %d and %d", mode, level, i, len(got),
							len(entries[i]), len(exits[i]))
					}
				}
				first += s.counts[level]
			}
			if len(cells) != first+1 {
				t.Errorf("mode %d: %d cells, want %d", mode, len(cells)-1, first)
			}
		}
	})
	if !further {
		t.Error("no further state of an arc crosses a border")
	}
}

// TestIsolated: edges are isolated unless they are in the largest part of the network that one can both enter and
// leave.
func TestIsolated(t *testing.T) {
	sketches := map[string]roadgraphtest.Sketch{
		"an island": {Grid: "abc x\ndef yz", Ways: "abc\nadef\nbe\nxyzx"},
		"a trap":    {Grid: "abc\ndefg\nxyz", Ways: "abc\nadef\nbe\nfg oneway=yes\ngz\nxyz"},
		"a fork":    {Grid: "abc\nd e", Ways: "abc oneway=yes\nbd oneway=yes\nde highway=footway"},
	}
	files := map[string]*region.File{}
	for name, sketch := range sketches {
		files[name] = sketch.Draw(t).File
	}
	for seed := range 20 {
		files[fmt.Sprint("city ", seed)] = roadgraphtest.Compile(t, &roadgraphtest.City(uint64(seed), 4).Data)
	}
	some := 0
	for name, f := range files {
		s := readAll(t, f)
		for _, mode := range modes {
			g := roadgraphtest.Open(t, f, mode)
			reach := map[uint32]map[uint32]bool{}
			states := statesOf(g)
			for _, state := range states {
				seen := map[uint32]bool{}
				for open := []uint32{state}; len(open) > 0; {
					at := open[len(open)-1]
					open = open[:len(open)-1]
					if !seen[at] {
						seen[at] = true
						for _, turn := range g.Turns(at, nil) {
							open = append(open, turn.To)
						}
					}
				}
				reach[state] = seen
			}
			arcs, most := map[uint32]int{}, 0 // in the component of each state
			for _, a := range states {
				for _, b := range states {
					if reach[a][b] && reach[b][a] && g.ArcOf(b) == b {
						arcs[a]++
					}
				}
				most = max(most, arcs[a])
			}
			want := map[uint32]bool{}
			for edge := range g.Edges() {
				want[edge] = true
			}
			for _, state := range states {
				if edge, _ := g.EdgeOf(state); arcs[state] == most {
					want[edge] = false
				}
			}
			for edge, isolated := range want {
				for base := edge; base <= g.LastBaseEdge(edge); base++ {
					if got := s.edges[base].Isolated()&mode != 0; got != isolated {
						t.Errorf("%s, mode %d: base edge %d of edge %d is isolated: %v", name, mode, base, edge, got)
					}
				}
				if isolated {
					some++
				}
			}
		}
	}
	if some < 50 {
		t.Errorf("only %d edges are isolated", some)
	}
}

// TestTowns: of a large town, a town on an island and a small yard, only the yard is isolated.
func TestTowns(t *testing.T) {
	var town roadgraphtest.Town
	for at, size := range []int{30, 18, 8} {
		first := uint32(len(town.Data.Nodes))
		for i := range uint32(size * size) {
			column, row := i%uint32(size), i/uint32(size)
			town.Node(float64(at*10_000)+float64(column)*100, float64(row)*100)
			if column > 0 {
				town.Road(fmt.Sprint(at), first+i-1, first+i)
			}
			if row > 0 {
				town.Road(fmt.Sprint(at), first+i-uint32(size), first+i)
			}
		}
	}
	g := town.Open(t)
	f := roadgraphtest.Compile(t, &town.Data)
	s := readAll(t, f)
	isolated := map[string][2]int{}
	for edge := range g.Edges() {
		n := isolated[g.Name(edge)]
		n[s.edges[edge].Isolated()&region.Car]++
		isolated[g.Name(edge)] = n
	}
	if isolated["0"][1] != 0 || isolated["1"][1] != 0 || isolated["2"][0] != 0 || len(isolated) != 3 {
		t.Errorf("connected and isolated edges of each town: %v", isolated)
	}
}

// TestDrivingSide: cells know on which side vehicles drive.
func TestDrivingSide(t *testing.T) {
	for name, c := range map[string]struct {
		at   orb.Point
		left uint32
	}{"London": {orb.Point{-0.1, 51.5}, 1}, "Paris": {orb.Point{2.35, 48.85}, 0}} {
		town := roadgraphtest.Crossing(c.at)
		for _, leaf := range readAll(t, roadgraphtest.Compile(t, &town.Data)).leaves[:1] {
			if leaf.LeftDriving != c.left {
				t.Errorf("%s: %d", name, leaf.LeftDriving)
			}
		}
	}
}

// TestSameBytes: neither the processors nor the memory change a file.
func TestSameBytes(t *testing.T) {
	want := roadgraphtest.DelawareFile(t).Checksum()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for processors, memory := range map[int]int64{1: 1 << 20, 4: 1 << 30} {
		runtime.GOMAXPROCS(processors)
		if got := roadgraphtest.CompileDelaware(t, memory).Checksum(); got != want {
			t.Errorf("with %d processors and %d bytes: %s, want %s", processors, memory, got, want)
		}
	}
}

// TestNoRoads: a region without roads has no routes.
func TestNoRoads(t *testing.T) {
	f := roadgraphtest.Compile(t, &roadgraphtest.Data{})
	if f.Has(routing.EdgesSection) || f.Has(routing.LeavesSection) {
		t.Error("it has sections for routes")
	}
}
