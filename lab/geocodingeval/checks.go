package geocodingeval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// terms are the categories that are asked for. Some are near anywhere, some are far from most positions.
var terms = []string{"restaurant", "school", "highway"}

func (s *subject) ask(ctx context.Context, at orb.Point, size int, category string) ([]geocoding.Place, error) {
	req := geocoding.Request{Point: at, Size: size, MaxDistance: geocoding.DefaultMaxDistance}
	if category != "" {
		req.Categories = []string{category}
	}
	r, err := s.index.Reverse(ctx, &req)
	if err != nil {
		return nil, err
	}
	return r.Places, nil
}

// rounds is how often speed is measured. The fastest counts: the others say what else the machine had to do.
const rounds = 6

// speed measures single requests, one after the other. A category is asked for within any distance too, so that the
// search for what is far is measured.
func (s *subject) speed(ctx context.Context, t *table) error {
	measure := func(category string, reach float64) (p50, p99 time.Duration, err error) {
		times := make([]time.Duration, len(s.points))
		req := geocoding.Request{Size: geocoding.MaxSize, MaxDistance: reach,
			Into: new(geocoding.Result)} // as the handler asks
		if category != "" {
			req.Categories = []string{category}
		}
		p50, p99 = time.Hour, time.Hour
		for range rounds {
			for i, at := range s.points {
				req.Point = at
				start := time.Now()
				if _, err := s.index.Reverse(ctx, &req); err != nil {
					return 0, 0, err
				}
				times[i] = time.Since(start)
			}
			slices.Sort(times)
			p50, p99 = min(p50, times[len(times)/2]), min(p99, times[len(times)*99/100])
		}
		return p50, p99, nil
	}
	p50, p99, err := measure("", geocoding.DefaultMaxDistance)
	if err != nil {
		return err
	}
	t.row(atMost("five results, p50", p50, 5*time.Microsecond, s.marks))
	t.row(atMost("five results, p99", p99, 50*time.Microsecond, s.marks))
	const anywhere = 100_000 // metres
	for _, term := range terms {
		for _, reach := range []float64{geocoding.DefaultMaxDistance, anywhere} {
			if _, p99, err = measure(term, reach); err != nil {
				return err
			}
			t.row(atMost(fmt.Sprintf("category %s within %g km, p99", term, reach/1000), p99, 200*time.Microsecond, s.marks))
		}
	}
	return nil
}

// allocations counts those of one request.
func (s *subject) allocations(ctx context.Context, t *table) (err error) {
	allocs := testing.AllocsPerRun(100, func() { _, err = s.ask(ctx, s.points[0], geocoding.MaxSize, "") })
	t.row(noMore("allocations", int(allocs), 10))
	return err
}

// equality compares answers with those of a search over all geometry.
func (s *subject) equality(ctx context.Context, t *table) error {
	for _, term := range append([]string{""}, terms...) {
		right := 0
		for _, at := range s.points {
			if err := ctx.Err(); err != nil {
				return err
			}
			places, err := s.ask(ctx, at, geocoding.MaxSize, term)
			if err != nil {
				return err
			}
			all := geocodingtest.Search(s.features, at, term, geocoding.DefaultMaxDistance)
			if len(all) == 0 && term == "" {
				right++ // the fallback answers
				continue
			}
			var got []geocodingtest.Hit
			for i := range places {
				got = append(got, geocodingtest.Hit{ID: places[i].ID, Distance: places[i].Distance})
			}
			if geocodingtest.Equal(got, all, geocoding.MaxSize) == "" {
				right++
			}
		}
		what := "equal to a search over all geometry"
		if term != "" {
			what += ", category " + term
		}
		t.row(allOf(what, right, len(s.points)))
	}
	return nil
}

// ownPositions asks for every named node at its own position.
func (s *subject) ownPositions(ctx context.Context, t *table) error {
	at := map[string]orb.Point{}
	var nodes []geocodingtest.Feature
	for _, f := range s.features {
		if p, ok := f.Geometry.(orb.Point); ok {
			at[f.ID] = p
			if strings.HasPrefix(f.ID, "node:") {
				nodes = append(nodes, f)
			}
		}
	}
	right := 0
	for _, f := range nodes {
		p := f.Geometry.(orb.Point)
		places, err := s.ask(ctx, p, geocoding.MinSize, "")
		if err != nil {
			return err
		}
		const sameSpot = 0.01 // metres
		if len(places) == 1 && (places[0].ID == f.ID || strings.HasPrefix(places[0].ID, "node:") &&
			geocodingtest.Haversine(at[places[0].ID], p) < sameSpot) {
			right++
		}
	}
	t.row(allOf("nodes found at their own position", right, len(nodes)))
	return nil
}

// containment compares city, state and country with the polygons that contain the position, and where there is none
// with the worldwide borders.
func (s *subject) containment(ctx context.Context, t *table) error {
	own := map[string]bool{}
	for _, f := range s.features {
		own[f.ID] = f.OwnCity
	}
	levels := append([]string{s.state, "2"}, s.cities...)
	var areas []placestest.Feature
	for f := range placestest.All(s.data) {
		if f.Tags.Get("boundary") == "administrative" && f.Tags.Get("name") != "" &&
			slices.Contains(levels, f.Tags.Get("admin_level")) {
			area := *f
			area.Tags = slices.Clone(f.Tags)
			areas = append(areas, area)
		}
	}
	var cities, states, countries, codes share
	for _, at := range s.points {
		places, err := s.ask(ctx, at, geocoding.MinSize, "")
		if err != nil {
			return err
		}
		if len(places) == 0 {
			continue
		}
		around := map[string][]string{}
		for _, a := range areas {
			if geocodingtest.Contains(a.Geometry, at) {
				level := a.Tags.Get("admin_level")
				around[level] = append(around[level], a.Tags.Get("name"))
			}
		}
		address := &places[0].Address
		if best := slices.IndexFunc(s.cities, func(level string) bool { return len(around[level]) > 0 }); best >= 0 &&
			!own[places[0].ID] {
			cities.count(slices.Contains(around[s.cities[best]], address.City))
		}
		if names := around[s.state]; s.state != "" && len(names) > 0 {
			states.count(slices.Contains(names, address.State))
		}
		if names := around["2"]; len(names) > 0 {
			countries.count(slices.Contains(names, address.Country))
			codes.count(address.CountryCode == s.code)
		} else if c, ok := country.Lookup(at); ok && len(around[s.state]) == 0 {
			codes.count(address.CountryCode == c.Code)
		}
	}
	t.row(cities.line("cities"))
	t.row(states.line("states"))
	t.row(countries.line("countries by polygon"))
	t.row(codes.line("country codes"))
	return nil
}

// share counts how many of some things are right.
type share struct{ right, of int }

func (s *share) count(right bool) {
	if s.of++; right {
		s.right++
	}
}

func (s *share) line(what string) line { return allOf(what+", where polygons tell", s.right, s.of) }

// ratio is a line about how many of some things are as expected, with a lower bound unless that is 0.
func (s *share) ratio(what string, bar float64) line {
	ratio := float64(s.right) / float64(max(s.of, 1))
	l := line{what, fmt.Sprintf("%d of %d (%.3f)", s.right, s.of, ratio), "", true}
	if bar > 0 {
		l.bar, l.met = fmt.Sprint("≥ ", bar), ratio >= bar
	}
	return l
}
