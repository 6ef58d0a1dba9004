// Package datasettest makes small extracts for tests of evaluations.
package datasettest

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/lab/pbfwrite"
)

// PBF writes an extract of residential streets, named "1", "2" and so on, that meet where they have a position in
// common. Restrictions are relations of type=restriction by the numbers of streets: no turn from one to the other,
// over the position that both have.
func PBF(tb testing.TB, restrictions [][2]int, streets ...[]orb.Point) string {
	tb.Helper()
	var nodes, ways, relations []osm.Object
	ids := map[orb.Point]osm.NodeID{}
	for i, street := range streets {
		way := &osm.Way{ID: osm.WayID(i + 1), Version: 1, Tags: osm.Tags{{Key: "highway", Value: "residential"},
			{Key: "maxspeed", Value: "50"}, {Key: "name", Value: strconv.Itoa(i + 1)}}}
		for _, p := range street {
			if ids[p] == 0 {
				ids[p] = osm.NodeID(len(ids) + 1)
				nodes = append(nodes, &osm.Node{ID: ids[p], Version: 1, Lat: p.Lat(), Lon: p.Lon()})
			}
			way.Nodes = append(way.Nodes, osm.WayNode{ID: ids[p]})
		}
		ways = append(ways, way)
	}
	for i, r := range restrictions {
		relation := &osm.Relation{ID: osm.RelationID(i + 1), Version: 1, Tags: osm.Tags{
			{Key: "type", Value: "restriction"}, {Key: "restriction", Value: "no_left_turn"}}}
		for _, p := range streets[r[0]-1] {
			for _, q := range streets[r[1]-1] {
				if p == q {
					relation.Members = osm.Members{{Type: osm.TypeWay, Ref: int64(r[0]), Role: "from"},
						{Type: osm.TypeNode, Ref: int64(ids[p]), Role: "via"}, {Type: osm.TypeWay, Ref: int64(r[1]), Role: "to"}}
				}
			}
		}
		relations = append(relations, relation)
	}
	path := filepath.Join(tb.TempDir(), "town.osm.pbf")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := pbfwrite.New(f, time.Time{})
	for _, list := range [][]osm.Object{nodes, ways, relations} {
		for _, o := range list {
			if err := w.Write(o); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}
