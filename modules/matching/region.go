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

// RegionMatcher matches requests by their positions. The path says where these are:
//
//   - `…/v2/search/reverse-geocoding`: `lat` and `lon` (or `lng`).
//   - `…/api/route/matching/`: the trace, in `path` or in the body of a POST.
//   - any other, such as `/api/v1/route`: `origin=<lat>,<lon>`, or else `lat` and `lon`.
//
// A position matches if a region covers it or a bound contains it. A trace matches if at least half of its points do,
// as map matching needs; of more than 32 points, 32 are looked at, evenly spread. If two places hold half of a trace
// each, the first in the configuration gets it.
//
// A request that is not understood, or larger than `max_body`, does not match and keeps its body. Put an endpoint
// behind all matchers that can say what is wrong.
//
// A POST is read into memory, of the app's `max_bodies_in_flight`. To allow that only with a token, put the matcher
// after `maps_auth`: `reverse_proxy @place …` in one block, not `handle @place` around it.
type RegionMatcher struct {
	// Regions, by their coverage. A region that cannot be read covers nothing. Default: none, where there are bounds.
	Regions []string `json:"regions,omitempty"`

	// Rectangles: south, west, north, east in degrees, edges included. West is larger than east across the
	// antimeridian. Default: none, where there are regions.
	Bounds [][]float64 `json:"bounds,omitempty"`

	// The largest body that is read, in bytes. Default: 8 MiB, as in `maps_match`.
	MaxBody int64 `json:"max_body,omitempty"`

	// The most points of a trace, 2 to 1000000. Default: 10000, as in `maps_match`.
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

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (m *RegionMatcher) UnmarshalJSON(data []byte) error { return options.Decode(data, m) }

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
			return options.Located("maps_region", fmt.Errorf("maps_region: %w", err))
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
		return options.Errorf("max_body", "%d is not a positive number of bytes", m.MaxBody)
	case m.MaxPoints < trace.MinPoints || m.MaxPoints > maxMaxPoints:
		return options.Errorf("max_points", "%d is not between %d and %d", m.MaxPoints, trace.MinPoints, maxMaxPoints)
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
