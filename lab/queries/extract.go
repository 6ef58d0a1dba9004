// Package queries makes searches with known answers from an OpenStreetMap extract, to measure recall with. It reads the
// extract by itself and not from a region file, so that what a compiler loses is missed. Only the names of settlements
// that no object is tagged with come from reverse geocoding. It does not search. Start with Read and Generator.Make.
package queries

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

// object is what has a name or a house number in an extract.
type object struct {
	id    string // as geocoding.Place has it
	kind  string // KindPOI, KindPlace, KindStreet, KindAddress or "" for others
	rank  int    // of a place: the larger, the higher
	tags  osm.Tags
	at    orb.Point
	lines []orb.LineString // one position, a line, or the outline of an area
	area  bool
	torn  bool // part of it is not in the extract
	whole int  // the whole street that a way is a part of: ways of the same name that meet; 0 for others

	name   string // of the object, or of a house's street
	number string // of a house
	words  []string
	plain  string
	// Where it is.
	address   geocoding.Address
	city      string // plain
	cityWords []string
}

// pois are the keys of what is a point of interest if it has a name.
var pois = []string{"amenity", "shop", "tourism", "leisure", "historic", "office", "craft"}

// ranks are those of places. A boundary is as a city.
var ranks = map[string]int{"city": 5, "town": 4, "village": 3, "borough": 3, "suburb": 2, "quarter": 2, "hamlet": 1,
	"neighbourhood": 1, "locality": 1, "isolated_dwelling": 1, "island": 2, "islet": 1, "region": 3, "county": 5,
	"state": 6}

// Extract is the named objects and the houses of an extract.
type Extract struct {
	objects []object
	terms   map[string]bool // categories: plain values of main keys
}

// Read reads an extract in PBF.
func Read(ctx context.Context, path string) (*Extract, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scanner := osmpbf.New(ctx, f, 2)
	defer scanner.Close()
	x := &Extract{terms: map[string]bool{}}
	nodes, ways := map[int64]orb.Point{}, map[int64]orb.LineString{}
	for scanner.Scan() {
		switch o := scanner.Object().(type) {
		case *osm.Node:
			p := orb.Point{o.Lon, o.Lat}
			nodes[int64(o.ID)] = p
			x.add(object{id: fmt.Sprint("node:", o.ID), tags: o.Tags, at: p, lines: []orb.LineString{{p}}})
		case *osm.Way:
			var line orb.LineString
			for i := range o.Nodes {
				if p, ok := nodes[int64(o.Nodes[i].ID)]; ok {
					line = append(line, p)
				}
			}
			if len(line) < 2 {
				continue
			}
			ways[int64(o.ID)] = line
			closed := line[0] == line[len(line)-1] && len(line) > 3
			way := object{id: fmt.Sprint("way:", o.ID), tags: o.Tags, lines: []orb.LineString{line},
				area: closed && (o.Tags.Find("highway") == "" || o.Tags.Find("area") == "yes")}
			k := (len(line) - 1) / 2
			way.torn = len(line) < len(o.Nodes)
			way.at = orb.Point{(line[k][0] + line[k+1][0]) / 2, (line[k][1] + line[k+1][1]) / 2}
			if way.area {
				way.at, _ = planar.CentroidArea(orb.Polygon{orb.Ring(line)})
			}
			x.add(way)
		case *osm.Relation:
			if kind := o.Tags.Find("type"); kind != "multipolygon" && kind != "boundary" {
				continue
			}
			r := object{id: fmt.Sprint("relation:", o.ID), tags: o.Tags, area: true}
			var center orb.Point
			for _, m := range o.Members {
				if p, ok := nodes[m.Ref]; ok && m.Type == osm.TypeNode {
					center = p // the label or the capital
				}
				if line := ways[m.Ref]; m.Type == osm.TypeWay && line != nil {
					r.lines = append(r.lines, line)
				} else if m.Type == osm.TypeWay {
					r.torn = true
				}
			}
			if r.at = center; center == (orb.Point{}) && len(r.lines) > 0 {
				r.at = orb.MultiLineString(r.lines).Bound().Center()
			}
			if len(r.lines) > 0 {
				x.add(r)
			}
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	x.join()
	return x, nil
}

// join finds the ways of the same name that meet.
func (x *Extract) join() {
	type corner struct {
		name string
		at   orb.Point
	}
	at := map[corner]int{} // object
	next := make([]int, len(x.objects))
	root := func(i int) int {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	for i := range x.objects {
		o := &x.objects[i]
		if next[i] = i; o.kind != KindStreet {
			continue
		}
		for _, p := range o.lines[0] {
			c := corner{o.plain, p}
			if other, ok := at[c]; ok {
				next[root(i)] = root(other)
			}
			at[c] = i
		}
	}
	for i := range x.objects {
		if o := &x.objects[i]; o.kind == KindStreet {
			o.whole = root(i) + 1
		}
	}
}

// add adds an object, and once more as a house.
func (x *Extract) add(o object) {
	for _, key := range append(pois, "highway", "natural", "place", "railway", "building") {
		if value := o.tags.Find(key); value != "" {
			x.terms[plain(value)] = true
			x.terms[plain(key)] = true
		}
	}
	o.tags = slices.Clone(o.tags)
	street, number := o.tags.Find("addr:street"), o.tags.Find("addr:housenumber")
	if o.name = o.tags.Find("name"); o.name != "" {
		o.classify()
		o.spell()
		x.objects = append(x.objects, o)
	}
	if street != "" && number != "" {
		o.kind, o.name, o.number = KindAddress, street, number
		o.spell()
		x.objects = append(x.objects, o)
	}
}

func (o *object) classify() {
	place := o.tags.Find("place")
	switch highway := o.tags.Find("highway"); {
	case o.tags.Find("boundary") == "administrative" && o.area:
		o.kind, o.rank = KindPlace, max(ranks[place], 5)
	case ranks[place] > 0:
		o.kind, o.rank = KindPlace, ranks[place]
	case highway != "" && highway != "bus_stop" && highway != "platform" && highway != "proposed" &&
		highway != "construction" && !o.area && len(o.lines[0]) > 1:
		o.kind = KindStreet
	case slices.ContainsFunc(pois, func(key string) bool { return o.tags.Find(key) != "" }):
		o.kind = KindPOI
	}
}

func (o *object) spell() { o.words, o.plain = words(o.name), plain(o.name) }

// Locate finds out where the objects are, by what they are tagged with and by reverse geocoding.
func (x *Extract) Locate(ctx context.Context, g geocoding.Geocoder) error {
	req := geocoding.Request{Size: 1, MaxDistance: geocoding.DefaultMaxDistance}
	for i := range x.objects {
		o := &x.objects[i]
		req.Point = o.at
		r, err := g.Reverse(ctx, &req)
		if err != nil {
			return err
		}
		if len(r.Places) > 0 {
			o.address = r.Places[0].Address
		}
		if city := o.tags.Find("addr:city"); city != "" {
			o.address.City = city
		}
		o.address.Postcode = o.tags.Find("addr:postcode")
		o.city, o.cityWords = plain(o.address.City), words(o.address.City)
	}
	return nil
}

// metres is the distance of a point from an object, 0 inside an area.
func (o *object) metres(p orb.Point) float64 {
	nearest := geo.Distance(p[1], p[0], o.lines[0][0][1], o.lines[0][0][0])
	inside := false
	for _, line := range o.lines {
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			if (a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0]+(p[1]-a[1])/(b[1]-a[1])*(b[0]-a[0]) {
				inside = !inside
			}
			at := closest(a, b, p)
			nearest = min(nearest, geo.Distance(p[1], p[0], at[1], at[0]))
		}
	}
	if o.area && inside {
		return 0
	}
	return nearest
}
