// Package regionmatcher is the Caddy request matcher `maps_region`: whether the positions that a request is about lie
// in a part of the Earth, so that each request can be sent to the server that holds its map.
package regionmatcher

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Matcher)) }

// Matcher matches requests by the positions that they are about. Which these are is told by the path of the request:
//
//   - `…/v2/search/reverse-geocoding`: `lat` and `lon`.
//   - `…/api/route/matching/`: the trace, in `path` or in the body of a POST as JSON, GPX or GeoJSON.
//   - any other, such as `/api/v1/route`: `origin=<lat>,<lon>`, or else `lat` and `lon`.
//
// A position matches if one of the regions covers it or one of the bounds holds it. A trace matches if at least half
// of its points do, because map matching needs half of the points; of a trace of more than 32 points, 32 are asked
// for, evenly spread. So of several places that do not overlap, only the one that can answer matches; where two hold
// half of a trace each, both do, and the first in the configuration gets it.
//
// A request that cannot be understood does not match: positions that are missing, repeated or not on the globe, a
// body that is not a trace, has a content encoding or is larger than `max_body`. The body is left as it came, so that
// the handler behind can say what is wrong with it; let one stand behind all matchers.
//
// A POST of a trace is read into memory, up to `max_body`, of the app's `max_bodies_in_flight`. Put the matcher
// behind `maps_auth` where strangers should not have that: `reverse_proxy @place …` after it in one block, not
// `handle @place` around it.
type Matcher struct {
	// The names of regions of the maps app: their coverage, the map tiles of zoom 12 that hold any of their data or that
	// an administrative area of theirs touches. A region whose file cannot be read covers nothing. Default: none, where
	// there are bounds.
	Regions []string `json:"regions,omitempty"`

	// Rectangles, each as south, west, north and east in degrees, edges included. West is larger than east where a
	// rectangle crosses the antimeridian. Default: none, where there are regions.
	Bounds [][]float64 `json:"bounds,omitempty"`

	// The largest body that is looked into, in bytes. Default: 8 MiB, as that of `maps_match`.
	MaxBody int64 `json:"max_body,omitempty"`

	// The largest number of points of a trace that is understood, 2 to 1000000. Default: 10000, as that of `maps_match`.
	MaxPoints int `json:"max_points,omitempty"`

	regions   []*regions.Region
	bounds    []bounds
	admission app.Admission
	release   func() // of admission
}

const (
	defaultMaxBody = 8 << 20
	maxMaxPoints   = 1_000_000
)

// CaddyModule returns the Caddy module information.
func (*Matcher) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers.maps_region", New: func() caddy.Module { return new(Matcher) }}
}

// Provision finds the regions. Their files are opened when the app starts. Without regions, the maps app is not needed.
func (m *Matcher) Provision(ctx caddy.Context) (err error) {
	m.admission, m.release = app.AcquireAdmission()
	m.setDefaults()
	for _, numbers := range m.Bounds {
		b, err := newBounds(numbers)
		if err != nil {
			return fmt.Errorf("bounds: %w", err)
		}
		m.bounds = append(m.bounds, b)
	}
	if len(m.Regions) > 0 {
		if m.regions, err = app.LookupRegions(ctx, m.Regions); err != nil {
			return fmt.Errorf("maps_region: %w", err)
		}
	}
	return nil
}

func (m *Matcher) setDefaults() {
	if m.MaxBody == 0 {
		m.MaxBody = defaultMaxBody
	}
	if m.MaxPoints == 0 {
		m.MaxPoints = matching.DefaultMaxPoints
	}
}

// Validate checks the configuration.
func (m *Matcher) Validate() error {
	switch {
	case len(m.Regions) == 0 && len(m.Bounds) == 0:
		return errNoPlace
	case m.MaxBody < 1:
		return options.Wrong("max_body", "%d is not a positive number of bytes", m.MaxBody)
	case m.MaxPoints < trace.MinPoints || m.MaxPoints > maxMaxPoints:
		return options.Wrong("max_points", "%d is not between %d and %d", m.MaxPoints, trace.MinPoints, maxMaxPoints)
	}
	return nil
}

var errNoPlace = errors.New("maps_region needs the name of a region, or bounds")

// Cleanup gives back what Provision took.
func (m *Matcher) Cleanup() error {
	if m.release != nil {
		m.release()
		m.release = nil
	}
	return nil
}

// MatchWithError implements caddyhttp.RequestMatcherWithError. The error is a 503 where the body cannot be looked
// into because too many others are.
func (m *Matcher) MatchWithError(r *http.Request) (bool, error) {
	positions, err := m.positions(r)
	if err != nil {
		return false, caddyhttp.Error(http.StatusServiceUnavailable, err)
	}
	inside := 0
	for _, p := range positions {
		if m.holds(p) {
			inside++
		}
	}
	return len(positions) > 0 && 2*inside >= len(positions), nil
}

// holds reports whether a position lies in one of the places.
func (m *Matcher) holds(p orb.Point) bool {
	for _, b := range m.bounds {
		if b.holds(p) {
			return true
		}
	}
	return regions.AnyCovers(m.regions, p)
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*Matcher)(nil)
	_ caddy.Validator                   = (*Matcher)(nil)
	_ caddy.CleanerUpper                = (*Matcher)(nil)
	_ caddyfile.Unmarshaler             = (*Matcher)(nil)
	_ caddyhttp.RequestMatcherWithError = (*Matcher)(nil)
	_ caddyhttp.CELLibraryProducer      = (*Matcher)(nil)
)
