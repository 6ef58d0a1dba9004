package roadgraphtest

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Sketch is a small map drawn in text, as in OSRM's tests. It is written as an OpenStreetMap extract, read and compiled
// like any other.
type Sketch struct {
	// Grid has letters, which are nodes of ways, and digits, which are places for traces. Other characters are decoration.
	Grid string
	Step float64 // metres between two columns; 0 means 10
	Rows float64 // metres between two lines; 0 means Step
	// Ways has one way a line: its nodes, then tags as key=value. Without a highway it is a residential street; without
	// a name its nodes are its name. A way of a single node gives that node its tags. A relation's members take the
	// place of the nodes: "ab/b/bc restriction=no_left_turn". A "~" in a value is a space.
	Ways string
}

// Drawn is a sketch that has been compiled.
type Drawn struct {
	*roadgraph.Graph // for cars
	File             *region.File
	places           map[rune]orb.Point
}

// Draw compiles a sketch and opens its network for cars.
func (s Sketch) Draw(tb testing.TB) *Drawn {
	tb.Helper()
	path, places := s.Write(tb)
	f := CompileExtract(tb, path)
	return &Drawn{Open(tb, f, region.Car), f, places}
}

// Open opens the network of a mode.
func Open(tb testing.TB, f *region.File, mode region.Modes) *roadgraph.Graph {
	tb.Helper()
	g, err := roadgraph.OpenMode(f, mode)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// Write writes an extract of the sketch, and returns the positions of its letters and digits.
func (s Sketch) Write(tb testing.TB) (path string, places map[rune]orb.Point) {
	tb.Helper()
	places = s.places()
	document, err := s.document(places)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := xml.Marshal(document)
	if err != nil {
		tb.Fatal(err)
	}
	path = filepath.Join(tb.TempDir(), "sketch.osm")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path, places
}

// At is the position of a letter or a digit.
func (d *Drawn) At(tb testing.TB, place rune) orb.Point {
	tb.Helper()
	p, ok := d.places[place]
	if !ok {
		tb.Fatalf("the sketch has no %q", place)
	}
	return p
}

func (s Sketch) places() map[rune]orb.Point {
	step := cmp.Or(s.Step, 10)
	rows := cmp.Or(s.Rows, step)
	places := map[rune]orb.Point{}
	for line, text := range strings.Split(s.Grid, "\n") {
		for column, place := range []rune(text) {
			if isPlace(place) {
				places[place] = At(float64(column)*step, -float64(line)*rows)
			}
		}
	}
	return places
}

func isPlace(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func (s Sketch) document(places map[rune]orb.Point) (*osm.OSM, error) {
	doc := &osm.OSM{Version: "0.6"}
	nodes := map[rune]*osm.Node{}
	for place, at := range places {
		if place < '0' || place > '9' {
			nodes[place] = &osm.Node{ID: osm.NodeID(place), Lat: at.Lat(), Lon: at.Lon(), Version: 1, Visible: true}
		}
	}
	ways := map[string]osm.WayID{}
	for _, line := range strings.Split(s.Ways, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		tags, err := parseTags(fields[1:])
		if err != nil {
			return nil, err
		}
		members := strings.Split(fields[0], "/")
		if len(members) > 1 {
			relation, err := restriction(members, tags, ways)
			if err != nil {
				return nil, err
			}
			relation.ID = osm.RelationID(len(doc.Relations) + 1)
			doc.Relations = append(doc.Relations, relation)
			continue
		}
		if err := drawn(nodes, fields[0]); err != nil {
			return nil, err
		}
		if letters := []rune(fields[0]); len(letters) == 1 {
			nodes[letters[0]].Tags = tags
			continue
		}
		way := &osm.Way{ID: osm.WayID(len(doc.Ways) + 1), Version: 1, Visible: true, Tags: withDefaults(tags, fields[0])}
		for _, letter := range fields[0] {
			way.Nodes = append(way.Nodes, osm.WayNode{ID: osm.NodeID(letter)})
		}
		ways[fields[0]] = way.ID
		doc.Ways = append(doc.Ways, way)
	}
	for letter := rune('A'); letter <= 'z'; letter++ {
		if n := nodes[letter]; n != nil {
			doc.Nodes = append(doc.Nodes, n)
		}
	}
	return doc, nil
}

// Arc returns the arc from one letter to another, which must be the ends of an edge.
func (d *Drawn) Arc(tb testing.TB, from, to rune) uint32 {
	tb.Helper()
	at := func(p roadgraph.Point, place rune) bool {
		q := d.At(tb, place)
		return math.Abs(p.Location().Lon()-q.Lon()) < 1e-6 && math.Abs(p.Location().Lat()-q.Lat()) < 1e-6
	}
	for edge := range d.Edges() {
		shape := d.Shape(edge, nil)
		first, last := shape[0], shape[len(shape)-1]
		switch {
		case at(first, from) && at(last, to):
			return 2 * edge
		case at(first, to) && at(last, from):
			return 2*edge + 1
		}
	}
	tb.Fatalf("no edge from %q to %q", from, to)
	return 0
}

// drawn reports letters that the grid does not have.
func drawn(nodes map[rune]*osm.Node, letters string) error {
	for _, letter := range letters {
		if nodes[letter] == nil {
			return fmt.Errorf("way %s: the grid has no %q", letters, letter)
		}
	}
	return nil
}

func parseTags(fields []string) (tags osm.Tags, err error) {
	for _, field := range fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no key=value", field)
		}
		tags = append(tags, osm.Tag{Key: key, Value: strings.ReplaceAll(value, "~", " ")})
	}
	return tags, nil
}

// withDefaults makes a street of a way that is nothing else, and gives it a name.
func withDefaults(tags osm.Tags, nodes string) osm.Tags {
	if !tags.HasTag("highway") && !tags.HasTag("route") {
		tags = append(tags, osm.Tag{Key: "highway", Value: "residential"})
	}
	if !tags.HasTag("name") {
		tags = append(tags, osm.Tag{Key: "name", Value: nodes})
	}
	return tags
}

// restriction is the relation of a from way, via nodes or ways, and a to way.
func restriction(members []string, tags osm.Tags, ways map[string]osm.WayID) (*osm.Relation, error) {
	r := &osm.Relation{Version: 1, Visible: true, Tags: append(tags, osm.Tag{Key: "type", Value: "restriction"})}
	for i, name := range members {
		role := "via"
		switch i {
		case 0:
			role = "from"
		case len(members) - 1:
			role = "to"
		}
		member := osm.Member{Type: osm.TypeWay, Role: role, Ref: int64(ways[name])}
		if letters := []rune(name); len(letters) == 1 {
			member.Type, member.Ref = osm.TypeNode, int64(letters[0])
		} else if ways[name] == 0 {
			return nil, fmt.Errorf("the relation of %s comes before its way", name)
		}
		r.Members = append(r.Members, member)
	}
	return r, nil
}
