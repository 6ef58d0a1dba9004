package roadgraph_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// names lists the segments of a graph by name, sorted, and how many points each has.
func names(g *roadgraph.Graph) (list []string) {
	for i := range g.Segments() {
		list = append(list, g.Name(i))
	}
	slices.Sort(list)
	return list
}

func TestSegments(t *testing.T) {
	tests := map[string]struct {
		build func(town *roadgraphtest.Town)
		want  []string
	}{
		"bends are no junctions": {
			func(town *roadgraphtest.Town) { town.Street("a", 0, 0, 50, 10, 100, 0, 150, 50) },
			[]string{"a"},
		},
		"a street that others meet is cut": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid, town.Node(100, 0))
				town.Road("b", mid, town.Node(50, 50))
			},
			[]string{"a", "a", "b"},
		},
		"two ways of the same properties are one segment": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid)
				town.Road("a", mid, town.Node(100, 0))
			},
			[]string{"a"},
		},
		"also when they are drawn towards each other": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid).SpeedForward = 30
				town.Road("a", town.Node(100, 0), mid).SpeedBackward = 30
			},
			[]string{"a"},
		},
		"not when their directions differ": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.OneWay("a", town.Node(0, 0), mid)
				town.OneWay("a", town.Node(100, 0), mid)
			},
			[]string{"a", "a"},
		},
		"nor their names": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid)
				town.Road("b", mid, town.Node(100, 0))
			},
			[]string{"a", "b"},
		},
		"nor one is a bridge": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid)
				town.Road("a", mid, town.Node(100, 0)).Flags |= roadgraph.Bridge
			},
			[]string{"a", "a"},
		},
		"nor one is for destination traffic": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid)
				town.Road("a", mid, town.Node(100, 0)).DestinationForward = region.Car
			},
			[]string{"a", "a"},
		},
		"unless it is so for others": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid)
				town.Road("a", mid, town.Node(100, 0)).DestinationForward = region.Foot
			},
			[]string{"a"},
		},
		"also for destination traffic, drawn towards each other": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid).DestinationForward = region.Car
				town.Road("a", town.Node(100, 0), mid).DestinationBackward = region.Car
			},
			[]string{"a"},
		},
		"a barrier cuts": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Data.Nodes[mid].Barrier = region.Car
				town.Road("a", town.Node(0, 0), mid, town.Node(100, 0))
			},
			[]string{"a", "a"},
		},
		"a barrier for others does not": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Data.Nodes[mid].Barrier = region.Bicycle
				town.Road("a", town.Node(0, 0), mid, town.Node(100, 0))
			},
			[]string{"a"},
		},
		"a footpath cuts no street for cars": {
			func(town *roadgraphtest.Town) {
				mid := town.Node(50, 0)
				town.Road("a", town.Node(0, 0), mid, town.Node(100, 0))
				path := town.Road("p", mid, town.Node(50, 50))
				path.Forward, path.Backward = region.Foot, region.Foot
			},
			[]string{"a"},
		},
		"a ring of its own": {
			func(town *roadgraphtest.Town) {
				first := town.Node(0, 0)
				town.Road("a", first, town.Node(50, 0), town.Node(50, 50), first)
			},
			[]string{"a"},
		},
		"a loop at the end of a street": {
			func(town *roadgraphtest.Town) {
				end := town.Node(0, 0)
				town.Road("a", town.Node(-50, 0), end)
				town.Road("b", end, town.Node(50, 0), town.Node(50, 50), end)
			},
			[]string{"a", "b"},
		},
		"a ring that begins between its exits": {
			func(town *roadgraphtest.Town) {
				first, east, west := town.Node(0, 0), town.Node(50, 0), town.Node(-50, 50)
				town.Road("ring", first, east, town.Node(50, 50), west, first)
				town.Road("a", east, town.Node(150, 0))
				town.Road("b", west, town.Node(-150, 0))
			},
			[]string{"a", "b", "ring", "ring"},
		},
		"a ring of two ways that begins between its exits": {
			func(town *roadgraphtest.Town) {
				first, east, north, west := town.Node(0, 0), town.Node(50, 0), town.Node(0, 50), town.Node(-50, 0)
				town.Road("ring", first, east, north)
				town.Road("ring", first, west, north)
				town.Road("a", east, town.Node(150, 0))
			},
			[]string{"a", "ring"},
		},
		"nothing": {func(*roadgraphtest.Town) {}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			test.build(&town)
			g := town.Open(t)
			if diff := cmp.Diff(test.want, names(g)); diff != "" {
				t.Error(diff)
			}
			checkGeometry(t, g)
		})
	}
}

// checkGeometry compares what is written of each segment with its shape.
func checkGeometry(t *testing.T, g *roadgraph.Graph) {
	t.Helper()
	for i := range g.Segments() {
		shape := g.Shape(i, nil)
		length := 0.0
		for k := 1; k < len(shape); k++ {
			a, b := shape[k-1].Location(), shape[k].Location()
			length += geo.Distance(a.Lat(), a.Lon(), b.Lat(), b.Lon())
			if diff := length - float64(shape[k].Offset)/1000; diff > 0.002 || diff < -0.002 {
				t.Fatalf("segment %d: point %d is at %d mm, its shape is %.4f m long there", i, k, shape[k].Offset, length)
			}
		}
		if len(shape) < 2 || shape[0].Offset != 0 || shape[len(shape)-1].Offset != g.Segment(i).Length ||
			g.Arc(2*i).Length != g.Segment(i).Length || g.Arc(2*i+1).Length != g.Segment(i).Length {
			t.Fatalf("segment %d: lengths do not agree", i)
		}
		for _, arc := range []uint32{2 * i, 2*i + 1} {
			if segment, forward := g.SegmentOf(arc); segment != i || forward != (arc&1 == 0) {
				t.Fatalf("arc %d travels segment %d, forward %v", arc, segment, forward)
			}
		}
	}
}

// TestLongRoad: a road without a crossing is as many segments as it takes, one behind the other.
func TestLongRoad(t *testing.T) {
	var town roadgraphtest.Town
	const n = 10_000
	var nodes []uint32
	for i := range n {
		nodes = append(nodes, town.Node(float64(i), 0))
	}
	town.Road("a", nodes...)
	town.Road("b", town.Node(-100, 0), nodes[0])
	town.Road("c", nodes[n-1], town.Node(n+100, 0))
	g := town.Open(t)
	checkGeometry(t, g)
	if n := len(roadgraphtest.Segments(g)); n != 5 {
		t.Fatalf("%d segments, want 3 and one at each end", n)
	}
	var s roadgraph.Search
	from, to := arcNamed(t, &town, g, "b", n), arcNamed(t, &town, g, "c", nodes[n-1])
	if cost, arcs := search(g, &s, byLength, from, to); len(arcs) != 5 || math.Abs(cost-(n-1)) > 1 {
		t.Errorf("the way along it is %v m over %d arcs", cost, len(arcs))
	}
}

func TestProperties(t *testing.T) {
	var town roadgraphtest.Town
	r := town.Street("Main Street", 0, 0, 1000, 0)
	r.DestinationBackward = region.Car | region.Foot
	r.Ref, r.Class, r.Flags, r.Layer = "A 1", region.Trunk, roadgraph.Link|roadgraph.Tunnel|roadgraph.Toll, -1
	r.SpeedForward, r.SpeedBackward = 100, 50
	r = town.OneWay("", town.Node(0, 500), town.Node(100, 500))
	r.Ref, r.Flags = "B 2", roadgraph.Roundabout|roadgraph.Bridge|roadgraph.Ferry
	g := town.Open(t)
	if n := len(roadgraphtest.Segments(g)); n != 2 || g.Arcs() != 4 {
		t.Fatalf("%d segments, %d arcs", n, g.Arcs())
	}
	for i := range uint32(2) {
		s := g.Segment(i)
		switch name := g.Name(i); name {
		case "Main Street":
			want := roadgraph.Forward | roadgraph.Backward | roadgraph.Link | roadgraph.Tunnel | roadgraph.Toll |
				roadgraph.DestinationBackward
			if s.Flags != want || s.Class != region.Trunk || s.Layer != -1 || g.Text(s.Ref) != "A 1" {
				t.Errorf("%+v", s)
			}
			if f, b := g.Arc(2*i).Duration, g.Arc(2*i+1).Duration; f < 35990 || f > 36010 || b < 71980 || b > 72020 {
				t.Errorf("1 km takes %d ms at 100 km/h and %d ms at 50 km/h", f, b)
			}
		case "B 2":
			if want := roadgraph.Forward | roadgraph.Roundabout | roadgraph.Bridge | roadgraph.Ferry; s.Flags != want {
				t.Errorf("%+v", s)
			}
		default:
			t.Errorf("a segment %q", name)
		}
	}
}

func TestDelawareGeometry(t *testing.T) {
	g := roadgraphtest.Delaware(t)
	checkGeometry(t, g)
	copies := 0
	for segment := range g.Segments() {
		for _, base := range []uint32{2 * segment, 2*segment + 1} {
			arcs := []uint32{base}
			if g.Segment(segment).Flags.Has(roadgraph.HasCopies) {
				for c, last := g.Copies(base); c < last; c++ {
					arcs = append(arcs, c)
				}
			}
			copies += len(arcs) - 1
			checkTurns(t, g, base, arcs)
		}
	}
	if copies == 0 {
		t.Error("Delaware has restrictions over ways, but no arc has a copy")
	}
}

// checkTurns looks at where the turns of an arc and of its copies lead.
func checkTurns(t *testing.T, g *roadgraph.Graph, base uint32, arcs []uint32) {
	t.Helper()
	for _, arc := range arcs {
		if g.Base(arc) != base {
			t.Errorf("arc %d is a copy of %d, and in the list of %d", arc, g.Base(arc), base)
		}
		for _, turn := range g.Turns(arc, nil) {
			to := g.Base(turn.To)
			if end, begin := ends(g, base), ends(g, to); end[1] != begin[0] || !isOpen(g, to) {
				t.Fatalf("arc %d ends at %v, and the next one, %d, begins at %v", arc, end[1], to, begin[0])
			}
			if to != turn.To && !g.Segment(to>>1).Flags.Has(roadgraph.HasCopies) {
				t.Errorf("arc %d is a copy of %d, which says that it has none", turn.To, to)
			}
		}
	}
}

// ends are the two positions that an arc connects.
func ends(g *roadgraph.Graph, base uint32) [2]orb.Point {
	shape := g.Shape(base>>1, nil)
	first, last := shape[0].Location(), shape[len(shape)-1].Location()
	if base&1 == 1 {
		first, last = last, first
	}
	return [2]orb.Point{first, last}
}

// TestSameInputSameBytes: however much memory there is.
func TestSameInputSameBytes(t *testing.T) {
	first, second := roadgraphtest.DelawareFile(t), roadgraphtest.CompileDelaware(t, 1<<20)
	if first.Checksum() != second.Checksum() {
		t.Error("the same roads gave two different files")
	}
}

func TestOpenWithoutRoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.region")
	if err := (&region.Writer{}).Commit(context.Background(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	g, err := roadgraph.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(g.Near(45, 9, 1e6, nil)); g.Edges() != 0 || g.Arcs() != 0 || n != 0 {
		t.Errorf("%d edges, %d arcs, %d hits", g.Edges(), g.Arcs(), n)
	}
}
