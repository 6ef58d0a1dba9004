package matching

import (
	"context"
	"errors"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Local)) }

// Local matches traces on regions of the maps app.
type Local struct {
	// The regions, by their names or their files. The first that covers the trace answers, or the one that covers most of
	// it. Required.
	Regions []string `json:"regions,omitempty"`

	regions []*regions.Region
}

// CaddyModule returns the Caddy module information.
func (*Local) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.matchers.local", New: func() caddy.Module { return new(Local) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (m *Local) UnmarshalJSON(data []byte) error { return options.Decode(data, m) }

var errNoRegion = errors.New("matcher local needs the name of at least one region")

// Provision finds the regions. Their files are opened when the app starts.
func (m *Local) Provision(ctx caddy.Context) (err error) {
	if len(m.Regions) == 0 {
		return errNoRegion
	}
	m.regions, err = app.LookupRegions(ctx, m.Regions)
	return err
}

// Match implements matching.Matcher.
func (m *Local) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	return regions.Ask(
		func() (*regions.Pinned, error) { return regions.PinCoveringTrace(m.regions, req.Points) },
		func(p *regions.Pinned) (*matching.Result, error) { return p.Matcher.Match(ctx, req) })
}

// Covers reports whether one of the regions covers a position.
func (m *Local) Covers(point orb.Point) bool { return regions.AnyCovers(m.regions, point) }

// Cover adds the regions to the coverage of a trace.
func (m *Local) Cover(c *matching.Coverage) error {
	for _, r := range m.regions {
		if err := r.AddTo(c); err != nil {
			return err
		}
	}
	return nil
}

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	matcher local <region...>
//
// Example:
//
//	maps_match {
//	    matcher local delaware andorra
//	}
func (m *Local) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if m.Regions = d.RemainingArgs(); len(m.Regions) == 0 {
		return options.WithLine(d, errNoRegion)
	}
	return options.Block(d, "matcher local", nil)
}

// RegionNames returns the configured names of the regions.
func (m *Local) RegionNames() []string { return m.Regions }

// Interface guards
var (
	_ caddy.Provisioner     = (*Local)(nil)
	_ caddyfile.Unmarshaler = (*Local)(nil)
	_ matching.Matcher      = (*Local)(nil)
	_ regions.Partial       = (*Local)(nil)
)
