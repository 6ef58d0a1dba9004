package pbfwrite

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"
)

// TestRoundTrip: what is written is what a reader of the format finds, over several blocks of each kind.
func TestRoundTrip(t *testing.T) {
	var want []osm.Object
	for i := range 2*perBlock + 7 {
		n := &osm.Node{ID: osm.NodeID(3*i + 1), Lat: 41 + float64(i)/1e4, Lon: -8 - float64(i)/1e4, Version: i%5 + 1}
		if i%3 == 0 {
			n.Tags = osm.Tags{{Key: "amenity", Value: "café"}, {Key: "name", Value: "Bar"}}
		}
		want = append(want, n)
	}
	for i := range perBlock + 1 {
		want = append(want, &osm.Way{ID: osm.WayID(i + 5), Version: 2, Tags: osm.Tags{{Key: "highway", Value: "path"}},
			Nodes: osm.WayNodes{{ID: 1}, {ID: osm.NodeID(3*i + 1)}, {ID: 7}}})
	}
	want = append(want, &osm.Relation{ID: 9, Version: 1, Tags: osm.Tags{{Key: "type", Value: "restriction"}},
		Members: osm.Members{{Type: osm.TypeWay, Ref: 5, Role: "from"}, {Type: osm.TypeNode, Ref: 1, Role: "via"},
			{Type: osm.TypeRelation, Ref: 2}}})
	var out bytes.Buffer
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := New(&out, made)
	for _, o := range want {
		if err := w.Write(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	scanner := osmpbf.New(context.Background(), &out, 1)
	defer scanner.Close()
	header, err := scanner.Header()
	if err != nil || !header.ReplicationTimestamp.Equal(made) {
		t.Errorf("%+v, %v", header, err)
	}
	i := 0
	for ; scanner.Scan(); i++ {
		if i >= len(want) {
			t.Fatal("more objects than were written")
		}
		if diff := cmp.Diff(simple(want[i]), simple(scanner.Object())); diff != "" {
			t.Fatalf("object %d:\n%s", i, diff)
		}
	}
	if err := scanner.Err(); err != nil || i != len(want) {
		t.Errorf("%d of %d objects, %v", i, len(want), err)
	}
}

// simple is what of an object is written.
func simple(o osm.Object) any {
	switch o := o.(type) {
	case *osm.Node:
		return []any{o.ObjectID(), math.Round(o.Lat * 1e7), math.Round(o.Lon * 1e7), o.Tags.Map()}
	case *osm.Way:
		return []any{o.ObjectID(), o.Tags.Map(), o.Nodes.NodeIDs()}
	case *osm.Relation:
		return []any{o.ObjectID(), o.Tags.Map(), o.Members}
	}
	return nil
}
