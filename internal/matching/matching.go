// Package matching finds the drive that most probably made a trace: the hidden Markov model of Newson and Krumm (2009),
// over the road graph of a region.
package matching

import (
	"context"
	"errors"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Matcher is what a local engine and a remote service have in common.
type Matcher interface {
	// Match returns the drive behind a trace. ErrNoRoute, ErrWork, *trace.InputError, or the error of the context
	// or the meter.
	Match(ctx context.Context, req *Request) (*Result, error)
}

// Remote is what a Matcher implements that has another service do the work. It needs no processor while it waits for
// that.
type Remote interface {
	Remote()
}

// Request is one trace to match.
type Request struct {
	Points []trace.Point
	// Profile is how whoever recorded the trace travelled. The zero value is Car.
	Profile Profile
	// Radius is where the search for roads starts, in metres: a hint and never a limit. 0 is the default, 1 m.
	Radius float64
	// MaxRadius is how far any point may be from its road, in metres. 0 is the default, 100 m.
	MaxRadius float64
	// Details asks for Confidence, Duration, Tracepoints and Ways.
	Details bool
	// Meter is told of the work that is done here, and may end it. nil does not.
	Meter trace.Meter
}

// Result is a matched drive.
type Result struct {
	// Path is the road geometry travelled, from the first snapped point to the last; at least two points. With Details it
	// has the points of the trace among its own, where they are on the road.
	Path orb.LineString
	// Distance is the length of Path in metres.
	Distance float64
	// Confidence is the probability, 0 to 1, that this is the drive; NaN where a remote service does not know it. With
	// Details only, as all below.
	Confidence float64
	// Duration is the time in seconds that the drive takes at the roads' free speed.
	Duration float64
	// Tracepoints has one entry for each point of the request.
	Tracepoints []Tracepoint
	// Ways are the OpenStreetMap ways that Path is on, from its first coordinate to its last; nil where they are not
	// known.
	Ways []Way
}

// Way is a run of a path's coordinates that is on one OpenStreetMap way, one after the other and without a gap: each
// begins at the coordinate where the one before ends. A drive that turns back on a way stays on it.
type Way struct {
	ID       int64
	Name     string // or else its reference number; may be empty
	From, To int    // indexes into Result.Path; To is the last one that is on the way, and more than From
}

// Tracepoint is what became of one point of the trace.
type Tracepoint struct {
	Matched  bool
	Location orb.Point // on the road; meaningful when Matched
	Distance float64   // metres from the recorded position to Location
	Name     string    // of the road; may be empty
	Index    int       // of Location in Result.Path; meaningful when Matched
}

// Limits of a request where the configuration names no others.
const (
	DefaultRadius    = 1.0   // metres
	DefaultMaxRadius = 100.0 // metres
	DefaultMaxPoints = 10000
)

// Errors of a Matcher.
var (
	// ErrNoRoute: fewer than two points, or less than half of them, can be joined into one drive. A *NoRouteError is one.
	ErrNoRoute = errors.New("no matching route for the given coordinates")
	// ErrWork: the request needs more work than one request may cost.
	ErrWork = errors.New("the trace takes too much work to match: " +
		"send it in parts, with fewer points, or with points that are closer together")
)
