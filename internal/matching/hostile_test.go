package matching_test

import (
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/roadgraph/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
)

// network is the sections of a road network, as they are in a region file.
type network struct {
	segments []roadgraph.Segment
	points   []roadgraph.Point
	arcs     []roadgraph.Arc
	turns    []roadgraph.Turn
	copies   []uint32
	leaves   []hostileLeaf
	boxes    []hostileBox
	names    []byte
}

type hostileBox struct{ minLat, minLon, maxLat, maxLon int32 }

type hostileLeaf struct {
	hostileBox
	segment, point uint32
}

// everything is a box that holds all positions.
var everything = hostileBox{math.MinInt32, math.MinInt32, math.MaxInt32, math.MaxInt32}

func section[T any](tb testing.TB, f *region.File, name string) []T {
	tb.Helper()
	v, err := region.Section[T](f, name)
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Clone(v.All())
}

// networkOf copies the network for cars of a town.
func networkOf(tb testing.TB, d *extract.Data) *network {
	tb.Helper()
	f := roadgraphtest.Compile(tb, d)
	return &network{
		section[roadgraph.Segment](tb, f, "roads.car.segments"), section[roadgraph.Point](tb, f, "roads.car.points"),
		section[roadgraph.Arc](tb, f, "roads.car.arcs"), section[roadgraph.Turn](tb, f, "roads.car.turns"),
		section[uint32](tb, f, "roads.car.copies"), section[hostileLeaf](tb, f, "roads.car.leaves"),
		section[hostileBox](tb, f, "roads.car.boxes"), section[byte](tb, f, "roads.names"),
	}
}

// open writes the sections to a file with checksums as they should be, and opens it.
func (n *network) open(tb testing.TB) *roadgraph.Graph {
	tb.Helper()
	var w region.Writer
	region.Add(&w, "roads.car.segments", n.segments)
	region.Add(&w, "roads.car.points", n.points)
	region.Add(&w, "roads.car.arcs", n.arcs)
	region.Add(&w, "roads.car.turns", n.turns)
	region.Add(&w, "roads.car.copies", n.copies)
	region.Add(&w, "roads.car.leaves", n.leaves)
	region.Add(&w, "roads.car.boxes", n.boxes)
	region.Add(&w, "roads.names", n.names)
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

// boxesOver is how many boxes an index has over a number of leaves.
func boxesOver(leaves int) (n int) {
	for leaves > 1 || n == 0 {
		leaves = (leaves + 15) / 16
		n += leaves
	}
	return n
}

// TestHostileRegion matches on files that somebody made by hand, with all checksums as they should be: each request
// ends in bounded time, with bounded memory, in an answer or in an error that becomes a 503.
func TestHostileRegion(t *testing.T) {
	pace := testpace.Watch(t)
	const many = 2_000_000
	for name, change := range map[string]func(n *network){
		"everything is near": func(n *network) {
			n.leaves = slices.Repeat([]hostileLeaf{{everything, n.leaves[0].segment, n.leaves[0].point}}, many)
			n.boxes = slices.Repeat([]hostileBox{everything}, boxesOver(many))
		},
		"everything seems near, and is far": func(n *network) {
			n.leaves = slices.Repeat([]hostileLeaf{{everything, n.leaves[0].segment, n.leaves[0].point}}, many)
			n.boxes = slices.Repeat([]hostileBox{everything}, boxesOver(many))
			for i := range n.points {
				n.points[i].Lat = 0
			}
		},
		"all roads at one place": func(n *network) {
			first, last := n.segments[0], n.segments[len(n.segments)-1]
			shape := n.points[:n.segments[1].FirstPoint]
			n.segments, n.points, n.arcs, n.leaves = nil, nil, nil, nil
			for i := range many / 10 {
				first.FirstPoint = uint32(len(n.points))
				n.segments, n.points = append(n.segments, first), append(n.points, shape...)
				for k := range uint32(2) {
					n.arcs = append(n.arcs, roadgraph.Arc{Length: first.Length, Duration: 1, Base: uint32(2*i) + k})
				}
				n.leaves = append(n.leaves, hostileLeaf{everything, uint32(i), first.FirstPoint})
			}
			last.FirstPoint = uint32(len(n.points))
			n.segments, n.arcs = append(n.segments, last), append(n.arcs, roadgraph.Arc{})
			n.boxes = slices.Repeat([]hostileBox{everything}, boxesOver(len(n.leaves)))
		},
		"turns without end": func(n *network) {
			arcs := uint32(len(n.arcs) - 1)
			n.turns = nil
			for i := range uint32(many) {
				n.turns = append(n.turns, roadgraph.Turn{To: i % arcs})
			}
			for i := range n.arcs {
				n.arcs[i].FirstTurn = uint32(i * (many / len(n.arcs)))
			}
		},
		"a million turns, around and around": func(n *network) {
			arcs := uint32(len(n.arcs) - 1)
			n.turns = nil
			for i := range arcs {
				n.arcs[i].FirstTurn = uint32(len(n.turns))
				n.arcs[i].Length, n.arcs[i].Duration = 0, 0
				for k := range arcs {
					n.turns = append(n.turns, roadgraph.Turn{To: k})
				}
			}
			n.arcs[arcs].FirstTurn = uint32(len(n.turns))
		},
		"copies without end": func(n *network) {
			for i := range n.segments {
				n.segments[i].Flags |= roadgraph.HasCopies
			}
			n.copies = make([]uint32, many)
			n.arcs = append(n.arcs, slices.Repeat(n.arcs[:1], many)...)
		},
		"copies of copies": func(n *network) {
			for i := range n.arcs {
				n.arcs[i].Base = uint32((i + 1) % (len(n.arcs) - 1))
			}
		},
		"a shape without end": func(n *network) {
			n.points = append(n.points, slices.Repeat(n.points, many/len(n.points))...)
			for i := range n.segments {
				n.segments[i].FirstPoint = uint32(i * (len(n.points) / len(n.segments)))
			}
		},
		"lengths without sense": func(n *network) {
			for i := range n.arcs {
				n.arcs[i].Length, n.arcs[i].Duration = math.MaxUint32, math.MaxUint32
				n.arcs[i].EndLat, n.arcs[i].EndLon = math.MinInt32, math.MaxInt32
			}
			for i := range n.points {
				n.points[i].Offset = math.MaxUint32 - uint32(i)
			}
		},
		"names without end": func(n *network) {
			n.names = slices.Repeat([]byte{0xff}, 1<<20)
			for i := range n.segments {
				n.segments[i].Name = uint32(1 + 65537*(i%8))
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
				began, before := time.Now(), allocated()
				r, err := m.Match(t.Context(), req)
				var damage *region.DamageError
				if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) &&
					!errors.Is(err, matching.ErrOverloaded) &&
					!errors.Is(err, matching.ErrNoRoute) {
					t.Errorf("%v, %v", r, err)
				}
				took, memory := time.Since(began), allocated()-before
				t.Logf("%d points: %v, %d MB, %v", len(req.Points), took, memory>>20, err)
				if took > pace.AllowWork(2500*time.Millisecond) {
					t.Errorf("%d points took %v: %v", len(req.Points), took, err)
				}
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
		var street, avenue []int32
		for k := range side {
			street, avenue = append(street, int32(i*side+k)), append(avenue, int32(k*side+i))
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
