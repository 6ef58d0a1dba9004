package dataset

import (
	"context"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/extract"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/roadgraph/roadgraphtest"
)

// town has a one-way, a barrier, and turn restrictions over a node and over a way.
func town() *roadgraphtest.Town {
	t := &roadgraphtest.Town{}
	a, b, c, d := t.Node(0, 0), t.Node(300, 0), t.Node(300, 200), t.Node(0, 200)
	end := t.Node(600, 0)
	t.Road("A", a, b)
	t.Road("B", b, c)
	t.OneWay("C", c, d)
	t.Road("D", d, a)
	t.Road("E", b, end)
	t.Data.Nodes[3].Barrier = extract.Bicycle
	t.Data.Restrictions = []extract.Restriction{
		{Relation: 1, From: 1, To: 5, ViaNode: b, Modes: extract.Car},
		{Relation: 2, From: 4, To: 2, ViaNode: -1, ViaWays: []int64{1}, Modes: extract.Car},
	}
	return t
}

func compile(t *testing.T, data *extract.Data) *Network {
	t.Helper()
	n, err := Compile(context.Background(), data, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

func TestRepeat(t *testing.T) {
	data := &town().Data
	const copies = 5
	country, err := Repeat(data, copies)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(country.Nodes); i++ {
		if country.Nodes[i].ID <= country.Nodes[i-1].ID {
			t.Fatalf("node %d has id %d after %d", i, country.Nodes[i].ID, country.Nodes[i-1].ID)
		}
	}
	for i := 1; i < len(country.Roads); i++ {
		if country.Roads[i].Way <= country.Roads[i-1].Way {
			t.Fatalf("road %d has way %d after %d", i, country.Roads[i].Way, country.Roads[i-1].Way)
		}
	}
	one, all := compile(t, data), compile(t, country)
	if all.Segments() != copies*one.Segments() || all.Arcs() != copies*one.Arcs() {
		t.Errorf("%d segments and %d arcs, of %d and %d in one copy", all.Segments(), all.Arcs(), one.Segments(), one.Arcs())
	}
	for k := range copies {
		if diff := cmp.Diff(around(one.Graph, 0), around(all.Graph, float64(k)*Shift(data))); diff != "" {
			t.Errorf("copy %d is another one:\n%s", k, diff)
		}
	}
	if diff := cmp.Diff(town().Data, *data); diff != "" {
		t.Errorf("the extract was changed:\n%s", diff)
	}
}

// around describes the roads in a town that lies so many degrees farther east: for each its name, its length, where it
// may be driven, and how many turns there are at its ends.
func around(g *roadgraph.Graph, east float64) map[string][5]int {
	middle := roadgraphtest.At(300, 100)
	roads := map[string][5]int{}
	for _, h := range g.Near(middle.Lat(), middle.Lon()+east, 1000, nil) {
		s := g.Segment(h.Segment)
		roads[g.Name(h.Segment)] = [5]int{int(math.Round(float64(s.Length) / 10)), int(s.Flags),
			len(g.Turns(2 * h.Segment)), len(g.Turns(2*h.Segment + 1)), int(s.Class)}
	}
	return roads
}

func TestRepeatTooOften(t *testing.T) {
	if _, err := Repeat(&town().Data, 10000); err == nil {
		t.Error("a country goes round the world")
	}
}

func TestCompile(t *testing.T) {
	n := compile(t, &town().Data)
	if n.Segments() != 5 {
		t.Errorf("%d segments", n.Segments())
	}
	// Six segments with the closing one, of 20 bytes; ten points of 12 bytes; and so on: a few hundred bytes.
	if n.Build.Tables < 6*20+10*12 || n.Build.Tables > 4096 {
		t.Errorf("the tables have %d bytes", n.Build.Tables)
	}
	if n.Build.Took <= 0 || n.Build.Heap <= 0 {
		t.Errorf("the build took %v and %d bytes", n.Build.Took, n.Build.Heap)
	}
	if _, err := Compile(context.Background(), &town().Data, "/dev/null/none"); err == nil {
		t.Error("compiled into no directory")
	}
}

func TestDelaware(t *testing.T) {
	path, err := Delaware(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() < 1e6 {
		t.Errorf("%s: %v", path, err)
	}
}

func TestHeapWatch(t *testing.T) {
	// Twice, with that of watchHeap: what has a finalizer is freed by the second, and shall not be freed meanwhile.
	runtime.GC()
	h := watchHeap()
	held := make([]byte, 64<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	most := h.stop()
	runtime.KeepAlive(held)
	if most < int64(len(held)) || most > 2*int64(len(held)) {
		t.Errorf("%d bytes in use at most, and %d were made", most, len(held))
	}
}
