package geo_test

import (
	"fmt"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

func ExampleAppendPolyline() {
	text := geo.AppendPolyline(nil, orb.LineString{{-120.2, 38.5}, {-120.95, 40.7}, {-126.453, 43.252}}, 1e5)
	fmt.Printf("%s\n", text)
	line, err := geo.DecodePolyline(text, 1e5)
	fmt.Println(line, err)
	// Output:
	// _p~iF~ps|U_ulLnnqC_mqNvxq`@
	// [[-120.2 38.5] [-120.95 40.7] [-126.453 43.252]] <nil>
}
