package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb"
)

// TestCommittedFilesAreCurrent compiles Natural Earth again: the committed grid and samples must be what comes out. Together with
// the test of internal/geo/country on the samples, that compares its lookup with brute force on the full polygons.
func TestCommittedFilesAreCurrent(t *testing.T) {
	folder := t.TempDir()
	if err := generate(folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"countries.bin", "testdata/samples.bin"} {
		want, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../internal/geo/country", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("internal/geo/country/%s is not what the generator writes; run make countries", name)
		}
	}
}

func TestBruteForce(t *testing.T) {
	territories, err := readTerritories()
	if err != nil {
		t.Fatal(err)
	}
	all := boundedPolygons(territories)
	for _, test := range []struct {
		p    orb.Point
		want string
	}{
		{orb.Point{28.2, -29.6}, "LSO"},
		{orb.Point{34.1, 44.95}, "UKR"},
		{orb.Point{-52.31, 4.92}, "GUF"},
		{orb.Point{-13.2, 27.15}, "ESH"},
		{orb.Point{12.457, 41.9023}, "VAT"},
		{orb.Point{7.3617, 43.7280}, "FRA"},
		{orb.Point{-105, 48.998}, "USA"},
		{orb.Point{0, 0}, ""},
	} {
		code := ""
		if n := bruteForce(all, test.p); n > 0 {
			code = territories[n-1].code
		}
		if code != test.want {
			t.Errorf("%v is in %q, want %q", test.p, code, test.want)
		}
	}
}

func TestRoundRing(t *testing.T) {
	ring := orb.Ring{{100.2, 100.1}, {105, 100}, {109.9, 100}, {110.1, 100}, {110, 110}, {105, 110}, {105, 115}, {105, 110}, {100, 110}, {100.2, 100.1}}
	got := roundRing(ring, 100, 100)
	if want := 4; len(got) != want {
		t.Errorf("%v has %d vertices, want the %d corners", got, len(got), want)
	}
	if got := twiceArea(got); got != 200 {
		t.Errorf("twice the area is %d, want 200", got)
	}
}

// TestImplied fills a cell of two countries with one of them, and a coast with none.
func TestImplied(t *testing.T) {
	west := orb.Ring{{0, 0}, {40, 0}, {37, 50}, {40, 100}, {0, 100}, {0, 0}}
	east := orb.Ring{{40, 0}, {100, 0}, {100, 100}, {40, 100}, {37, 50}, {40, 0}}
	areas := quantise([]outline{{number: 1, rings: []orb.Ring{west}}, {number: 2, rings: []orb.Ring{east}}}, 0, 0)
	if n := implied(&areas, 100); n != 2 || len(areas) != 1 || areas[0].number != 1 {
		t.Errorf("border: implied %d, areas %v", n, areas)
	}
	areas = quantise([]outline{{number: 1, rings: []orb.Ring{west}}}, 0, 0)
	if n := implied(&areas, 100); n != 0 || len(areas) != 1 {
		t.Errorf("coast: implied %d, areas %v", n, areas)
	}
}
