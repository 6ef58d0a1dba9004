package routing

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
)

// Router is a local engine or a remote service. Its errors are *SegmentError, ErrNoRoute, ErrWork, ErrUnsupported,
// *NotReadyError, and those of the context and the meter.
type Router interface {
	// Route returns the fastest route through the waypoints of a request, and alternatives.
	Route(ctx context.Context, req *Request) (*Result, error)
	// Table returns the durations and distances between many places.
	Table(ctx context.Context, req *TableRequest) (*Table, error)
	// Nearest returns up to number places on roads near a waypoint, the nearest first.
	Nearest(ctx context.Context, at *Waypoint, profile Profile, number int) ([]Snapped, error)
	// Isochrone returns the places that can be reached within each of the limits, in the order of the request.
	Isochrone(ctx context.Context, req *IsochroneRequest) ([]orb.MultiPolygon, error)
}

// Answering is implemented by a Router that does not answer for every profile.
type Answering interface {
	// Routes reports whether the router has a network for a profile.
	Routes(p Profile) bool
}

// Remote marks a Router that has another service do the work. It needs no processor while it waits.
type Remote interface{ Remote() }

// Meter is told of the work of a request, in settled arcs. An error ends the request.
type Meter interface {
	Spend(work int64) error
}

// Profile is a mode of travel: region.Car, region.Bicycle or region.Foot.
type Profile = region.Modes

// Avoid is a set of things that a route avoids. It uses them only if there is no other way.
type Avoid uint8

// What routes can avoid.
const (
	Toll Avoid = 1 << iota
	Ferry
	Motorway
	Unpaved
)

// Side is a side of the road, as seen in the direction of travel.
type Side uint8

// The sides of a road.
const (
	AnySide Side = iota
	Curb         // the side on which vehicles drive
	OppositeCurb
)

// Waypoint is a place that a route passes.
type Waypoint struct {
	Location orb.Point
	// Radius is the greatest distance to the road in metres. 0 means MaxRadius.
	Radius float64
	// Heading is the direction of travel in degrees clockwise from north, NaN for any. Within is how much it may differ,
	// 0 to 180; 0 means 45.
	Heading, Within float64
	// Side is the side of the road on which the place has to be.
	Side Side
}

// At returns a waypoint that may be passed in any direction.
func At(p orb.Point) Waypoint { return Waypoint{Location: p, Heading: math.NaN()} }

// MaxRadius is the greatest distance of a place from its road, in metres.
const MaxRadius = 1000.0

// Costs say what a route costs.
type Costs struct {
	Profile Profile // the zero value is a car
	Avoid   Avoid
	// AvoidPolygons are areas that the route does not enter.
	AvoidPolygons orb.MultiPolygon
}

// Request asks for a route.
type Request struct {
	Costs
	Waypoints []Waypoint // at least two
	// Alternatives is how many further routes are wanted, 0 to 3. Only requests with two waypoints have any.
	Alternatives int
	// Steps asks for Leg.Steps and Leg.Summary, in Language ("en", "de", …; others are English).
	Steps    bool
	Language string
	// Annotations asks for Leg.Segments.
	Annotations bool
	// UTurns allows turning back at waypoints in between. Otherwise the route goes straight on there if it can.
	UTurns bool
	Meter  Meter // nil is told nothing
}

// Result is the routes of a request, the best first.
type Result struct {
	Routes    []Route
	Waypoints []Snapped // one for each waypoint of the request
}

// Snapped is a place on a road.
type Snapped struct {
	Location orb.Point
	Name     string  // of the road; may be empty
	Distance float64 // metres from the requested place
}

// Route is one route.
type Route struct {
	Distance float64        // metres, the length of Line
	Duration float64        // seconds
	Line     orb.LineString // at least two points. Each snapped waypoint is one of them
	Legs     []Leg          // between waypoints
}

// Leg is the part of a route between two waypoints.
type Leg struct {
	Distance, Duration float64
	First, Last        int             // indexes into Route.Line. The next leg begins at Last
	Segments           []Segment       // with Request.Annotations: one for each segment of the line
	Summary            string          // its most important roads: "Main Street, US 13"
	Steps              []guidance.Step // with Request.Steps. The last one arrives
}

// Segment is what is known of a segment of a line.
type Segment struct {
	Distance, Duration float64
}

// TableRequest asks for a matrix. Sources and destinations are places on their own.
type TableRequest struct {
	Costs
	Sources, Destinations []Waypoint
	Durations, Distances  bool
	Meter                 Meter
}

// Table is a matrix. Each row belongs to a source. NaN means that there is no route. A matrix that was not asked for is
// nil.
type Table struct {
	Durations, Distances  [][]float64 // seconds, metres
	Sources, Destinations []Snapped
}

// IsochroneRequest asks for what can be reached.
type IsochroneRequest struct {
	Costs
	Origin Waypoint
	// Limits are seconds, or metres if Metres is set.
	Limits []float64
	Metres bool
	// Reverse asks from where Origin can be reached.
	Reverse bool
	Meter   Meter
}

// Errors of a Router.
var (
	ErrNoRoute     = errors.New("there is no route between the given coordinates")
	ErrWork        = errors.New("the request takes too much work: send fewer or nearer coordinates")
	ErrUnsupported = errors.New("the router does not support this request")
)

// SegmentError says that there is no road near a waypoint.
type SegmentError struct {
	Waypoint int // index into the waypoints, or into sources followed by destinations; -1 if a Remote does not tell
	Radius   float64
}

// NotReadyError says that costs are being customized.
type NotReadyError struct{ RetryAfter int } // seconds

// Error implements error.
func (e *NotReadyError) Error() string { return "these costs are being prepared" }

// Error implements error.
func (e *SegmentError) Error() string {
	if e.Waypoint < 0 {
		return fmt.Sprintf("there is no road within %v m of a coordinate", e.Radius)
	}
	return fmt.Sprintf("there is no road within %v m of coordinate %d", e.Radius, e.Waypoint)
}
