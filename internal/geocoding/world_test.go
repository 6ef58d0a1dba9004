package geocoding

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// world is map data made by hand, near the middle of Kansas, where one thousandth of a degree is 111 m of latitude and 87 m
// of longitude.
type world struct{ extract.Data }

var kansas = orb.Point{-98.5, 38.5}

// at is a position some thousandths of a degree east and north of the middle.
func at(east, north float64) orb.Point {
	return orb.Point{kansas[0] + east/1000, kansas[1] + north/1000}
}

func line(xy ...float64) orb.LineString {
	var l orb.LineString
	for i := 0; i+1 < len(xy); i += 2 {
		l = append(l, at(xy[i], xy[i+1]))
	}
	return l
}

// square is a ring around a middle, counter-clockwise.
func square(east, north, half float64) orb.Ring {
	return orb.Ring(line(east-half, north-half, east+half, north-half, east+half, north+half, east-half, north+half, east-half, north-half))
}

func reversed(r orb.Ring) orb.Ring {
	c := r.Clone()
	c.Reverse()
	return c
}

// tags reads "key=value, key=value"; a | stands for a comma in a value.
func tags(text string) extract.Tags {
	var t extract.Tags
	for part := range strings.SplitSeq(text, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		t = append(t, extract.Tag{Key: k, Value: strings.ReplaceAll(v, "|", ",")})
	}
	return t
}

func (w *world) add(kind mapdata.Kind, id int64, g orb.Geometry, text string) {
	w.Features = append(w.Features, extract.Feature{Kind: kind, ID: id, Tags: tags(text), Geometry: g})
}

func (w *world) node(id int64, p orb.Point, tags string)     { w.add(mapdata.KindNode, id, p, tags) }
func (w *world) way(id int64, l orb.LineString, tags string) { w.add(mapdata.KindWay, id, l, tags) }
func (w *world) area(id int64, tags string, rings ...orb.Ring) {
	w.add(mapdata.KindWay, id, orb.Polygon(rings), tags)
}
func (w *world) multi(id int64, tags string, m ...orb.Polygon) {
	w.add(mapdata.KindRelation, id, orb.MultiPolygon(m), tags)
}

// build compiles the world. Beside its Tiles it covers those that any of its features' boxes have a corner or the centre in,
// and that of the middle.
func (w *world) build(t testing.TB) *Index {
	t.Helper()
	tiles := map[uint32]bool{region.CoverageTile(kansas): true}
	for _, tile := range w.Tiles {
		tiles[tile] = true
	}
	for _, f := range w.Features {
		b := f.Geometry.Bound()
		for _, p := range []orb.Point{b.Min, b.Max, b.LeftTop(), b.RightBottom(), b.Center()} {
			tiles[region.CoverageTile(p)] = true
		}
	}
	w.Tiles = slices.Sorted(maps.Keys(tiles))
	return build(t, &w.Data)
}

// ask returns the answer to a request at a position.
func ask(t testing.TB, x *Index, p orb.Point, size int, categories ...string) []Place {
	t.Helper()
	r, err := x.Reverse(t.Context(), &Request{Point: p, Size: size, Categories: categories, MaxDistance: DefaultMaxDistance})
	if err != nil {
		t.Fatal(err)
	}
	return r.Places
}

// ids joins the ids of an answer.
func ids(places []Place) string {
	var s []string
	for _, p := range places {
		s = append(s, p.ID)
	}
	return strings.Join(s, " ")
}

// approximate forgives the rounding of coordinates to 1e-7 degrees.
var approximate = cmpopts.EquateApprox(0, 1e-6)
