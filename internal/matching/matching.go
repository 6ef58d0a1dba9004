package matching

import (
	"context"
	"errors"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Matcher is a local engine or a remote service.
type Matcher interface {
	// Match returns the drive behind a trace. Its errors are ErrNoRoute, ErrWork, *trace.InputError, and those of the
	// context and the meter.
	Match(ctx context.Context, req *Request) (*Result, error)
}

// Remote marks a Matcher that has another service do the work. It needs no processor while it waits.
type Remote interface {
	Remote()
}

// Request is one trace to match.
type Request struct {
	Points []trace.Point
	// Profile is the mode of travel. The zero value is Car.
	Profile Profile
	// Radius is where the search for roads starts, in metres: a hint, never a limit. 0 is the default, 1 m.
	Radius float64
	// MaxRadius is the greatest distance of a point from its road, in metres. 0 is the default, 100 m.
	MaxRadius float64
	// Details asks for Confidence, Duration, Tracepoints and Ways.
	Details bool
	// Meter is told of the work done, and may end it. nil does not.
	Meter trace.Meter
}

// Result is a matched drive.
type Result struct {
	// Path is the road geometry travelled, from the first snapped point to the last; at least two points. With Details it
	// includes the snapped points of the trace.
	Path orb.LineString
	// Distance is the length of Path in metres.
	Distance float64
	// Confidence is the probability, 0 to 1, that this is the drive; NaN if a remote service does not tell. This field and
	// all below are set only with Details.
	Confidence float64
	// Duration is the time in seconds that the drive takes at the roads' free speed.
	Duration float64
	// Times are the seconds from the beginning of the drive to each coordinate of Path; nil if unknown.
	Times []float64
	// Tracepoints has one entry for each point of the request.
	Tracepoints []Tracepoint
	// Ways are the OpenStreetMap ways of Path, from its first coordinate to its last; nil if unknown.
	Ways []Way
}

// Way is a run of a path's coordinates on one OpenStreetMap way. Each run begins at the coordinate where the one before
// ends. A drive that turns back on a way stays in one run.
type Way struct {
	ID       int64
	Name     string // or else its reference number; may be empty
	From, To int    // indexes into Result.Path, both on the way; To is more than From
}

// Tracepoint is the result for one point of the trace.
type Tracepoint struct {
	Matched  bool
	Location orb.Point // on the road; meaningful when Matched
	Distance float64   // metres from the recorded position to Location
	Name     string    // of the road; may be empty
	Index    int       // of Location in Result.Path; meaningful when Matched
}

// Default limits of a request.
const (
	DefaultRadius    = 1.0   // metres
	DefaultMaxRadius = 100.0 // metres
	DefaultMaxPoints = 10000
)

// Errors of a Matcher.
var (
	// ErrNoRoute: fewer than two points, or less than half of them, can be joined into one drive. *NoRouteError wraps it.
	ErrNoRoute = errors.New("no matching route for the given coordinates")
	// ErrWork: the request exceeds the work limit of a request.
	ErrWork = errors.New("the trace takes too much work to match: " +
		"send it in parts, with fewer points, or with points that are closer together")
)
