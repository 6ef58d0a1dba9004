// Package localgeocoder is the guest module `maps.geocoders.local`: reverse geocoding from region files of this server.
package localgeocoder

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

func init() { caddy.RegisterModule(new(Geocoder)) }

// Geocoder answers reverse geocodings from regions of the maps app.
type Geocoder struct {
	// The names of the regions, as the maps app has them. The first that covers the position answers. Required.
	Regions []string `json:"regions,omitempty"`

	regions []*regions.Region
}

// CaddyModule returns the Caddy module information.
func (*Geocoder) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.geocoders.local", New: func() caddy.Module { return new(Geocoder) }}
}

var errNoRegion = errors.New("geocoder local needs the name of at least one region")

// Provision finds the regions. Their files are opened when the app starts.
func (g *Geocoder) Provision(ctx caddy.Context) (err error) {
	if len(g.Regions) == 0 {
		return errNoRegion
	}
	g.regions, err = app.LookupRegions(ctx, g.Regions)
	return err
}

// Reverse implements geocoding.Geocoder.
func (g *Geocoder) Reverse(ctx context.Context, req *geocoding.Request) (*geocoding.Result, error) {
	return regions.Ask(
		func() (*regions.Pinned, error) { return regions.PinCovering(g.regions, req.Point) },
		func(p *regions.Pinned) (*geocoding.Result, error) { return p.Places.Reverse(ctx, req) })
}

// Covers reports whether one of the regions covers a position.
func (g *Geocoder) Covers(point orb.Point) bool { return regions.AnyCovers(g.regions, point) }

// Sources are the regions, in the order in which they are asked.
func (g *Geocoder) Sources() []*regions.Region { return g.regions }

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	geocoder local <region...>
//
// Example:
//
//	maps_reverse_geocode {
//	    geocoder local delaware andorra
//	}
func (g *Geocoder) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if g.Regions = d.RemainingArgs(); len(g.Regions) == 0 {
		return options.At(d, errNoRegion)
	}
	return options.Block(d, "geocoder local", nil)
}

// RegionNames returns the names of the regions as they are configured.
func (g *Geocoder) RegionNames() []string { return g.Regions }

// Interface guards
var (
	_ caddy.Provisioner     = (*Geocoder)(nil)
	_ caddyfile.Unmarshaler = (*Geocoder)(nil)
	_ geocoding.Geocoder    = (*Geocoder)(nil)
	_ regions.Partial       = (*Geocoder)(nil)
)
