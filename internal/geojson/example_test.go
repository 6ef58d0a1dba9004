package geojson_test

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/mapsedge/caddy-maps/internal/geojson"
)

// A geometry is checked while it is read: what makes no sense is an error.
func ExampleGeometry() {
	for _, text := range []string{
		`{"type": "LineString", "coordinates": [[-75.53, 39.16], [-75.52, 39.16]]}`,
		`{"type": "Point", "coordinates": [-75.53, 91]}`,
	} {
		var g geojson.Geometry
		err := json.Unmarshal([]byte(text), &g)
		fmt.Println(g.Geometry, err != nil)
	}
	// Output:
	// [[-75.53 39.16] [-75.52 39.16]] false
	// [-75.53 91] true
}
