// Package localmatcher is the guest module `maps.matchers.local`: map matching on region files of this server.
package localmatcher

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

func init() { caddy.RegisterModule(new(Matcher)) }

// Matcher matches traces on the roads of regions of the maps app.
type Matcher struct {
	// The names of the regions, as the maps app has them. The first that covers the trace answers, or else the one that
	// covers most of it. Required.
	Regions []string `json:"regions,omitempty"`

	regions []*regions.Region
}

// CaddyModule returns the Caddy module information.
func (*Matcher) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.matchers.local", New: func() caddy.Module { return new(Matcher) }}
}

var errNoRegion = errors.New("matcher local needs the name of at least one region")

// Provision finds the regions. Their files are opened when the app starts.
func (m *Matcher) Provision(ctx caddy.Context) (err error) {
	if len(m.Regions) == 0 {
		return errNoRegion
	}
	m.regions, err = app.LookupRegions(ctx, m.Regions)
	return err
}

// Match implements matching.Matcher.
func (m *Matcher) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	return regions.Ask(
		func() (*regions.Pinned, error) { return regions.PinCoveringTrace(m.regions, req.Points) },
		func(p *regions.Pinned) (*matching.Result, error) { return p.Matcher.Match(ctx, req) })
}

// Covers reports whether one of the regions covers a position.
func (m *Matcher) Covers(point orb.Point) bool { return regions.AnyCovers(m.regions, point) }

// Cover adds the regions to the coverage of a trace.
func (m *Matcher) Cover(c *matching.Coverage) error {
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
func (m *Matcher) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if m.Regions = d.RemainingArgs(); len(m.Regions) == 0 {
		return options.At(d, errNoRegion)
	}
	return options.Block(d, "matcher local", nil)
}

// RegionNames returns the names of the regions as they are configured.
func (m *Matcher) RegionNames() []string { return m.Regions }

// Interface guards
var (
	_ caddy.Provisioner     = (*Matcher)(nil)
	_ caddyfile.Unmarshaler = (*Matcher)(nil)
	_ matching.Matcher      = (*Matcher)(nil)
	_ regions.Partial       = (*Matcher)(nil)
)
