package geojson_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/geojson"
	"github.com/mapsedge/caddy-maps/internal/jsontext"
)

// A geometry is checked while it is read: what makes no sense is an error that says so.
func ExampleReadGeometry() {
	for _, text := range []string{
		`{"type": "LineString", "coordinates": [[-75.53, 39.16], [-75.52, 39.16]]}`,
		`{"type": "Point", "coordinates": [-75.53, 91]}`,
	} {
		geometry, err := geojson.ReadGeometry(jsontext.NewReader([]byte(text)), []byte(text))
		fmt.Println(geometry, err)
	}
	// Output:
	// [[-75.53 39.16] [-75.52 39.16]] <nil>
	// [-75.53 91] the position -75.53,91 is not on the globe
}
