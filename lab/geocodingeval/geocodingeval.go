// Package geocodingeval measures the accuracy and the speed of reverse geocoding, and prints tables in Markdown. It
// compares answers with a search over all geometry and with all polygons, on the extracts in the Go modules, and on
// Liechtenstein if a directory has it. It measures no server. Start with Run.
package geocodingeval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
	"github.com/mapsedge/caddy-maps/lab/dataset"
)

// Options say what is measured.
type Options struct {
	// Data is a directory with liechtenstein.osm.pbf, or "".
	Data string
	// Points is how many random positions each extract is asked at; 10,000 if it is 0.
	Points int
	// Parts is into how many parts the houses are divided, of which one at a time has its address hidden; 10 if it is 0.
	Parts int
	// Seed is that of the random positions.
	Seed uint64
	// NoSpeed leaves out what a busy machine decides.
	NoSpeed bool
}

// Missed is the error of a run that found bars missed: what each is about, with what was measured.
type Missed []string

func (m Missed) Error() string { return "missed: " + strings.Join(m, "; ") }

// err is nil where no bar is missed.
func (m Missed) err() error {
	if len(m) == 0 {
		return nil
	}
	return m
}

// place is an extract with what its country's administrative levels mean.
type place struct {
	name, path string
	state      string   // level of the states; "" for none
	cities     []string // levels of cities, best first
	code       string   // of the country that most of it is in
	marks      bool     // whether speed and derived addresses have bars
}

// Run measures everything and prints it. It returns a Missed where a bar is missed.
func Run(ctx context.Context, w io.Writer, o Options) error {
	if o.Points == 0 {
		o.Points = 10_000
	}
	if o.Parts == 0 {
		o.Parts = 10
	}
	delaware, err := dataset.Delaware(ctx)
	if err != nil {
		return err
	}
	places := []place{
		{"Delaware", delaware, "4", []string{"8", "7"}, "USA", true},
		{"Andorra", filepath.Join(filepath.Dir(delaware), "andorra-latest.osm.bz2"), "", []string{"7"}, "AND", false},
	}
	if o.Data != "" {
		places = append(places, place{"Liechtenstein", filepath.Join(o.Data, "liechtenstein.osm.pbf"), "", []string{"8"},
			"LIE", false})
	}
	temporary, err := os.MkdirTemp("", "caddy-maps-geocoding")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	var missed Missed
	for _, p := range places {
		more, err := p.evaluate(ctx, w, temporary, &o)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		missed = append(missed, more...)
	}
	return missed.err()
}

// subject is a compiled extract with random positions on land.
type subject struct {
	place
	data     *objects.Data
	extract  *osm.Extracts
	dir      *scratch.Dir // of data
	features []geocodingtest.Feature
	index    *geocoding.Index
	points   []orb.Point

	temporary string // directory
	parts     int
}

func (p place) evaluate(ctx context.Context, w io.Writer, directory string, o *Options) (missed Missed, err error) {
	path := filepath.Join(directory, p.name+".region")
	if _, err := compiler.Build(ctx, compiler.Options{Inputs: []string{p.path}, Output: path}); err != nil {
		return nil, err
	}
	opened, err := openTime(path)
	if err != nil {
		return nil, err
	}
	f, err := region.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	s := subject{place: p, temporary: directory, parts: o.Parts}
	if s.index, err = geocoding.Open(f); err != nil {
		return nil, err
	}
	if err := s.read(ctx, p.path); err != nil {
		return nil, err
	}
	defer s.dir.Close()
	rng := rand.New(rand.NewPCG(o.Seed, 4))
	for b := s.extract.Bounds; len(s.points) < o.Points; {
		at := orb.Point{b.Min[0] + rng.Float64()*(b.Max[0]-b.Min[0]), b.Min[1] + rng.Float64()*(b.Max[1]-b.Min[1])}
		if _, land := country.Lookup(at); land && f.Covers(at) {
			s.points = append(s.points, at)
		}
	}
	t := table{out: w, name: p.name}
	t.heading("Reverse geocoding in %s: %d features, %d positions on land", p.name, len(s.features), len(s.points))
	checks := []func(context.Context, *table) error{s.allocations, s.equality, s.ownPositions, s.containment, s.hidden}
	if !o.NoSpeed {
		t.row(atMost("opening", opened, 50*time.Millisecond, true))
		checks = append(checks, s.speed)
	}
	for _, check := range checks {
		if err := check(ctx, &t); err != nil {
			return t.missed, err
		}
	}
	return t.missed, nil
}

// read reads what the extract holds; the caller closes dir.
func (s *subject) read(ctx context.Context, path string) (err error) {
	if s.dir, err = scratch.Open(s.temporary, "eval", compiler.DefaultMemory()); err != nil {
		return err
	}
	if s.data, s.extract, err = placestest.ReadFeatures(ctx, s.dir, []string{path}); err != nil {
		return errors.Join(err, s.dir.Close())
	}
	s.features = geocodingtest.Features(placestest.All(s.data), placestest.Interpolations(s.data))
	return nil
}

// openTime is how long it takes to open a region with its places.
func openTime(path string) (time.Duration, error) {
	start := time.Now()
	f, err := region.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Release()
	_, err = geocoding.Open(f)
	return time.Since(start), err
}
