package geocoding

import (
	"context"
	"errors"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Local)) }

// Local answers from regions of the maps app.
type Local struct {
	// The regions, by their names or their files. The first that covers the position answers. Required.
	Regions []string `json:"regions,omitempty"`

	regions []*regions.Region
}

// CaddyModule returns the Caddy module information.
func (*Local) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.geocoders.local", New: func() caddy.Module { return new(Local) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (g *Local) UnmarshalJSON(data []byte) error { return options.Decode(data, g) }

var errNoRegion = errors.New("geocoder local needs the name of at least one region")

// Provision finds the regions. Their files are opened when the app starts.
func (g *Local) Provision(ctx caddy.Context) (err error) {
	if len(g.Regions) == 0 {
		return errNoRegion
	}
	g.regions, err = app.LookupRegions(ctx, g.Regions)
	return err
}

// Reverse implements geocoding.Geocoder.
func (g *Local) Reverse(ctx context.Context, req *geocoding.Request) (*geocoding.Result, error) {
	return regions.Ask(
		func() (*regions.Pinned, error) { return regions.PinCovering(g.regions, req.Point) },
		func(p *regions.Pinned) (*geocoding.Result, error) { return p.Places.Reverse(ctx, req) })
}

// Covers reports whether one of the regions covers a position.
func (g *Local) Covers(point orb.Point) bool { return regions.AnyCovers(g.regions, point) }

// Sources returns the regions in the order of precedence.
func (g *Local) Sources() []*regions.Region { return g.regions }

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	geocoder local <region...>
//
// Example:
//
//	maps_reverse_geocode {
//	    geocoder local delaware andorra
//	}
func (g *Local) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if g.Regions = d.RemainingArgs(); len(g.Regions) == 0 {
		return options.WithLine(d, errNoRegion)
	}
	return options.Block(d, "geocoder local", nil)
}

// RegionNames returns the configured names of the regions.
func (g *Local) RegionNames() []string { return g.Regions }

// Interface guards
var (
	_ caddy.Provisioner     = (*Local)(nil)
	_ caddyfile.Unmarshaler = (*Local)(nil)
	_ geocoding.Geocoder    = (*Local)(nil)
	_ regions.Partial       = (*Local)(nil)
)
