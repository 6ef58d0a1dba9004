package trace_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// A trace is read in whichever form it is written, and an error names the point that is wrong.
func Example() {
	drive, err := trace.Parse(nil, testkit.Data("drive.gpx"), 100, nil)
	if err != nil {
		panic(err)
	}
	first, last := drive.Points[0], drive.Points[len(drive.Points)-1]
	fmt.Printf("%d points from %.5f in %.0f s\n", len(drive.Points), first.Location, last.Time-first.Time)

	_, err = trace.Parse(nil, []byte(`{"path": [{"lat": 39.16, "lng": -75.52}, {"lat": 91, "lng": -75.52}]}`), 100, nil)
	fmt.Println(err)
	// Output:
	// 5 points from [-75.52850 39.16003] in 120 s
	// path: point 1: latitude 91 is not in -90 to 90
}
