package matching_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// network is the sections of a road network, as they are in a region file.
type network struct {
	edges  []roadgraph.Edge
	shape  []uint32
	turns  []uint32
	copies []roadgraph.Copy
	roads  []roadgraph.Road
	kinds  []roadgraph.Kind
	leaves []roadgraph.Leaf
	groups []uint32
	boxes  []geo.Box
	names  []byte
}

// everything is a box that holds all positions.
var everything = geo.Box{MinX: math.MinInt32, MinY: math.MinInt32, MaxX: math.MaxInt32, MaxY: math.MaxInt32}

func section[T any](tb testing.TB, f *region.File, name string) []T {
	tb.Helper()
	v, err := region.Section[T](f, name)
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Clone(v.All())
}

// networkOf copies the network of a town.
func networkOf(tb testing.TB, d *roadgraphtest.Data) *network {
	tb.Helper()
	f := roadgraphtest.Compile(tb, d)
	return &network{
		section[roadgraph.Edge](tb, f, roadgraph.EdgesSection), section[uint32](tb, f, roadgraph.ShapeSection),
		section[uint32](tb, f, roadgraph.TurnsSection), section[roadgraph.Copy](tb, f, roadgraph.CopiesSection),
		section[roadgraph.Road](tb, f, roadgraph.RoadsSection),
		section[roadgraph.Kind](tb, f, roadgraph.KindsSection), section[roadgraph.Leaf](tb, f, roadgraph.Indexes[0].Leaves),
		section[uint32](tb, f, roadgraph.Indexes[0].Groups),
		section[geo.Box](tb, f, roadgraph.Indexes[0].Boxes), section[byte](tb, f, roadgraph.NamesSection),
	}
}

// open writes the sections to a file with checksums as they should be, and opens it.
func (n *network) open(tb testing.TB) *roadgraph.Graph {
	tb.Helper()
	var w region.Writer
	region.Add(&w, roadgraph.EdgesSection, n.edges)
	region.Add(&w, roadgraph.ShapeSection, n.shape)
	region.Add(&w, roadgraph.TurnsSection, n.turns)
	region.Add(&w, roadgraph.CopiesSection, n.copies)
	region.Add(&w, roadgraph.RoadsSection, n.roads)
	region.Add(&w, roadgraph.KindsSection, n.kinds)
	region.Add(&w, roadgraph.Indexes[0].Leaves, n.leaves)
	region.Add(&w, roadgraph.Indexes[0].Groups, n.groups)
	region.Add(&w, roadgraph.Indexes[0].Boxes, n.boxes)
	region.Add(&w, roadgraph.NamesSection, n.names)
	path := filepath.Join(tb.TempDir(), "hostile.region")
	if err := w.Commit(tb.Context(), path, region.Meta{}); err != nil {
		tb.Fatal(err)
	}
	f, err := region.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(f.Release)
	g, err := roadgraph.Open(f)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// index has an index of leaves that are everywhere.
func (n *network) index(leaves []roadgraph.Leaf) {
	for i := range leaves {
		l := &leaves[i]
		l.MinX, l.MinY, l.MaxX, l.MaxY = 0, 0, roadgraph.BoxParts, roadgraph.BoxParts
	}
	groups := (len(leaves) + geo.TreeFanout - 1) / geo.TreeFanout
	tree := geo.NewTree(uint32(groups))
	n.groups = make([]uint32, groups)
	n.leaves, n.boxes = leaves, slices.Repeat([]geo.Box{everything}, groups+tree.Boxes())
}

// TestHostileRegion matches on files that somebody made by hand, with all checksums as they should be: each request
// ends in bounded time, with bounded memory, in an answer or in an error that becomes a 503.
func TestHostileRegion(t *testing.T) {
	const many = 2_000_000
	for name, change := range map[string]func(n *network){
		"everything is near": func(n *network) { n.index(slices.Repeat(n.leaves[:1], many)) },
		"everything seems near, and is far": func(n *network) {
			n.index(slices.Repeat(n.leaves[:1], many))
			for i := range n.edges {
				n.edges[i].Lat = 0
			}
		},
		"all roads at one place": func(n *network) {
			last := len(n.edges) - 1
			n.edges = append(slices.Repeat(n.edges[:1], many/10), n.edges[last])
			n.shape = slices.Repeat(n.shape[:n.edges[1].FirstShape+1], many/10)
			leaves := slices.Repeat(n.leaves[:1], many/10)
			for i := range n.edges {
				n.edges[i].FirstShape, n.edges[i].FirstTurn = uint32(i), 0
				n.edges[i].Flags |= roadgraph.FlagsOf(roadgraph.Begins, region.Car)
			}
			for i := range leaves {
				leaves[i].Edge, leaves[i].Skip = uint16(i%geo.TreeFanout), 0
				leaves[i].About = roadgraph.AboutLeaf(1, region.Car)
			}
			n.index(leaves)
			for i := range n.groups {
				n.groups[i] = uint32(i * geo.TreeFanout)
			}
		},
		"segments without end": func(n *network) {
			last := len(n.edges) - 1
			n.edges = append(slices.Repeat(n.edges[:1], many/10), n.edges[last])
			for i := range n.edges[:many/10] {
				n.edges[i].Flags &^= roadgraph.FlagsOf(roadgraph.Begins, region.Car)
			}
		},
		"no segment begins": func(n *network) {
			for i := range n.edges {
				n.edges[i].Flags &^= roadgraph.FlagsOf(roadgraph.Begins, region.Car)
			}
		},
		"turns without end": func(n *network) {
			n.turns = nil
			for i := range uint32(many) {
				n.turns = roadgraph.AppendTurn(n.turns, 0, roadgraph.Turn{To: 1 + i%uint32(2*len(n.edges)-2)}, region.Car, false)
			}
			for i := range n.edges {
				n.edges[i].FirstTurn = uint32(i * (many / len(n.edges)))
			}
		},
		"a million turns, around and around": func(n *network) {
			n.turns = nil
			edges := uint32(len(n.edges) - 1)
			for i := range edges {
				n.edges[i].FirstTurn, n.edges[i].Length = uint32(len(n.turns)), 0
				for own := range uint32(2) {
					for k := range min(edges, 600) {
						turn := roadgraph.Turn{To: 2*k + own}
						n.turns = roadgraph.AppendTurn(n.turns, 2*i+own, turn, region.Car, false)
					}
				}
			}
			n.edges[edges].FirstTurn = uint32(len(n.turns))
		},
		"copies without end": func(n *network) {
			for i := range n.edges {
				n.edges[i].Flags |= roadgraph.FlagsOf(roadgraph.Copied, region.Car)
			}
			n.copies = slices.Repeat([]roadgraph.Copy{{Mode: uint32(region.Car)}}, many)
		},
		"copies of copies": func(n *network) {
			arcs := uint32(2 * (len(n.edges) - 1))
			n.copies = slices.Repeat([]roadgraph.Copy{{Mode: uint32(region.Car), Arc: arcs}}, 4)
			for i := range n.turns {
				n.turns[i] = 0
			}
			n.turns = slices.Repeat(roadgraph.AppendTurn(nil, 0, roadgraph.Turn{To: arcs + 1}, region.Car, false), len(n.turns))
		},
		"a shape without end": func(n *network) {
			n.shape = append(n.shape, slices.Repeat(n.shape, many/len(n.shape))...)
			for i := range n.edges {
				n.edges[i].FirstShape = uint32(i * (len(n.shape) / len(n.edges)))
				n.edges[i].EndNorth = roadgraph.FarEnd
			}
		},
		"shapes that end in the middle": func(n *network) {
			for i := range n.shape {
				n.shape[i] = 0x8000_8000
			}
		},
		"lengths without sense": func(n *network) {
			for i := range n.edges {
				e := &n.edges[i]
				e.Length, e.EndNorth, e.EndEast = math.MaxUint32, math.MaxInt16, math.MinInt16
			}
		},
		"roads that are not there": func(n *network) {
			for i := range n.edges {
				n.edges[i].Road += uint32(i%2) * math.MaxInt32
			}
		},
		"names without end": func(n *network) {
			n.names = slices.Repeat([]byte{0xff}, 1<<20)
			for i := range n.roads {
				n.roads[i].Name = uint32(1 + 65537*(i%8))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			for i := range 40 {
				town.Street("Street", -2000, float64(100*i-2000), 2000, float64(100*i-2000))
				town.Street("Avenue", float64(100*i-2000), -2000, float64(100*i-2000), 2000)
			}
			crossed(&town)
			n := networkOf(t, &town.Data)
			change(n)
			m := matching.New(n.open(t), matching.Options{})
			trail := newNoise(4, 15)
			for _, req := range []*matching.Request{
				{Points: trail.along(20, -1900, 0, 1900, 0, 1900, 1500, 0, 1500), Details: true},
				{Points: trail.along(700, -1900, 0, 1900, 0, -1900, 1500, 0, 1500), Details: true, MaxRadius: 300},
				{Points: trail.along(1, 0, 0, 1500, 0)},
			} {
				var r *matching.Result
				var err error
				began, before := time.Now(), allocated()
				testkit.Work(t, fmt.Sprint(len(req.Points), " points"), 2500*time.Millisecond, func() {
					r, err = m.Match(t.Context(), req)
				})
				took, memory := time.Since(began), allocated()-before
				var damage *region.DamageError
				if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) &&
					!errors.Is(err, matching.ErrWork) &&
					!errors.Is(err, matching.ErrNoRoute) {
					t.Errorf("%v, %v", r, err)
				}
				t.Logf("%d points: %v, %d MB, %v", len(req.Points), took, memory>>20, err)
				if memory > 1<<30 {
					t.Errorf("%d points took %d MB: %v", len(req.Points), memory>>20, err)
				}
			}
		})
	}
}

// crossed makes the streets and avenues of a town meet where they cross.
func crossed(town *roadgraphtest.Town) {
	d := &town.Data
	d.Nodes, d.Roads = nil, nil
	const side = 41
	for y := range side {
		for x := range side {
			town.Node(float64(100*x-2000), float64(100*y-2000))
		}
	}
	for i := range side {
		var street, avenue []uint32
		for k := range side {
			street, avenue = append(street, uint32(i*side+k)), append(avenue, uint32(k*side+i))
		}
		town.Road("Street", street...)
		town.Road("Avenue", avenue...)
	}
}

// allocated is how much memory was taken so far, whatever became of it.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
