package geocoding_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func TestSameDataSameBytes(t *testing.T) {
	dir := t.TempDir()
	var files [2][]byte
	for i := range files {
		path := filepath.Join(dir, fmt.Sprint(i))
		d := placestest.Read(t, testkit.Andorra)
		geocodingtest.Write(t, path, d)
		var err error
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(files[0]) < 10_000 || !bytes.Equal(files[0], files[1]) {
		t.Errorf("%d and %d bytes that differ", len(files[0]), len(files[1]))
	}
}

// TestRegionWithoutPlaces opens a region that only has coverage, and one of data without features.
func TestRegionWithoutPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.region")
	placestest.Commit(t, path, new(region.Writer), []uint32{region.CoverageTile(placestest.Kansas)})
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	bare, err := geocoding.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]geocoding.Geocoder{"no sections": bare, "no features": geocodingtest.Build(t,
		new(placestest.World).Cover())} {
		for _, categories := range [][]string{nil, {"restaurant"}} {
			if got := geocodingtest.Ask(t, x, placestest.Kansas, 5, categories...); len(got) != 0 {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestAnswersOutliveTheFile reads an answer after the file is unmapped.
func TestAnswersOutliveTheFile(t *testing.T) {
	w := county()
	path := filepath.Join(t.TempDir(), "a.region")
	w.Tiles = []uint32{region.CoverageTile(placestest.At(-12, 0))}
	geocodingtest.Write(t, path, w)
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := geocoding.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	got := geocodingtest.Ask(t, x, placestest.At(-12, 0), 1)
	f.Release()
	want := geocoding.Place{ID: "way:30", Name: "Long Road", DisplayName: "Long Road, Riverside, Milltown, West, Union",
		Category: "highway", Type: "primary",
		Location: placestest.At(-12, 0), Address: geocoding.Address{Street: "Long Road", Suburb: "Riverside",
			City:   "Milltown",
			County: "Some County", State: "West", Postcode: "12345", Country: "Union", CountryCode: "USA"},
		Bound: placestest.Line(-200, 0, 200, 0).Bound(), Layer: geocoding.LayerStreet}
	if diff := cmp.Diff([]geocoding.Place{want}, got, placestest.Approximate); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentUse(t *testing.T) {
	d := placestest.Read(t, testkit.Andorra)
	x := geocodingtest.Build(t, d)
	points := []orb.Point{{1.52, 42.507}, {1.58, 42.55}, {1.73, 42.54}, {1.45, 42.46}}
	var want [][]geocoding.Place
	for _, p := range points {
		want = append(want, geocodingtest.Ask(t, x, p, 5))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				n := i % len(points)
				r, err := x.Reverse(t.Context(), &geocoding.Request{Point: points[n], Size: 5, MaxDistance: geocoding.DefaultMaxDistance})
				if err != nil || !cmp.Equal(r.Places, want[n]) {
					t.Errorf("%v: %v, %v", points[n], r, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestForeignSections(t *testing.T) {
	for name, add := range map[string]func(*region.Writer){
		"another element size": func(w *region.Writer) { region.Add(w, placefile.SectionBlocks, []uint16{1, 2, 3}) },
		"too few trees":        func(w *region.Writer) { region.Add(w, placefile.SectionTrees, make([]placefile.Tree, 1)) },
	} {
		var w region.Writer
		add(&w)
		path := filepath.Join(t.TempDir(), "a.region")
		placestest.Commit(t, path, &w, nil)
		f, err := region.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := geocoding.Open(f); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		f.Release()
	}
}

// FuzzReverse asks for anything. Every position of the Earth has an answer, within what was asked for.
func FuzzReverse(f *testing.F) {
	w := county()
	w.Interpolations = []placestest.Interpolation{{Tags: placestest.Tags("addr:street=Elm Street"),
		Interpolation: objects.Interpolation{Way: 9, Line: placestest.Line(-3, 3, 3, 3), Numbers: []int32{1, 99}, Step: 1}}}
	x := geocodingtest.Build(f, w.Cover())
	f.Add(placestest.Kansas[0], placestest.Kansas[1], 5, 1000.0, "")
	f.Add(placestest.At(-12, 0)[0], placestest.At(-12, 0)[1], 1, 0.0, "highway,place")
	f.Add(180.0, 90.0, -3, 1e300, " PRIMARY ,")
	f.Add(-98.5, math.Copysign(0, -1), 1<<40, math.Inf(1), "\xff,\x00")
	f.Fuzz(func(t *testing.T, lon, lat float64, size int, reach float64, categories string) {
		req := geocoding.Request{Point: orb.Point{lon, lat}, Size: size, MaxDistance: reach, Categories: strings.Split(categories, ",")}
		r, err := x.Reverse(t.Context(), &req)
		if valid := math.Abs(lon) <= 180 && math.Abs(lat) <= 90; valid != (err == nil) {
			t.Fatalf("%+v: %v", req, err)
		}
		if err != nil {
			return
		}
		if len(r.Places) > geocoding.MaxLimit || len(r.Places) > max(size, 1) {
			t.Fatalf("%d results", len(r.Places))
		}
		filtered := strings.Trim(categories, ", \t\r\n\v\f") != ""
		last := 0.0
		for _, p := range r.Places {
			if p.ID == "" || p.Name == "" || p.Category == "" || p.Type == "" || !strings.HasPrefix(p.DisplayName, p.Name) {
				t.Errorf("incomplete: %+v", p)
			}
			if p.Distance < last || filtered && reach > 0 && p.Distance > reach || math.IsNaN(p.Distance) ||
				!geometry.Finite(p.Location) {
				t.Errorf("distance: %+v after %g", p, last)
			}
			if c, ok := country.ByAlpha3(p.Address.CountryCode); p.Address.CountryCode != "" && !ok {
				t.Errorf("country code of %v", c)
			}
			last = p.Distance
		}
	})
}

// TestIntoReusesMemory asks several times with one result: each answer is what it would be in memory of its own, and
// nothing is allocated.
func TestIntoReusesMemory(t *testing.T) {
	x := geocodingtest.Build(t, placestest.Read(t, testkit.Delaware))
	points := delawarePoints(300)
	var into geocoding.Result
	for i, p := range points {
		req := geocoding.Request{Point: p, Size: 1 + i%geocoding.MaxSize}
		want, err := x.Reverse(t.Context(), &req)
		if err != nil {
			t.Fatal(err)
		}
		req.Into = &into
		got, err := x.Reverse(t.Context(), &req)
		if err != nil || got != &into {
			t.Fatalf("another result, %v", err)
		}
		if diff := cmp.Diff(want.Places, got.Places, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%v (-own memory +reused):\n%s", p, diff)
		}
	}
	req := geocoding.Request{Size: geocoding.MaxSize, Into: &into}
	i := 0
	allocs := testing.AllocsPerRun(len(points), func() {
		req.Point = points[i%len(points)]
		i++
		if _, err := x.Reverse(t.Context(), &req); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 && !testkit.RaceDetector { // which lets pools forget
		t.Errorf("%g allocations", allocs)
	}
}
