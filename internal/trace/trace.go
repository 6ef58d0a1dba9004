package trace

import (
	"fmt"
	"math"

	"github.com/paulmach/orb"
)

// Point is one recorded position.
type Point struct {
	Location orb.Point // lon, lat in degrees
	// Time is in Unix seconds, NaN where the trace has none.
	Time float64
	// Accuracy is the standard deviation of the position's error in metres, NaN where the trace has none.
	Accuracy float64
}

// Meter counts the work of a request, in states settled by a route search or what takes as long. An error of Spend ends
// the request.
type Meter interface {
	Spend(work int64) error
}

// ParseWork returns the work of reading so many bytes of JSON, in the unit of Meter.
func ParseWork(bytes int) int64 { return int64(bytes / 64) }

// At returns a point without time and accuracy.
func At(lat, lon float64) Point {
	return Point{Location: orb.Point{lon, lat}, Time: math.NaN(), Accuracy: math.NaN()}
}

// InputError says what is wrong with the input. Clients see its text.
type InputError struct {
	Parameter string // "path", "radius", …
	Point     int    // index of the wrong point, from 0; -1 if the error is not about one point
	Problem   string // without the parameter: "latitude 91 is not in -90 to 90"
}

// Error names the parameter, and the point if there is one.
func (e *InputError) Error() string {
	if e.Point >= 0 {
		return fmt.Sprintf("%s: point %d: %s", e.Parameter, e.Point, e.Problem)
	}
	return fmt.Sprintf("%s: %s", e.Parameter, e.Problem)
}
