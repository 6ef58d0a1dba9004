package geocoding_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// A region is written once and asked as often as one likes.
func Example() {
	data := &extract.Data{Features: []extract.Feature{{
		Kind: mapdata.KindWay, ID: 7,
		Tags:     extract.Tags{{Key: "highway", Value: "residential"}, {Key: "name", Value: "Elm Street"}},
		Geometry: orb.LineString{{-98.501, 38.5}, {-98.499, 38.5}},
	}}}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	var w region.Writer
	if err := geocoding.Write(&w, data); err != nil {
		panic(err)
	}
	region.AddCoverage(&w, []uint32{region.CoverageTile(orb.Point{-98.5, 38.5})})
	path := filepath.Join(dir, "kansas.region")
	if err := w.Commit(context.Background(), path, region.Meta{}); err != nil {
		panic(err)
	}

	file, err := region.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Release()
	index, err := geocoding.Open(file)
	if err != nil {
		panic(err)
	}
	result, err := index.Reverse(context.Background(), &geocoding.Request{Point: orb.Point{-98.5, 38.5001}, Size: 1, MaxDistance: 100})
	if err != nil {
		panic(err)
	}
	for _, p := range result.Places {
		fmt.Printf("%s, %s %s, %.2f m\n%s\n", p.ID, p.Category, p.Type, p.Distance, p.DisplayName)
	}
	// Output:
	// way:7, highway residential, 11.12 m
	// Elm Street, United States
}
