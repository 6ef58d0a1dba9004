package geocoding_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/build/places"
	"github.com/mapsedge/caddy-maps/internal/build/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// A region is written once and asked as often as one likes.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	extractPath := filepath.Join(dir, "kansas.osm")
	if err := os.WriteFile(extractPath, []byte(`<osm>
		<node id="1" lon="-98.501" lat="38.5"/><node id="2" lon="-98.499" lat="38.5"/>
		<way id="7"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/><tag k="name" v="Elm Street"/></way>
	</osm>`), 0o600); err != nil {
		panic(err)
	}
	temporary, err := scratch.Open(dir, "kansas", 64<<20)
	if err != nil {
		panic(err)
	}
	defer temporary.Close()
	data, err := extract.Read(context.Background(), temporary, []string{extractPath}, extract.Options{NoMap: true})
	if err != nil {
		panic(err)
	}

	var w region.Writer
	if err := places.Write(&w, data, temporary); err != nil {
		panic(err)
	}
	region.AddCoverage(&w, data.Tiles.Sorted())
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
	result, err := index.Reverse(context.Background(), &geocoding.Request{Point: orb.Point{-98.5, 38.5001}, Size: 1,
		MaxDistance: 100})
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
