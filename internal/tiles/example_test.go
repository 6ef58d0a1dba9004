package tiles_test

import (
	"fmt"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	tiles "github.com/mapsedge/caddy-maps/internal/tiles"
)

// A tile is rendered from the region file on demand.
func Example() {
	path, remove := testregion.Village()
	defer remove()
	file, err := region.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Release()

	m, err := tiles.Open(file)
	if err != nil {
		panic(err)
	}
	at := maptile.At(orb.Point{-75.52, 39.16}, 15)
	tile, err := m.Tile(nil, uint8(at.Z), at.X, at.Y)
	if err != nil {
		panic(err)
	}
	layers, err := mvt.UnmarshalGzipped(tile)
	if err != nil {
		panic(err)
	}
	for _, layer := range layers {
		for _, feature := range layer.Features {
			fmt.Println(layer.Name, feature.Properties["kind"], feature.Properties["name"])
		}
	}
	// Output:
	// earth earth <nil>
	// roads minor_road Main Street
	// roads minor_road Oak Street
	// pois cafe Crossing Café
}
