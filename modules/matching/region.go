package matching

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

func init() { caddy.RegisterModule(new(RegionMatcher)) }

// RegionMatcher matches requests by their positions. Where these are depends on the path of the request:
//
//   - `…/v2/search/reverse-geocoding`: `lat` and `lon`.
//   - `…/api/route/matching/`: the trace, in `path` or in the body of a POST.
//   - any other, such as `/api/v1/route`: `origin=<lat>,<lon>`, or else `lat` and `lon`.
//
// A position matches if it lies in one of the regions or bounds. A trace matches if at least half of its points do,
// because map matching needs half of the points. Of a trace of more than 32 points, 32 are looked at, evenly spread. If
// two matchers have half of a trace each, both match, and the first in the configuration gets the request.
//
// A request that cannot be read does not match: its positions are missing, repeated or not on the globe, or its body is
// no trace, has a content encoding or is larger than `max_body`. The body stays unread for the next handler. Put a
// handler without a matcher last, which answers such requests with the right error.
//
// The body of a POST is read into memory, up to `max_body`, and counts against the app's `max_bodies_in_flight`. To
// spend that memory only on authenticated requests, put `reverse_proxy @place …` behind `maps_auth` in one block
// instead of using `handle @place`.
type RegionMatcher struct {
	// The names of regions of the app `maps`. A region covers the map tiles of zoom 12 that have any of its data or touch
	// one of its administrative areas. A region whose file cannot be read covers nothing. Default: none, if there are
	// bounds.
	Regions []string `json:"regions,omitempty"`

	// Rectangles, each as south, west, north and east in degrees, edges included. If a rectangle crosses the antimeridian,
	// west is larger than east. Default: none, if there are regions.
	Bounds [][]float64 `json:"bounds,omitempty"`

	// The largest body that is read, in bytes. Default: 8 MiB, as in `maps_match`.
	MaxBody int64 `json:"max_body,omitempty"`

	// The largest number of points of a trace, 2 to 1000000. Default: 10000, as in `maps_match`.
	MaxPoints int `json:"max_points,omitempty"`

	regions   []*regions.Region
	bounds    []bounds
	admission app.Admission
	release   func() // of admission
}

// CaddyModule returns the Caddy module information.
func (*RegionMatcher) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers.maps_region", New: func() caddy.Module { return new(RegionMatcher) }}
}

// Provision finds the regions. Their files are opened when the app starts. Without regions, the app is not needed.
func (m *RegionMatcher) Provision(ctx caddy.Context) (err error) {
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

func (m *RegionMatcher) setDefaults() {
	if m.MaxBody == 0 {
		m.MaxBody = defaultMaxBody
	}
	if m.MaxPoints == 0 {
		m.MaxPoints = matching.DefaultMaxPoints
	}
}

// Validate checks the configuration.
func (m *RegionMatcher) Validate() error {
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

// Cleanup releases what Provision acquired.
func (m *RegionMatcher) Cleanup() error {
	if m.release != nil {
		m.release()
		m.release = nil
	}
	return nil
}

// MatchWithError implements caddyhttp.RequestMatcherWithError. The error is a 503 if too many other bodies are being
// read.
func (m *RegionMatcher) MatchWithError(r *http.Request) (bool, error) {
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

// holds reports whether a position lies in one of the regions or bounds.
func (m *RegionMatcher) holds(p orb.Point) bool {
	for _, b := range m.bounds {
		if b.holds(p) {
			return true
		}
	}
	return regions.AnyCovers(m.regions, p)
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*RegionMatcher)(nil)
	_ caddy.Validator                   = (*RegionMatcher)(nil)
	_ caddy.CleanerUpper                = (*RegionMatcher)(nil)
	_ caddyfile.Unmarshaler             = (*RegionMatcher)(nil)
	_ caddyhttp.RequestMatcherWithError = (*RegionMatcher)(nil)
	_ caddyhttp.CELLibraryProducer      = (*RegionMatcher)(nil)
)
