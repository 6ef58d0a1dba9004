package geocodingtest

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// Feature is an object that can be found, as the API's contract words it.
type Feature struct {
	ID       string      // node:1, way:2, relation:3
	Kinds    [][2]string // keys and values that it is found under
	Geometry orb.Geometry
	// Silent features are found only when a category asks for them: areas tagged boundary or place.
	Silent bool
	// OwnCity says that the object names its city itself.
	OwnCity bool

	bound orb.Bound
}

var kinds = map[region.Kind]string{region.KindNode: "node", region.KindWay: "way", region.KindRelation: "relation"}

// ID is how answers name an object.
func ID(kind region.Kind, id int64) string { return kinds[kind] + ":" + strconv.FormatInt(id, 10) }

var mainKeys = strings.Fields("amenity shop tourism leisure historic office craft highway railway natural " +
	"landuse place boundary building")

// Features returns everything that can be found under a main key or as an address.
func Features(all iter.Seq[*placestest.Feature], lines iter.Seq[*placestest.Interpolation]) []Feature {
	var features []Feature
	for f := range all {
		house := f.Tags.Get("addr:housenumber")+f.Tags.Get("addr:conscriptionnumber")+f.Tags.Get("addr:streetnumber")+
			f.Tags.Get("addr:housename") != ""
		if f.Tags.Get("name") == "" && !house {
			continue
		}
		b := Feature{ID: ID(f.Kind, f.ID), Geometry: f.Geometry, bound: f.Geometry.Bound(),
			OwnCity: f.Tags.Get("addr:city") != ""}
		for _, key := range mainKeys {
			if value := f.Tags.Get(key); value != "" {
				for _, v := range strings.Split(value, ";") {
					b.Kinds = append(b.Kinds, [2]string{key, strings.TrimSpace(v)})
				}
			}
		}
		if len(b.Kinds) == 0 && house {
			b.Kinds = append(b.Kinds, [2]string{"place", "house"})
		}
		b.Silent = isArea(f.Geometry) && (f.Tags.Get("boundary") != "" || f.Tags.Get("place") != "")
		if len(b.Kinds) > 0 {
			features = append(features, b)
		}
	}
	for line := range lines {
		features = append(features, houses(line)...)
	}
	return features
}

func isArea(g orb.Geometry) bool {
	switch g.(type) {
	case orb.Polygon, orb.MultiPolygon:
		return true
	}
	return false
}

// houses are those between the numbered nodes of an interpolation line, evenly along it.
func houses(line *placestest.Interpolation) (features []Feature) {
	last := -1
	for i, number := range line.Numbers {
		if number == objects.NoNumber {
			continue
		}
		if last >= 0 {
			piece := line.Line[last : i+1]
			low, high := line.Numbers[last], number
			if low > high {
				low, high = high, low
				piece = slices.Clone(piece)
				slices.Reverse(piece)
			}
			// Counting starts at the number that the line starts with.
			from, step := line.Numbers[last], line.Step
			if line.Parity != objects.AnyParity && (from%2 == 1) != (line.Parity == objects.Odd) {
				from++
			}
			for n := low; n < high; n++ {
				if n == low || (n-from)%max(step, 1) != 0 {
					continue
				}
				at := along(piece, float64(n-low)/float64(high-low))
				features = append(features, Feature{ID: ID(region.KindWay, line.Way), Kinds: [][2]string{{"place", "house"}},
					Geometry: at, bound: at.Bound(), OwnCity: line.Tags.Get("addr:city") != ""})
			}
		}
		last = i
	}
	return features
}

// along is the point at a share of a line's length.
func along(line orb.LineString, share float64) orb.Point {
	total := 0.0
	for i := 1; i < len(line); i++ {
		total += Haversine(line[i-1], line[i])
	}
	rest := share * total
	for i := 1; i < len(line); i++ {
		length := Haversine(line[i-1], line[i])
		if rest <= length && length > 0 {
			t := rest / length
			return orb.Point{line[i-1][0] + t*(line[i][0]-line[i-1][0]), line[i-1][1] + t*(line[i][1]-line[i-1][1])}
		}
		rest -= length
	}
	return line[len(line)-1]
}

// Hit is a feature with its distance in metres, and its geometry: its size orders features at equal distances.
type Hit struct {
	ID       string
	Distance float64

	geometry orb.Geometry
}

// Search returns the features within reach (metres), nearest first; each object once. An empty term restricts nothing.
func Search(features []Feature, p orb.Point, term string, reach float64) []Hit {
	var hits []Hit
	margin := reach * 1.1 / 111_000
	wide := margin / math.Max(math.Cos((math.Abs(p[1])+margin)*math.Pi/180), 0.01)
	for i := range features {
		f := &features[i]
		if p[1] < f.bound.Min[1]-margin || p[1] > f.bound.Max[1]+margin || p[0] < f.bound.Min[0]-wide ||
			p[0] > f.bound.Max[0]+wide {
			continue
		}
		if term == "" && f.Silent || term != "" && !slices.ContainsFunc(f.Kinds, func(k [2]string) bool {
			return strings.EqualFold(k[0], term) || strings.EqualFold(k[1], term)
		}) {
			continue
		}
		if d := Distance(f.Geometry, p, reach); d <= reach {
			hits = append(hits, Hit{f.ID, d, f.Geometry})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Distance, b.Distance) })
	seen := map[string]bool{}
	return slices.DeleteFunc(hits, func(h Hit) bool {
		again := seen[h.ID]
		seen[h.ID] = true
		return again
	})
}

// Without returns the features that are found under another key than one.
func Without(features []Feature, key string) []Feature {
	return slices.DeleteFunc(slices.Clone(features), func(f Feature) bool {
		return !slices.ContainsFunc(f.Kinds, func(k [2]string) bool { return k[0] != key })
	})
}

// Distance returns the distance of a geometry in metres: 0 inside an area; anything above reach if it is farther.
func Distance(g orb.Geometry, p orb.Point, reach float64) float64 {
	switch g := g.(type) {
	case orb.Point:
		return Haversine(p, g)
	case orb.LineString:
		return lineDistance(g, p, reach)
	case orb.Polygon:
		if planar.PolygonContains(g, p) {
			return 0
		}
		best := math.Inf(1)
		for _, ring := range g {
			best = min(best, lineDistance(orb.LineString(ring), p, reach))
		}
		return best
	case orb.MultiPolygon:
		best := math.Inf(1)
		for _, polygon := range g {
			best = min(best, Distance(polygon, p, reach))
		}
		return best
	}
	panic(fmt.Sprintf("%T", g))
}

func lineDistance(line orb.LineString, p orb.Point, reach float64) float64 {
	best := math.Inf(1)
	margin := reach * 1.1 / 111_000
	wide := margin / math.Cos((math.Abs(p[1])+margin)*math.Pi/180)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if min(a[1], b[1]) > p[1]+margin || max(a[1], b[1]) < p[1]-margin || min(a[0], b[0]) > p[0]+wide || max(a[0],
			b[0]) < p[0]-wide {
			continue
		}
		// What is farther east or north by more than the best so far needs no closer look.
		degrees := best * 1.01 / 111_000
		if min(a[1], b[1]) > p[1]+degrees || max(a[1], b[1]) < p[1]-degrees {
			continue
		}
		if e := degrees / math.Cos((math.Abs(p[1])+margin)*math.Pi/180); min(a[0], b[0]) > p[0]+e || max(a[0],
			b[0]) < p[0]-e {
			continue
		}
		at := func(t float64) float64 {
			return Haversine(p, orb.Point{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])})
		}
		from, to := 0.0, 1.0
		for range 60 {
			third := (to - from) / 3
			if at(from+third) < at(to-third) {
				to -= third
			} else {
				from += third
			}
		}
		best = min(best, at((from+to)/2), at(0), at(1))
	}
	return best
}

// Haversine is the distance of two positions in metres on a sphere of 6,371,008.8 m.
func Haversine(a, b orb.Point) float64 {
	const r = 6371008.8
	const rad = math.Pi / 180
	dLat, dLon := (b[1]-a[1])*rad, (b[0]-a[0])*rad
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(a[1]*rad)*math.Cos(b[1]*rad)*math.Pow(math.Sin(dLon/2), 2)
	return 2 * r * math.Atan2(math.Sqrt(h), math.Sqrt(1-h))
}

// Contains reports whether an area contains a position.
func Contains(g orb.Geometry, p orb.Point) bool {
	switch g := g.(type) {
	case orb.Polygon:
		return g.Bound().Contains(p) && planar.PolygonContains(g, p)
	case orb.MultiPolygon:
		return g.Bound().Contains(p) && planar.MultiPolygonContains(g, p)
	}
	return false
}
