package geocoding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/extract"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

// This file searches by looking at everything, with other means than the product's: orb's point-in-polygon test, the
// textbook's haversine in degrees, and a ternary search along every edge that could matter.

// bruteFeature is an object that can be found, as the contract words it.
type bruteFeature struct {
	id       string
	kinds    [][2]string
	geometry orb.Geometry
	bound    orb.Bound
	// silent: an area tagged boundary or place, or something that has none of the main keys
	silent bool
}

var bruteKinds = map[extract.Kind]string{extract.KindNode: "node", extract.KindWay: "way", extract.KindRelation: "relation"}

func bruteFeatures(d *extract.Data) []bruteFeature {
	keys := strings.Fields("amenity shop tourism leisure historic office craft highway railway natural landuse place boundary building")
	var features []bruteFeature
	for _, f := range d.Features {
		if f.Tags.Get("name") == "" && f.Tags.Get("addr:housenumber") == "" {
			continue
		}
		b := bruteFeature{id: fmt.Sprintf("%s:%d", bruteKinds[f.Kind], f.ID), geometry: f.Geometry, bound: f.Geometry.Bound()}
		for _, key := range keys {
			if value := f.Tags.Get(key); value != "" {
				for _, v := range strings.Split(value, ";") {
					b.kinds = append(b.kinds, [2]string{key, strings.TrimSpace(v)})
				}
			}
		}
		if len(b.kinds) == 0 && f.Tags.Get("addr:housenumber") != "" {
			b.kinds = append(b.kinds, [2]string{"place", "house"})
		}
		if _, point := f.Geometry.(orb.Point); !point {
			_, line := f.Geometry.(orb.LineString)
			b.silent = !line && (f.Tags.Get("boundary") != "" || f.Tags.Get("place") != "")
		}
		if len(b.kinds) > 0 {
			features = append(features, b)
		}
	}
	return features
}

type bruteHit struct {
	id       string
	distance float64
}

// bruteSearch returns all features within reach, nearest first.
func bruteSearch(features []bruteFeature, p orb.Point, term string, reach float64) []bruteHit {
	var hits []bruteHit
	margin := reach * 1.1 / 111_000
	for i := range features {
		f := &features[i]
		if term == "" && f.silent || term != "" && !slices.ContainsFunc(f.kinds, func(k [2]string) bool {
			return strings.EqualFold(k[0], term) || strings.EqualFold(k[1], term)
		}) {
			continue
		}
		if p[1] < f.bound.Min[1]-margin || p[1] > f.bound.Max[1]+margin {
			continue
		}
		if d := bruteDistance(f.geometry, p, reach); d <= reach {
			hits = append(hits, bruteHit{f.id, d})
		}
	}
	slices.SortFunc(hits, func(a, b bruteHit) int { return int(math.Copysign(1, a.distance-b.distance)) })
	return hits
}

func bruteDistance(g orb.Geometry, p orb.Point, reach float64) float64 {
	switch g := g.(type) {
	case orb.Point:
		return bruteHaversine(p, g)
	case orb.LineString:
		return bruteLine(g, p, reach)
	case orb.Polygon:
		if planar.PolygonContains(g, p) {
			return 0
		}
		best := math.Inf(1)
		for _, ring := range g {
			best = min(best, bruteLine(orb.LineString(ring), p, reach))
		}
		return best
	case orb.MultiPolygon:
		best := math.Inf(1)
		for _, polygon := range g {
			best = min(best, bruteDistance(polygon, p, reach))
		}
		return best
	}
	panic(fmt.Sprintf("%T", g))
}

func bruteLine(line orb.LineString, p orb.Point, reach float64) float64 {
	best := math.Inf(1)
	margin := reach * 1.1 / 111_000
	wide := margin / math.Cos((math.Abs(p[1])+margin)*math.Pi/180)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if min(a[1], b[1]) > p[1]+margin || max(a[1], b[1]) < p[1]-margin || min(a[0], b[0]) > p[0]+wide || max(a[0], b[0]) < p[0]-wide {
			continue
		}
		// What is farther east or north by more than the best so far needs no closer look.
		degrees := best * 1.01 / 111_000
		if min(a[1], b[1]) > p[1]+degrees || max(a[1], b[1]) < p[1]-degrees {
			continue
		}
		if e := degrees / math.Cos((math.Abs(p[1])+margin)*math.Pi/180); min(a[0], b[0]) > p[0]+e || max(a[0], b[0]) < p[0]-e {
			continue
		}
		at := func(t float64) float64 {
			return bruteHaversine(p, orb.Point{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])})
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

func bruteHaversine(a, b orb.Point) float64 {
	const r = 6371008.8
	rad := math.Pi / 180
	dLat, dLon := (b[1]-a[1])*rad, (b[0]-a[0])*rad
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(a[1]*rad)*math.Cos(b[1]*rad)*math.Pow(math.Sin(dLon/2), 2)
	return 2 * r * math.Atan2(math.Sqrt(h), math.Sqrt(1-h))
}

// compareWithBruteForce asks for random positions and compares every answer with that of the search over everything: the
// same distances, and the same features up to those that are equally far.
func compareWithBruteForce(t *testing.T, x *Index, d *extract.Data, points []orb.Point, terms []string) {
	t.Helper()
	features := bruteFeatures(d)
	const reach = 1000.0
	for i, p := range points {
		term := terms[i%len(terms)]
		req := Request{Point: p, Size: MaxSize, MaxDistance: reach}
		if term != "" {
			req.Categories = []string{term}
		}
		result, err := x.Reverse(t.Context(), &req)
		if err != nil {
			t.Fatal(err)
		}
		want := bruteSearch(features, p, term, reach)
		got := result.Places
		if len(want) == 0 && term == "" {
			continue // the fallback has tests of its own
		}
		if len(got) != min(len(want), MaxSize) {
			t.Errorf("%v %q: %d results, want %d", p, term, len(got), min(len(want), MaxSize))
			continue
		}
		for j := range got {
			if math.Abs(got[j].Distance-want[j].distance) > 0.0051 {
				t.Errorf("%v %q: result %d is %s at %g m, want %s at %.3f m", p, term, j, got[j].ID, got[j].Distance, want[j].id, want[j].distance)
				break
			}
			same := func(h bruteHit) bool { return h.id == got[j].ID && math.Abs(h.distance-got[j].Distance) < 0.0051 }
			if !slices.ContainsFunc(want, same) {
				t.Errorf("%v %q: result %d, %s at %g m, is not what looking at everything finds", p, term, j, got[j].ID, got[j].Distance)
			}
		}
	}
}

func TestDelawareEqualsBruteForce(t *testing.T) {
	d := readExtract(t, delaware)
	compareWithBruteForce(t, build(t, d), d, delawarePoints(400), []string{"", "", "restaurant", "school", "highway", "building", "boundary"})
}

func TestAndorraEqualsBruteForce(t *testing.T) {
	d := readExtract(t, andorra)
	rng := rand.New(rand.NewPCG(1, 42))
	var points []orb.Point
	for range 200 {
		points = append(points, orb.Point{1.41 + rng.Float64()*0.37, 42.43 + rng.Float64()*0.22})
	}
	compareWithBruteForce(t, build(t, d), d, points, []string{"", "", "hotel", "Peak", "highway", "place"})
}
