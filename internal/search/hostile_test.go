package search_test

import (
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// FuzzHostileRegion asks crafted files with correct checksums: each search ends in an answer or in an error that becomes
// a 503.
func FuzzHostileRegion(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.region")
	sketch := state()
	if _, err := compiler.Build(f.Context(), compiler.Options{Inputs: []string{sketch.File(f)}, Output: path, NoMap: true, NoRoutes: true}); err != nil {
		f.Fatal(err)
	}
	testregion.FuzzHostile(f, path, func(t *testing.T, file *region.File) {
		places, err := geocoding.Open(file)
		if err != nil {
			return
		}
		x, err := search.Open(file, places)
		if err != nil {
			return
		}
		for _, text := range []string{"m", "mainmain", "36 main street dover", "mian stret", "pharmacy newport", "12 a loockerman st", "205 lookerman", "kunstmuseum 19901"} {
			for _, q := range []geocoding.Query{{Limit: 5, Autocomplete: true}, {Limit: 50, Near: &orb.Point{-75.5, 39}, Categories: []string{"highway", "place"}, Countries: []string{"USA"}}} {
				q.Text = text
				r, err := x.Search(t.Context(), &q)
				var damage *region.DamageError
				if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) {
					t.Errorf("%q: %v, %v", strings.Clone(text), r, err)
				}
			}
		}
	})
}

// TestEndlessTerms: terms that lead back to themselves.
func TestEndlessTerms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.region")
	sketch := state()
	if _, err := compiler.Build(t.Context(), compiler.Options{Inputs: []string{sketch.File(t)}, Output: path, NoMap: true, NoRoutes: true}); err != nil {
		t.Fatal(err)
	}
	f := testregion.Rewrite(t, path, func(sections []testregion.Section) {
		for _, s := range sections {
			if s.Name != search.SectionTerms {
				continue
			}
			// States of package vellum, from their ends: one leads by m to the other, which leads back by m and by n.
			const one, other = 40, 100
			s.Data[one], s.Data[one-1], s.Data[one-2] = 0x80, 'm', 0x80
			binary.LittleEndian.PutUint64(s.Data[one-10:], math.MaxUint64+1-(other-(one-10)))
			s.Data[other], s.Data[other-1], s.Data[other-2], s.Data[other-3] = 2, 0x80, 'm', 'n'
			for i := range 2 {
				binary.LittleEndian.PutUint64(s.Data[other-3-8*(i+1):], other-19-one)
			}
			binary.LittleEndian.PutUint64(s.Data[len(s.Data)-8:], other)
		}
	})
	defer f.Release()
	x := openIndex(t, f)
	for _, text := range []string{"m", "mmmm", "mnmnmnmnm", "main"} {
		testkit.Work(t, text, 5*time.Second, func() {
			if r, err := x.Search(t.Context(), &geocoding.Query{Text: text, Autocomplete: true, Limit: 5}); err != nil || len(r.Places) > 0 {
				t.Errorf("%q: %v, %v", text, r, err)
			}
		})
	}
}
