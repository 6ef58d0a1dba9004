package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"

	"github.com/mapsedge/caddy-maps/lab/pbfwrite"
)

// gap is the space between two copies, in degrees.
const gap = 0.05

// Grid is how copies of a map lie side by side: in rows from south to north, each from west to east. In a row all are
// as the first one but for their longitude, so that all lengths and angles stay as they are.
type Grid struct {
	PerRow int
	// East and North are by how many degrees a copy lies from the one before, and a row from the one south of it.
	East, North float64
}

// At is by how many degrees of longitude and latitude copy k lies from the map itself.
func (g *Grid) At(k int) (east, north float64) {
	return float64(k%g.PerRow) * g.East, float64(k/g.PerRow) * g.North
}

// Copies writes an extract of n copies of the map in a PBF file. Each copy's objects have identifiers beyond those of
// the copy before.
func Copies(ctx context.Context, in, out string, n int) (*Grid, error) {
	return writeCopies(ctx, in, out, n, false)
}

// Connected is Copies in about as many rows as columns, with roads from each copy to its neighbours.
func Connected(ctx context.Context, in, out string, n int) (*Grid, error) {
	return writeCopies(ctx, in, out, n, true)
}

func writeCopies(ctx context.Context, in, out string, n int, connected bool) (*Grid, error) {
	m, err := readMap(ctx, in)
	if err != nil {
		return nil, err
	}
	g, err := m.grid(n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in, err)
	}
	if connected {
		g.PerRow = int(math.Ceil(math.Sqrt(float64(n))))
	}
	return g, writePBF(out, &m.header, func(w *pbfwrite.Writer) error {
		for _, kind := range []osm.Type{osm.TypeNode, osm.TypeWay, osm.TypeRelation} {
			for k := range n {
				if err := errors.Join(ctx.Err(), m.copy(w, kind, k, g)); err != nil {
					return err
				}
			}
			if connected && kind == osm.TypeWay {
				if err := m.connect(w, n, g); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Rewrite writes a PBF file of those objects of another one that keep wants; it may change them.
func Rewrite(ctx context.Context, in, out string, keep func(o osm.Object) bool) error {
	m, err := readMap(ctx, in)
	if err != nil {
		return err
	}
	return writePBF(out, &m.header, func(w *pbfwrite.Writer) error {
		for _, o := range m.objects {
			if keep(o) {
				if err := w.Write(o); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Thin is for Rewrite: it leaves out a share of the smaller roads, always the same ones.
func Thin(share float64) func(osm.Object) bool {
	smaller := map[string]bool{"unclassified": true, "residential": true, "living_street": true, "service": true,
		"track": true, "path": true, "footway": true, "cycleway": true, "pedestrian": true, "steps": true, "road": true}
	return func(o osm.Object) bool {
		w, ok := o.(*osm.Way)
		if !ok || !smaller[w.Tags.Find("highway")] {
			return true
		}
		mixed := uint64(w.ID) * 0x9E3779B97F4A7C15 >> 40
		return float64(mixed)/(1<<24) >= share
	}
}

// theMap is an extract in memory.
type theMap struct {
	header  osmpbf.Header
	objects []osm.Object
	next    map[osm.Type]int64 // identifiers beyond those of all objects
}

func readMap(ctx context.Context, path string) (*theMap, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scanner := osmpbf.New(ctx, f, 2)
	defer scanner.Close()
	m := &theMap{next: map[osm.Type]int64{}}
	header, err := scanner.Header()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.header = *header
	for scanner.Scan() {
		o := scanner.Object()
		m.objects = append(m.objects, o)
		id := o.ObjectID()
		m.next[id.Type()] = max(m.next[id.Type()], id.Ref()+1)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// grid finds out how n copies fit on the Earth.
func (m *theMap) grid(n int) (*Grid, error) {
	b := osm.Bounds{MinLat: 90, MaxLat: -90, MinLon: 180, MaxLon: -180}
	for _, o := range m.objects {
		if node, ok := o.(*osm.Node); ok {
			b.MinLat, b.MaxLat = min(b.MinLat, node.Lat), max(b.MaxLat, node.Lat)
			b.MinLon, b.MaxLon = min(b.MinLon, node.Lon), max(b.MaxLon, node.Lon)
		}
	}
	g := &Grid{East: b.MaxLon - b.MinLon + gap, North: b.MaxLat - b.MinLat + gap}
	g.PerRow = max(int((179-b.MaxLon)/g.East)+1, 1)
	if rows := (n-1)/g.PerRow + 1; n < 1 || b.MaxLat+float64(rows-1)*g.North > 80 {
		return nil, fmt.Errorf("%d copies do not fit side by side", n)
	}
	return g, nil
}

// connections is the number of roads from a copy to each of its neighbours.
const connections = 5

// connect writes roads from the nodes of main roads that lie farthest east and north, one in each of some stripes, to
// those farthest west and south of the next copies.
func (m *theMap) connect(w *pbfwrite.Writer, n int, g *Grid) error {
	main := map[osm.NodeID]bool{}
	for _, o := range m.objects {
		if way, ok := o.(*osm.Way); ok {
			switch way.Tags.Find("highway") {
			case "primary", "secondary", "tertiary":
				for i := range way.Nodes {
					main[way.Nodes[i].ID] = true
				}
			}
		}
	}
	var nodes []*osm.Node
	b := osm.Bounds{MinLat: 90, MinLon: 180}
	for _, o := range m.objects {
		if node, ok := o.(*osm.Node); ok && main[node.ID] {
			nodes = append(nodes, node)
			b.MinLat, b.MinLon = min(b.MinLat, node.Lat), min(b.MinLon, node.Lon)
		}
	}
	var ends [4][connections]*osm.Node // east, west, north, south
	for _, node := range nodes {
		row := min(int((node.Lat-b.MinLat)/(g.North-gap)*connections), connections-1)
		column := min(int((node.Lon-b.MinLon)/(g.East-gap)*connections), connections-1)
		for i, beyond := range [...]func(other *osm.Node) bool{
			func(other *osm.Node) bool { return node.Lon > other.Lon },
			func(other *osm.Node) bool { return node.Lon < other.Lon },
			func(other *osm.Node) bool { return node.Lat > other.Lat },
			func(other *osm.Node) bool { return node.Lat < other.Lat },
		} {
			stripe := row
			if i >= 2 {
				stripe = column
			}
			if end := &ends[i][stripe]; *end == nil || beyond(*end) {
				*end = node
			}
		}
	}
	id := m.next[osm.TypeWay] * int64(n)
	for k := range n {
		for side, next := range [...]int{k + 1, k + g.PerRow} {
			if next >= n || side == 0 && next%g.PerRow == 0 {
				continue
			}
			for i, from := range ends[2*side] {
				to := ends[2*side+1][i]
				if from == nil || to == nil {
					continue
				}
				way := osm.Way{ID: osm.WayID(id), Visible: true, Version: 1, Tags: osm.Tags{{Key: "highway", Value: "primary"}},
					Nodes: osm.WayNodes{{ID: from.ID + osm.NodeID(m.next[osm.TypeNode]*int64(k))},
						{ID: to.ID + osm.NodeID(m.next[osm.TypeNode]*int64(next))}}}
				id++
				if err := w.Write(&way); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// copy writes the objects of one kind of a copy.
func (m *theMap) copy(w *pbfwrite.Writer, kind osm.Type, k int, g *Grid) error {
	by := func(kind osm.Type) int64 { return m.next[kind] * int64(k) }
	east, north := g.At(k)
	for _, o := range m.objects {
		if o.ObjectID().Type() != kind {
			continue
		}
		var moved osm.Object
		switch o := o.(type) {
		case *osm.Node:
			n := *o
			n.ID, n.Lat, n.Lon = o.ID+osm.NodeID(by(osm.TypeNode)), o.Lat+north, o.Lon+east
			moved = &n
		case *osm.Way:
			way := *o
			way.ID = o.ID + osm.WayID(by(osm.TypeWay))
			way.Nodes = make(osm.WayNodes, len(o.Nodes))
			for i := range o.Nodes {
				way.Nodes[i].ID = o.Nodes[i].ID + osm.NodeID(by(osm.TypeNode))
			}
			moved = &way
		case *osm.Relation:
			r := *o
			r.ID = o.ID + osm.RelationID(by(osm.TypeRelation))
			r.Members = make(osm.Members, len(o.Members))
			for i, member := range o.Members {
				member.Ref += by(member.Type)
				r.Members[i] = member
			}
			moved = &r
		}
		if err := w.Write(moved); err != nil {
			return err
		}
	}
	return nil
}

func writePBF(path string, header *osmpbf.Header, fill func(*pbfwrite.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	w := pbfwrite.New(out, header.ReplicationTimestamp)
	return errors.Join(fill(w), w.Close(), out.Flush(), f.Close())
}
